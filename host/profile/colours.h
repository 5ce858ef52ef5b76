/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The colours of the PDs of a profile (base/colour.h). They are chosen for all PDs of the system that the recording names, also
 * for PDs without a sample. Therefore a PD has one colour in all recordings of a system.
 *
 * Owns: the set of names and their colours. The flame graph and the page use it.
 */
#ifndef MKPERF_HOST_PROFILE_COLOURS_H
#define MKPERF_HOST_PROFILE_COLOURS_H

#include "base/colour.h"
#include "profile.h"

struct mkperf_colours { /* all zero: empty */
    struct mkperf_hash names;
    uint32_t *colour; /* one for each name */
};

/* Chooses the colours for a profile, or for two that are shown together; b may be NULL. */
void mkperf_colours_choose(struct mkperf_colours *c, const struct mkperf_profile *a,
                           const struct mkperf_profile *b);
/* The colour of a name as 0xrrggbb; MKPERF_COLOUR_UNKNOWN for other names. */
uint32_t mkperf_colours_of(struct mkperf_colours *c, const char *name);
void mkperf_colours_free(struct mkperf_colours *c);

#endif
