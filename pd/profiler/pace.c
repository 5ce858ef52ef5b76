/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pacing: how often samples come, and how often the hook wakes this PD.
 *
 * Owns: the periods, jitter masks and watermarks that the hook works with. Called after each drain,
 * outside the copy: one request for all of them, which also detects whether another host has
 * changed the counters.
 *
 * On each core an event has one period for its user and its kernel counter, so that all its samples
 * weigh the same. In frequency mode it follows the rate that was seen.
 */
#include "policy.h"
#include "profiler.h"

enum {
    MAX_ROUNDS = 16,       /* of draining at one wake-up */
    PACE_SAMPLES = 8,      /* enough to judge a rate by, */
    PACE_PER_SECOND = 20,  /* or a 20th of a second */
    ASKS_PER_SECOND = 20,  /* of the other cores, at least */
    SETTLED = 8,           /* a period that changes by more than this part will change again: */
    WAKE_SETTLING = 32,    /* the next wake-up comes after this many samples */
    STARVED_INTERVALS = 10 /* an event is late after this many of its intervals */
};

static void want_period(struct mkperf_profiler *p, unsigned core, unsigned counter, uint32_t period)
{
    struct mkperf_request_counter *c = &p->kernel.d[core]->want.counter[counter];

    c->period = period;
    c->jitter_mask = p->plan.no_jitter ? 0 : mkperf_jitter_mask(period);
    p->core[core].stale = true;
}

/* An event's counters, as long as it has them. */
static uint32_t counters_of(const struct mkperf_profiler *p, unsigned event)
{
    const struct mkperf_plan_event *e = &p->plan.event[event];
    uint32_t mask = 0;

    if (!mkperf_multiplex_on(p, event)) {
        return 0;
    }
    mask |= mkperf_counter_bit(e->user_counter);
    mask |= mkperf_counter_bit(e->kernel_counter);
    return mask;
}

/* The event's period from now on. A counter that is on the way to the end of an interval which is
 * now far too long, the hook sets forward. */
static void set_period(struct mkperf_profiler *p, unsigned core, unsigned event, uint32_t period)
{
    struct mkperf_pace *pace = &p->core[core].pace[event];
    uint32_t most = pace->period / SETTLED;

    period = mkperf_in_steps(period);
    pace->settling = period > pace->period + most || period + most < pace->period;
    if (period == pace->period) {
        return;
    }
    pace->period = period;
    for (uint32_t rest = counters_of(p, event); rest != 0; rest &= rest - 1) {
        want_period(p, core, (unsigned)__builtin_ctz(rest), period);
    }
}

/* Adapts an event with a frequency to the samples since the last call. */
static void adapt(struct mkperf_profiler *p, unsigned core, unsigned event, bool dropped)
{
    const struct mkperf_plan_event *e = &p->plan.event[event];
    struct mkperf_pace *pace = &p->core[core].pace[event];
    uint64_t ticks = pace->last - pace->from;
    uint32_t period = pace->period;
    bool first = pace->from == 0;

    if (pace->samples == 0 ||
        (!first && pace->samples < PACE_SAMPLES && ticks < p->tick_hz / PACE_PER_SECOND)) {
        return;
    }
    if (dropped) {
        /* Fewer samples were delivered than taken: only the direction is known. */
        uint32_t twice = period <= MKPERF_MAX_PERIOD / 2 ? 2 * period : MKPERF_MAX_PERIOD;
        period = twice;
    } else if (!first) {
        period =
            mkperf_adapt_period(period, e->minimum, e->frequency, pace->events, ticks, p->tick_hz);
    }
    pace->from = pace->last;
    pace->samples = 0;
    pace->events = 0;
    set_period(p, core, event, period);
    pace->settling |= first;
}

/* Lowers the period of an event with a frequency that has not occurred for long. */
static void feed(struct mkperf_profiler *p, unsigned core, unsigned event, bool silent)
{
    const struct mkperf_plan_event *e = &p->plan.event[event];
    struct mkperf_pace *pace = &p->core[core].pace[event];
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
    set_period(p, core, event, mkperf_starved_period(pace->period, e->minimum));
}

static bool pace_core(struct mkperf_profiler *p, unsigned core, bool dropped, bool silent)
{
    bool settling = false;

    for (unsigned i = 0; i < p->plan.events; i++) {
        if (p->plan.event[i].frequency != 0 && mkperf_multiplex_on(p, i)) {
            adapt(p, core, i, dropped);
            feed(p, core, i, silent);
            settling |= p->core[core].pace[i].settling;
        }
    }
    return settling;
}

/* Returns whether a period has just changed by more than SETTLED allows. */
static bool pace_events(struct mkperf_profiler *p, bool dropped, bool silent)
{
    bool settling = false;

    for (uint32_t rest = p->plan.adaptive ? p->on : 0; rest != 0; rest &= rest - 1) {
        settling |= pace_core(p, (unsigned)__builtin_ctz(rest), dropped, silent);
    }
    return settling;
}

