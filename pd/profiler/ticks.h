/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions whose samples a timer takes, with an unchanged kernel: `-e timer`.
 *
 * Owns: struct mkperf_ticks: the times of snapshots, the attribution's statistics, and the ring of
 * samples for drain.c, in the hook's place. Called by main.c. Each sample takes two interrupts: a
 * snapshot of all threads' registers, and shortly afterwards another one, which is the sample. The
 * threads that ran between the two are known for certain. ticks_plan.c checks sessions, ticks.c
 * schedules snapshots, ticks_sample.c makes the samples.
 */
#ifndef MKPERF_TICKS_H
#define MKPERF_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/observe.h>
#include <mkperf/ring.h>
#include <mkperf/session.h>

#include "../timer/timer.h"
#include "observe.h"

struct mkperf_profiler;

enum {
    /* Between the two snapshots: many times the return to the interrupted thread. */
    MKPERF_TICKS_WINDOW_US = 20,
    MKPERF_TICKS_US_PER_S = 1000000,
};

struct mkperf_ticks {
    const struct mkperf_timer *timer;
    const char *no_timer; /* why there is none, or NULL */
    bool on;              /* the current session is the timer's */
    bool check;           /* compares with the hook */
    bool sample_next;     /* the first snapshot was taken */
    uint64_t due;         /* of the sample: ticks */
    uint64_t from;        /* due of the sample before */
    uint64_t late_us;     /* by which samples were moved */
    uint64_t rest;        /* of a microsecond, in ticks * 10^6, not yet in a sample's weight */
    uint64_t entered;     /* when the current interrupt began; 0: none */
    uint64_t spent;       /* ticks, at interrupts */
    uint64_t left;        /* when this PD had last done its work */
    uint64_t random;
    uint64_t period; /* ticks */
    uint64_t window; /* ticks between the two snapshots */
    uint64_t jitter; /* ticks: the width from which intervals are drawn */
    uint64_t cost;   /* ticks: of a snapshot */
    uint32_t wake;   /* samples between two drains */
    uint32_t waiting;
    struct mkperf_ring_producer ring;
    struct mkperf_ring_consumer hook; /* check: the hook's samples */
    mkperf_Attribution statistics;
    struct mkperf_observation observation;
};

/* Finds the timer, once. */
void mkperf_ticks_init(struct mkperf_profiler *p);
/* Whether the request is for the timer. */
bool mkperf_ticks_wanted(const mkperf_Configure *request);
/* CONFIGURE, START, STOP, OBSERVE. False: *error has the reason. */
bool mkperf_ticks_plan(struct mkperf_profiler *p, const mkperf_Configure *request,
                       uint32_t wake_samples, mkperf_Error *error);
bool mkperf_ticks_start(struct mkperf_profiler *p, mkperf_Error *error);
void mkperf_ticks_stop(struct mkperf_profiler *p);
bool mkperf_ticks_observe(struct mkperf_profiler *p, mkperf_Error *error);
/* The timer's interrupt, or the hook's wake-up while it checks. Returns whether the output ring has
 * new records. */
bool mkperf_ticks_interrupt(struct mkperf_profiler *p, bool hook);
/* This PD goes back to wait. */
void mkperf_ticks_leave(struct mkperf_profiler *p);

/* The hook's sample at the same time: its thread, and whose protected calls that was serving. */
struct mkperf_ticks_truth {
    uint64_t thread;
    unsigned callers;
    uint64_t caller[MKPERF_MAX_CALLERS];
};

/* Among the three files. The sample that is due, taken at `now` (ticks); truth: NULL without one. */
void mkperf_ticks_take(struct mkperf_profiler *p, uint64_t now,
                       const struct mkperf_ticks_truth *truth);
/* Microseconds, rounded down. */
uint64_t mkperf_ticks_us(const struct mkperf_ticks *t, uint64_t ticks);

#endif
