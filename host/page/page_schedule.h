/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What scheduling events say, as part of the page's data.
 *
 * Owns: `sched` of the JSON text, and these columns. A list has the intervals of one PD in one state
 * on one core, in the order of time; what is in no list is waiting for work.
 *
 *   sched: events, lost (counts), from, to (ns since `from`: when they began and ended), lists
 *          [{pd, state, core, first, n}]; absent: none were recorded
 *   interval  i_gap (ns since the end of the one before in its list, the first: since `from`),
 *             i_length, i_by (1 + the PD that ran, or on which it waited; 0: not known)
 *   call      a_delta (ns since the one before, the first: since `from`), a_wait (until the callee
 *             ran with it), a_length (until the reply), a_from, a_to
 *   gap       g_from (ns since `from`), g_length, g_core, g_lost (events; 0: not known)
 */
#ifndef MKPERF_HOST_PAGE_PAGE_SCHEDULE_H
#define MKPERF_HOST_PAGE_PAGE_SCHEDULE_H

#include "container.h"
#include "profile/schedule.h"

struct page_schedule { /* in the order of their ends */
    const struct mkperf_schedule_interval *interval;
    size_t intervals;
    const struct mkperf_schedule_call *call;
    size_t calls;
    const struct mkperf_schedule_gap *gap;
    size_t gaps;
    const struct mkperf_analysis *analysis; /* NULL: none were recorded */
};

/* from: the beginning of the page's time; what was before is cut. lost: by the session's end; while
 * it runs, 0: then what gaps name counts. */
void page_schedule_put(struct page_columns *c, const struct page_schedule *s, uint64_t from,
                       uint64_t lost);
/* The times of the first and the last interval; false: there is none. */
bool page_schedule_span(const struct page_schedule *s, uint64_t *from, uint64_t *to);

#endif
