/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a reader of a recording must know to trust its numbers: one list for all outputs.
 *
 * Owns: which lines it has, their order, and how serious each is. The texts are those of cores.h, figures.h and
 * plausible.h. Exports write it where their format has a place, `mkperf convert` prints it. The head of a
 * report (report/head.c) has the same facts with more detail.
 */
#ifndef MKPERF_HOST_MODEL_WARNINGS_H
#define MKPERF_HOST_MODEL_WARNINGS_H

#include "model.h"

enum mkperf_warning_level {
    MKPERF_NOTE,    /* what is counted, and by how much a number may be wrong */
    MKPERF_WARNING, /* numbers are biased, or are not what they seem */
    MKPERF_ERROR,   /* names are wrong */
    MKPERF_WARNING_LEVELS,
};

extern const char *const mkperf_warning_names[MKPERF_WARNING_LEVELS]; /* "note", ... */

/* Gets a line of the list, without a line's end. */
typedef void mkperf_put_warning(void *self, enum mkperf_warning_level level, const char *text);

/* What the list is made from. pd_name gives the name of a PD, never NULL. */
struct mkperf_warnings {
    const struct mkperf_session *session;
    const struct mkperf_totals *totals;
    const char *(*pd_name)(const void *names, uint32_t pd);
    const void *names;
};

/* Calls put for each line; a recording without problems has none. */
void mkperf_warnings_each(const struct mkperf_warnings *w, mkperf_put_warning *put, void *self);

#endif
