/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latencies as rows, wherever they come from: the analysis of a recording, or what a target
 * aggregated.
 *
 * Owns: the rows. A pair that comes in pieces is added up. All times are nanoseconds; a quantile is
 * the greatest value of its bucket (log_histogram.h), at most the maximum.
 */
#ifndef MKPERF_HOST_SCHED_LATENCY_ROWS_H
#define MKPERF_HOST_SCHED_LATENCY_ROWS_H

#include "analysis.h"

enum mkperf_latency_kind { /* as LatencyKind in proto/mkperf.proto */
                           MKPERF_LATENCY_CALL,
                           MKPERF_LATENCY_NOTIFY,
                           MKPERF_LATENCY_IRQ,
                           MKPERF_LATENCY_KINDS,
};
extern const char *const mkperf_latency_kind_names[MKPERF_LATENCY_KINDS];

enum { MKPERF_QUANTILES = 4, MKPERF_LATENCY_NAME = 64 };

struct mkperf_latency_row {
    enum mkperf_latency_kind kind;
    char from[MKPERF_LATENCY_NAME], to[MKPERF_LATENCY_NAME]; /* from: "" of an interrupt */
    uint32_t irq;
    uint64_t count, total, max, max_at;
    uint64_t quantile[MKPERF_QUANTILES]; /* 50, 90, 99, 99.9 % */
    uint64_t busy;                       /* that found their PD not waiting */
    const struct mkperf_call_edge *edge; /* of an analysis: what its calls were made of */
    struct mkperf_log_histogram
        ns; /* of a target; total and max in ticks until they are finished */
};

/* How long a thread ran, as a target counted it; idle of all cores is one. */
struct mkperf_latency_run {
    char pd[MKPERF_LATENCY_NAME];
    uint64_t thread; /* its identity */
    uint64_t ticks, ns, runs;
};

struct mkperf_latency_rows {
    unsigned n, room;
    struct mkperf_latency_row *row;
    unsigned nruns, run_room;
    struct mkperf_latency_run *run; /* of a target; most time first */
    uint64_t dropped;               /* latencies that the target had no row for */
    double seconds;                 /* for which they were counted */
    uint64_t tick_hz;               /* of a target */
};

/* The rows of an analysis that has ended, which must live as long. */
void mkperf_latency_rows_of(const struct mkperf_analysis *a, struct mkperf_latency_rows *rows);
/* A target's row, made if it is new: its histogram is to be filled. row_add: n latencies in a bucket of ticks; they
 * are in the bucket of nanoseconds that those would be in, in a recording. False: there is no such bucket. */
struct mkperf_latency_row *mkperf_latency_row(struct mkperf_latency_rows *rows,
                                              enum mkperf_latency_kind kind, const char *from,
                                              const char *to, uint32_t irq);
bool mkperf_latency_row_add(struct mkperf_latency_row *row, uint64_t tick_hz, uint64_t bucket,
                            uint64_t n);
void mkperf_latency_run(struct mkperf_latency_rows *rows, const char *pd, uint64_t thread,
                        uint64_t ticks, uint64_t runs);
/* All of a target's came: times in ns, and quantiles; calls first, most time first. */
void mkperf_latency_rows_finish(struct mkperf_latency_rows *rows);
void mkperf_latency_rows_free(struct mkperf_latency_rows *rows);

#endif
