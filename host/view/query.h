/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a page asks for: an event, and which samples of it.
 *
 * Owns: the profile of the samples that are chosen, over the chains of the whole recording. Called
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

/*
 * The whole's profile with the weights of the chosen samples only; frames->profile may be set to
 * it. Free with view_query_free. False: out of memory.
 */
bool view_query_select(const struct view_query *q, const struct report_profile *whole,
                       struct report_profile *out);
void view_query_free(struct report_profile *selected);

#endif
