/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multiplexing: the counters of a session that samples, slice after slice.
 *
 * Owns: struct mkperf_multiplex. A session whose events all fit has one slice. Otherwise an overflow
 * of the plan's clock ends a slice. A counter stops within an interval and resumes there in its next
 * slice, so that every sample's weight is what was counted, and no counted event is lost. Events
 * outside their slices are not counted; the time in the counters is, and yields the scale.
 *
 *   slice 0 |--- A B ---|           |--- A B ---|      a sample of A every period of A's own count
 *   slice 1             |--- C D ---|                  left[] keeps where A and B were
 *                       ^ STOP, snapshot, CONTINUE
 *
 * Called by hook_session.c. May be lost: nothing.
 */
#ifndef MKPERF_MULTIPLEX_H
#define MKPERF_MULTIPLEX_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/session.h>

#include "drain.h"

/* Where a counter was left. */
struct mkperf_multiplex_left {
    bool known;
    uint32_t left;     /* events to its overflow, */
    uint32_t interval; /* which ends an interval of this many; */
    uint64_t partial;  /* or for a group read: its count since the leader's last overflow */
};

struct mkperf_multiplex {
    const struct mkperf_plan *plan;
    struct mkperf_kernel *kernel;
    struct mkperf_pacer *pacer;
    struct mkperf_drain *drain;
    uint32_t slice;                      /* now */
    uint64_t rotated;                    /* completed slices */
    uint64_t began;                      /* ticks; 0: not known */
    uint64_t resumed;                    /* ticks: when the current slice began */
    uint64_t running[MKPERF_MAX_EVENTS]; /* ticks in completed slices, by event */
    uint64_t stopped[MKPERF_MAX_EVENTS]; /* ticks: when the event's last slice ended */
    struct mkperf_multiplex_left left[MKPERF_TARGET_CORES][MKPERF_MAX_COUNTERS]; /* by number */
};

/* Begins a session that samples: the configuration and numbers of its first slice, before it is
 * applied and after mkperf_pace_begin. */
void mkperf_multiplex_begin(struct mkperf_multiplex *m);
/* The session was applied, and counts. */
void mkperf_multiplex_started(struct mkperf_multiplex *m);
/* After a drain: the next slice, if it is due. */
void mkperf_multiplex_rotate(struct mkperf_multiplex *m);
/* The session ends and its counters stand still: the last slice's time. While the hook still has
 * it. */
void mkperf_multiplex_end(struct mkperf_multiplex *m);
/* Fills the times of a status. */
void mkperf_multiplex_status(const struct mkperf_multiplex *m, bool running, mkperf_Status *out);

#endif
