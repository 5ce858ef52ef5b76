/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The display of mkperf top: in place on a terminal, or as tables one after the other.
 *
 * Owns: the display, the keys and the selection. The first line always shows the losses.
 * Called by cmd/cmd_top.c, which owns the session.
 */
#ifndef MKPERF_HOST_TOP_SCREEN_H
#define MKPERF_HOST_TOP_SCREEN_H

#include "top_counts.h"

enum { TOP_TEXT = 512 };

/* A row of the table of charged time: a PD with the time charged to it, or below it a PD that worked on its behalf. */
struct top_charged_row {
    const char *pd;
    char text[TOP_TEXT];
};

struct top_screen {
    /* Set before: */
    const char *target; /* the target that -t names */
    unsigned rows;      /* functions of a printed table; 0: all */
    struct top_counts *counts;
    const struct mkperf_totals *totals;
    bool colour;
    bool curses, paused, quit;
    bool help; /* the keys are explained in place of the tables */
    uint32_t event;
    enum top_sort sort;
    bool charged;   /* the table of PDs shows charged time */
    const char *pd; /* only functions of this PD are shown; NULL: of all PDs */
    uint32_t at;    /* the selected row: PDs first, then functions */
    struct top_list list;
    struct top_charged_row *charged_row; /* shown instead of list.pd if `charged` */
    uint32_t ncharged;
    char message[TOP_TEXT]; /* the last message of the target */
};

/* Starts curses. */
void top_screen_start(struct top_screen *s);
void top_screen_stop(struct top_screen *s);

/* Acts on the keys that were typed. True: the picture must be drawn at once. */
bool top_screen_keys(struct top_screen *s);

/* Makes the lists again, unless the display is paused. */
void top_screen_refresh(struct top_screen *s);
/* Frees the lists. */
void top_screen_free(struct top_screen *s);
void top_screen_draw(struct top_screen *s);
/* Prints the tables, without curses. */
void top_screen_print(const struct top_screen *s, FILE *out);

#endif
