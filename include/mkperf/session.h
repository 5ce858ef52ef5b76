/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a client PD speaks with the profiler PD: operations, and the page that both map.
 *
 * Owns: the layout of the output region (session page, then the output ring of ring.h) and the
 * meaning of each operation. A client writes its arguments into `request`, makes a protected call
 * with the operation as the label, and finds the result in the label of the reply and in the page.
 * The profiler PD copies a request before it looks at it and never reads back what it wrote, so a
 * hostile client can spoil only what it is shown itself.
 *
 * The profiler PD's priority is above the client's (Microkit's rule for protected calls). It
 * notifies the client once for each drain that put something into the output ring.
 */
#ifndef MKPERF_SESSION_H
#define MKPERF_SESSION_H

#include <stdint.h>

#include <mkperf/counts.h>
#include <mkperf/observe.h>
#include <mkperf/ring.h>
#include <mkperf/soft.h>
#include <mkperf/wire.h>

/* Operations: the label of the protected call. Arguments and results beside the label of the reply
 * (enum mkperf_session_result; on anything but OK also `error`). */
enum mkperf_session_op {
    MKPERF_OP_INFO = 1,      /* fills info */
    MKPERF_OP_CONFIGURE = 2, /* takes request; fills state. Only while stopped */
    MKPERF_OP_START = 3,     /* fills state */
    MKPERF_OP_STOP = 4,      /* fills state and status; what was captured is in the output ring or
                                counted as lost, losses that had no room follow with DRAIN */
    MKPERF_OP_STATUS = 5,    /* drains, fills state and status */
    MKPERF_OP_DRAIN = 6,     /* moves records from the sample rings to the output ring */
    MKPERF_OP_LIST = 7,      /* takes request.list_first; fills list */
    MKPERF_OP_COUNTS = 8,    /* takes request.counts_part; fills counts. Part 0 takes a snapshot, of
                                which the other parts tell the rest */
    MKPERF_OP_DUMP = 25,     /* shows the flight recording in the output ring, from the ring's tail
                                on; fills state, status, flight */
    MKPERF_OP_HOLD = 26,     /* an application's wish: ends the flight recording and keeps it */
    MKPERF_OP_EDGES = 27,    /* takes request.counts_part; fills edges, as COUNTS does */
    MKPERF_OP_OBSERVE = 30,  /* takes observe; with part 0 fills observer. Only while stopped */
};

/* Why a flight recording is held. The numbers are those of FlightTrigger in proto/mkperf.proto. */
enum mkperf_flight_trigger {
    MKPERF_FLIGHT_STOP = 0, /* a Stop, or it still runs */
    MKPERF_FLIGHT_MARK = 1, /* an application, by MKPERF_OP_HOLD */
    MKPERF_FLIGHT_FAULT = 2,
};

enum mkperf_flight_state { /* of FlightState there */
                           MKPERF_FLIGHT_NONE = 0,
                           MKPERF_FLIGHT_RECORDING = 1,
                           MKPERF_FLIGHT_HELD = 2,
};

/* The numbers are those of ErrorCode in proto/mkperf.proto. */
enum mkperf_session_result {
    MKPERF_RESULT_OK = 0,
    MKPERF_RESULT_MALFORMED = 2,
    MKPERF_RESULT_STATE = 3,
    MKPERF_RESULT_EVENT_UNKNOWN = 4,
    MKPERF_RESULT_EVENT_UNSUPPORTED = 5,
    MKPERF_RESULT_COUNTERS = 6,
    MKPERF_RESULT_RANGE = 7,
    MKPERF_RESULT_NO_PMU = 8,
    MKPERF_RESULT_NO_HOOK = 9,
    MKPERF_RESULT_INTERNAL = 10,
    MKPERF_RESULT_NO_TIMER = 30,
};

enum mkperf_session_limits {
    MKPERF_NAME_BYTES = 32,  /* of an event's name, with its NUL */
    MKPERF_TEXT_BYTES = 160, /* of an error's text, with its NUL */
    MKPERF_DESCRIPTION_BYTES = 64,
    MKPERF_LIST_EVENTS = 8, /* events in one answer to LIST */
    MKPERF_MAX_FREQUENCY = 100000,
    MKPERF_MAX_PERIOD = 0x7fffffff,
    MKPERF_SESSION_PAGE_BYTES = 8192,
    MKPERF_COUNT_PART = 3,               /* threads in one answer to COUNTS */
    MKPERF_EDGE_PART = 12,               /* threads, and edges, in one answer to EDGES */
    MKPERF_MAX_FAULTS = 16,              /* threads whose fault ends a flight recording */
    MKPERF_CORE_RING_BYTES = 256 * 1024, /* data of a core's sample ring */
    MKPERF_OUTPUT_RING_BYTES = 512 * 1024,
    MKPERF_OUTPUT_REGION_BYTES = 0x100000,
    MKPERF_RINGS_REGION_BYTES = 0x200000, /* one page of 2 MiB, see descriptor.h */
};

struct mkperf_session_want {      /* one event of a request */
    char name[MKPERF_NAME_BYTES]; /* empty: raw */
    uint32_t raw;    /* code, if the name is empty or the PMU knows none of that name */
    uint32_t user;   /* != 0: count user mode; neither or both: both */
    uint32_t kernel; /* != 0: count the kernel */
    uint32_t frequency;
    uint64_t period; /* 0: frequency */
    uint32_t count;  /* != 0: count only, period and frequency are not looked at */
    uint32_t group;  /* neighbours with the same number, not 0, count at the same times */
    uint32_t read;   /* != 0: does not sample, rides in the samples of its group's first event */
};

struct mkperf_session_request {
    uint32_t events;
    uint32_t max_frames;
    uint32_t no_jitter;
    uint32_t wake_samples; /* samples for each wake-up of the profiler PD; 0: adapts */
    uint32_t list_first;   /* LIST: index of the first event wanted */
    uint32_t core_bytes;   /* of the core's ring and of the output ring: powers of two, at most */
    uint32_t output_bytes; /* the sizes below; 0: those */
    uint32_t counts_part;  /* COUNTS: 0 totals, from 1 on threads */
    uint32_t per_thread;   /* != 0: count by thread, if the kernel does */
    uint32_t check;        /* != 0: compare the timer's samples with the hook's */
    uint32_t filters;      /* 0: all threads are sampled; else how many of the next */
    uint64_t filter[MKPERF_MAX_FILTERS]; /* identities */
    uint32_t overwrite;                  /* != 0: a flight recording, in output_bytes */
    uint32_t interactions;               /* != 0: software events are counted beside the samples */
    uint32_t faults;                     /* threads whose fault ends the flight recording */
    uint64_t fault[MKPERF_MAX_FAULTS];   /* identities */
    struct mkperf_session_want event[MKPERF_MAX_EVENTS];
};

struct mkperf_session_event {
    char name[MKPERF_NAME_BYTES];
    uint32_t code;
    uint32_t user_counter; /* + 1, 0 = none: the number in records, unique in the session */
    uint32_t kernel_counter;
    uint32_t frequency;
    uint64_t period; /* 0 with a frequency, and when it does not sample */
    uint32_t count;
    uint32_t group;
    uint32_t read;
};

struct mkperf_session_state {
    uint32_t id;
    uint32_t running;
    uint32_t events;
    uint32_t max_frames;
    uint32_t no_jitter;
    uint32_t output_bytes; /* data bytes of the output ring in this session */
    uint32_t turns;        /* more than 1: events take turns */
    uint32_t overwrite;    /* != 0: there is a flight recording; runs only while it is dumped */
    uint32_t timer;        /* != 0: the timer takes the samples, not the hook */
    uint64_t tick_hz;      /* of every time in the session's records; 0 before the first start */
    struct mkperf_session_event event[MKPERF_MAX_EVENTS];
};

/* Totals of the session, see Status in proto/mkperf.proto. */
struct mkperf_session_status {
    uint64_t captured;
    uint64_t lost_ring;
    uint64_t lost_output;
    uint64_t late_events;
    uint64_t spurious;
    uint64_t corrupt;
    uint64_t wakeups;
    uint64_t period[MKPERF_MAX_EVENTS];  /* present, by event */
    uint64_t enabled;                    /* ticks since the start, where events take turns */
    uint64_t running[MKPERF_MAX_EVENTS]; /* and of those while the event had counters */
    struct mkperf_attribution attribution;
};

struct mkperf_session_flight {
    uint32_t state;  /* enum mkperf_flight_state */
    uint32_t why;    /* enum mkperf_flight_trigger, once it is held */
    uint64_t thread; /* identity of the one that faulted */
    uint64_t samples;
    uint64_t overwritten; /* samples that were recorded and gave way to newer ones */
};

struct mkperf_session_info {
    uint64_t boot_id;
    uint32_t counters;
    uint32_t cores;
    char cpu[32];
    char pmu[16];
};

struct mkperf_session_listed {
    char name[MKPERF_NAME_BYTES];
    uint32_t code;
    uint32_t supported;
    char description[MKPERF_DESCRIPTION_BYTES];
};

struct mkperf_session_list {
    uint32_t events;
    uint32_t more;
    struct mkperf_session_listed event[MKPERF_LIST_EVENTS];
};

struct mkperf_session_count { /* one event */
    uint64_t user;
    uint64_t kernel;
    uint64_t running; /* ticks that its counters counted; less than `enabled` when it takes turns */
};

struct mkperf_session_thread_count {
    uint64_t thread; /* identity */
    uint64_t user[MKPERF_MAX_EVENTS];
    uint64_t kernel[MKPERF_MAX_EVENTS];
};

/* A snapshot of a session that counts; the last one of it stays until the next start. */
struct mkperf_session_counts {
    uint64_t enabled; /* ticks since the start; 0: the time is not known */
    uint32_t part;
    uint32_t parts;     /* 1, and more with counts by thread */
    uint32_t turns;     /* 1: all events count all the time */
    uint32_t by_thread; /* != 0: the kernel counts by thread */
    uint32_t events;
    uint32_t threads;
    struct mkperf_session_count event[MKPERF_MAX_EVENTS];         /* of part 0 */
    struct mkperf_session_thread_count thread[MKPERF_COUNT_PART]; /* of the others */
};

struct mkperf_session_edge {
    uint64_t from; /* identities */
    uint64_t to;
    uint64_t calls;
    uint64_t notifications;
};

struct mkperf_session_soft {
    uint64_t thread; /* identity */
    uint64_t count[MKPERF_SOFT_KINDS];
};

/* Software events since the session's start. What is in no thread's and no edge's count is in
 * `total` all the same. */
struct mkperf_session_edges {
    uint64_t enabled; /* ticks since the start; 0: the time is not known */
    uint64_t total[MKPERF_SOFT_KINDS];
    uint64_t records_dropped; /* of faults */
    uint32_t part;
    uint32_t parts;
    uint32_t edges; /* of this part */
    uint32_t threads;
    struct mkperf_session_edge edge[MKPERF_EDGE_PART];
    struct mkperf_session_soft thread[MKPERF_EDGE_PART];
};

struct mkperf_session_error {
    uint32_t code;  /* enum mkperf_session_result */
    uint32_t event; /* index of the event in the request + 1; 0: not about one event */
    char text[MKPERF_TEXT_BYTES];
};

struct mkperf_session_page {
    struct mkperf_session_request request; /* written by the client, everything else is not */
    struct mkperf_session_state state;
    struct mkperf_session_status status;
    struct mkperf_session_info info;
    struct mkperf_session_list list;
    struct mkperf_session_counts counts;
    struct mkperf_session_flight flight;
    struct mkperf_session_edges edges;
    struct mkperf_observe_part observe; /* written by the client, too */
    struct mkperf_observer observer;
    struct mkperf_session_error error;
};

_Static_assert(sizeof(struct mkperf_session_page) <= MKPERF_SESSION_PAGE_BYTES, "session page");
_Static_assert(MKPERF_SESSION_PAGE_BYTES + MKPERF_RING_HEADER_BYTES + MKPERF_OUTPUT_RING_BYTES <=
                   MKPERF_OUTPUT_REGION_BYTES,
               "output region");

/* The output ring in the region whose first byte is at `region`. */
static inline struct mkperf_ring *mkperf_output_ring(uintptr_t region)
{
    return (struct mkperf_ring *)(region + MKPERF_SESSION_PAGE_BYTES);
}

/* The sample ring of a core in the rings' region: each starts at a page. */
static inline struct mkperf_ring *mkperf_core_ring(uintptr_t region, unsigned core)
{
    return (struct mkperf_ring *)(region + core * (uintptr_t)(MKPERF_CORE_RING_BYTES + 4096));
}

/* Where the kernel counts software events, in the rings' region: before the next. */
static inline struct mkperf_soft *mkperf_soft_table(uintptr_t region)
{
    return (struct mkperf_soft *)(region + MKPERF_RINGS_REGION_BYTES - MKPERF_COUNTS_REGION_BYTES -
                                  MKPERF_SOFT_REGION_BYTES);
}

/* Where the kernel counts by thread, in the rings' region: at its end. */
static inline struct mkperf_counts *mkperf_counts_table(uintptr_t region)
{
    return (struct mkperf_counts *)(region + MKPERF_RINGS_REGION_BYTES -
                                    MKPERF_COUNTS_REGION_BYTES);
}

#endif
