/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `mkperf latency`'s output: tables for people, rows for programs.
 *
 * Owns: the form. latency_table.c prints text, latency_values.c values with a separator or JSON
 * Lines; both from the same rows and analysis.
 */
#ifndef MKPERF_HOST_REPORT_LATENCY_TABLE_H
#define MKPERF_HOST_REPORT_LATENCY_TABLE_H

#include <stdio.h>

#include "sched/latency_rows.h"

struct report_latency {
    const char *title; /* file or target */
    const struct mkperf_latency_rows *rows;
    const struct mkperf_analysis *analysis; /* NULL: of a target, latencies alone */
    const char *separator;                  /* of values; NULL with `json` */
    bool json;
};

void report_latency_print(const struct report_latency *l, FILE *out);
/* One row a line, its kind first. Times in ns. */
void report_latency_values(const struct report_latency *l, FILE *out);

#endif
