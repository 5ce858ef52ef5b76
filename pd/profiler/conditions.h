/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions that end a flight recording, so that it keeps the events before the condition.
 *
 * Owns: struct mkperf_conditions: the condition that was met. Stages report conditions while the
 * rings are drained. main.c checks `met` after each drain, and holds the recording. A new condition
 * is a function here that a stage calls.
 */
#ifndef MKPERF_PROFILER_CONDITIONS_H
#define MKPERF_PROFILER_CONDITIONS_H

#include <stdint.h>

#include <mkperf/session.h>

#include "plan.h"

/* The members `met` and `why` have values of enum mkperf_flight_trigger. MKPERF_FLIGHT_STOP: no
 * condition is met. */
struct mkperf_conditions {
    const struct mkperf_plan *plan;
    uint32_t met;
    uint32_t why;    /* the reason for which the recording is held */
    uint64_t thread; /* with FAULT: the thread that faulted */
};

/* Called when a recording begins or is discarded. */
static inline void mkperf_conditions_begin(struct mkperf_conditions *c)
{
    *c = (struct mkperf_conditions){.plan = c->plan};
}

/* Called when a thread has faulted. */
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
