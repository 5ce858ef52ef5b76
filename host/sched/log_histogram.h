/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A histogram with logarithmic buckets, each at most 1/16 wide: of latencies.
 *
 * Owns: the buckets, which are those of LatencyPair in proto/mkperf.proto. The unit of values is the
 * caller's. Memory grows with the greatest value's logarithm, at most 976 buckets.
 */
#ifndef MKPERF_HOST_SCHED_LOG_HISTOGRAM_H
#define MKPERF_HOST_SCHED_LOG_HISTOGRAM_H

#include <stdint.h>

enum { MKPERF_LOG_BUCKETS = 16 * 61 };

struct mkperf_log_histogram {
    uint64_t count, total, max;
    uint32_t room;
    uint64_t *in; /* by bucket */
};

unsigned mkperf_log_bucket(uint64_t value);
/* The least value of a bucket; of MKPERF_LOG_BUCKETS: UINT64_MAX. */
uint64_t mkperf_log_bucket_from(unsigned bucket);

void mkperf_log_add(struct mkperf_log_histogram *h, uint64_t value);
/* n values of a bucket; count, total and max are the caller's. False: there is no such bucket. */
int mkperf_log_add_bucket(struct mkperf_log_histogram *h, uint64_t bucket, uint64_t n);
/*
 * A value that at least `per_mille` thousandths of the values do not exceed: the greatest that its
 * bucket has, and at most the maximum. 0 without values.
 */
uint64_t mkperf_log_quantile(const struct mkperf_log_histogram *h, unsigned per_mille);
void mkperf_log_free(struct mkperf_log_histogram *h);

#endif
