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

#include "latency.h"
#include "plan.h"

/* The members `met` and `why` have values of enum mkperf_flight_trigger. MKPERF_FLIGHT_STOP: no
 * condition is met. */
struct mkperf_conditions {
    const struct mkperf_plan *plan;
    uint32_t met;
    uint32_t why;                          /* the reason for which the recording is held */
    uint64_t thread;                       /* with FAULT: the thread that faulted */
    struct mkperf_latency_reached reached; /* with CONDITION */
};

/* Called when a recording begins or is discarded. */
static inline void mkperf_conditions_begin(struct mkperf_conditions *c)
{
    *c = (struct mkperf_conditions){.plan = c->plan};
}

/* Called when a thread has faulted. */
static inline void mkperf_conditions_fault(struct mkperf_conditions *c, uint64_t thread)
{
    for (unsigned i = 0; i < c->plan->request.dump_on_fault_count && c->met == MKPERF_FLIGHT_STOP;
         i++) {
        if (mkperf_thread_from_wire(c->plan->request.dump_on_fault[i]) == thread) {
            c->met = MKPERF_FLIGHT_FAULT;
            c->thread = thread;
        }
    }
}

/* Called after each drain of a flight recording, with the latencies' own state. */
static inline void mkperf_conditions_latency(struct mkperf_conditions *c,
                                             const struct mkperf_latency_reached *reached)
{
    if (c->plan->request.stop_if_count != 0 && reached->limit != 0 &&
        c->met == MKPERF_FLIGHT_STOP) {
        c->met = MKPERF_FLIGHT_CONDITION;
        c->thread = reached->to;
        c->reached = *reached;
    }
}

static inline void mkperf_conditions_status(const struct mkperf_conditions *c, mkperf_Status *out)
{
    bool latency = c->why == MKPERF_FLIGHT_CONDITION;

    out->trigger = (mkperf_FlightTrigger)c->why;
    out->trigger_thread =
        latency || c->why == MKPERF_FLIGHT_FAULT ? mkperf_thread_to_wire(c->thread) : 0;
    if (latency) {
        out->trigger_kind = c->plan->request.stop_if[c->reached.limit - 1].kind;
        out->trigger_from = out->trigger_kind == mkperf_StopKind_STOP_IRQ
                                ? c->reached.from
                                : mkperf_thread_to_wire(c->reached.from);
        out->trigger_ticks = c->reached.ticks;
        out->trigger_at = c->reached.at;
    }
}

#endif
