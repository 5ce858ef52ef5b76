/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts by thread: the table that a kernel fills in at each switch while a session counts.
 *
 * Owns: the table's layout. The table is in the profiler PD's memory, at the address `counts` of
 * the descriptor. Only kernel/counted.c writes it. A kernel that does not report
 * switches has no MKPERF_FEATURE_EVENTS.
 */
#ifndef MKPERF_COUNTS_H
#define MKPERF_COUNTS_H

#include <stdint.h>

#include <mkperf/record.h>
#include <mkperf/wire.h>

enum mkperf_counts_limits {
    /* slots of event i: 2 * i for user mode, 2 * i + 1 for the kernel */
    MKPERF_COUNT_SLOTS = 2 * MKPERF_MAX_EVENTS,
    MKPERF_COUNT_THREADS = 64, /* a power of two: up to 63 PDs of Microkit, and the idle thread */
    MKPERF_COUNTS_REGION_BYTES = 0x8000, /* whole pages that hold the table */
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
};

struct mkperf_counts {
    uint64_t self; /* key of the profiler PD; its events since the last switch to it are missing */
    uint64_t self_sc;
    struct mkperf_counts_thread thread[MKPERF_COUNT_THREADS]; /* open hashing by key and sc */
};

_Static_assert(sizeof(struct mkperf_counts) <= MKPERF_COUNTS_REGION_BYTES, "counts' region");

#endif
