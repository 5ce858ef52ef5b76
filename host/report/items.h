/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list that the report browser shows: rows, and below a row that is open its call tree.
 *
 * Owns: the items and the trees. A row's tree is built when it is opened and lives until the rows
 * are built again; its nodes share it. Called by browser.c, which owns screen and keys.
 */
#ifndef MKPERF_HOST_REPORT_ITEMS_H
#define MKPERF_HOST_REPORT_ITEMS_H

#include "row_tree.h"

enum { REPORT_ITEM_TEXT = 1400 };

struct report_item {
    uint32_t row, node; /* node 0: the row itself */
    uint32_t pd;        /* of its function */
    int depth;
    bool open;
    struct mkperf_tree *tree; /* NULL: the row was never opened */
};

struct report_items {
    struct mkperf_frames *frames; /* these three are set before */
    struct report_options options;
    uint32_t event;
    struct report_rows rows;
    struct report_item *item;
    size_t n, room;
};

/* Builds the rows of the event again. */
void report_items_build(struct report_items *l);
void report_items_free(struct report_items *l);

/*
 * Opens an item, and what is below it as long as there is no choice. Returns why it cannot be
 * opened, or NULL.
 */
const char *report_items_open(struct report_items *l, size_t at);
void report_items_close(struct report_items *l, size_t at);

/* The item that holds the one at `at`; `at` itself if it is a row. */
size_t report_items_parent(const struct report_items *l, size_t at);

void report_items_text(const struct report_items *l, size_t at, char *text, size_t n);

#endif
