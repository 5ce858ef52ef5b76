/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pacing: how often samples come, and how often the hook wakes this PD.
 *
 * Owns: the descriptor's periods, jitter masks and watermark while a session runs. Called after
 * each drain, outside the copy. The hook may interrupt anywhere here.
 *
 * An event has one period for its user and its kernel counter, so that all its samples weigh the
 * same. In frequency mode it follows the rate that was seen.
 */
#include "policy.h"
#include "profiler.h"

enum {
    MAX_ROUNDS = 16,       /* of draining at one wake-up */
    PACE_SAMPLES = 8,      /* enough to judge a rate by, */
    PACE_PER_SECOND = 20,  /* or a 20th of a second */
    STARVED_INTERVALS = 10 /* an event is late after so many of its intervals */
};

/*
 * Period and jitter for one counter. The hook subtracts half the mask from the period, so at no
 * moment may a large mask stand beside a small period: the order of the stores depends on which way
 * it goes. This PD and the hook share a core, so program order is what the hook sees; release keeps
 * the compiler to it.
 */
static void publish_period(struct mkperf_profiler *p, unsigned counter, uint32_t period)
{
    struct mkperf_descriptor_counter *c = &p->descriptor->counter[counter];
    uint32_t mask = p->plan.no_jitter ? 0 : mkperf_jitter_mask(period);

    if (period < c->period) {
        __atomic_store_n(&c->jitter_mask, mask, __ATOMIC_RELEASE);
        __atomic_store_n(&c->period, period, __ATOMIC_RELEASE);
    } else {
        __atomic_store_n(&c->period, period, __ATOMIC_RELEASE);
        __atomic_store_n(&c->jitter_mask, mask, __ATOMIC_RELEASE);
    }
}

/* An event's counters, as long as it has them. */
static uint32_t counters_of(const struct mkperf_profiler *p, unsigned event)
{
    const struct mkperf_plan_event *e = &p->plan.event[event];
    uint32_t mask = 0;

    if (!mkperf_turns_on(p, event)) {
        return 0;
    }
    mask |= e->user_counter != 0 ? UINT32_C(1) << (e->user_counter - 1) : 0;
    mask |= e->kernel_counter != 0 ? UINT32_C(1) << (e->kernel_counter - 1) : 0;
    return mask;
}

/* The event's period from now on. Returns its counters if they should not wait for the old one to
 * pass, because it is twice as long. */
static uint32_t set_period(struct mkperf_profiler *p, unsigned event, uint32_t period)
{
    struct mkperf_pace *pace = &p->pace[event];
    uint32_t counters = counters_of(p, event);
    uint32_t before = pace->period;

    period = mkperf_in_steps(period);
    if (period == before) {
        return 0;
    }
    pace->period = period;
    for (uint32_t rest = counters; rest != 0; rest &= rest - 1) {
        publish_period(p, (unsigned)__builtin_ctz(rest), period);
    }
    return period <= before / 2 ? counters : 0;
}

/* Adapts an event with a frequency to what came since the last time. */
static uint32_t adapt(struct mkperf_profiler *p, unsigned event, bool dropped)
{
    const struct mkperf_plan_event *e = &p->plan.event[event];
    struct mkperf_pace *pace = &p->pace[event];
    uint64_t ticks = pace->last - pace->from;
    uint32_t period = pace->period;

    if (pace->samples == 0 ||
        (pace->from != 0 && pace->samples < PACE_SAMPLES && ticks < p->tick_hz / PACE_PER_SECOND)) {
        return 0;
    }
    if (dropped) {
        /* What was seen is less than what came: only the direction is known. */
        uint32_t twice = period <= MKPERF_MAX_PERIOD / 2 ? 2 * period : MKPERF_MAX_PERIOD;
        period = twice;
    } else if (pace->from != 0) {
        period =
            mkperf_adapt_period(period, e->minimum, e->frequency, pace->events, ticks, p->tick_hz);
    }
    pace->from = pace->last;
    pace->samples = 0;
    pace->events = 0;
    return set_period(p, event, period);
}

