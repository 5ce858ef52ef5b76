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

/* Leaves out the records of an array of n for which `keep`, which may use i, is false. */
#define VIEW_KEEP(array, n, keep)              \
    do {                                       \
        size_t kept_ = 0;                      \
        for (size_t i = 0; i < (n); i++) {     \
            if (keep) {                        \
                (array)[kept_++] = (array)[i]; \
            }                                  \
        }                                      \
        (n) = kept_;                           \
    } while (0)

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
