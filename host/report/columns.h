/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of columns that report, diff and script share: the names of each column, its text, and the words that tell its
 * rows apart.
 *
 * Owns: the names of sort keys (-s) and fields (-F), and their parsing. A new column is a row in columns.c. If no word of
 * struct report_row_key tells its rows apart, add a word there and in report_columns_key.
 */
#ifndef MKPERF_HOST_REPORT_COLUMNS_H
#define MKPERF_HOST_REPORT_COLUMNS_H

#include "profile/frames.h"

enum report_column_id {
    /* Columns of rows. Some are also fields of samples. */
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
    /* Fields of samples only. */
    REPORT_FIELD_TID = REPORT_SORT_KEYS,
    REPORT_FIELD_PID,
    REPORT_FIELD_PERIOD,
    REPORT_FIELD_IP,
    REPORT_FIELD_SYMOFF,
    REPORT_COLUMNS,
};

/* The key of a row. A word that no chosen column needs is 0. */
struct report_row_key {
    uint32_t pd, name, core, kernel, line, event;
    uint32_t dso;   /* 0: unknown, 1: the kernel, else 2 + the first PD with that ELF */
    uint32_t slice; /* number of the slice of time */
};

/* A list of columns in the order in which they were given, each once. */
struct report_column_list {
    enum report_column_id column[REPORT_COLUMNS];
    unsigned n;
};

bool report_columns_have(const struct report_column_list *list, enum report_column_id column);

/* The key of a row in these columns, for a function of a chain. The event always tells rows apart. */
struct report_row_key report_columns_key(const struct report_column_list *list,
                                         const struct mkperf_frames *f,
                                         const struct mkperf_chain_head *head,
                                         const struct mkperf_label *label);
/* Writes the text of a column of a row into a buffer of n bytes. The column is one of rows. */
void report_column_text(enum report_column_id column, const struct mkperf_frames *f,
                        const struct report_row_key *key, char *buffer, size_t n);
const char *report_column_title(enum report_column_id column);
const char *report_column_name(enum report_column_id column); /* as a sort key */

/*
 * Parses a comma-separated list of columns of rows (-s). Other names that perf uses are known. The names of columns that are
 * always shown (overhead, samples, period) are accepted. Errors: USAGE, with the valid names and the most similar one.
 */
enum mkperf_status report_columns_sort(struct report_column_list *list,
                                       const struct mkperf_given *g);
/* Parses a list of fields (-F) into a set of bits, 1 << column. +NAME and -NAME change the set `standard`. */
enum mkperf_status report_columns_fields(unsigned *fields, unsigned standard,
                                         const struct mkperf_given *g);

/* Lists of names for help and completion (mkperf_list). */
void report_columns_put_keys(mkperf_put *put, void *to);
void report_columns_put_fields(mkperf_put *put, void *to);

#endif
