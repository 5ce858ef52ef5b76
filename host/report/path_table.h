/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A critical path as text for people and as rows for programs (`mkperf latency --critical-path`).
 *
 * Owns: the form. A step says which PD ran or waited, because of which, and for whose call.
 */
#ifndef MKPERF_HOST_REPORT_PATH_TABLE_H
#define MKPERF_HOST_REPORT_PATH_TABLE_H

#include <stdio.h>

#include "sched/critical_path.h"

struct report_path {
    const char *title; /* what it is the path of */
    const struct mkperf_path *path;
    const struct mkperf_analysis *analysis;
};

void report_path_print(const struct report_path *p, FILE *out);
/* Rows "path" and "step" (latency_values.c). separator: NULL: JSON Lines. */
void report_path_values(const struct report_path *p, const char *separator, FILE *out);

/* "server runs, for client", "store is ready, driver runs", ... */
void report_path_text(const struct mkperf_analysis *a, const struct mkperf_path_step *step,
                      char *text, size_t n);

#endif
