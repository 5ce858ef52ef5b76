/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The time of a recording in slices of one length (perf's --time-quantum).
 *
 * Owns: their numbers, in the order of appearance. A slice begins at a multiple of the length, in the
 * target's time.
 */
#ifndef MKPERF_HOST_PROFILE_TIME_SLICES_H
#define MKPERF_HOST_PROFILE_TIME_SLICES_H

#include "base/error.h"
#include "base/hash.h"

enum { MKPERF_TIME_SLICES_MAX = 1 << 20 };

struct mkperf_time_slices {
    uint64_t quantum_ns; /* 0: all of the time is slice 0 */
    struct mkperf_hash numbers;
};

/* The number of the slice with that time. USAGE: there are too many. */
static inline enum mkperf_status mkperf_time_slice(struct mkperf_time_slices *t, uint64_t time_ns,
                                                   uint32_t *slice, struct mkperf_error *e)
{
    uint64_t key = t->quantum_ns != 0 ? time_ns / t->quantum_ns : 0;

    *slice = t->quantum_ns != 0 ? mkperf_hash_number(&t->numbers, &key, 1) : 0;
    return *slice < MKPERF_TIME_SLICES_MAX
               ? MKPERF_OK
               : mkperf_error_set(e, MKPERF_ERR_USAGE,
                                  "--time-quantum: the recording has more than %d of these",
                                  MKPERF_TIME_SLICES_MAX);
}

/* When a slice begins. */
static inline uint64_t mkperf_time_slice_ns(const struct mkperf_time_slices *t, uint32_t slice)
{
    uint32_t words;

    return t->quantum_ns != 0 ? *mkperf_hash_key(&t->numbers, slice, &words) * t->quantum_ns : 0;
}

#endif
