/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events of all cores in the order of time, for the latencies: a call from core to core
 * is in two rings.
 *
 * Owns: struct mkperf_merge. Called by drain.c before the rings are emptied. It reads their records
 * without releasing them, so it needs no memory but a position for each core. The kernel writes
 * events with its lock held, and a request has had the lock since: all that is older than the
 * answer is in the rings. What is newer stays there until the next drain, since another core may
 * have something older than that.
 *
 *   ring 0  |1 4 6 9|        until = 8
 *   ring 1  |2 3 7 |   ->    1 2 3 4 6 7 -> latency.c      9 stays
 */
#ifndef MKPERF_PROFILER_RING_MERGE_H
#define MKPERF_PROFILER_RING_MERGE_H

#include <stdint.h>

#include <mkperf/ring.h>
#include <mkperf/session.h>

#include "latency.h"
#include "sched.h"

struct mkperf_merge {
    struct mkperf_latency *latency;
    struct mkperf_slots slots[MKPERF_TARGET_CORES]; /* as far as events were merged */
};

void mkperf_merge_begin(struct mkperf_merge *m);
/* Gives the events of the mask's cores to the latencies, those until that time (ticks). ring: by
 * core. end: by core, up to where its ring was read and can be emptied. */
void mkperf_merge_events(struct mkperf_merge *m, uint32_t mask,
                         const struct mkperf_ring_consumer *ring, uint64_t until, uint64_t *end);

#endif
