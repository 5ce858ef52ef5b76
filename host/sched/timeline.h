/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling over time: what each PD did when, and what made it ready.
 *
 * Owns: the intervals of a window of time in memory, for the critical path. Filled by
 * an analysis (analysis.h), to which it listens. Memory grows with the events in the
 * window: 40 bytes an interval, 32 an arrow.
 *
 * The intervals of a PD follow each other without a hole, in the order of time. A gap and the time
 * before a PD's first event are MKPERF_PD_UNKNOWN.
 */
#ifndef MKPERF_HOST_SCHED_TIMELINE_H
#define MKPERF_HOST_SCHED_TIMELINE_H

#include "analysis.h"

struct mkperf_lane { /* a PD's intervals */
    struct mkperf_interval *interval;
    size_t n, room;
};

struct mkperf_timeline {
    uint64_t from_ns, to_ns; /* the window: what overlaps it is kept */
    uint32_t npds, pd_room;
    struct mkperf_lane *lane;   /* by PD */
    struct mkperf_woken *arrow; /* in the order of time: calls, replies, notifications, ... */
    size_t narrows, arrow_room;
};

/* Listens to `a`, before its first event. The window is everything: 0 to UINT64_MAX. */
void mkperf_timeline_attach(struct mkperf_timeline *t, struct mkperf_analysis *a, uint64_t from_ns,
                            uint64_t to_ns);
void mkperf_timeline_free(struct mkperf_timeline *t);

/* The intervals of a PD that overlap [from, to): the first in *first. Returns how many. */
size_t mkperf_timeline_intervals(const struct mkperf_timeline *t, uint32_t pd, uint64_t from,
                                 uint64_t to, const struct mkperf_interval **first);
/* The arrows with from <= time < to. */
size_t mkperf_timeline_arrows(const struct mkperf_timeline *t, uint64_t from, uint64_t to,
                              const struct mkperf_woken **first);

#endif
