/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of columns that report, diff and script share: what each is called, by which of them,
 * what tells rows apart in it, and its text.
 *
 * Owns: the names of sort keys (-s) and fields (-F) and their parsing. To add a column: a row in
 * columns.c; if nothing in struct report_row_key tells its rows apart, a word there and in report_columns_key.
 */
#ifndef MKPERF_HOST_REPORT_COLUMNS_H
#define MKPERF_HOST_REPORT_COLUMNS_H

#include "profile/frames.h"

enum report_column_id {
    /* of rows, and some of samples too: */
    REPORT_SORT_PD,
    REPORT_SORT_SYMBOL,
    REPORT_SORT_EVENT,
    REPORT_SORT_CORE,
    REPORT_SORT_MODE,
    REPORT_SORT_LINE,
    REPORT_SORT_DSO,
    REPORT_SORT_TIME,
    REPORT_SORT_UTIL,
    REPORT_SORT_KEYS,
    /* of samples alone: */
    REPORT_FIELD_TID = REPORT_SORT_KEYS,
    REPORT_FIELD_PID,
    REPORT_FIELD_PERIOD,
    REPORT_FIELD_IP,
    REPORT_FIELD_SYMOFF,
    REPORT_COLUMNS,
};

/* What a row stands for; what is not sorted by is 0. */
struct report_row_key {
    uint32_t pd, name, core, kernel, line, event;
    uint32_t dso;   /* 0: unknown, 1: the kernel's, else 2 + the first PD with that ELF */
    uint32_t slice; /* of time */
};

/* A list of columns in the order in which they were given, each once. */
struct report_column_list {
    enum report_column_id column[REPORT_COLUMNS];
    unsigned n;
};

bool report_columns_have(const struct report_column_list *list, enum report_column_id column);

/* What tells rows apart in these columns, for a function of a chain; and the event, always. */
struct report_row_key report_columns_key(const struct report_column_list *list,
                                         const struct mkperf_frames *f,
                                         const struct mkperf_chain_head *head,
                                         const struct mkperf_label *label);
/* The text of a column of a row: in buffer, of n bytes. Only of columns of rows. */
void report_column_text(enum report_column_id column, const struct mkperf_frames *f,
                        const struct report_row_key *key, char *buffer, size_t n);
const char *report_column_title(enum report_column_id column);
const char *report_column_name(enum report_column_id column); /* its key */

/*
 * Takes a comma-separated list of columns of rows (-s). Other names of perf are known; those of
 * columns that are always there (overhead, samples, period) are accepted. Errors: USAGE,
 * with the valid names and the most similar one.
 */
enum mkperf_status report_columns_sort(struct report_column_list *list,
                                       const struct mkperf_given *g);
/* Takes a list of fields (-F) into a set of bits, 1 << column; +NAME and -NAME change `standard`. */
enum mkperf_status report_columns_fields(unsigned *fields, unsigned standard,
                                         const struct mkperf_given *g);

/* Lists for help and completion (mkperf_list). */
void report_columns_put_keys(mkperf_put *put, void *to);
void report_columns_put_fields(mkperf_put *put, void *to);

#endif
