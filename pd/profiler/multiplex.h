/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multiplexing: the counters of a session, slice after slice.
 *
 * Owns: struct mkperf_multiplex. A session whose events all fit has one slice. Otherwise an
 * overflow of the plan's clock ends a slice. A counter stops within an interval and continues it in
 * its next slice. Every sample's period is therefore the number of events really counted, and no
 * counted event is lost. Events outside their slices are not counted. The time of an event's slices
 * yields the factor by which its count is scaled. In a session that counts, the values of a slice's
 * counters are added to the tally.
 *
 *   slice 0 |--- A B ---|           |--- A B ---|      a sample of A every period of A's own count
 *   slice 1             |--- C D ---|                  left[] keeps the intervals of A and B
 *                       ^ STOP, snapshot, CONTINUE
 *
 * Called by hook_session.c. May be lost: nothing.
 */
#ifndef MKPERF_MULTIPLEX_H
#define MKPERF_MULTIPLEX_H

#include "drain.h"

/* The state in which a counter was stopped. */
struct mkperf_multiplex_left {
    bool known;
    uint32_t left;     /* events to its overflow */
    uint32_t interval; /* events of the interval that this overflow ends */
    uint64_t partial;  /* for a group that is read: its count since the leader's last overflow */
};

struct mkperf_multiplex {
    const struct mkperf_plan *plan;
    struct mkperf_kernel *kernel;
    struct mkperf_pacer *pacer;
    struct mkperf_drain *drain;
    uint32_t slice;                      /* the current slice */
    uint64_t rotated;                    /* completed slices */
    uint64_t resumed;                    /* ticks: start of the current slice */
    uint64_t running[MKPERF_MAX_EVENTS]; /* ticks in completed slices, by event */
    uint64_t stopped[MKPERF_MAX_EVENTS]; /* ticks: end of the event's last slice */
    /* What is left of each period, by the counter's number. */
    struct mkperf_multiplex_left left[MKPERF_TARGET_CORES][MKPERF_MAX_COUNTERS];
};

/* Begins a session: writes the configuration and numbers of its first slice. Called
 * after mkperf_pace_begin, and before the session is applied. */
void mkperf_multiplex_begin(struct mkperf_multiplex *m);
/* Called after a drain: begins the next slice if it is due. */
void mkperf_multiplex_rotate(struct mkperf_multiplex *m);
/* Ends the last slice of a session that samples and adds its time, while the hook still has the session. */
void mkperf_multiplex_end(struct mkperf_multiplex *m);
/* Stores the ticks during which each event was counted until `now` (ticks). */
void mkperf_multiplex_times(const struct mkperf_multiplex *m, uint64_t now, uint64_t *out);
/* Completes the status with the times of multiplexed events. */
void mkperf_multiplex_status(const struct mkperf_multiplex *m, bool running);

#endif
