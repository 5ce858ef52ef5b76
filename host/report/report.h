/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What other folders use of the reports: their head, their tables of rows and of PDs, and the browser.
 *
 * Owns: the declarations of head.c, rows_print.c, interactions_table.c and browser.c. rows.h describes rows, columns.h their
 * columns, values.h the form for programs, latency_table.h the output of `mkperf latency`.
 */
#ifndef MKPERF_HOST_REPORT_REPORT_H
#define MKPERF_HOST_REPORT_REPORT_H

#include "model/interactions.h"
#include "profile/charge.h"
#include "rows.h"
#include "values.h"

/*
 * head.c: prints what a reader must know to trust the numbers below it: origin, losses, warnings. `path` names the
 * recording. With `marks` all marks are listed.
 */
void report_head_print(const struct mkperf_profile *p, const char *path, bool marks, FILE *out);

/* rows_print.c: the columns of a row in one line. */
void report_row_text(const struct mkperf_frames *f, const struct report_options *o,
                     const struct report_row *r, char *text, size_t n);
/* Prints the table of rows, with o->graph also the call tree below each row. */
void report_rows_print(const struct report_rows *rows, struct mkperf_frames *f,
                       const struct report_options *o, FILE *out);
/* Prints rows as a tree with a level for each sort key. The weight of a line includes all lines below it. The rows were built
 * without o->children and o->graph. */
void report_hierarchy_print(const struct report_rows *rows, const struct mkperf_frames *f,
                            const struct report_options *o, FILE *out);
/* For programs: a row "row" for each row, then one "event". */
void report_rows_values(const struct report_rows *rows, const struct mkperf_frames *f,
                        const struct report_options *o, const struct report_values *v);
/* For programs: the row "total" of a recording, after the rows of all events. */
void report_total_values(const struct mkperf_profile *p, const struct report_values *v);

/* interactions_table.c: one line for each edge, the busiest first, then one for each PD. */
void report_interactions_print(const struct mkperf_interactions *i, const char *path, FILE *out);
/* Prints a directed graph in the DOT language: PDs, and an arrow for each edge and kind. */
void report_interactions_dot(const struct mkperf_interactions *i, FILE *out);
/* `mkperf report --interactions`: reads path and writes to output (NULL: standard output). */
enum mkperf_status report_interactions(const char *path, bool dot, const char *output,
                                       struct mkperf_error *e);

/*
 * The titles of the table of charged time (profile/charge.h). `more` is the text of columns before the PD, as wide as that of
 * rows; "" if there are none.
 */
#define REPORT_CHARGED_TITLES(more) " Charged      Self   Imposed  For others" more "  PD"
/* The row of a PD. `more` is its text in those columns, `name` the name of the PD. */
void report_charged_row(const struct mkperf_charge *c, const struct mkperf_charge_pd *pd,
                        const char *more, const char *name, char *text, size_t n);
/* A row below that of a PD: another PD, `name`, worked on its behalf. `more` is the width of those columns. */
void report_charged_by(const struct mkperf_charge *c, const struct mkperf_charge_pair *pair,
                       int more, const char *name, char *text, size_t n);
/* Prints the table of charged time of one event. The last line states how many rows are below `limit` per cent. */
void report_charged_print(const struct mkperf_profile *p, uint32_t event, double limit, FILE *out);

/* browser.c: whether standard input and output are a terminal on which curses can draw. */
bool report_browser_usable(void);
/* Shows the recording that was read from `path` until the user quits. */
void report_browse(struct mkperf_frames *f, const struct report_options *o, const char *path);

#endif
