/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multiplexing: sessions that sample more events than there are counters.
 *
 * Owns: struct mkperf_multiplex. As in counting, an overflow of the plan's clock ends a slice. A
 * counter stops within an interval and resumes there in its next slice, so that every sample's
 * weight is what was counted, and no counted event is lost. Events outside their slices are not
 * counted; the time in the counters is, and yields the scale.
 */
#ifndef MKPERF_MULTIPLEX_H
#define MKPERF_MULTIPLEX_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/session.h>

struct mkperf_core;
struct mkperf_profiler;

/* Where a counter was left. */
struct mkperf_multiplex_left {
    bool known;
    uint32_t left;     /* events to its overflow, */
    uint32_t interval; /* which ends an interval of this many; */
    uint64_t partial;  /* or for a group read: its count since the leader's last overflow */
};

struct mkperf_multiplex {
    uint32_t slice; /* now */
    bool expired;   /* the clock overflowed: the slice is over */
    uint64_t began; /* ticks; 0: not known */
    uint64_t resumed;
    uint64_t running[MKPERF_MAX_EVENTS]; /* before that, by event */
    uint64_t stopped[MKPERF_MAX_EVENTS]; /* when the event's last slice ended */
    uint64_t rotated;
    struct mkperf_multiplex_left left[MKPERF_TARGET_CORES][MKPERF_MAX_COUNTERS]; /* by number */
};

/* What every session that samples needs: configuration and numbers of the first slice. Before it is
 * applied, after mkperf_pace_begin. */
void mkperf_multiplex_begin(struct mkperf_profiler *p);
/* The session was applied, and counts. */
void mkperf_multiplex_started(struct mkperf_profiler *p);
/* A SLICE record of the hook (size bytes), from drain.c. */
void mkperf_multiplex_take(struct mkperf_profiler *p, struct mkperf_core *c, const uint64_t *record,
                           unsigned size);
/* After a drain: the next slice, if it is due. */
void mkperf_multiplex_rotate(struct mkperf_profiler *p);
/* The session ends and its counters stand still: the last slice's time. While the hook still has
 * it. */
void mkperf_multiplex_end(struct mkperf_profiler *p);
/* Fills the times of a status. */
void mkperf_multiplex_times(const struct mkperf_profiler *p, mkperf_Status *out);
/* Whether an event counts in the current slice. */
bool mkperf_multiplex_on(const struct mkperf_profiler *p, unsigned event);
/* The counter that wakes this PD in a session with scheduling events (plan.beat). */
struct mkperf_request_counter mkperf_multiplex_beat(const struct mkperf_profiler *p);

#endif
