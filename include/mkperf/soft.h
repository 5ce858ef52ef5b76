/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Software events: what a kernel counts itself, by thread and by who called or notified whom.
 *
 * Owns: the table's layout. It lies in the profiler PD's memory, at the address `soft` of the
 * descriptor, and is written by kernel/soft.c alone. A kernel without it has no
 * MKPERF_FEATURE_SOFT and refuses a request with such events.
 *
 * Names are perf's where perf has one:
 *
 * - context-switches: the thread stopped running and another ran; counted for the one that stopped.
 * - faults: it did what its fault handler (Microkit: the parent PD or the monitor) receives:
 *   memory faults, capability faults, unknown system calls, exceptions. perf's `faults` are memory
 *   faults alone.
 * - ppcalls: its protected call was delivered to the callee (a plain send, too).
 * - notifications: it signalled a notification that is bound to a thread. Interrupts do not count.
 */
#ifndef MKPERF_SOFT_H
#define MKPERF_SOFT_H

#include <stdint.h>

#include <mkperf/counts.h>

enum mkperf_soft_kind {
    MKPERF_SOFT_SWITCH = 0,
    MKPERF_SOFT_FAULT = 1,
    MKPERF_SOFT_PPCALL = 2, /* this and the next have edges */
    MKPERF_SOFT_NOTIFICATION = 3,
    MKPERF_SOFT_KINDS = 4,
};

enum mkperf_soft_limits {
    MKPERF_SOFT_EDGE_KINDS = 2,
    MKPERF_SOFT_EDGES = 512, /* a power of two */
    MKPERF_SOFT_PROBES = 16, /* places that an edge may have; if all are taken, it is not kept */
    MKPERF_SOFT_REGION_BYTES = 0x8000,
};

/* The number of an event of kind 0, and so on; a PMU's numbers have 16 bits. */
#define MKPERF_SOFT_CODE UINT32_C(0x10000)

#define MKPERF_SOFT_ALL ((UINT32_C(1) << MKPERF_SOFT_KINDS) - 1)
/* Of the descriptor's mask: a FAULT record for each fault. */
#define MKPERF_SOFT_FAULT_RECORDS (UINT32_C(1) << 31)

struct mkperf_soft_thread {
    uint64_t key; /* mkperf_counts_key, 0: free */
    uint64_t sc;  /* as in struct mkperf_counts_thread */
    uint64_t count[MKPERF_SOFT_KINDS];
};

struct mkperf_soft_edge {
    uint64_t from; /* keys; from 0: free */
    uint64_t from_sc;
    uint64_t to;
    uint64_t to_sc;
    uint64_t count[MKPERF_SOFT_EDGE_KINDS]; /* protected calls, notifications */
};

/* What has no room is in the totals alone: total minus the sum over threads, or over edges, is what
 * could not be attributed. */
struct mkperf_soft {
    uint64_t total[MKPERF_SOFT_KINDS];
    uint64_t records_dropped; /* FAULT records that the sample ring had no room for */
    struct mkperf_soft_thread thread[MKPERF_COUNT_THREADS]; /* open hashing by key and sc */
    struct mkperf_soft_edge edge[MKPERF_SOFT_EDGES];        /* open hashing by all four */
};

_Static_assert(sizeof(struct mkperf_soft) <= MKPERF_SOFT_REGION_BYTES, "software events' region");

#endif
