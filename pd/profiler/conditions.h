/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions that end a flight recording, so that what led to them stays.
 *
 * Owns: struct mkperf_conditions: which condition was met. Stages report what they see while the rings
 * are drained; main.c looks after each drain, and holds the recording. A new condition is a function
 * here that a stage calls.
 */
#ifndef MKPERF_PROFILER_CONDITIONS_H
#define MKPERF_PROFILER_CONDITIONS_H

#include <stdint.h>

#include <mkperf/session.h>

#include "plan.h"

/* Both are enum mkperf_flight_trigger; MKPERF_FLIGHT_STOP is none. */
struct mkperf_conditions {
    const struct mkperf_plan *plan;
    uint32_t met;
    uint32_t why;    /* the recording is held */
    uint64_t thread; /* of FAULT: whose */
};

/* A recording begins, or is discarded. */
static inline void mkperf_conditions_begin(struct mkperf_conditions *c)
{
    *c = (struct mkperf_conditions){.plan = c->plan};
}

/* A thread faulted. */
static inline void mkperf_conditions_fault(struct mkperf_conditions *c, uint64_t thread)
{
    for (unsigned i = 0; i < c->plan->faults && c->met == MKPERF_FLIGHT_STOP; i++) {
        if (c->plan->fault[i] == thread) {
            c->met = MKPERF_FLIGHT_FAULT;
            c->thread = thread;
        }
    }
}

static inline void mkperf_conditions_status(const struct mkperf_conditions *c, mkperf_Status *out)
{
    out->trigger = (mkperf_FlightTrigger)c->why;
    out->trigger_thread = c->why == MKPERF_FLIGHT_FAULT ? mkperf_thread_to_wire(c->thread) : 0;
}

#endif
