/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What mkperf top shows: on a terminal in place, or as tables one after the other.
 *
 * Owns: the display, the keys and their selection. The first line always has the losses.
 * Called by cmd/cmd_top.c, which owns the session.
 */
#ifndef MKPERF_HOST_TOP_SCREEN_H
#define MKPERF_HOST_TOP_SCREEN_H

#include <stdio.h>

#include "top_counts.h"

enum { TOP_TEXT = 512 };

/* A PD with what is charged to it, or below one who worked on its behalf. */
struct top_charged_row {
    const char *pd;
    char text[TOP_TEXT];
};

struct top_screen {
    const char *target; /* set before: of -t */
    unsigned rows;      /* set before: functions of a printed table, 0: all */
    struct top_counts *counts;
    const struct mkperf_totals *totals;
    bool colour;
    bool curses, paused, quit;
    uint32_t event;
    enum top_sort sort;
    bool charged;   /* the PDs' table is of charged time */
    const char *pd; /* zoomed to, NULL: none */
    uint32_t at;    /* selected PD or, after them, function */
    struct top_list list;
    struct top_charged_row *charged_row; /* with charged, instead of list.pd */
    uint32_t ncharged;
    char message[TOP_TEXT]; /* the target's last words */
};

void top_screen_start(struct top_screen *s); /* curses */
void top_screen_stop(struct top_screen *s);

/* Takes the keys that were typed; true if the picture is to be drawn at once. */
bool top_screen_keys(struct top_screen *s);

/* Counts again unless paused. */
void top_screen_refresh(struct top_screen *s);
void top_screen_free(struct top_screen *s); /* what it counted */
void top_screen_draw(struct top_screen *s);
void top_screen_print(const struct top_screen *s, FILE *out); /* without curses */

#endif
