/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call trees: who called a row's function, or what it called.
 *
 * Owns: the tree's nodes and their order. Built below a row by rows.c and the browser, and of whole
 * recordings by mkperf view.
 */
#ifndef MKPERF_HOST_REPORT_ROW_TREE_H
#define MKPERF_HOST_REPORT_ROW_TREE_H

#include "rows.h"

struct report_node {
    uint32_t function;
    uint32_t child, next; /* numbers of nodes; 0 = none (node 0 is the root) */
    uint64_t period;
};

struct report_tree {
    struct report_node *node;
    uint32_t n, room;
};

/* A tree with a root only. False: out of memory. */
bool report_tree_init(struct report_tree *t);
void report_tree_free(struct report_tree *t);

/* The child of `parent` for a function, made if it is new. 0: out of memory. */
uint32_t report_tree_child(struct report_tree *t, uint32_t parent, uint32_t function);

/* The tree of row r of an event, in the order of o->graph; the root is the row. */
enum mkperf_status report_tree_build(struct report_tree *t, const struct report_row *r,
                                     struct mkperf_frames *f, const struct report_options *o,
                                     uint32_t event, struct mkperf_error *e);

/*
 * The children of a node with a period of at least `least`, the largest first; *n of them, to be
 * freed. NULL: there are none, or no memory.
 */
uint32_t *report_tree_children(const struct report_tree *t, const struct mkperf_frames *f,
                               uint32_t node, double least, uint32_t *n);

/* A node's text: share, function, line, and the PD if it is another than the parent's. */
void report_tree_text(const struct report_tree *t, const struct mkperf_frames *f, uint32_t node,
                      uint32_t parent_pd, uint64_t whole, char *text, size_t n);

/* Prints the tree of row r of an event; per cents are of the whole event, as those of rows are. */
enum mkperf_status report_tree_print(const struct report_row *r, struct mkperf_frames *f,
                                     const struct report_options *o, uint32_t event, FILE *out,
                                     struct mkperf_error *e);

#endif
