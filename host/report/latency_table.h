/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The output of `mkperf latency`: latencies and critical paths, as tables for people and as rows for programs.
 *
 * Owns: the form. latency_table.c prints text, and latency_values.c prints values with a separator or JSON Lines. Both print
 * the same rows and analysis. A step of a path names the PD that ran or waited, the reason, and the PD that it served.
 */
#ifndef MKPERF_HOST_REPORT_LATENCY_TABLE_H
#define MKPERF_HOST_REPORT_LATENCY_TABLE_H

#include "sched/critical_path.h"
#include "sched/latency_rows.h"

struct report_latency {
    const char *title; /* the file, or the target */
    const struct mkperf_latency_rows *rows;
    const struct mkperf_analysis *analysis; /* NULL: latencies of a target */
    const char *separator;                  /* between values; not used with `json` */
    bool json;
};

void report_latency_print(const struct report_latency *l, FILE *out);
/* Prints one row per line, beginning with its kind. Times are ns. */
void report_latency_values(const struct report_latency *l, FILE *out);

struct report_path {
    const char *title; /* the time that the path explains */
    const struct mkperf_path *path;
    const struct mkperf_analysis *analysis;
};

void report_path_print(const struct report_path *p, FILE *out);
/* Prints rows "path" and "step". The separator is NULL for JSON Lines. */
void report_path_values(const struct report_path *p, const char *separator, FILE *out);

/* The time of all steps of a path that wait for the same thing or run for the same PD. */
struct report_path_sum {
    const struct mkperf_path_step *step; /* the first one */
    uint64_t ns, times;
};
/* Sums up the steps of a path, most time first. Returns their number. The caller frees *sums; the path must live as long. */
size_t report_path_sums(const struct mkperf_path *path, struct report_path_sum **sums);

/* The text of a step, such as "server runs, for client" or "store is ready, driver runs". */
void report_path_text(const struct mkperf_analysis *a, const struct mkperf_path_step *step,
                      char *text, size_t n);

#endif
