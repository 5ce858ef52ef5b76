/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see riders.h. */
#include "riders.h"

#include "policy.h"
#include "profiler.h"

enum {
    /* Until when a counter of 32 bits has not come round, at 8 events a nanosecond: more than any
     * CPU of today completes. The longest period leaves jitter and lateness their room. */
    LONGEST_MS = 500,
    LONGEST_PERIOD_US = 100000,
    MS_PER_S = 1000,
};

/* ---- CONFIGURE ------------------------------------------------------------------------------ */

/* The PMU's answer whether user mode may use it does not depend on who has its interrupt. */
static const char *no_counters(const struct mkperf_profiler *p)
{
    return p->no_pmu != NULL ? p->pmu->init() : NULL;
}

static bool plan_rider(struct mkperf_plan *plan, unsigned i, const mkperf_Configure *request,
                       const struct mkperf_pmu *pmu, mkperf_Error *error)
{
    const mkperf_EventSpec *want = &request->events[i];
    struct mkperf_plan_event *e = &plan->event[i];

    if (want->count || !want->read || want->group == 0 || want->group != request->events[0].group) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, i + 1,
                                  "beside 'timer' nothing samples or counts: other events can only "
                                  "be read with it, -e '{timer,...}:S'");
    }
    if (!mkperf_plan_named(e, i, want, pmu, error)) {
        return false;
    }
    e->read = true;
    e->group = want->group;
    e->period = MKPERF_COUNT_PERIOD;
    /* One counter, whatever it counts: hardware counter i - 1, number i (each + 1 here). */
    bool both = !want->user == !want->kernel;
    if (both || want->user) {
        e->user_counter = i;
        e->user_number = i + 1;
    }
    if (both || want->kernel) {
        e->kernel_counter = i;
        e->kernel_number = i + 1;
    }
    plan->event_of[i] = (uint8_t)i;
    return true;
}

bool mkperf_riders_plan(struct mkperf_profiler *p, struct mkperf_plan *plan,
                        const mkperf_Configure *request, mkperf_Error *error)
{
    uint32_t n = request->events_count - 1;
    const char *why = n != 0 ? no_counters(p) : NULL;

    if (why != NULL) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_NO_PMU, 2, why);
    }
    for (unsigned i = 1; i <= n; i++) {
        if (!plan_rider(plan, i, request, p->pmu, error)) {
            return false;
        }
    }
    if (n > MKPERF_MAX_READS || (n != 0 && n > p->pmu->counters())) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_COUNTERS, 2,
                                  "more events to be read with 'timer' than the CPU has counters, "
                                  "or than 12");
    }
    if (n != 0 && request->check) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_COUNTERS, 2,
                                  "checking the timer's samples needs the counters itself");
    }
    if (n != 0 && plan->event[0].period > LONGEST_PERIOD_US) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 1,
                                  "with events to be read, the period of 'timer' must be at most "
                                  "100000 us: counters have 32 bits");
    }
    plan->events = request->events_count;
    return true;
}

/* ---- a session ------------------------------------------------------------------------------ */

bool mkperf_riders_start(struct mkperf_profiler *p, uint64_t now, mkperf_Error *error)
{
    struct mkperf_riders *r = &p->riders;

    *r = (struct mkperf_riders){.at = now};
    for (unsigned i = 1; i < p->plan.events; i++) {
        const struct mkperf_plan_event *e = &p->plan.event[i];
        if (!p->pmu->program(i - 1, e->code, e->user_counter != 0, e->kernel_counter != 0)) {
            return mkperf_plan_refuse(error, MKPERF_RESULT_EVENT_UNSUPPORTED, i + 1,
                                      "the PMU does not take this event's number");
        }
        p->pmu->arm(i - 1, MKPERF_COUNT_PERIOD);
        r->last[i - 1] = p->pmu->read(i - 1);
    }
    if (p->plan.events > 1) {
        r->mask = (UINT32_C(1) << (p->plan.events - 1)) - 1;
        p->pmu->start(r->mask);
    }
    return true;
}

void mkperf_riders_stop(struct mkperf_profiler *p)
{
    if (p->riders.mask != 0) {
        p->pmu->stop(p->riders.mask);
        p->pmu->clear(p->riders.mask);
        p->riders.mask = 0;
    }
}

void mkperf_riders_pause(struct mkperf_profiler *p)
{
    if (p->riders.mask != 0) {
        p->pmu->stop(p->riders.mask);
    }
}

void mkperf_riders_resume(struct mkperf_profiler *p)
{
    if (p->riders.mask != 0) {
        p->pmu->clear(p->riders.mask); /* coming round is nobody's business */
        p->pmu->start(p->riders.mask);
    }
}

unsigned mkperf_riders_take(struct mkperf_profiler *p, uint64_t now, uint64_t *out)
{
    struct mkperf_riders *r = &p->riders;
    bool known = (now - r->at) / (p->tick_hz / MS_PER_S) <= LONGEST_MS;
    unsigned n = 0;

    if (r->mask == 0) {
        return 0;
    }
    for (; r->mask >> n & 1; n++) {
        uint32_t value = p->pmu->read(n);
        out[1 + n] = (uint64_t)(n + 1) << MKPERF_READ_COUNTER_SHIFT |
                     (uint32_t)(value - r->last[n]);
        r->last[n] = value;
    }
    out[0] = n;
    r->at = now;
    r->unread += !known;
    return known ? 1 + n : 0;
}
