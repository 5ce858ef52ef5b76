/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of figures: what is counted about a recording as a whole, one row each, and the places
 * where samples are lost.
 *
 * Owns: names and texts of the members of struct mkperf_totals. perf.data's writer and
 * reader, the head of reports, record's summary, JSON Lines and the warnings of all formats (warnings.h)
 * loop over the table. To add a figure: a member in model.h, a row in figures.c, and what counts
 * it.
 */
#ifndef MKPERF_HOST_MODEL_FIGURES_H
#define MKPERF_HOST_MODEL_FIGURES_H

#include <stdio.h>

#include "model.h"

/* A place where samples are lost, by enum mkperf_lost_where. */
struct mkperf_loss_place {
    const char *key;     /* in files and formats; "lost_" before it is its figure's key */
    const char *brief;   /* in the line of progress */
    const char *cause;   /* in reports */
    const char *summary; /* behind "N samples" in record's summary */
};
extern const struct mkperf_loss_place mkperf_loss_places[MKPERF_LOST_PLACES];

/* Returns the number of samples that were lost in all places. */
uint64_t mkperf_lost_sum(const uint64_t lost[MKPERF_LOST_PLACES]);

/* Outputs that print a figure as a line of text or as a member. */
enum mkperf_figure_output {
    MKPERF_FIGURE_HEAD,    /* of reports: "# TITLE TEXT" */
    MKPERF_FIGURE_SUMMARY, /* of record: "  TITLE TEXT" */
    MKPERF_FIGURE_JSON,    /* ,"KEY":N */
    MKPERF_FIGURE_OUTPUTS,
};

/* Sections of an output, each in the order of its rows' numbers. */
enum mkperf_figure_section {
    MKPERF_SECTION_FIRST = 0,   /* head: of the time; JSON: before the losses */
    MKPERF_SECTION_SECOND = 20, /* head: what may be wrong; JSON: counts */
    MKPERF_SECTION_THIRD = 40,  /* JSON: times and the rest */
    MKPERF_SECTION_END = 60,
};

/* Calls member for each figure of a section of JSON, in order, also if it is 0. */
void mkperf_figures_each(enum mkperf_figure_section from, enum mkperf_figure_section to,
                         const struct mkperf_totals *t,
                         void (*member)(void *self, const char *key, uint64_t value), void *self);

/*
 * Calls row for each line that a section of the head or the summary has, in order; what is 0 has none. title:
 * NULL in lines of the summary without one. text may have several lines. warns: numbers are not what they seem.
 */
void mkperf_figures_texts(enum mkperf_figure_output output, enum mkperf_figure_section from,
                          enum mkperf_figure_section to, const struct mkperf_totals *t,
                          void (*row)(void *self, bool warns, const char *title, const char *text),
                          void *self);

/* Prints the lines of a section of the head or the summary. */
void mkperf_figures_print(enum mkperf_figure_output output, enum mkperf_figure_section from,
                          enum mkperf_figure_section to, const struct mkperf_totals *t, FILE *out);

/*
 * Writes the figures as lines `key value` for perf.data. recovered: only those that a recovery can
 * count, since the target's own were lost.
 */
void mkperf_figures_write(const struct mkperf_totals *t, bool recovered, FILE *out);

/* Reads such a line into t. False: no figure has that key. */
bool mkperf_figures_read(struct mkperf_totals *t, const char *key, const char *value);

#endif
