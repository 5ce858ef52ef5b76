/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts by thread: the table that a kernel fills in at each switch while a session counts.
 *
 * Owns: the table's layout. It lies in the profiler PD's memory, at the address `counts` of the
 * descriptor, and is written by kernel/counts.c alone. A kernel without it has no
 * MKPERF_FEATURE_COUNTS and refuses a request with such an address.
 */
#ifndef MKPERF_COUNTS_H
#define MKPERF_COUNTS_H

#include <stdint.h>

#include <mkperf/record.h>
#include <mkperf/wire.h>

enum mkperf_counts_limits {
    MKPERF_COUNT_SLOTS = 2 * MKPERF_MAX_EVENTS, /* of an event: 2 * index user, + 1 kernel */
    MKPERF_COUNT_THREADS = 64,                  /* a power of two; Microkit has 63 PDs, and idle */
    MKPERF_COUNTS_REGION_BYTES = 0x8000,        /* whole pages that hold the table */
};

/* A counter that counts is armed with this, so that its value continues in the low 31 bits when the
 * hook arms it again. */
#define MKPERF_COUNT_PERIOD UINT32_C(0x80000000)
#define MKPERF_COUNT_BITS UINT32_C(0x7fffffff)

/* A thread's badge, or identity, as the tables hold it, so that 0 is a free entry. */
static inline uint64_t mkperf_counts_key(uint64_t thread)
{
    return thread + 3;
}

struct mkperf_counts_thread {
    uint64_t key; /* of its fault handler's badge; 0: free */
    uint64_t sc;  /* what counts of its scheduling context's, see sc_if in descriptor.h */
    uint64_t count[MKPERF_COUNT_SLOTS];
};

struct mkperf_counts {
    uint64_t self; /* of the profiler PD; what it counted since it was switched to is missing */
    uint64_t self_sc;
    struct mkperf_counts_thread thread[MKPERF_COUNT_THREADS]; /* open hashing by key and sc */
};

_Static_assert(sizeof(struct mkperf_counts) <= MKPERF_COUNTS_REGION_BYTES, "counts' region");

#endif
