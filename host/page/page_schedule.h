/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What scheduling events say, as part of the page's data.
 *
 * Owns: `sched` of the JSON text, and these columns. A list has the intervals of one PD in one state
 * on one core, in the order of time. A PD's intervals follow each other without a hole, as those of a
 * timeline (sched/timeline.h), so that the page finds the same critical paths.
 *
 *   sched: events, lost (counts), from, to (ns since `from`: when they began and ended), cut (live: events before
 *          sched.from are not in the page any more), lists
 *          [{pd, state, core, first, n}], kinds (names of w_kind),
 *          cores (numbers of those with events); absent: none were recorded
 *   interval  i_gap (ns since the end of the one before in its list, the first: since `from`),
 *             i_length, i_by (1 + the PD that ran, or on which it waited; 0: not known),
 *             i_for (1 + the PD whose call it serves; 0: none)
 *   call      a_delta (ns since the one before, the first: since `from`), a_wait (until the callee
 *             ran with it), a_length (until the reply), a_from, a_to
 *   waking    w_delta (ns since the one before, the first: since `from`), w_kind (of kinds),
 *             w_from (1 + the PD that sent it; 0: an interrupt, the kernel, not known), w_to, w_irq
 *   gap       g_from (ns since `from`), g_length, g_core: what ran there is not known
 */
#ifndef MKPERF_HOST_PAGE_PAGE_SCHEDULE_H
#define MKPERF_HOST_PAGE_PAGE_SCHEDULE_H

#include "container.h"
#include "profile/schedule.h"

struct page_schedule { /* in the order of their ends */
    const struct mkperf_interval *interval;
    size_t intervals;
    const struct mkperf_schedule_call *call;
    size_t calls;
    const struct mkperf_core_interval *gap;
    size_t gaps;
    const struct mkperf_woken *woken; /* in the order of time */
    size_t wokens;
    uint64_t lost;     /* events, as far as gaps name them */
    uint64_t since_ns; /* what was before is not known any more; 0: nothing was */
    const struct mkperf_analysis *analysis; /* NULL: none were recorded */
};

/* from: the beginning of the page's time; what was before is cut. lost: by the session's end; while
 * it runs, 0: then those that gaps name count. */
void page_schedule_put(struct page_columns *c, const struct page_schedule *s, uint64_t from,
                       uint64_t lost);
/* The times of the first and the last interval; false: there is none. */
bool page_schedule_span(const struct page_schedule *s, uint64_t *from, uint64_t *to);

#endif
