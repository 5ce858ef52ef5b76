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
        return mkperf_refuse(error, MKPERF_RESULT_NO_TIMER, 0, "%s", t->no_timer);
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

/* Plans the period of the timer. Its shortest is four times the cost of a snapshot, and more. */
static bool plan_timer_period(struct mkperf_ticks *t, struct mkperf_planning *m)
{
    const mkperf_EventSpec *want = &m->request->events[0];
    struct mkperf_plan_event *e = &m->plan.event[0];
    uint64_t began = t->timer->now();

    mkperf_observe_look(&t->observation);
    t->cost = t->timer->now() - began;
    uint64_t shortest = mkperf_ticks_us(t, 4 * t->cost) + 2 * (uint64_t)MKPERF_TICKS_WINDOW_US;
    shortest = shortest > MIN_PERIOD_US ? shortest : MIN_PERIOD_US;
    uint64_t period = want->period;
    if (period == 0 && want->frequency != 0 && want->frequency <= MKPERF_MAX_FREQUENCY) {
        e->frequency = want->frequency;
        period = MKPERF_TICKS_US_PER_S / want->frequency;
    }
    e->period = (uint32_t)period;
    e->minimum = (uint32_t)shortest;
    return (period >= shortest && period <= MAX_PERIOD_US) ||
           mkperf_refuse(m->error, MKPERF_RESULT_RANGE, 1,
                         "the period of 'timer' must be from %u (what looking at these PDs costs, "
                         "four times) to 1000000 us",
                         (uint32_t)shortest);
}

/* Refuses what a session of the timer cannot be. */
static bool check_timer(const struct mkperf_ticks *t, const mkperf_Configure *request,
                        mkperf_Error *error)
{
    const mkperf_EventSpec *want = &request->events[0];
    const struct mkperf_rule rules[] = {
        {t->no_timer != NULL, MKPERF_RESULT_NO_TIMER, 0, t->no_timer},
        {request->sched || request->latency, MKPERF_RESULT_RANGE, 0,
         "scheduling events come from the kernel's extension, and a session of 'timer' does "
         "without it"},
        {want->count, MKPERF_RESULT_RANGE, 1, "'timer' samples and does not count"},
        {request->overwrite || request->interactions || request->per_pd, MKPERF_RESULT_RANGE, 1,
         "'timer' makes no flight recording and counts nothing"},
        {!want->user != !want->kernel, MKPERF_RESULT_RANGE, 1,
         "'timer' cannot tell user mode from the kernel"},
        {(request->cores & ~(UINT32_C(1) << t->kernel->here)) != 0, MKPERF_RESULT_RANGE, 1,
         "'timer' samples only the profiler PD's core"},
        {!t->observation.reported || t->observation.n == 0, MKPERF_RESULT_NO_TIMER, 1,
         "the timer has no PD to observe: it can be the profiler PD's children and its cspace's; "
         "the host names them (--system)"},
        {request->check && t->kernel->missing != NULL, MKPERF_RESULT_NO_HOOK, 1,
         "nothing to check the timer's samples against: no PMU"},
    };

    return mkperf_check_rules(rules, sizeof rules / sizeof *rules, error);
}

bool mkperf_ticks_plan(struct mkperf_ticks *t, struct mkperf_plan *plan,
                       const struct mkperf_session_request *wanted, mkperf_Error *error)
{
    const mkperf_Configure *request = &wanted->configure;
    struct mkperf_planning m = {
        .request = request,
        .cpu = &t->kernel->cpu,
        .error = error,
        .plan = {
            .events = 1,
            .core_bytes = MKPERF_CORE_RING_BYTES,
            .output_bytes = MKPERF_OUTPUT_RING_BYTES,
            .counter_mask = 1,
            .slices = 1,
            .cores = UINT32_C(1) << t->kernel->here,
            .wake_samples = wanted->wake_samples,
            .event[0] = {.name = MKPERF_TIMER_EVENT,
                         .code = MKPERF_TIMER_CODE,
                         .user_number = 1, /* no counter, but samples name their event by it */
                         .kernel_number = 1,
                         .group = request->events[0].group},
        }};

    if (!check_timer(t, request, error) || !mkperf_plan_samples(&m) || !plan_timer_period(t, &m) ||
        !mkperf_timer_reads_plan(t->kernel, &m)) {
        return false;
    }
    *plan = m.plan;
    t->check = request->check;
    return true;
}
