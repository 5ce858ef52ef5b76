/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the checks of a timer session: OBSERVE and CONFIGURE, see ticks.h. Called by main.c between
 * sessions. Nothing can be lost here: an invalid request is refused with its reason, and the
 * earlier plan stays.
 */
#include <microkit.h>

#include "../lib/text.h"
#include "profiler.h"
#include "request.h"
#include "ticks.h"

enum {
    MIN_PERIOD_US = 100,
    MAX_PERIOD_US = 1000000,
};

bool mkperf_ticks_wanted(const mkperf_Configure *request)
{
    return request->events_count != 0 &&
           mkperf_text_is(request->events[0].name, MKPERF_NAME_BYTES, MKPERF_TIMER_EVENT);
}

static bool no_timer(const struct mkperf_profiler *p, mkperf_Error *error)
{
    if (p->ticks.no_timer != NULL) {
        mkperf_plan_refuse(error, MKPERF_RESULT_NO_TIMER, 0, p->ticks.no_timer);
        return true;
    }
    return false;
}

bool mkperf_ticks_observe(struct mkperf_profiler *p, mkperf_Error *error)
{
    mkperf_Observe part;

    if (p->running) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_STATE, 0,
                                  "a session is running: stop it first");
    }
    if (no_timer(p, error)) {
        return false;
    }
    if (!mkperf_request_take_observe(&part, p->page, error)) {
        return false;
    }
    if (part.part == 0) {
        mkperf_Observer *out = &p->page->observer;
        mkperf_text_copy(out->pd, microkit_name, sizeof out->pd);
        mkperf_text_copy(out->timer, p->ticks.timer->name, sizeof out->timer);
    }
    return mkperf_observe_reported(&p->ticks.observation, &part, error);
}

/* The cost of a snapshot, and so the shortest period. */
static uint64_t shortest_period_us(struct mkperf_ticks *t)
{
    uint64_t began = t->timer->now();

    mkperf_observe_look(&t->observation);
    t->cost = t->timer->now() - began;
    uint64_t us = mkperf_ticks_us(t, 4 * t->cost) + 2 * (uint64_t)MKPERF_TICKS_WINDOW_US;
    return us > MIN_PERIOD_US ? us : MIN_PERIOD_US;
}

static bool refuse_period(mkperf_Error *error, uint64_t shortest)
{
    struct mkperf_text text = mkperf_plan_refusal(error, MKPERF_RESULT_RANGE, 1);

    mkperf_text_put(&text, "the period of 'timer' must be from ");
    mkperf_text_dec(&text, (uint32_t)shortest);
    mkperf_text_put(&text, " (what looking at these PDs costs, four times) to 1000000 us");
    return false;
}

static bool plan_period(struct mkperf_profiler *p, const mkperf_EventSpec *want,
                        struct mkperf_plan_event *e, mkperf_Error *error)
{
    uint64_t shortest = shortest_period_us(&p->ticks);
    uint64_t period = want->period;

    if (period == 0 && want->frequency != 0 && want->frequency <= MKPERF_MAX_FREQUENCY) {
        e->frequency = want->frequency;
        period = MKPERF_TICKS_US_PER_S / want->frequency;
    }
    if (period < shortest || period > MAX_PERIOD_US) {
        return refuse_period(error, shortest);
    }
    e->period = (uint32_t)period;
    e->minimum = (uint32_t)shortest;
    return true;
}

static bool plan_limits(const struct mkperf_profiler *p, const mkperf_Configure *request,
                        mkperf_Error *error)
{
    const mkperf_EventSpec *want = &request->events[0];

    if (want->count) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 1,
                                  "'timer' samples and does not count");
    }
    if (request->overwrite || request->interactions || request->per_pd) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 1,
                                  "'timer' makes no flight recording and counts nothing");
    }
    if (!want->user != !want->kernel) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 1,
                                  "'timer' cannot tell user mode from the kernel");
    }
    if ((request->cores & ~(UINT32_C(1) << p->here)) != 0) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 1,
                                  "'timer' samples the profiler PD's core alone");
    }
    if (request->max_frames > MKPERF_MAX_FRAMES) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 0,
                                  "the call chain's depth must be from 0 to 64");
    }
    if (request->callers > MKPERF_MAX_CALLERS) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 0,
                                  "a call chain continues in 8 other PDs at most");
    }
    return true;
}

bool mkperf_ticks_plan(struct mkperf_profiler *p, const mkperf_Configure *request,
                       uint32_t wake_samples, mkperf_Error *error)
{
    struct mkperf_plan plan = {
        .events = 1,
        .max_frames = request->max_frames,
        .callers = request->max_frames != 0 ? request->callers : 0,
        .no_jitter = request->no_jitter,
        .core_bytes = MKPERF_CORE_RING_BYTES,
        .output_bytes = MKPERF_OUTPUT_RING_BYTES,
        .counter_mask = 1,
        .slices = 1,
        .filters = request->only_count,
        .cores = UINT32_C(1) << p->here,
        .wake_samples = wake_samples,
    };
    struct mkperf_plan_event *e = &plan.event[0];

    if (no_timer(p, error) || !plan_limits(p, request, error)) {
        return false;
    }
    if (!p->ticks.observation.reported || p->ticks.observation.n == 0) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_NO_TIMER, 1,
                                  "the timer has no PD to observe: it can be the profiler PD's "
                                  "children and its cspace's; the host names them (--system)");
    }
    if (request->check && p->no_pmu != NULL) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_NO_HOOK, 1,
                                  "nothing to check the timer's samples against: no PMU");
    }
    mkperf_text_copy(e->name, MKPERF_TIMER_EVENT, sizeof e->name);
    e->code = MKPERF_TIMER_CODE;
    e->user_number = 1; /* no counter, but samples name their event by it */
    e->kernel_number = 1;
    e->group = request->events[0].group;
    if (!plan_period(p, &request->events[0], e, error) ||
        !mkperf_timer_reads_plan(p, &plan, request, error)) {
        return false;
    }
    for (unsigned i = 0; i < plan.filters; i++) {
        plan.filter[i] = mkperf_thread_from_wire(request->only[i]);
    }
    mkperf_flight_forget(p); /* its events are no longer known */
    p->plan = plan;
    p->ticks.on = true;
    p->ticks.check = request->check;
    return true;
}
