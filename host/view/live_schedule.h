/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the page of a running target shows of its scheduling: the newest part, without a hole.
 *
 * Owns: which part that is. What was before it is not known any more: each PD has an interval of that, and
 * each core a gap. A PD is in the state that it has now until the last event. Called by live.c.
 */
#ifndef MKPERF_HOST_VIEW_LIVE_SCHEDULE_H
#define MKPERF_HOST_VIEW_LIVE_SCHEDULE_H

#include "page/page_schedule.h"
#include "profile/profile.h"

struct view_live_schedule {
    struct mkperf_interval *interval;
    struct mkperf_schedule_call *call;
    struct mkperf_core_interval *gap;
    struct mkperf_woken *woken;
    struct page_schedule shown; /* of the arrays above */
};

/* most: intervals, calls and wakings of each. from_ns: where the page's time begins. Free it. */
void view_live_schedule_take(struct view_live_schedule *s, struct mkperf_profile *p, size_t most,
                             uint64_t from_ns);
void view_live_schedule_free(struct view_live_schedule *s);

#endif
