/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A histogram of latencies with logarithmic buckets.
 *
 * Owns: the buckets, which are the buckets of LatencyPair in proto/mkperf.proto. The caller chooses the unit of values.
 * Values below 16 have a bucket each. Above, each power of two is divided into 16 buckets, so that a bucket is at most
 * 1/16 of its least value wide:
 *
 *      value    0  1 ... 15 | 16  17 ... 31 | 32,33  34,35 ... 62,63 | 64..67 ...
 *      bucket   0  1 ... 15 | 16  17 ... 31 |   32     33  ...   47  |   48   ...
 *
 * Memory grows with the logarithm of the greatest value, up to MKPERF_LOG_BUCKETS counters.
 */
#ifndef MKPERF_HOST_SCHED_LOG_HISTOGRAM_H
#define MKPERF_HOST_SCHED_LOG_HISTOGRAM_H

#include "base/base.h"

enum { MKPERF_LOG_BUCKETS = 16 * 61 };

struct mkperf_log_histogram {
    uint64_t count, total, max;
    uint32_t room;
    uint64_t *in; /* the number of values in each bucket */
};

/* The bucket of a value. */
unsigned mkperf_log_bucket(uint64_t value);
/* The least value of a bucket; UINT64_MAX for MKPERF_LOG_BUCKETS. */
uint64_t mkperf_log_bucket_from(unsigned bucket);

void mkperf_log_add(struct mkperf_log_histogram *h, uint64_t value);
/* Adds n values to a bucket. The caller sets count, total and max. False: there is no such bucket. */
int mkperf_log_add_bucket(struct mkperf_log_histogram *h, uint64_t bucket, uint64_t n);
/*
 * A value that at least `per_mille` thousandths of the values do not exceed: the greatest value of
 * its bucket, and at most the maximum. 0 without values.
 */
uint64_t mkperf_log_quantile(const struct mkperf_log_histogram *h, unsigned per_mille);
void mkperf_log_free(struct mkperf_log_histogram *h);

#endif
