/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events in the profiler PD.
 *
 * Owns: struct mkperf_sched: which thread a slot stands for, the losses not yet reported, and the
 * snapshot of latencies that is being answered. Called by drain.c for each record (sched.h of
 * include/mkperf), by sampling.c at a session's start and end, and by main.c for LATENCY.
 */
#ifndef MKPERF_PROFILER_SCHED_H
#define MKPERF_PROFILER_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/ring.h>
#include <mkperf/session.h>

#include "latency.h"

struct mkperf_profiler;

enum { MKPERF_SCHED_PARTS = 256 }; /* of an answer: more than the cells of latency.h can fill */

struct mkperf_sched_core {
    uint64_t thread[MKPERF_SCHED_SLOTS]; /* identities, by slot, where the ring is drained, */
    uint64_t merged[MKPERF_SCHED_SLOTS]; /* and where sched_merge.c is */
    uint64_t lost;                       /* events not yet reported in the stream, */
    uint64_t lost_from;                  /* from this time on */
    bool gap;                            /* the last events of this core are missing */
};

struct mkperf_sched {
    bool on;          /* the last session had latencies */
    uint64_t began;   /* ticks */
    uint64_t ended;   /* 0: it runs */
    uint64_t enabled; /* of the snapshot */
    uint32_t cells;   /* of the snapshot */
    uint32_t parts;   /* of the answer, each from this position on (sched.c): */
    uint16_t part[MKPERF_SCHED_PARTS];
    struct mkperf_sched_core core[MKPERF_MAX_CORES];
    struct mkperf_latency latency;
    struct mkperf_latency shown;                           /* the snapshot, and run times */
    struct mkperf_latency_run run[MKPERF_LATENCY_THREADS]; /* at this time; 0: there are none */
    uint64_t run_at;
    unsigned runs;
};

/* A session begins: the configuration's part, before it is applied. False, and *error says so: the
 * kernel has no scheduling events. */
bool mkperf_sched_prepare(struct mkperf_profiler *p, mkperf_Error *error);
/* The session was applied; its counters were stopped; it ended. A session that counts ends with its counters. */
void mkperf_sched_started(struct mkperf_profiler *p);
void mkperf_sched_stopped(struct mkperf_profiler *p);
void mkperf_sched_ended(struct mkperf_profiler *p);
/* A snapshot of counts was taken at `time`, and the rings were emptied since: run times of the same time. */
void mkperf_sched_counted(struct mkperf_profiler *p, uint64_t time);
/* A record of the three types. size: bytes, as the ring gave it. */
void mkperf_sched_take(struct mkperf_profiler *p, struct mkperf_ring_producer *output,
                       const uint64_t *record, unsigned size);
/* sched_merge.c: gives the events of all cores to the latencies, in the order of time. end: by core, up
 * to where its ring was looked at, to be drained; of cores of the session alone. */
void mkperf_sched_merge(struct mkperf_profiler *p, uint64_t *end);
/* The end of a drain: what the hook counted, and losses that no event followed. */
void mkperf_sched_drained(struct mkperf_profiler *p);
/* Answers LATENCY in the session page. False: *error has the reason. */
bool mkperf_sched_answer(struct mkperf_profiler *p, uint32_t part, mkperf_Error *error);

#endif