/* Lowers the period of an event with a frequency that has not come for long. */
static uint32_t feed(struct mkperf_profiler *p, unsigned event, bool silent)
{
    const struct mkperf_plan_event *e = &p->plan.event[event];
    struct mkperf_pace *pace = &p->pace[event];
    uint64_t patience = STARVED_INTERVALS * p->tick_hz / e->frequency + p->tick_hz / 10;

    if (pace->last == 0) {
        pace->last =
            p->now; /* nothing of it yet: its time begins with the session's first sample */
    }
    if (!silent && (int64_t)(p->now - pace->last) <= (int64_t)patience) {
        return 0;
    }
    pace->last = p->now;
    pace->from = 0;
    pace->samples = 0;
    pace->events = 0;
    return set_period(p, event, mkperf_starved_period(pace->period, e->minimum));
}

/*
 * Sets counters forward that are still on the way to the end of an interval that is now too long.
 *
 * Without racing the hook: a counter that is stopped and has no untaken overflow is out of the
 * hook's reach until it is started again. The hook will believe that the old interval passed; the
 * difference is kept and taken off the weight of the counter's next sample, which is the next one
 * to be drained, for all before it are drained here.
 */
static uint32_t shorten(struct mkperf_profiler *p, uint32_t counters, uint64_t *bytes)
{
    p->pmu->stop(counters);
    uint32_t samples = mkperf_drain_ring(p, bytes);
    uint32_t untaken = p->pmu->overflow();

    for (uint32_t rest = counters & ~untaken; rest != 0; rest &= rest - 1) {
        unsigned c = (unsigned)__builtin_ctz(rest);
        uint32_t left = 0 - p->pmu->read(c);
        uint32_t period = p->pace[p->plan.event_of[p->number[c]]].period;
        if (left > period && left <= MKPERF_MAX_PERIOD) {
            p->pmu->arm(c, period);
            p->skip[c] += left - period;
            p->skip_mask |= UINT32_C(1) << c;
        }
    }
    p->pmu->start(counters);
    return samples;
}

static uint32_t pace_events(struct mkperf_profiler *p, bool dropped, bool silent)
{
    uint32_t late = 0;

    for (unsigned i = 0; p->plan.adaptive && i < p->plan.events; i++) {
        if (p->plan.event[i].frequency != 0 && mkperf_turns_on(p, i)) {
            late |= adapt(p, i, dropped);
            late |= feed(p, i, silent);
        }
    }
    return late;
}

bool mkperf_pace_drain(struct mkperf_profiler *p)
{
    uint64_t before = p->now;
    uint64_t output = p->output.head;
    uint64_t lost = p->books.lost_ring;
    uint64_t bytes = 0;
    uint64_t samples = mkperf_drain_ring(p, &bytes);

    if (!p->running) {
        return p->output.head != output;
    }
    mkperf_counting_rotate(p);
    mkperf_turns_rotate(p);
    uint32_t late = pace_events(p, p->books.lost_ring != lost, false);
    if (late != 0) {
        samples += shorten(p, late, &bytes);
    }
    if (samples != 0) {
        p->silent = false;
        uint64_t ticks = before != 0 ? p->now - before : 0;
        uint32_t wake = mkperf_wake_samples(p->plan.wake_samples, samples, ticks, p->tick_hz);
        uint32_t watermark = mkperf_watermark(wake, bytes / samples, (uint32_t)p->core.size);
        __atomic_store_n(&p->descriptor->watermark, watermark, __ATOMIC_RELEASE);
    }
    /* The hook wakes only when the ring crosses the watermark, so it must be below it now. */
    for (unsigned i = 0; i < MAX_ROUNDS; i++) {
        uint64_t head = __atomic_load_n(&p->core.ring->head, __ATOMIC_ACQUIRE);
        if (head - p->core.tail < p->descriptor->watermark) {
            break;
        }
        mkperf_drain_ring(p, &bytes);
    }
    return p->output.head != output;
}

void mkperf_pace_status(struct mkperf_profiler *p)
{
    uint64_t bytes = 0;

    if (p->running && p->silent && p->plan.adaptive) {
        uint32_t late = pace_events(p, false, true);
        if (late != 0) {
            shorten(p, late, &bytes);
        }
    }
    p->silent = true;
}

void mkperf_pace_begin(struct mkperf_profiler *p)
{
    for (unsigned i = 0; i < MKPERF_MAX_EVENTS; i++) {
        p->pace[i] = (struct mkperf_pace){.period = mkperf_in_steps(p->plan.event[i].period)};
    }
    p->skip_mask = 0;
    for (unsigned c = 0; c < MKPERF_MAX_COUNTERS; c++) {
        p->skip[c] = 0;
    }
    p->silent = true;
}
