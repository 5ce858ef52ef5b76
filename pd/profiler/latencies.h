/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The latencies of a session: from the cores' rings to the answers to LATENCY (session.h).
 *
 * Owns: struct mkperf_latencies: the histograms (latency.h), the snapshot of them for the current
 * answers, and its division into parts. Called by drain.c before the rings are emptied, by
 * hook_session.c at a session's start and end, by counting.c when counts are read, and by main.c for
 * LATENCY.
 *
 * A call from core to core is in two rings, so the events of all cores are replayed in the order of
 * time. They are read without releasing them, which needs no memory but a position for each core.
 * The kernel writes events with its lock held, and a request has had the lock since. Everything that
 * is older than the answer is therefore in the rings. What is newer stays there until the next
 * drain, since another core may have something older than that.
 *
 *   ring 0  |1 4 6 9|        until = 8
 *   ring 1  |2 3 7 |   ->    1 2 3 4 6 7 -> latency.c      9 stays
 *
 *   latency --- a request for part 0 ---> shown, sorted --> part[0] part[1] .. (pairs, run times)
 */
#ifndef MKPERF_PROFILER_LATENCIES_H
#define MKPERF_PROFILER_LATENCIES_H

#include "kernel.h"
#include "latency.h"
#include "plan.h"
#include "sched.h"

/* Most parts of an answer; the cells of latency.h fill fewer. */
enum { MKPERF_LATENCY_PARTS = 256 };

struct mkperf_latencies {
    const struct mkperf_plan *plan;
    struct mkperf_kernel *kernel;
    struct mkperf_latency latency;
    /* Threads of the slots, as of the last merged event. */
    struct mkperf_slots slots[MKPERF_TARGET_CORES];
    bool on;        /* The last session had latencies. */
    uint64_t ended; /* ticks; 0: the session runs */

    /* the snapshot */
    struct mkperf_latency shown;
    struct mkperf_latency_run run[MKPERF_LATENCY_THREADS]; /* run times until run_at */
    uint64_t run_at;                                       /* ticks; 0: no run times */
    unsigned runs;
    uint32_t cells;
    uint32_t parts;
    uint16_t part[MKPERF_LATENCY_PARTS]; /* first position of each part (latencies.c) */
};

/* Called before a session begins. */
void mkperf_latencies_begin(struct mkperf_latencies *l);
/* Replays the events of the mask's cores until that time (ticks). ring: by core. end: by core, up
 * to where its ring was read and can be emptied. */
void mkperf_latencies_merge(struct mkperf_latencies *l, uint32_t mask,
                            const struct mkperf_ring_consumer *ring, uint64_t until, uint64_t *end);
/* Called when the session has ended. Run times end at that time (ticks). Later calls for a session
 * have no effect. */
void mkperf_latencies_end(struct mkperf_latencies *l, uint64_t time);
/* Called when counts were read at `time` (ticks), and the rings were emptied afterwards. Takes the
 * run times of that time. */
void mkperf_latencies_counted(struct mkperf_latencies *l, uint64_t time);
/* Fills a part of the answer; part 0 takes the snapshot. False: *error has the reason. */
bool mkperf_latencies_answer(struct mkperf_latencies *l, uint32_t part, mkperf_Latency *out,
                             mkperf_Error *error);

#endif
