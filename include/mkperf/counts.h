/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts by thread: of the PMU's events, which a kernel adds at each switch while a session counts, and of
 * software events (soft.h).
 *
 * Owns: the layout of the table, which is one of the session's tables (tables.h). Only kernel/counted.c
 * writes it, except that the profiler PD adds what it found out about stacks. A kernel that does not report
 * switches has no MKPERF_FEATURE_EVENTS.
 */
#ifndef MKPERF_COUNTS_H
#define MKPERF_COUNTS_H

#include <stdint.h>

#include <mkperf/record.h>
#include <mkperf/soft.h>
#include <mkperf/wire.h>

enum mkperf_counts_limits {
    /* slots of event i: 2 * i for user mode, 2 * i + 1 for the kernel */
    MKPERF_COUNT_SLOTS = 2 * MKPERF_MAX_EVENTS,
    MKPERF_COUNT_THREADS = 64, /* a power of two: up to 63 PDs of Microkit, and the idle thread */
};

/* A counter that does not sample is armed with this period. Its value then continues in the low 31
 * bits when the hook arms it again. */
#define MKPERF_COUNT_PERIOD UINT32_C(0x80000000)
#define MKPERF_COUNT_BITS UINT32_C(0x7fffffff)

/* Returns the key in the tables of a thread's badge or identity. No thread has key 0, which marks a
 * free entry. */
static inline uint64_t mkperf_counts_key(uint64_t thread)
{
    return thread + 3;
}

struct mkperf_counts_thread {
    uint64_t key; /* mkperf_counts_key of the badge of its fault handler; 0: free */
    uint64_t sc;  /* compared bits of its scheduling context's badge, see sc_if in descriptor.h */
    uint64_t count[MKPERF_COUNT_SLOTS];
    uint64_t soft[MKPERF_SOFT_KINDS];
    struct mkperf_soft_stack stack; /* The kernel writes `least`, the profiler PD the others. */
};

/* Only the totals include software events for which the table had no room. The total minus the sum over
 * threads, or over edges, is the number of events that could not be attributed. */
struct mkperf_counts {
    uint64_t total[MKPERF_SOFT_KINDS];
    uint64_t records_dropped; /* FAULT records that did not fit into the sample ring */
    struct mkperf_counts_thread thread[MKPERF_COUNT_THREADS]; /* open hashing by key and sc */
    struct mkperf_soft_edge edge[MKPERF_SOFT_EDGES]; /* open hashing by all words before count */
};

#endif
