/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interface between a client PD and the profiler PD: operations, and the region that both map.
 *
 * Concept: a client writes its arguments into the session page and makes a protected call with the
 * operation as its label. The result is in the label of the reply and in the page. Records come
 * through the output ring. The profiler PD notifies the client once for each drain that put
 * something into that ring.
 *
 *     output region     0 +----------------------------------------------+
 *                         | struct mkperf_session_page                   |
 *                         |   request, observe, part   written by client |
 *                         |   session, status, ...     written by profiler PD
 *     SESSION_PAGE_BYTES  +----------------------------------------------+
 *                         | output ring (ring.h): header, then records   |
 *                         +----------------------------------------------+
 *
 * Owns: the layout of the region and the meaning of each operation. The messages in the page are
 * those of proto/mkperf.proto, as the structs that nanopb generates. Neither side needs nanopb's
 * runtime for them.
 *
 * Invariants
 * 1. A request starts as MKPERF_SESSION_REQUEST_ZERO.
 * 2. The profiler PD copies a request and checks the copy before use (pd/profiler/request.c). It
 *    never reads its own answers back. A hostile client can therefore spoil only its own view.
 * 3. The client does not change fields that the profiler PD writes.
 * 4. The profiler PD's priority is above the client's (Microkit's rule for protected calls).
 *
 * Example: a client sets request.configure.events[0] to `cycles` with frequency 1000 and calls
 * CONFIGURE. The reply is MKPERF_RESULT_OK, and `session` holds the event with its counter. After
 * START the client reads SAMPLE records from mkperf_output_ring until it calls STOP.
 */
#ifndef MKPERF_SESSION_H
#define MKPERF_SESSION_H

#include <stdint.h>

#include <mkperf/record.h>
#include <mkperf/ring.h>
#include <mkperf/tables.h>
#include <mkperf/wire.h>

#include "mkperf.pb.h"

/* Operations: the label of the protected call. The reply's label is an enum mkperf_session_result;
 * if it is not OK, `error` has the reason. Every operation fills session, tick_hz, output_bytes and
 * status in addition to the fields named here. */
enum mkperf_session_op {
    MKPERF_OP_INFO = 1,      /* fills hello: boot id, CPU, PMU, counters, cores */
    MKPERF_OP_CONFIGURE = 2, /* takes request; only while the session is stopped */
    MKPERF_OP_START = 3,
    MKPERF_OP_STOP = 4,   /* moves all samples to the output ring or counts them as lost; LOSS
                             records without room follow with DRAIN */
    MKPERF_OP_STATUS = 5, /* drains, as DRAIN does */
    MKPERF_OP_DRAIN = 6,  /* moves records from the sample rings to the output ring */
    MKPERF_OP_LIST = 7,   /* takes part, an event's index; fills events */
    MKPERF_OP_COUNTS = 8, /* takes part; fills counts. Part 0 takes a snapshot; the
                             other parts return the rest of that snapshot */
    MKPERF_OP_DUMP = 25,  /* gives the client the flight recording: the output ring from its
                             tail on */
    MKPERF_OP_HOLD = 26,  /* ends the flight recording for an application, and keeps it */
    MKPERF_OP_INTERACTIONS = 27, /* takes part; fills interactions, as COUNTS does */
    MKPERF_OP_LATENCY = 28,      /* takes part; fills latency, as COUNTS does */
    MKPERF_OP_OBSERVE = 30,      /* takes observe; with part 0 fills observer. Only while the
                                    session is stopped */
};

enum mkperf_session_result {
    MKPERF_RESULT_OK = mkperf_ErrorCode_ERROR_NONE,
    MKPERF_RESULT_MALFORMED = mkperf_ErrorCode_ERROR_MALFORMED,
    MKPERF_RESULT_STATE = mkperf_ErrorCode_ERROR_STATE,
    MKPERF_RESULT_EVENT_UNKNOWN = mkperf_ErrorCode_ERROR_EVENT_UNKNOWN,
    MKPERF_RESULT_EVENT_UNSUPPORTED = mkperf_ErrorCode_ERROR_EVENT_UNSUPPORTED,
    MKPERF_RESULT_COUNTERS = mkperf_ErrorCode_ERROR_COUNTERS,
    MKPERF_RESULT_RANGE = mkperf_ErrorCode_ERROR_RANGE,
    MKPERF_RESULT_NO_PMU = mkperf_ErrorCode_ERROR_NO_PMU,
    MKPERF_RESULT_NO_HOOK = mkperf_ErrorCode_ERROR_NO_HOOK,
    MKPERF_RESULT_INTERNAL = mkperf_ErrorCode_ERROR_INTERNAL,
    MKPERF_RESULT_NO_TIMER = mkperf_ErrorCode_ERROR_NO_TIMER,
};

/* The number of elements of a repeated field in a message's struct (proto/mkperf.options). */
#define MKPERF_ROOM(message, field) \
    (sizeof(((message *)0)->field) / sizeof(((message *)0)->field[0]))

enum mkperf_session_limits {
    MKPERF_LEAST_AGGREGATE_MS = 100, /* shortest window in which samples are counted */
    MKPERF_MOST_AGGREGATE_MS = 60000,
    MKPERF_NAME_BYTES =
        MKPERF_ROOM(mkperf_SessionEvent, name), /* longest name of an event, with its NUL */
    /* longest text of an error, with its NUL */
    MKPERF_TEXT_BYTES = MKPERF_ROOM(mkperf_Error, text),
    MKPERF_LIST_EVENTS = MKPERF_ROOM(mkperf_Events, events), /* events in one answer to LIST */
    MKPERF_COUNT_PART = MKPERF_ROOM(mkperf_Counts, threads), /* threads in one answer to COUNTS */
    /* most threads, and most edges, in one answer to INTERACTIONS, which is one message */
    MKPERF_EDGE_PART = 8,
    MKPERF_MAX_FAULTS = MKPERF_ROOM(mkperf_Configure, dump_on_fault),
    MKPERF_MAX_STOPS = MKPERF_ROOM(mkperf_Configure, stop_if),
    MKPERF_OBSERVE_WINDOWS = MKPERF_ROOM(mkperf_Observe, stack),
    MKPERF_TARGET_CORES = MKPERF_ROOM(mkperf_Status, cores), /* most sampled cores */
    MKPERF_MAX_FREQUENCY = 100000,
    MKPERF_MAX_PERIOD = 0x7fffffff,
    MKPERF_SESSION_PAGE_BYTES = 16384,
    MKPERF_CORE_RING_BYTES = 256 * 1024,   /* of the sample ring of each core, without its header */
    MKPERF_OUTPUT_RING_BYTES = 512 * 1024, /* of the output ring, without its header */
    MKPERF_OUTPUT_REGION_BYTES = 0x100000,
    MKPERF_RINGS_REGION_BYTES = 0x200000, /* one page of 2 MiB, as descriptor.h requires */
};

_Static_assert(MKPERF_ROOM(mkperf_Configure, events) == MKPERF_MAX_EVENTS &&
                   MKPERF_ROOM(mkperf_Session, events) == MKPERF_MAX_EVENTS &&
                   MKPERF_ROOM(mkperf_Status, period) == MKPERF_MAX_EVENTS &&
                   MKPERF_ROOM(mkperf_Counts, events) == MKPERF_MAX_EVENTS &&
                   MKPERF_ROOM(mkperf_ThreadCount, user) == MKPERF_MAX_EVENTS &&
                   MKPERF_ROOM(mkperf_Configure, only) == MKPERF_MAX_FILTERS &&
                   MKPERF_ROOM(mkperf_Configure, words) == MKPERF_MAX_WORDS &&
                   MKPERF_ROOM(mkperf_Interactions, total) == MKPERF_SOFT_KINDS &&
                   MKPERF_ROOM(mkperf_Interactions, threads) >= MKPERF_EDGE_PART &&
                   MKPERF_ROOM(mkperf_Interactions, edges) >= MKPERF_EDGE_PART,
               "proto/mkperf.options agrees with wire.h, record.h and soft.h");

struct mkperf_session_request { /* the arguments of CONFIGURE */
    mkperf_Configure configure;
    /* Data bytes of each core's ring and of the output ring: powers of two, at most the limits
     * above. 0 means the limit. overwrite_bytes of the message is ignored. */
    uint32_t core_bytes;
    uint32_t output_bytes;
    uint32_t wake_samples; /* samples per wake-up of the profiler PD; 0: it adapts the number */
};

#define MKPERF_SESSION_REQUEST_ZERO \
    ((struct mkperf_session_request){.configure = mkperf_Configure_init_zero})

struct mkperf_session_page {
    /* The client writes these three, each as a whole, and nothing else. */
    struct mkperf_session_request request;
    mkperf_Observe observe;
    uint32_t part; /* argument of LIST, COUNTS, INTERACTIONS and LATENCY */

    mkperf_Session session;
    uint64_t tick_hz;         /* ticks per second of times in records; 0 before the first start */
    uint32_t output_bytes;    /* data bytes of the output ring in this session */
    mkperf_Status status;     /* all but the fields that only the client knows */
    mkperf_TargetHello hello; /* all but the fields that only the client knows */
    mkperf_Events events;
    mkperf_Counts counts;
    mkperf_Interactions interactions;
    mkperf_Latency latency;
    mkperf_Observer observer;
    mkperf_Error error;
};

/* Reads a bool that another PD can write, and that may therefore be neither 0 nor 1. */
static inline bool mkperf_page_bool(const bool *b)
{
    return *(const volatile unsigned char *)b != 0;
}

_Static_assert(sizeof(struct mkperf_session_page) <= MKPERF_SESSION_PAGE_BYTES, "session page");
_Static_assert(MKPERF_SESSION_PAGE_BYTES + MKPERF_RING_HEADER_BYTES + MKPERF_OUTPUT_RING_BYTES <=
                   MKPERF_OUTPUT_REGION_BYTES,
               "output region");

/* Returns the output ring in the region whose first byte is at `region`. */
static inline struct mkperf_ring *mkperf_output_ring(uintptr_t region)
{
    return (struct mkperf_ring *)(region + MKPERF_SESSION_PAGE_BYTES);
}

/* Returns the sample ring of a core in the rings' region: each starts at a page. The ring with the
 * number MKPERF_TARGET_CORES is the profiler PD's own. */
static inline struct mkperf_ring *mkperf_core_ring(uintptr_t region, unsigned core)
{
    return (struct mkperf_ring *)(region + core * (uintptr_t)(MKPERF_CORE_RING_BYTES + 4096));
}

_Static_assert((MKPERF_TARGET_CORES + 1) * (MKPERF_CORE_RING_BYTES + 4096) + MKPERF_TABLES_BYTES <=
                   MKPERF_RINGS_REGION_BYTES,
               "rings' region");

/* Returns the tables of sessions, which are at the end of the rings' region. */
static inline struct mkperf_tables *mkperf_tables_in(uintptr_t region)
{
    return (struct mkperf_tables *)(region + MKPERF_RINGS_REGION_BYTES - MKPERF_TABLES_BYTES);
}

#endif
