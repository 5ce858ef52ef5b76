/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The container of the page's data: one JSON text and columns of numbers.
 *
 * Owns: its layout, little-endian. "mkpv", a version (u32), the length of the JSON text (u32), the
 * text, blanks up to a multiple of 8, the columns, each at a multiple of 8 from the first. The text
 * ends with "columns": {name: [type, offset from the first column, count]}. A column's type is the
 * narrowest of u8, u16, u32, f64 that holds its numbers; f64 is exact up to 2^53. The page's
 * data.js reads it.
 */
#ifndef MKPERF_HOST_PAGE_CONTAINER_H
#define MKPERF_HOST_PAGE_CONTAINER_H

#include "base/base.h"

enum { PAGE_VERSION = 1 };

struct page_bytes { /* grows as it is written */
    uint8_t *p;
    size_t n, room;
};

struct page_columns {
    FILE *json; /* the text without its end: `{"a":1,...`, written by the caller */
    char *text;
    size_t text_length;
    FILE *index;
    char *index_text;
    size_t index_length;
    unsigned columns;
    struct page_bytes data;
};

void page_columns_begin(struct page_columns *c);
void page_column(struct page_columns *c, const char *name, const uint64_t *value, size_t n);

/* A column of n values; `expression` may use i. */
#define PAGE_COLUMN(c, name, n, expression)                        \
    do {                                                           \
        size_t n_ = (n);                                           \
        uint64_t *value_ = mkperf_xcalloc(n_ + 1, sizeof *value_); \
        for (size_t i = 0; i < n_; i++) {                          \
            value_[i] = (expression);                              \
        }                                                          \
        page_column((c), (name), value_, n_);                      \
        free(value_);                                              \
    } while (0)

/* The whole container, which the caller frees. */
struct page_bytes page_columns_finish(struct page_columns *c);

void page_bytes_put(struct page_bytes *b, const void *p, size_t n);
void page_bytes_free(struct page_bytes *b);

/* A JSON string with its quotes, which may stand in an HTML page. Invalid bytes become U+FFFD. */
void page_json_text(const char *text, FILE *out);

#endif
