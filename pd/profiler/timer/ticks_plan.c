/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checks of a timer session, OBSERVE and CONFIGURE: see ticks.h. An invalid request is refused
 * with its reason, and the earlier plan stays.
 */
#include <microkit.h>

#include "../request.h"
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

bool mkperf_ticks_observe(struct mkperf_ticks *t, struct mkperf_session_page *page,
                          mkperf_Error *error)
{
    mkperf_Observe part;

    if (t->no_timer != NULL) {
        return mkperf_refuse(error, MKPERF_RESULT_NO_TIMER, 0, t->no_timer);
    }
    if (!mkperf_request_take_observe(&part, page, error)) {
        return false;
    }
    if (part.part == 0) {
        mkperf_text_copy(page->observer.pd, microkit_name, sizeof page->observer.pd);
        mkperf_text_copy(page->observer.timer, t->timer->name, sizeof page->observer.timer);
    }
    return mkperf_observe_reported(&t->observation, &part, error);
}

/* The cost of a snapshot, which determines the shortest period. */
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
    struct mkperf_text text = mkperf_refusal(error, MKPERF_RESULT_RANGE, 1);

    mkperf_text_put(&text, "the period of 'timer' must be from ");
    mkperf_text_dec(&text, (uint32_t)shortest);
    mkperf_text_put(&text, " (what looking at these PDs costs, four times) to 1000000 us");
    return false;
}

static bool plan_timer_period(struct mkperf_ticks *t, const mkperf_EventSpec *want,
                              struct mkperf_plan_event *e, mkperf_Error *error)
{
    uint64_t shortest = shortest_period_us(t);
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

static bool plan_timer_limits(const struct mkperf_ticks *t, const mkperf_Configure *request,
                              mkperf_Error *error)
{
    const mkperf_EventSpec *want = &request->events[0];

    if (request->sched || request->latency) {
        return mkperf_refuse(error, MKPERF_RESULT_RANGE, 0,
                             "scheduling events come from the kernel's extension, and a session of "
                             "'timer' does without it");
    }
    if (want->count) {
        return mkperf_refuse(error, MKPERF_RESULT_RANGE, 1, "'timer' samples and does not count");
    }
    if (request->overwrite || request->interactions || request->per_pd) {
        return mkperf_refuse(error, MKPERF_RESULT_RANGE, 1,
                             "'timer' makes no flight recording and counts nothing");
    }
    if (!want->user != !want->kernel) {
        return mkperf_refuse(error, MKPERF_RESULT_RANGE, 1,
                             "'timer' cannot tell user mode from the kernel");
    }
    if ((request->cores & ~(UINT32_C(1) << t->kernel->here)) != 0) {
        return mkperf_refuse(error, MKPERF_RESULT_RANGE, 1,
                             "'timer' samples the profiler PD's core alone");
    }
    return true;
}

bool mkperf_ticks_plan(struct mkperf_ticks *t, struct mkperf_plan *plan,
                       const struct mkperf_session_request *wanted, mkperf_Error *error)
{
    const mkperf_Configure *request = &wanted->configure;
    struct mkperf_plan made = {
        .events = 1,
        .core_bytes = MKPERF_CORE_RING_BYTES,
        .output_bytes = MKPERF_OUTPUT_RING_BYTES,
        .counter_mask = 1,
        .slices = 1,
        .cores = UINT32_C(1) << t->kernel->here,
        .wake_samples = wanted->wake_samples,
    };
    struct mkperf_plan_event *e = &made.event[0];

    if (t->no_timer != NULL) {
        return mkperf_refuse(error, MKPERF_RESULT_NO_TIMER, 0, t->no_timer);
    }
    if (!plan_timer_limits(t, request, error) || !mkperf_plan_samples(&made, request, error)) {
        return false;
    }
    if (!t->observation.reported || t->observation.n == 0) {
        return mkperf_refuse(error, MKPERF_RESULT_NO_TIMER, 1,
                             "the timer has no PD to observe: it can be the profiler PD's "
                             "children and its cspace's; the host names them (--system)");
    }
    if (request->check && t->kernel->missing != NULL) {
        return mkperf_refuse(error, MKPERF_RESULT_NO_HOOK, 1,
                             "nothing to check the timer's samples against: no PMU");
    }
    mkperf_text_copy(e->name, MKPERF_TIMER_EVENT, sizeof e->name);
    e->code = MKPERF_TIMER_CODE;
    e->user_number = 1; /* no counter, but samples name their event by it */
    e->kernel_number = 1;
    e->group = request->events[0].group;
    if (!plan_timer_period(t, &request->events[0], e, error) ||
        !mkperf_timer_reads_plan(t->kernel, &made, request, error)) {
        return false;
    }
    *plan = made;
    t->check = request->check;
    return true;
}
