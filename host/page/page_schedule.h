/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What scheduling events say, as part of the page's data.
 *
 * Owns: `sched` of the JSON text, its columns, and the answers about a stretch of time. A list has the
 * intervals of one PD in one state on one core, in the order of time. A PD's intervals follow each other
 * without a hole, as those of a timeline (sched/critical_path.h), so that the page finds the same critical paths.
 *
 *   sched: events, lost (counts), from, to (ns since `from`: when they began and ended), cut (live: events before
 *          sched.from are not in the page any more), kinds (names of w_kind), cores (numbers of those with
 *          events), exact, lists [{pd, state, core, first, n}], and if it is not exact: found (the number
 *          of intervals), parts (equal parts of the time from..to); absent: none were recorded
 *   interval  if exact. i_gap (ns since the end of the one before in its list, the first: since `from`),
 *             i_length, i_by (1 + the PD that ran, or on which it waited; 0: not known),
 *             i_for (1 + the PD whose call it serves; 0: none)
 *   part      if not exact. b_ns (ns of the part in the state of the list)
 *   call      in the order of ends: a_delta (ns since the end of the one before, the first: since `from`),
 *             a_wait (until the callee ran with it), a_length (until the reply), a_from, a_to
 *   waking    if not exact, only by notifications and interrupts. w_delta (ns since the one before, the first:
 *             since `from`), w_kind (of kinds), w_from (1 + the PD that sent it; 0: an interrupt, the kernel,
 *             not known), w_to, w_irq, w_ran (1 + ns until its PD ran; 0: not known)
 *   gap       g_from (ns since `from`), g_length, g_core: what ran there is not known
 *
 * A recording with more than PAGE_INTERVALS intervals stays in its temporary files, and the page gets the
 * sums. It asks for a stretch of time: a container with from, to, exact, lists and the like, the columns
 * of intervals or parts, and if it is exact of all wakings, without w_ran.
 */
#ifndef MKPERF_HOST_PAGE_PAGE_SCHEDULE_H
#define MKPERF_HOST_PAGE_PAGE_SCHEDULE_H

#include "page_intervals.h"

/* from: the beginning of the page's time; what was before is cut. lost: by the session's end; while
 * it runs, 0: then those that gaps name count. False: a temporary file cannot be read. */
bool page_schedule_put(struct page_columns *c, const struct page_schedule *s, uint64_t from,
                       uint64_t lost);
/* The answer about from..to, ns since `origin`, with single intervals if there are at most `most`. The
 * caller frees it. Empty: a temporary file cannot be read. Only with `kept`. */
struct page_bytes page_schedule_stretch(const struct page_schedule *s, uint64_t origin,
                                        uint64_t from, uint64_t to, size_t most);
/* The times of the first and the last interval; false: there is none. */
bool page_schedule_span(const struct page_schedule *s, uint64_t *from, uint64_t *to);

#endif
