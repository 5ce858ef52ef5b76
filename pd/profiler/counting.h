/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting: sessions whose events are counted and not sampled.
 *
 * Owns: struct mkperf_counting: which events count now, and the last snapshot of all counts. Called by
 * hook_session.c at a session's start and end and after each drain, and by main.c for COUNTS. Events that
 * do not fit into the counters are multiplexed; an overflow of the plan's clock ends a slice.
 *
 *   count of an event = tally (whole overflows) + value of its counter, of each core
 *
 * The hook arms a counter again after an overflow and writes a record, so a counter's value and the
 * tally belong together if no record came after the value was read.
 */
#ifndef MKPERF_COUNTING_H
#define MKPERF_COUNTING_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/counts.h>
#include <mkperf/session.h>

#include "drain.h"
#include "latencies.h"

struct mkperf_counting_thread {
    uint64_t identity;
    uint64_t count[MKPERF_COUNT_SLOTS];
};

struct mkperf_counting {
    const struct mkperf_plan *plan;
    struct mkperf_kernel *kernel;
    struct mkperf_drain *drain;
    struct mkperf_latencies *latencies;
    const struct mkperf_soft *soft;      /* the kernel's table of software events */
    struct mkperf_counts *table;         /* by thread; the kernel writes it */
    uint32_t slice;                      /* now */
    uint64_t rotated;                    /* completed slices */
    uint64_t began;                      /* ticks; 0: not known */
    uint64_t resumed;                    /* ticks: when the current slice began */
    uint64_t running[MKPERF_MAX_EVENTS]; /* ticks in completed slices */

    /* the snapshot */
    uint64_t now;
    uint64_t by_core[MKPERF_TARGET_CORES][MKPERF_COUNT_SLOTS];
    uint64_t count[MKPERF_COUNT_SLOTS]; /* of all cores */
    uint64_t ran[MKPERF_MAX_EVENTS];
    uint32_t cores; /* those that it is of, if the kernel has several, bit = number */
    uint32_t threads;
    struct mkperf_counting_thread thread[MKPERF_COUNT_THREADS];
};

/* Begins a session that counts: its first slice in the configuration, before it is applied. */
void mkperf_counting_begin(struct mkperf_counting *c);
/* The session was applied, and counts. */
void mkperf_counting_started(struct mkperf_counting *c);
/* The counters were stopped: the last snapshot. While the hook still has the session. */
void mkperf_counting_end(struct mkperf_counting *c);
/* After a drain: the next slice, if it is due. */
void mkperf_counting_rotate(struct mkperf_counting *c);
/* Fills a part of the answer to COUNTS; part 0 takes a snapshot of a running session. False: *error
 * has the reason. */
bool mkperf_counting_answer(struct mkperf_counting *c, uint32_t part, bool running,
                            mkperf_Counts *out, mkperf_Error *error);

#endif
