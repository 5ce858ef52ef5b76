/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Intervals of PDs in the page's data: each of them, or sums where there are more than a page can show.
 *
 * Owns: the lists (one PD in one state on one core) of a stretch of time, and the search for its
 * intervals in a recording that is not in memory. Called by page_schedule.c.
 *
 * Of a stretch with at most `most` intervals each is in a list, in the order of time. Of one with more
 * the page gets `parts` equal parts of it and the time of each list in each part, to the nanosecond;
 * lists of PDs that wait for work are left out. Nothing is lost: the page asks for a shorter stretch.
 */
#ifndef MKPERF_HOST_PAGE_PAGE_INTERVALS_H
#define MKPERF_HOST_PAGE_PAGE_INTERVALS_H

#include "container.h"
#include "profile/scheduling.h"

enum { PAGE_INTERVALS = 1000000 };

struct page_schedule { /* in the order of their ends */
    const struct mkperf_interval *interval;
    size_t intervals;
    const struct mkperf_schedule_call *call;
    size_t calls;
    const struct mkperf_core_interval *gap;
    size_t gaps;
    const struct mkperf_woken *woken; /* in the order of time */
    size_t wokens;
    struct mkperf_schedule *kept; /* not NULL: has intervals and wakings, instead of the arrays */
    uint64_t lost;                /* events, as far as gaps name them */
    uint64_t since_ns;            /* what was before is not known any more; 0: nothing was */
    const struct mkperf_analysis *analysis; /* NULL: none were recorded */
};

/* Calls `each` with blocks of intervals, which contain all that touch from..to and may contain others, in
 * the order of the recording. False: the temporary file cannot be read. */
bool page_intervals_each(const struct page_schedule *s, uint64_t from, uint64_t to,
                         void (*each)(void *self, const struct mkperf_interval *i, size_t n),
                         void *self);

struct page_stretch {
    uint64_t origin;   /* ns: the page's time begins with it */
    uint64_t from, to; /* ns: intervals that touch it */
    size_t most;       /* SIZE_MAX: there is no limit */
};

/* `exact`, `found`, `parts` and `lists` of the JSON text, and columns: page_schedule.h. False as above; then the
 * text and the columns are incomplete. */
bool page_intervals_put(struct page_columns *c, const struct page_schedule *s,
                        const struct page_stretch *stretch, bool *exact);

/* 1 + a PD; 0: nobody. */
static inline uint64_t page_pd_or_none(uint32_t pd)
{
    return pd == MKPERF_SCHED_NOBODY ? 0 : (uint64_t)pd + 1;
}

#endif
