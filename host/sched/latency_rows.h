/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latencies as rows: of the analysis of a recording, or as a target aggregated them.
 *
 * Owns: the rows. `report/` prints them, and `link/` fills the rows of a target. A target may send a pair in pieces, which
 * are added up. All times are nanoseconds. A quantile is the greatest value of its bucket (analysis.h), and at most
 * the maximum.
 */
#ifndef MKPERF_HOST_SCHED_LATENCY_ROWS_H
#define MKPERF_HOST_SCHED_LATENCY_ROWS_H

#include "analysis.h"

enum mkperf_latency_kind { /* the numbers of LatencyKind in proto/mkperf.proto */
                           MKPERF_LATENCY_CALL,
                           MKPERF_LATENCY_NOTIFY,
                           MKPERF_LATENCY_IRQ,
                           MKPERF_LATENCY_EXIT, /* of a guest; only of recordings */
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
    uint64_t busy;                       /* events that found their PD not waiting */
    const struct mkperf_call_edge *edge; /* the parts of its calls or exits; NULL of a target */
    struct mkperf_log_histogram ns;      /* of a target; total and max are ticks until `finish` */
};

/* How long a thread ran, as a target counted it; idle of all cores is one. */
struct mkperf_latency_run {
    char pd[MKPERF_LATENCY_NAME];
    uint64_t thread; /* the identity of the thread */
    uint64_t ticks, ns, runs;
};

struct mkperf_latency_rows {
    unsigned n, room;
    struct mkperf_latency_row *row;
    unsigned nruns, run_room;
    struct mkperf_latency_run *run; /* of a target; most time first */
    uint64_t dropped;               /* latencies for which the target had no row */
    double seconds;                 /* the time for which latencies were counted */
    uint64_t tick_hz;               /* of a target; else 0 */
};

/* Fills count, total, maximum and quantiles. `at`: when the maximum ended. */
void mkperf_latency_times(struct mkperf_latency_row *row, const struct mkperf_log_histogram *h,
                          uint64_t at);
/* Makes the rows of an analysis that has ended. The analysis must live as long as the rows. */
void mkperf_latency_rows_of(const struct mkperf_analysis *a, struct mkperf_latency_rows *rows);
/* The row of a pair that a target sent; a new one if there is none. The caller fills its histogram. */
struct mkperf_latency_row *mkperf_latency_row(struct mkperf_latency_rows *rows,
                                              enum mkperf_latency_kind kind, const char *from,
                                              const char *to, uint32_t irq);
/* Adds n latencies of a bucket of ticks to the bucket of nanoseconds that a recording would count them in. False: there is
 * no such bucket. */
bool mkperf_latency_row_add(struct mkperf_latency_row *row, uint64_t tick_hz, uint64_t bucket,
                            uint64_t n);
/* Adds the run time of a thread. */
void mkperf_latency_run(struct mkperf_latency_rows *rows, const char *pd, uint64_t thread,
                        uint64_t ticks, uint64_t runs);
/* All rows of a target were added: converts times to ns, computes quantiles, and sorts by kind, then most time first. */
void mkperf_latency_rows_finish(struct mkperf_latency_rows *rows);
void mkperf_latency_rows_free(struct mkperf_latency_rows *rows);

#endif
