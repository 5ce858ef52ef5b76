/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Colours: of shares in text, as perf has them, and of PDs in pictures.
 *
 * Owns: whether text has colours (--color, https://no-color.org), and the palette of PDs.
 */
#ifndef MKPERF_HOST_BASE_COLOUR_H
#define MKPERF_HOST_BASE_COLOUR_H

#include "args.h"

enum mkperf_colour { MKPERF_COLOUR_AUTO, MKPERF_COLOUR_ALWAYS, MKPERF_COLOUR_NEVER };

/* --color[=WHEN] and perf's --stdio-color WHEN, of an enum mkperf_colour. */
extern const struct mkperf_option mkperf_colour_options[];

/* Returns whether to use colours. AUTO does if `out` is a terminal, and neither NO_COLOR nor
 * TERM=dumb forbids it. */
bool mkperf_colour_wanted(enum mkperf_colour when, FILE *out);

/* Per cent from which a share is hot, or warm. */
#define MKPERF_COLOUR_HOT 5.0
#define MKPERF_COLOUR_WARM 0.5

/* Returns the escape sequences before and after a share: "" if it has no colour, or if `on` is
 * false. */
const char *mkperf_colour_begin(bool on, double percent);
const char *mkperf_colour_end(bool on, double percent);

/*
 * ---- the colour of a PD, equal in every picture: flame graph, page, and exports ----
 *
 * The colour depends on the PD's name, and on whether the system has up to 8, up to 12, or more PDs, because fewer colours are
 * farther apart. If two names of one system have the same colour, the later name in alphabetical order gets another colour;
 * mkperf's own PDs are behind all others. Callers give the names of all PDs of a system
 * (profile/profile.h), so that a system has the same colours in all its recordings. The colours are far apart for normal sight,
 * protanopia, deuteranopia and tritanopia (test_pd_colour.c), and black text is legible on them.
 */

enum { MKPERF_PD_COLOURS = 24 };

extern const uint32_t mkperf_pd_palette[MKPERF_PD_COLOURS]; /* 0xrrggbb */
#define MKPERF_COLOUR_IDLE UINT32_C(0xc9cdd1)
#define MKPERF_COLOUR_UNKNOWN UINT32_C(0xa0a0a0)

/* colour[i] becomes the colour of name[i], 0xrrggbb; names are different. From the 25th name on
 * colours repeat. "idle" and "" are grey. */
void mkperf_pd_colours(const char *const *name, size_t n, uint32_t *colour);

/* Returns the colour of the kernel's work for a PD: darker. */
uint32_t mkperf_kernel_colour(uint32_t pd);
/* Returns a mixture of a colour and white; part: 0 (the colour) to 1 (white). */
uint32_t mkperf_lighter(uint32_t colour, double part);

#endif
