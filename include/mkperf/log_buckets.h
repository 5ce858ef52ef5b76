/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The buckets of histograms, in which the profiler PD counts latencies and the host times of all kinds.
 *
 * Values below 16 have a bucket each. From there on, each power of two is divided into 16 buckets, so that
 * a bucket is at most a sixteenth of its least value wide:
 *
 *     value    0  1 .. 15  16 .. 31  32,33  34,35 .. 62,63  64-67 ..
 *     bucket   0  1 .. 15  16 .. 31     32     33 ..    47     48 ..
 */
#ifndef MKPERF_LOG_BUCKETS_H
#define MKPERF_LOG_BUCKETS_H

#include <stdint.h>

enum { MKPERF_LOG_BUCKETS = 16 * 61, MKPERF_LOG_LINEAR = 16, MKPERF_LOG_SHIFT = 4 };

/* Returns the bucket of a value. */
static inline unsigned mkperf_log_bucket(uint64_t value)
{
    if (value < MKPERF_LOG_LINEAR) {
        return (unsigned)value;
    }
    unsigned shift = 63 - (unsigned)__builtin_clzll(value) - MKPERF_LOG_SHIFT;
    return MKPERF_LOG_LINEAR * shift + (unsigned)(value >> shift);
}

/* Returns the least value of a bucket; UINT64_MAX for MKPERF_LOG_BUCKETS. */
static inline uint64_t mkperf_log_bucket_from(unsigned bucket)
{
    if (bucket < MKPERF_LOG_LINEAR) {
        return bucket;
    }
    if (bucket >= MKPERF_LOG_BUCKETS) {
        return UINT64_MAX;
    }
    return (uint64_t)(MKPERF_LOG_LINEAR + bucket % MKPERF_LOG_LINEAR)
           << (bucket / MKPERF_LOG_LINEAR - 1);
}

#endif
