/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answers to the operation LATENCY (session.h): the latencies of a session.
 *
 * Owns: struct mkperf_latencies: the histograms of the session (latency.h), the snapshot of them
 * for the current answers, and its division into parts. Called by hook_session.c at a session's
 * start and end, by counting.c when counts are read, and by main.c for LATENCY.
 *
 *   latency --- a request for part 0 ---> shown, sorted --> part[0] part[1] .. (pairs, run times)
 */
#ifndef MKPERF_PROFILER_LATENCIES_H
#define MKPERF_PROFILER_LATENCIES_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/session.h>

#include "kernel.h"
#include "latency.h"
#include "plan.h"

enum { MKPERF_LATENCY_PARTS = 256 }; /* of an answer; the cells of latency.h fill fewer */

struct mkperf_latencies {
    const struct mkperf_plan *plan;
    struct mkperf_kernel *kernel;
    struct mkperf_latency latency;
    bool on;        /* The last session had latencies. */
    uint64_t began; /* ticks */
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
/* Called when the session was applied. */
void mkperf_latencies_started(struct mkperf_latencies *l);
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
