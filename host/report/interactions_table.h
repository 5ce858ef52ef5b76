/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `mkperf report --interactions`: who called and notified whom, as a table or a graph.
 *
 * Owns: reading them from a recording, their order, and both forms. Nothing is left out of either
 * but what the target had no room for, and that is said.
 */
#ifndef MKPERF_HOST_REPORT_INTERACTIONS_TABLE_H
#define MKPERF_HOST_REPORT_INTERACTIONS_TABLE_H

#include <stdio.h>

#include "base/error.h"
#include "model/interactions.h"

/* One line for each edge, the busiest first, then one for each PD. */
void report_interactions_print(const struct mkperf_interactions *i, const char *path, FILE *out);

/* A directed graph in the DOT language: PDs, an arrow for each edge and kind. */
void report_interactions_dot(const struct mkperf_interactions *i, FILE *out);

/* The whole of it: reads path, writes to output (NULL: standard output). */
enum mkperf_status report_interactions(const char *path, bool dot, const char *output,
                                       struct mkperf_error *e);

#endif
