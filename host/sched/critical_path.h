/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The critical path: the chain of runs and waits that determined when something was done.
 *
 * Owns: the walk, backwards from the end. If a PD was woken, the path continues in the PD that woke
 * it. If a PD was ready, it waited for the PD that ran. What a PD did before such a wait is not in the
 * path, because doing it sooner would have changed nothing. The recording does not show what causes an
 * interrupt, so the path contains the wait for an interrupt and continues in the same PD before it.
 *
 * The steps follow each other without a hole, so that their sum is the time from begin to end.
 */
#ifndef MKPERF_HOST_SCHED_CRITICAL_PATH_H
#define MKPERF_HOST_SCHED_CRITICAL_PATH_H

#include "timeline.h"

struct mkperf_path_step {
    struct mkperf_interval what; /* cut to the path's time; pd: that ran or waited */
    /* What ended the wait before this step: how the path came here from the PD of the step before.
     * With MKPERF_SCHED_SWITCH (0): it is the same PD. */
    enum mkperf_sched_kind entered;
    bool irq_known; /* a wait that interrupt `irq` ended */
    uint32_t irq;
};

struct mkperf_path {
    uint64_t from, to;
    size_t n, room;
    struct mkperf_path_step *step; /* in the order of time */
};

/* From `from` to `to`, at which pd was done; the timeline has that window. To be freed. */
void mkperf_path_find(struct mkperf_path *path, const struct mkperf_timeline *t, uint32_t pd,
                      uint64_t from, uint64_t to);
void mkperf_path_free(struct mkperf_path *path);

#endif
