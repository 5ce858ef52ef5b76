/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a report: chains summed by what the user sorts by.
 *
 * Owns: the options of the table, the rows and their order.
 */
#ifndef MKPERF_HOST_REPORT_ROWS_H
#define MKPERF_HOST_REPORT_ROWS_H

#include "base/percent.h"
#include "columns.h"

enum report_graph { REPORT_GRAPH_NONE, REPORT_GRAPH_CALLERS, REPORT_GRAPH_CALLEES };

struct report_options {
    struct report_column_list keys; /* of rows */
    bool children;
    enum report_graph graph;
    double limit;       /* per cent below which rows are left out */
    double graph_limit; /* the same for branches of call trees */
    const char *pd;     /* only samples of this PD, NULL: all */
    const char *event;  /* only this event, NULL: all */
    bool colour;        /* of shares */
    const char *symbol; /* only rows of this function, NULL: all */
    bool no_idle;       /* no samples of the idle thread; percentages are of the rest */
    bool relative;      /* percentages are of what is shown */
};

struct report_row {
    struct report_row_key key;
    uint32_t first;               /* order of appearance */
    uint32_t first_hit, last_hit; /* of its chains, + 1 in rows' list; 0: none */
    struct mkperf_weight self, children;
};

/* A chain that a row's function is in. */
struct report_hit {
    uint32_t chain, next; /* the row's next one, + 1 */
};

struct report_rows {
    uint32_t event;
    struct mkperf_hash numbers;
    struct report_row *row;
    uint32_t n, room;
    struct report_hit *hit; /* of all rows; none if callers are not kept */
    uint32_t nhits, hit_room;
    struct mkperf_weight shown; /* of the event, after the filters by PD and idle */
    uint64_t whole;             /* period sum that is 100 per cent */
};

struct report_row_key report_row_key(const struct mkperf_frames *f, const struct report_options *o,
                                     uint32_t chain, uint32_t function);

/* A row's share in per cent, with o->children also of what it called; rows below o->limit are left out. */
static inline double report_row_share(const struct report_rows *rows, uint32_t row)
{
    return mkperf_percent(rows->row[row].children.period, rows->whole);
}

/* All rows of an event, sorted. */
void report_rows_build(struct report_rows *rows, struct mkperf_frames *f,
                       const struct report_options *o, uint32_t event);
void report_rows_free(struct report_rows *rows);

#endif
