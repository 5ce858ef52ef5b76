/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a report: chains summed by what the user sorts by.
 *
 * Owns: the options of the table, the rows and their order.
 */
#ifndef MKPERF_HOST_REPORT_ROWS_H
#define MKPERF_HOST_REPORT_ROWS_H

#include "profile/frames.h"

enum report_sort_key {
    REPORT_SORT_PD,
    REPORT_SORT_SYMBOL,
    REPORT_SORT_EVENT,
    REPORT_SORT_CORE,
    REPORT_SORT_MODE,
    REPORT_SORT_LINE,
    REPORT_SORT_KEYS,
};

enum report_graph { REPORT_GRAPH_NONE, REPORT_GRAPH_CALLERS, REPORT_GRAPH_CALLEES };

struct report_options {
    enum report_sort_key key[REPORT_SORT_KEYS];
    unsigned nkeys;
    bool children;
    enum report_graph graph;
    double limit;       /* per cent below which rows are left out */
    double graph_limit; /* the same for branches of call trees */
    const char *pd;     /* only samples of this PD, NULL: all */
    const char *event;  /* only this event, NULL: all */
    bool colour;        /* of shares */
    const char *symbol; /* only rows of this function, NULL: all */
};

/* What a row stands for; what is not sorted by is 0. */
struct report_row_key {
    uint32_t pd, name, core, kernel, line, event;
};

struct report_row {
    struct report_row_key key;
    uint32_t first; /* order of appearance */
    struct mkperf_weight self, children;
};

struct report_rows {
    struct mkperf_hash numbers;
    struct report_row *row;
    uint32_t n, room;
    struct mkperf_weight shown; /* of the event, after the filter by PD */
};

extern const char *const report_sort_names[REPORT_SORT_KEYS];

bool report_sorts_by(const struct report_options *o, enum report_sort_key key);

/* Does a chain have weight, pass the filter by PD, and belong to the event? */
bool report_chain_wanted(const struct mkperf_frames *f, const struct report_options *o,
                         uint32_t event, uint32_t chain);

struct report_row_key report_row_key(const struct mkperf_frames *f, const struct report_options *o,
                                     uint32_t chain, uint32_t function);

/* All rows of an event, sorted. */
enum mkperf_status report_rows_build(struct report_rows *rows, struct mkperf_frames *f,
                                     const struct report_options *o, uint32_t event,
                                     struct mkperf_error *e);
void report_rows_free(struct report_rows *rows);

#endif
