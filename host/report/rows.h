/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a report: chains summed by the keys that the user sorts by; and the call trees below them.
 *
 * Owns: the options of the table, the rows and their order, and the trees of callers or callees. `report`, its browser and
 * `diff` build rows of a profile that is complete.
 *
 *      chain (innermost first)     weight     sorted by pd,symbol            self    children
 *      read  <- copy <- main         3        row  client  read                3        3
 *      copy  <- main                 2        row  client  copy                2        5
 *                                             row  client  main                0        5
 *
 * Invariants
 *  1. `self` is the weight of the chains of which the row's function is the innermost one. The sum of `self` over all rows is
 *     `shown`, unless o->symbol selects rows.
 *  2. `children` is the weight of all chains in which the function occurs. A chain counts once, however often it recurs.
 *  3. Rows are sorted by `children`, then by `self`, then by their texts; with the key `time` in the order of time.
 */
#ifndef MKPERF_HOST_REPORT_ROWS_H
#define MKPERF_HOST_REPORT_ROWS_H

#include "columns.h"
#include "profile/tree.h"

enum report_graph { REPORT_GRAPH_NONE, REPORT_GRAPH_CALLERS, REPORT_GRAPH_CALLEES };

struct report_options {
    struct report_column_list keys; /* what tells rows apart */
    bool children;                  /* rows also for functions that only call others */
    enum report_graph graph;
    double limit;       /* rows with fewer per cent are left out */
    double graph_limit; /* branches of call trees with fewer per cent are left out */
    const char *pd;     /* only samples of this PD are shown; NULL: all */
    const char *event;  /* only this event is shown; NULL: all */
    bool colour;        /* shares are in colour */
    const char *symbol; /* only rows of this function are shown; NULL: all */
    bool no_idle;       /* samples of the idle thread are left out; the others are 100 per cent */
    bool relative;      /* the samples that are shown are 100 per cent */
    bool interval;      /* shares are printed with their intervals at 95 % */
};

struct report_row {
    struct report_row_key key;
    uint32_t first;               /* order of appearance */
    uint32_t first_hit, last_hit; /* its chains: indices into `hit`, plus 1; 0: it has none */
    struct mkperf_weight self, children;
};

/* A chain in which a row's function occurs. */
struct report_hit {
    uint32_t chain;
    uint32_t next; /* the next hit of the row: an index, plus 1; 0: it is the last one */
};

struct report_rows {
    uint32_t event;
    struct mkperf_hash numbers;
    struct report_row *row;
    uint32_t n, room;
    struct report_hit *hit; /* of all rows; empty if the profile does not keep callers */
    uint32_t nhits, hit_room;
    struct mkperf_weight shown; /* the samples of the event that pass the filters by PD and idle */
    uint64_t whole;             /* the period sum that is 100 per cent */
};

/* The share of a row in per cent. With o->children it includes the functions that the row's function called. */
static inline double report_row_share(const struct report_rows *rows, uint32_t row)
{
    return mkperf_percent(rows->row[row].children.period, rows->whole);
}

/* Builds all rows of an event, sorted. The caller frees them. */
void report_rows_build(struct report_rows *rows, struct mkperf_frames *f,
                       const struct report_options *o, uint32_t event);
void report_rows_free(struct report_rows *rows);

/*
 * Builds the call tree of row r of rows: its callers or its callees, as o->graph says. The root is the row, and the labels
 * of nodes are functions of f. The children of a node are ordered by weight, greatest first. The caller frees the tree with
 * mkperf_tree_free.
 */
void report_tree_build(struct mkperf_tree *t, const struct report_row *r,
                       const struct report_rows *rows, struct mkperf_frames *f,
                       const struct report_options *o);

/*
 * The text of a node in a tree of samples of `event`: share, function, line, and the PD if it is not parent_pd. `whole` is the
 * period sum that is 100 per cent.
 */
void report_tree_text(const struct mkperf_tree *t, const struct mkperf_frames *f, uint32_t event,
                      uint32_t node, uint32_t parent_pd, uint64_t whole, char *text, size_t n);

/* Prints the call tree of row r. Percentages have the same base as those of rows. */
void report_tree_print(const struct report_row *r, const struct report_rows *rows,
                       struct mkperf_frames *f, const struct report_options *o, FILE *out);

#endif
