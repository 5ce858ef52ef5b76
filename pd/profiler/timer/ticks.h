/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session whose samples a timer takes, with an unchanged kernel: `-e timer`.
 *
 * Owns: struct mkperf_ticks: the times of snapshots, the attribution's statistics, and a ring of
 * samples that the drain reads in the hook's place. Called by main.c only, as hook_session.h is for
 * the hook's sessions. ticks_plan.c checks sessions, ticks.c schedules snapshots, ticks_sample.c
 * makes the samples.
 *
 *   timer:  ... |look|------- window -------|look = sample| ............ |look| ...
 *                    threads that run in here have other registers afterwards
 *
 * Each sample takes two interrupts: a snapshot of all threads' registers, and shortly afterwards
 * another one, which is the sample. The threads that ran between the two are known for certain.
 */
#ifndef MKPERF_TICKS_H
#define MKPERF_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/observe.h>
#include <mkperf/ring.h>
#include <mkperf/session.h>

#include "../../timer/timer.h"
#include "../drain.h"
#include "observe.h"
#include "timer_reads.h"

enum {
    /* Between the two snapshots: many times the return to the interrupted thread. */
    MKPERF_TICKS_WINDOW_US = 20,
    MKPERF_TICKS_US_PER_S = 1000000,
};

struct mkperf_ticks {
    struct mkperf_plan *plan;
    struct mkperf_kernel *kernel;
    struct mkperf_drain *drain;
    const struct mkperf_timer *timer;
    const char *no_timer; /* the reason for which there is no timer, or NULL */
    bool running;
    bool check;       /* The session compares with the hook. */
    bool sample_next; /* The first snapshot was taken. */
    uint64_t due;     /* ticks: time of the next sample */
    uint64_t from;    /* ticks: time at which the last sample was due */
    uint64_t late_us; /* total delay of samples */
    uint64_t rest;    /* of a microsecond, in ticks * 10^6, not yet in a sample's weight */
    uint64_t entered; /* ticks: start of the current interrupt; 0: none */
    uint64_t spent;   /* ticks spent at interrupts */
    uint64_t left;    /* ticks: end of this PD's last work */
    uint64_t random;
    uint64_t period; /* ticks */
    uint64_t window; /* ticks between the two snapshots */
    uint64_t jitter; /* ticks: the width from which intervals are drawn */
    uint64_t cost;   /* ticks that a snapshot takes */
    uint32_t wake;   /* samples between two drains */
    uint32_t waiting;
    struct mkperf_ring_producer ring;
    struct mkperf_ring_consumer hook; /* of the hook's samples, with which they are compared */
    mkperf_Attribution statistics;
    struct mkperf_observation observation;
    struct mkperf_timer_reads reads;
};

/* Finds the timer. Called once. */
void mkperf_ticks_init(struct mkperf_ticks *t);
/* Whether the request is for the timer. */
bool mkperf_ticks_wanted(const mkperf_Configure *request);
/* CONFIGURE and OBSERVE. False: *error has the reason, and *plan is unchanged. */
bool mkperf_ticks_plan(struct mkperf_ticks *t, struct mkperf_plan *plan,
                       const struct mkperf_session_request *request, mkperf_Error *error);
bool mkperf_ticks_observe(struct mkperf_ticks *t, struct mkperf_session_page *page,
                          mkperf_Error *error);
/* START and STOP. False: *error has the reason, and nothing is running. */
bool mkperf_ticks_start(struct mkperf_ticks *t, mkperf_Error *error);
void mkperf_ticks_stop(struct mkperf_ticks *t);
/* The timer's interrupt, or the hook's wake-up while it checks. Returns whether the output ring has
 * new records. */
bool mkperf_ticks_interrupt(struct mkperf_ticks *t, bool hook);
/* A child of this PD faulted. It looks like one that was interrupted, so the fault is
 * remembered. */
void mkperf_ticks_fault(struct mkperf_ticks *t, uint32_t child);
/* Called before this PD waits again. */
void mkperf_ticks_leave(struct mkperf_ticks *t);
/* Fills the session's part of a status. Called after that of the drain. */
void mkperf_ticks_status(const struct mkperf_ticks *t, mkperf_Status *out);

/* The hook's sample at the same time: its thread, and whose protected calls that was serving. */
struct mkperf_ticks_truth {
    uint64_t thread;
    unsigned callers;
    uint64_t caller[MKPERF_MAX_CALLERS];
};

/* For the three files. The sample that is due, taken at `now` (ticks); truth: NULL without one. */
void mkperf_ticks_take(struct mkperf_ticks *t, uint64_t now,
                       const struct mkperf_ticks_truth *truth);
/* Microseconds, rounded down. */
static inline uint64_t mkperf_ticks_us(const struct mkperf_ticks *t, uint64_t ticks)
{
    return ticks * MKPERF_TICKS_US_PER_S / t->timer->hz();
}

#endif
