/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The colours of a profile's PDs (base/pd_colour.h): chosen for all PDs of the system, also those without a
 * sample, as far as the recording names them. So they are the same in all recordings of a system.
 *
 * Owns: the set of names and their colours. Called by the flame graph and by the page.
 */
#ifndef MKPERF_HOST_PROFILE_COLOURS_H
#define MKPERF_HOST_PROFILE_COLOURS_H

#include "base/pd_colour.h"
#include "profile.h"

struct mkperf_colours { /* all zero: empty */
    struct mkperf_hash names;
    uint32_t *colour; /* of each of them */
};

/* For a profile, or for two that are shown beside each other; b: NULL. */
void mkperf_colours_choose(struct mkperf_colours *c, const struct mkperf_profile *a,
                           const struct mkperf_profile *b);
/* 0xrrggbb; for a name that is none of them, MKPERF_COLOUR_UNKNOWN. */
uint32_t mkperf_colours_of(struct mkperf_colours *c, const char *name);
void mkperf_colours_free(struct mkperf_colours *c);

#endif
