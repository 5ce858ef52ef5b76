/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A running session, counted by function over the last seconds.
 *
 * Owns: the sink that `mkperf top` gives to the stream decoder, and the lists that screen.c shows. Time is cut into slices of
 * the target's clock. A window keeps a weight for each of the last TOP_SLICES slices, so it moves in steps of a slice, and no
 * weight is scaled:
 *
 *      slice            ... 40  41  42 ... 70  71        newest = 71, TOP_SLICES = 32
 *      in[slice % 32]        8   9  10      6   7        the window is 40 to 71; slice 72 will replace 40
 *
 * Memory is bounded: after TOP_ROWS_MAX rows, further functions are counted in one row of their PD.
 */
#ifndef MKPERF_HOST_TOP_TOP_H
#define MKPERF_HOST_TOP_TOP_H

#include "model/pds.h"
#include "profile/frames.h"

enum { TOP_SLICES = 32, TOP_ROWS_MAX = 16384 };

/* A weight over time. */
struct top_window {
    uint64_t slice;                      /* the newest slice with a weight */
    struct mkperf_weight in[TOP_SLICES]; /* index: slice % TOP_SLICES */
    struct mkperf_weight all;            /* weight of all samples since the session began */
};

struct top_row {
    uint32_t event, pd;
    char mode; /* mkperf_mode_letter */
    char *name;
    struct top_window weight;
};

struct top_counts {
    /* Set before the session begins: */
    struct mkperf_pds *pds;
    struct mkperf_symbols *symbols; /* NULL: addresses of the kernel get no names */
    uint64_t window_ns;             /* the length of the window in the target's time, not 0 */

    struct mkperf_module *kernel; /* the session's kernel */
    bool all;     /* lists are of the time since the session began, not of the window */
    bool no_idle; /* lists leave out idle, and shares are of the rest */
    struct mkperf_session session;
    struct mkperf_hash keys, pair_keys; /* pair_keys: event, to, by */
    struct top_row *row;
    /* The work of PD `by` on behalf of PD `to`, which may be the same PD (profile/profile.h). */
    struct top_window *pair;
    uint32_t room, pair_room;
    struct mkperf_analysis *sched; /* the analysis of a session with scheduling events; else NULL */
    struct top_window *ran;        /* for each PD the time in ns that it ran */
    uint32_t ran_room;
    struct top_window unknown; /* ns of cores for which events are missing */
    struct top_window *core;   /* index: event * MKPERF_MAX_CORES + core */
    uint32_t core_room;
    uint64_t newest; /* slice */
};

struct mkperf_sink top_counts_sink(struct top_counts *c);
void top_counts_free(struct top_counts *c);

enum top_sort { TOP_BY_SHARE, TOP_BY_NAME, TOP_BY_PD, TOP_SORTS };

struct top_entry {
    const char *pd, *name; /* name: the function; NULL: the whole PD */
    char mode;
    struct mkperf_weight weight;
    double util; /* percentage of one core's time that the PD ran, by scheduling events */
};

/* The lists of the screen: PDs and functions of an event in the window. */
struct top_list {
    struct top_entry *pd, *function;
    uint32_t npds, nfunctions;
    struct mkperf_weight core[MKPERF_MAX_CORES];
    /* the event's total over all PDs, without idle if that is not listed */
    struct mkperf_weight total;
    struct mkperf_weight whole; /* the event's total with idle */
};

/* Makes the lists. `pd`: only functions of this PD; NULL: all. The caller frees them. */
void top_counts_list(const struct top_counts *c, uint32_t event, const char *pd, enum top_sort sort,
                     struct top_list *out);
void top_list_free(struct top_list *l);

/* Stores the charged time of an event in the window. The caller frees it with mkperf_charge_free. */
void top_counts_charge(const struct top_counts *c, uint32_t event, struct mkperf_charge *out);

/*
 * The display of mkperf top: in place on a terminal, or as tables one after the other.
 *
 * Owns: the display, the keys and the selection. The first line always shows the losses.
 * Called by cmd/cmd_top.c, which owns the session.
 */

enum { TOP_TEXT = 512 };

/* A line of the tables of PDs and functions. */
struct top_line {
    const char *pd;
    char text[TOP_TEXT];
};

struct top_screen {
    /* Set before: */
    const char *target; /* the target that -t names */
    uint64_t rows;      /* functions of a printed table; 0: all */
    struct top_counts *counts;
    const struct mkperf_totals *totals;
    bool colour;
    bool curses, paused, quit;
    const char *flow; /* what limits and the queues, in place of the tables; NULL: the tables */
    bool help;        /* the keys are explained in place of the tables */
    uint32_t event;
    enum top_sort sort;
    bool charged;   /* the table of PDs shows charged time */
    const char *pd; /* only functions of this PD are shown; NULL: of all PDs */
    uint32_t at;    /* the index of the selected line in `line` */
    struct top_list list;
    struct mkperf_charge charge;
    struct top_line *line;  /* PDs, of list.pd or of the charged time; then functions */
    uint32_t npds, nlines;  /* the number of lines of PDs; of all lines */
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
/* Prints the lists as one row "top" for programs, in one line. */
void top_screen_values(const struct top_screen *s, struct mkperf_textout *t);

#endif
