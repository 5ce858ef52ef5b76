/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The latencies of a session, as the client asks for them: LATENCY (session.h).
 *
 * Owns: struct mkperf_latencies: the histograms of the session (latency.h), the snapshot of them that
 * is being answered, and how it is cut into parts. Called by hook_session.c at a session's start and end,
 * by counting.c when counts are read, and by main.c for LATENCY.
 *
 *   latency --- part 0 is asked for ---> shown, sorted --> part[0] part[1] .. (pairs, run times)
 */
#ifndef MKPERF_PROFILER_LATENCIES_H
#define MKPERF_PROFILER_LATENCIES_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/session.h>

#include "kernel.h"
#include "latency.h"
#include "plan.h"

enum { MKPERF_LATENCY_PARTS = 256 }; /* of an answer: more than the cells of latency.h can fill */

struct mkperf_latencies {
    const struct mkperf_plan *plan;
    struct mkperf_kernel *kernel;
    struct mkperf_latency latency;
    bool on;        /* The last session had latencies. */
    uint64_t began; /* ticks */
    uint64_t ended; /* ticks; 0: it runs */

    /* the snapshot */
    struct mkperf_latency shown;
    struct mkperf_latency_run run[MKPERF_LATENCY_THREADS]; /* how long threads had run at run_at */
    uint64_t run_at;                                       /* ticks; 0: there are no run times */
    unsigned runs;
    uint32_t cells;
    uint32_t parts;
    uint16_t part[MKPERF_LATENCY_PARTS]; /* the position from which each part is (latencies.c) */
};

/* A session is about to begin. */
void mkperf_latencies_begin(struct mkperf_latencies *l);
/* The session was applied. */
void mkperf_latencies_started(struct mkperf_latencies *l);
/* The session ended at that time (ticks), after which threads do not run any more. The first call
 * decides. */
void mkperf_latencies_end(struct mkperf_latencies *l, uint64_t time);
/* Counts were read at `time`, and the rings were emptied since: run times are of the same time. */
void mkperf_latencies_counted(struct mkperf_latencies *l, uint64_t time);
/* Fills a part of the answer; part 0 takes the snapshot. False: *error has the reason. */
bool mkperf_latencies_answer(struct mkperf_latencies *l, uint32_t part, mkperf_Latency *out,
                             mkperf_Error *error);

#endif
