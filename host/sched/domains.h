/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The windows of a domain schedule: when each began, what used it, and what was left.
 *
 * Owns: sums, extremes and counts of each window, and the use of each PD in it. A listener of the analysis. `mkperf budget` shows
 * the result.
 *
 *      window       0 (a)      1 (b)            2 (c)                 0 (a)
 *                |----------|---------------|--------------------|----------|
 *      runs       ██ idle     █████████████▌ ██████ idle           ██ idle
 *                                          ^ was cut: it was ready when its window ended
 *
 * Concept: a window lasts from its event to the next one. Each nanosecond of it is used by a PD, or slack (the idle thread). Only
 * whole windows count: neither the one in which the recording began nor one with missing events.
 */
#ifndef MKPERF_HOST_SCHED_DOMAINS_H
#define MKPERF_HOST_SCHED_DOMAINS_H

#include "analysis.h"

struct mkperf_domain_pd {
    uint32_t pd;
    uint64_t now_ns; /* in the window that is open */
    uint64_t used_ns, most_ns;
    uint64_t cut; /* windows at whose end it was ready or running */
};

struct mkperf_domain_window {
    uint32_t number;
    char domain[MKPERF_DOMAIN_NAME]; /* "?": the schedule is not known */
    uint64_t duration_ns;            /* 0: not known */
    uint64_t count;
    uint64_t length_ns, least_ns, most_ns; /* of all together, of the shortest, of the longest */
    uint64_t slack_ns, least_slack_ns, now_ns; /* now_ns: in the window that is open */
    uint64_t over_ns, over_at;       /* the most that it was too long, and when it ended */
    uint32_t over_pd;                /* what ran then */
    uint64_t began;                  /* the last one; 0: not known */
    uint64_t intervals, interval_ns; /* between the begins of two in succession */
    uint64_t least_interval_ns, most_interval_ns;
    unsigned npds, room;
    struct mkperf_domain_pd *pd;
};

struct mkperf_domains {
    const struct mkperf_analysis *analysis;
    unsigned n, room;
    struct mkperf_domain_window
        *window;       /* in the order of the schedule, those that it does not have last */
    uint64_t frame_ns; /* of the schedule; 0: not known */
    unsigned open;     /* index + 1 of the window that lasts; 0: not known */
    uint64_t ended_ns; /* when the one before it ended */
    uint32_t ended_pd; /* what ran then */
    unsigned ended;    /* index + 1 */
};

/* Attached before the first event of the analysis, and freed after the analysis has ended. */
void mkperf_domains_attach(struct mkperf_domains *d, struct mkperf_analysis *a);
void mkperf_domains_free(struct mkperf_domains *d);

#endif
