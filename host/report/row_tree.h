/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call trees: who called a row's function, or what it called.
 *
 * Owns: the tree's nodes and their order. Built below a row by rows.c and the browser, and of whole
 * recordings by mkperf view.
 */
#ifndef MKPERF_HOST_REPORT_ROW_TREE_H
#define MKPERF_HOST_REPORT_ROW_TREE_H

#include "profile/tree.h"
#include "rows.h"

/* The tree of row r of rows, in the order of o->graph; the root is the row, labels are functions
 * of f. Children of a node: the heaviest first. Free it with mkperf_tree_free. */
void report_tree_build(struct mkperf_tree *t, const struct report_row *r,
                       const struct report_rows *rows, struct mkperf_frames *f,
                       const struct report_options *o);

/* A node's text: share, function, line, and the PD if it is another than the parent's; in a tree of
 * samples of `event`. */
void report_tree_text(const struct mkperf_tree *t, const struct mkperf_frames *f, uint32_t event,
                      uint32_t node, uint32_t parent_pd, uint64_t whole, char *text, size_t n);

/* Prints the tree of row r; per cents are of the whole event, as those of rows are. */
void report_tree_print(const struct report_row *r, const struct report_rows *rows,
                       struct mkperf_frames *f, const struct report_options *o, FILE *out);

#endif
