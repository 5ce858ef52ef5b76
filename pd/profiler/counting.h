/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting: sessions whose events are counted and not sampled.
 *
 * Owns: struct mkperf_counting. A counter counts 2^31 events from arming to overflow; the hook's
 * record of an overflow stands for those, so no counter wraps unnoticed and the count is exact at
 * any time. Events that do not fit into the counters are multiplexed; an overflow of the plan's
 * clock ends a slice.
 */
#ifndef MKPERF_COUNTING_H
#define MKPERF_COUNTING_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/counts.h>
#include <mkperf/session.h>

struct mkperf_core;
struct mkperf_profiler;

struct mkperf_counting {
    uint32_t slice; /* now */
    uint32_t mask;  /* counters that count in it */
    uint8_t slot[MKPERF_MAX_COUNTERS];
    bool expired;     /* the clock: the slice is over */
    uint64_t rotated; /* completed slices */
    uint64_t began;   /* ticks; 0: not known */
    uint64_t resumed; /* when the current slice began */
    uint64_t running[MKPERF_MAX_EVENTS];
    /* of each core, without the counters' current values */
    uint64_t total[MKPERF_TARGET_CORES][MKPERF_COUNT_SLOTS];
    uint64_t last[MKPERF_TARGET_CORES]; /* time of the last record in it */

    /* the snapshot */
    uint64_t now;
    uint64_t by_core[MKPERF_TARGET_CORES][MKPERF_COUNT_SLOTS];
    uint64_t count[MKPERF_COUNT_SLOTS]; /* of all cores */
    uint64_t ran[MKPERF_MAX_EVENTS];
    uint32_t cores; /* those that it is of, if the kernel has several, bit = number */
    uint32_t threads;
    struct mkperf_counts_thread thread[MKPERF_COUNT_THREADS];
};

/* Begins a session that counts: its first slice in the configuration. Before it is applied. */
void mkperf_counting_begin(struct mkperf_profiler *p);
/* The session was applied, and counts. */
void mkperf_counting_started(struct mkperf_profiler *p);
/* The counters were stopped: the last snapshot. While the hook still has the session. */
void mkperf_counting_end(struct mkperf_profiler *p);
/* The time, in ticks, from the kernel. */
uint64_t mkperf_counting_stamp(struct mkperf_profiler *p);
/* Whether the kernel counts by thread, as it last said. */
bool mkperf_counting_by_thread(const struct mkperf_profiler *p);
/* A record of the hook, from drain.c. */
void mkperf_counting_take(struct mkperf_profiler *p, struct mkperf_core *core,
                          const uint64_t *record);
/* After a drain: the next slice, if it is due. */
void mkperf_counting_rotate(struct mkperf_profiler *p);
/* Answers COUNTS in the session page. False: *error has the reason. */
bool mkperf_counting_answer(struct mkperf_profiler *p, uint32_t part, mkperf_Error *error);

#endif
