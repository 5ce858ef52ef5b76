/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The colour of a PD, the same in every picture: flame graph, page, and what is exported.
 *
 * Owns: the palette and the choice. A PD's colour depends on its name, and on whether the system has up to 8, up to 12,
 * or more PDs: fewer colours are farther apart. If two names of one system want the same colour, the later
 * one in the order of names (mkperf's own PDs are the last) gets another one, in an order that is its own. Callers give the names of all PDs of a system
 * (profile/colours.h), so that it has the same colours in all recordings. The colours are far apart for
 * normal sight, protanopia and deuteranopia (test_pd_colour.c), and black text is legible on them.
 */
#ifndef MKPERF_HOST_BASE_PD_COLOUR_H
#define MKPERF_HOST_BASE_PD_COLOUR_H

#include <stddef.h>
#include <stdint.h>

enum { MKPERF_PD_COLOURS = 24 };

extern const uint32_t mkperf_pd_palette[MKPERF_PD_COLOURS]; /* 0xrrggbb */
#define MKPERF_COLOUR_IDLE UINT32_C(0xc9cdd1)
#define MKPERF_COLOUR_UNKNOWN UINT32_C(0xa0a0a0)

/* colour[i] becomes the colour of name[i], 0xrrggbb; names are different. From the 25th name on
 * colours repeat. "idle" and "" are grey. */
void mkperf_pd_colours(const char *const *name, size_t n, uint32_t *colour);

/* The colour of the kernel's work for a PD: darker. */
uint32_t mkperf_kernel_colour(uint32_t pd);
/* Between a colour and white; part: 0 (the colour) to 1 (white). */
uint32_t mkperf_lighter(uint32_t colour, double part);

#endif