/* Tells the hook what was changed on the own core, and hears from it. */
static void tell_hook(struct mkperf_profiler *p)
{
    struct mkperf_core *c = &p->core[p->here];
    uint32_t op = c->stale && (p->on >> p->here & 1) ? MKPERF_REQUEST_UPDATE : 0;

    c->stale = false;
    mkperf_kernel_request(p, op);
}

/* The same on the other cores, each of which this interrupts: those with changes, and all of them
 * ASKS_PER_SECOND times, for what they have to say. */
static void tell_others(struct mkperf_profiler *p)
{
    bool all = p->now - p->asked >= p->tick_hz / ASKS_PER_SECOND;
    uint32_t mask = 0;

    for (uint32_t rest = p->on & ~(UINT32_C(1) << p->here); rest != 0; rest &= rest - 1) {
        struct mkperf_core *c = &p->core[__builtin_ctz(rest)];
        mask |= all || c->stale ? rest & -rest : 0;
        c->stale = false;
    }
    p->asked = all ? p->now : p->asked;
    if (mask != 0) {
        mkperf_cores_request(p, mask, MKPERF_REQUEST_UPDATE);
    }
}

/* Sets the watermarks for `bytes` a sample. Another core gets a new one only if it differs much. */
static void set_watermarks(struct mkperf_profiler *p, uint32_t wake, uint64_t bytes)
{
    for (uint32_t rest = p->on; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        struct mkperf_configuration *want = &p->kernel.d[i]->want;
        uint32_t next = mkperf_watermark(wake, bytes, (uint32_t)p->core[i].ring.size);
        uint32_t tolerated = want->watermark / (i == p->here ? 16 : 2);
        if (next + tolerated < want->watermark || next > want->watermark + tolerated) {
            want->watermark = next;
            p->core[i].stale = true;
        }
    }
}

/* Whether each ring is below its watermark: the hook wakes only when it crosses that. */
static bool below(const struct mkperf_profiler *p)
{
    for (uint32_t rest = p->on; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        const struct mkperf_ring_consumer *ring = &p->core[i].ring;
        uint64_t head = __atomic_load_n(&ring->ring->head, __ATOMIC_ACQUIRE);
        if (head - ring->tail >= p->kernel.d[i]->want.watermark) {
            return false;
        }
    }
    return true;
}

/* Of the core that took the most of them. */
static uint32_t most_samples(const struct mkperf_profiler *p)
{
    uint32_t most = 0;

    for (uint32_t rest = p->on; rest != 0; rest &= rest - 1) {
        uint32_t samples = p->core[__builtin_ctz(rest)].drained;
        most = samples > most ? samples : most;
    }
    return most;
}

bool mkperf_pace_drain(struct mkperf_profiler *p)
{
    uint64_t before = p->now;
    uint64_t output = p->output.head;
    uint64_t lost = p->statistics.lost_ring;
    uint64_t bytes = 0;
    uint64_t samples = mkperf_drain_ring(p, &bytes);

    if (!p->running || p->ticks.on) {
        return p->output.head != output;
    }
    mkperf_counting_rotate(p);
    mkperf_multiplex_rotate(p);
    bool settling = pace_events(p, p->statistics.lost_ring != lost, false);
    p->silent = p->silent && samples == 0;
    if (samples != 0 && !mkperf_plan_schedules(&p->plan)) {
        uint64_t ticks = before != 0 ? p->now - before : 0;
        uint32_t wake =
            mkperf_wake_samples(p->plan.wake_samples, most_samples(p), ticks, p->tick_hz);
        if (settling && p->plan.wake_samples == 0 && wake > WAKE_SETTLING) {
            wake = WAKE_SETTLING;
        }
        set_watermarks(p, wake, bytes / samples);
    }
    tell_hook(p);
    if (p->cores > 1) {
        mkperf_cores_collect(p);
        tell_others(p);
    }
    for (unsigned i = 0; i < MAX_ROUNDS && !below(p); i++) {
        mkperf_drain_ring(p, &bytes);
    }
    return p->output.head != output;
}

void mkperf_pace_status(struct mkperf_profiler *p)
{
    if (p->running && !p->ticks.on && p->silent && p->plan.adaptive) {
        pace_events(p, false, true);
        tell_hook(p);
        tell_others(p);
    }
    p->silent = true;
    p->asked = 0; /* the next drain asks all cores */
}

void mkperf_pace_begin(struct mkperf_profiler *p)
{
    for (unsigned i = 0; i < MKPERF_MAX_EVENTS; i++) {
        struct mkperf_pace pace = {.period = mkperf_in_steps(p->plan.event[i].period)};
        for (unsigned core = 0; core < p->cores; core++) {
            p->core[core].pace[i] = pace;
        }
    }
    p->silent = true;
}
