/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Colours of shares, as perf has them: red from 5 per cent on, green from 0.5 on.
 *
 * Owns: the choice whether colours are used (--color, https://no-color.org) and which.
 */
#ifndef MKPERF_HOST_BASE_COLOUR_H
#define MKPERF_HOST_BASE_COLOUR_H

#include "args.h"

enum mkperf_colour { MKPERF_COLOUR_AUTO, MKPERF_COLOUR_ALWAYS, MKPERF_COLOUR_NEVER };

/* --color[=WHEN] and perf's --stdio-color WHEN, of an enum mkperf_colour. */
extern const struct mkperf_option_group mkperf_colour_options;

/* AUTO: out is a terminal, and neither NO_COLOR nor TERM=dumb forbids it. */
bool mkperf_colour_wanted(enum mkperf_colour when, FILE *out);

/* Per cent from which a share is hot, or warm. */
#define MKPERF_COLOUR_HOT 5.0
#define MKPERF_COLOUR_WARM 0.5

/* What to print before and after a share. "" if it has no colour, or `on` is false. */
const char *mkperf_colour_begin(bool on, double percent);
const char *mkperf_colour_end(bool on, double percent);

#endif
