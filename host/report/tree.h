/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call trees below the rows of a report: who called a row's function, or what it called.
 *
 * Owns: the tree of one row while it is printed. Called by rows.c.
 */
#ifndef MKPERF_HOST_REPORT_TREE_H
#define MKPERF_HOST_REPORT_TREE_H

#include "rows.h"

/* Prints the tree of row r of an event; per cents are of the whole event, as those of rows are. */
enum mkperf_status report_tree_print(const struct report_row *r, struct report_frames *f,
                                     const struct report_options *o, uint32_t event, FILE *out,
                                     struct mkperf_error *e);

#endif
