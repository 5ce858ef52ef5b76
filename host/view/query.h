/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a page asks for: an event, and which samples of it.
 *
 * Owns: the weights of the samples that are chosen, over the chains of the whole recording. Called
 * by the server for each request.
 */
#ifndef MKPERF_HOST_VIEW_QUERY_H
#define MKPERF_HOST_VIEW_QUERY_H

#include "profile/frames.h"

struct view_query {
    uint32_t event;
    struct report_filter filter;
    const char *pd; /* NULL: all */
};

/* The weights of all samples, while the profile has those of chosen ones. */
struct view_whole {
    struct mkperf_weight *weight, total[MKPERF_MODEL_EVENTS];
};

/* Gives p, with its samples in order, the weights of the chosen samples only, until
 * view_query_restore. */
void view_query_select(const struct view_query *q, struct mkperf_profile *p,
                       struct view_whole *whole);
void view_query_restore(struct mkperf_profile *p, const struct view_whole *whole);

#endif
