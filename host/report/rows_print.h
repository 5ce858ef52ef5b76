/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a report as text.
 *
 * Owns: the columns, their titles and widths.
 */
#ifndef MKPERF_HOST_REPORT_ROWS_PRINT_H
#define MKPERF_HOST_REPORT_ROWS_PRINT_H

#include "rows.h"
#include "values.h"

/* A row's columns in one line. */
void report_row_text(const struct mkperf_frames *f, const struct report_options *o,
                     const struct report_row *r, char *text, size_t n);

/* The table; trees below its rows with o->graph. */
void report_rows_print(const struct report_rows *rows, struct mkperf_frames *f,
                       const struct report_options *o, FILE *out);

/* rows_values.c: for programs, a row "row" for each row, then one "event"; and at the end of all events
 * one "total", of the recording. */
void report_rows_values(const struct report_rows *rows, const struct mkperf_frames *f,
                        const struct report_options *o, const struct report_values *v);
void report_total_values(const struct mkperf_profile *p, const struct report_values *v);

/* hierarchy.c: a level for each sort key; a line's weight is that of all below it. Rows without
 * o->children and o->graph. */
void report_hierarchy_print(const struct report_rows *rows, const struct mkperf_frames *f,
                            const struct report_options *o, FILE *out);

#endif
