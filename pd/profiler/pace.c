/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pacing: how often samples come, and how often the hook wakes this PD.
 *
 * Owns: the periods, jitter masks and watermark that the hook works with. Called after each drain,
 * outside the copy: one request for all of them, which also finds out whether somebody else has
 * changed the counters.
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
    STARVED_INTERVALS = 10 /* an event is late after this many of its intervals */
};

static void want_period(struct mkperf_profiler *p, unsigned counter, uint32_t period)
{
    struct mkperf_request_counter *c = &mkperf_wanted(&p->kernel)->counter[counter];

    c->period = period;
    c->jitter_mask = p->plan.no_jitter ? 0 : mkperf_jitter_mask(period);
    p->stale = true;
}

/* An event's counters, as long as it has them. */
static uint32_t counters_of(const struct mkperf_profiler *p, unsigned event)
{
    const struct mkperf_plan_event *e = &p->plan.event[event];
    uint32_t mask = 0;

    if (!mkperf_turns_on(p, event)) {
        return 0;
    }
    mask |= mkperf_counter_bit(e->user_counter);
    mask |= mkperf_counter_bit(e->kernel_counter);
    return mask;
}

/* The event's period from now on. A counter that is on the way to the end of an interval which is
 * now far too long, the hook sets forward. */
static void set_period(struct mkperf_profiler *p, unsigned event, uint32_t period)
{
    struct mkperf_pace *pace = &p->pace[event];

    period = mkperf_in_steps(period);
    if (period == pace->period) {
        return;
    }
    pace->period = period;
    for (uint32_t rest = counters_of(p, event); rest != 0; rest &= rest - 1) {
        want_period(p, (unsigned)__builtin_ctz(rest), period);
    }
}

/* Adapts an event with a frequency to the samples since the last call. */
static void adapt(struct mkperf_profiler *p, unsigned event, bool dropped)
{
    const struct mkperf_plan_event *e = &p->plan.event[event];
    struct mkperf_pace *pace = &p->pace[event];
    uint64_t ticks = pace->last - pace->from;
    uint32_t period = pace->period;

    if (pace->samples == 0 ||
        (pace->from != 0 && pace->samples < PACE_SAMPLES && ticks < p->tick_hz / PACE_PER_SECOND)) {
        return;
    }
    if (dropped) {
        /* Fewer samples were delivered than taken: only the direction is known. */
        uint32_t twice = period <= MKPERF_MAX_PERIOD / 2 ? 2 * period : MKPERF_MAX_PERIOD;
        period = twice;
    } else if (pace->from != 0) {
        period =
            mkperf_adapt_period(period, e->minimum, e->frequency, pace->events, ticks, p->tick_hz);
    }
    pace->from = pace->last;
    pace->samples = 0;
    pace->events = 0;
    set_period(p, event, period);
}

/* Lowers the period of an event with a frequency that has not occurred for long. */
static void feed(struct mkperf_profiler *p, unsigned event, bool silent)
{
    const struct mkperf_plan_event *e = &p->plan.event[event];
    struct mkperf_pace *pace = &p->pace[event];
    uint64_t patience = STARVED_INTERVALS * p->tick_hz / e->frequency + p->tick_hz / 10;

    if (pace->last == 0) {
        pace->last = p->now; /* no sample yet: its time begins with the session's first sample */
    }
    if (!silent && (int64_t)(p->now - pace->last) <= (int64_t)patience) {
        return;
    }
    pace->last = p->now;
    pace->from = 0;
    pace->samples = 0;
    pace->events = 0;
    set_period(p, event, mkperf_starved_period(pace->period, e->minimum));
}

static void pace_events(struct mkperf_profiler *p, bool dropped, bool silent)
{
    for (unsigned i = 0; p->plan.adaptive && i < p->plan.events; i++) {
        if (p->plan.event[i].frequency != 0 && mkperf_turns_on(p, i)) {
            adapt(p, i, dropped);
            feed(p, i, silent);
        }
    }
}

/* Tells the hook what was changed, and hears from it. */
static void tell_hook(struct mkperf_profiler *p)
{
    uint32_t op = p->stale ? MKPERF_REQUEST_UPDATE : 0;

    p->stale = false;
    mkperf_kernel_request(p, op);
}

bool mkperf_pace_drain(struct mkperf_profiler *p)
{
    struct mkperf_configuration *want = mkperf_wanted(&p->kernel);
    uint64_t before = p->now;
    uint64_t output = p->output.head;
    uint64_t lost = p->books.lost_ring;
    uint64_t bytes = 0;
    uint64_t samples = mkperf_drain_ring(p, &bytes);

    if (!p->running || p->ticks.on) {
        return p->output.head != output;
    }
    mkperf_counting_rotate(p);
    mkperf_turns_rotate(p);
    pace_events(p, p->books.lost_ring != lost, false);
    p->silent = p->silent && samples == 0;
    if (samples != 0 && !mkperf_plan_schedules(&p->plan)) {
        uint64_t ticks = before != 0 ? p->now - before : 0;
        uint32_t wake = mkperf_wake_samples(p->plan.wake_samples, samples, ticks, p->tick_hz);
        uint32_t watermark = mkperf_watermark(wake, bytes / samples, (uint32_t)p->core.size);
        p->stale |= watermark != want->watermark;
        want->watermark = watermark;
    }
    tell_hook(p);
    /* The hook wakes only when the ring crosses the watermark, so it must be below it now. */
    for (unsigned i = 0; i < MAX_ROUNDS; i++) {
        uint64_t head = __atomic_load_n(&p->core.ring->head, __ATOMIC_ACQUIRE);
        if (head - p->core.tail < want->watermark) {
            break;
        }
        mkperf_drain_ring(p, &bytes);
    }
    return p->output.head != output;
}

void mkperf_pace_status(struct mkperf_profiler *p)
{
    if (p->running && !p->ticks.on && p->silent && p->plan.adaptive) {
        pace_events(p, false, true);
        tell_hook(p);
    }
    p->silent = true;
}

void mkperf_pace_begin(struct mkperf_profiler *p)
{
    for (unsigned i = 0; i < MKPERF_MAX_EVENTS; i++) {
        p->pace[i] = (struct mkperf_pace){.period = mkperf_in_steps(p->plan.event[i].period)};
    }
    p->silent = true;
}
