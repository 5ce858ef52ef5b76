/* SPDX-License-Identifier: BSD-2-Clause */
/* A histogram with logarithmic buckets, see analysis.h. */
#include "analysis.h"

const struct mkperf_shape_row mkperf_log_rows[] = {
    MKPERF_SHAPE_BYTES(struct mkperf_log_histogram, count, max),
    MKPERF_SHAPE_ARRAY(struct mkperf_log_histogram, in, room, room, NULL), MKPERF_SHAPE_END};

int mkperf_log_add_bucket(struct mkperf_log_histogram *h, uint64_t bucket, uint64_t n)
{
    if (bucket >= MKPERF_LOG_BUCKETS) {
        return 0;
    }
    MKPERF_GROW(h->in, h->room, bucket + 1);
    h->in[bucket] += n;
    return 1;
}

void mkperf_log_add(struct mkperf_log_histogram *h, uint64_t value, uint64_t n)
{
    h->count += n;
    h->total += n * value;
    h->max = value > h->max ? value : h->max;
    (void)mkperf_log_add_bucket(h, mkperf_log_bucket(value), n);
}

uint64_t mkperf_log_quantile(const struct mkperf_log_histogram *h, unsigned per_mille)
{
    uint64_t sum = 0, values = 0, need;
    unsigned i = 0;

    for (unsigned k = 0; k < h->room; k++) {
        values += h->in[k];
    }
    if (values == 0) {
        return 0;
    }
    need = values / 1000 * per_mille + (values % 1000 * per_mille + 999) / 1000;
    while (i < h->room && (sum += h->in[i]) < need) {
        i++;
    }
    uint64_t most = i + 1 < MKPERF_LOG_BUCKETS ? mkperf_log_bucket_from(i + 1) - 1 : UINT64_MAX;
    return most < h->max ? most : h->max;
}

void mkperf_log_free(struct mkperf_log_histogram *h)
{
    mkperf_shape_free(mkperf_log_rows, h);
}
