/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the timer's sessions, see ticks.h.
 *
 * What may be lost: samples that the output ring has no room for, as with the hook. A look that
 * comes too late for its time moves the sample; the time is in the sample's weight and counted as
 * late.
 */
#include "ticks.h"

#include <microkit.h>

#include "../lib/text.h"
#include "profiler.h"

#ifndef MKPERF_TIMER
#define MKPERF_TIMER mkperf_generic_timer
#endif

enum {
    WINDOW_US = 20, /* between two looks: many times the way back to the interrupted thread */
    MIN_PERIOD_US = 100,
    MAX_PERIOD_US = 1000000,
    CYCLES_PER_US = 1000, /* nominal: when a checking counter overflows in the window */
    US_PER_S = 1000000,
    RETURN_BYTES = 4, /* from a pc to what stands for it as a return address */
};

static uint64_t next_random(struct mkperf_ticks *t)
{
    t->random ^= t->random << 13; /* Marsaglia's xorshift64, JSS 8(14), 2003 */
    t->random ^= t->random >> 7;
    t->random ^= t->random << 17;
    return t->random >> 32;
}

static uint64_t from_us(const struct mkperf_ticks *t, uint64_t us)
{
    return us * t->timer->hz() / US_PER_S;
}

static uint64_t to_us(const struct mkperf_ticks *t, uint64_t ticks)
{
    return ticks * US_PER_S / t->timer->hz();
}

void mkperf_ticks_init(struct mkperf_profiler *p)
{
    struct mkperf_ticks *t = &p->ticks;

    t->timer = &MKPERF_TIMER;
    if (!(microkit_irqs >> MKPERF_CHANNEL_TIMER & 1)) {
        t->no_timer = "the profiler PD has no timer interrupt (channel 2), see docs/stock.md";
    } else {
        t->no_timer = t->timer->init();
    }
    if (t->no_timer != NULL) {
        return;
    }
    t->random = t->timer->now() * UINT64_C(0x9e3779b97f4a7c15) | 1;
    if (p->no_pmu != NULL) {
        p->boot_id = (t->random ^ t->random >> 31) | 1; /* the probe that else makes one needs it */
    }
    p->tick_hz = t->timer->hz();
}

bool mkperf_ticks_wanted(const struct mkperf_session_request *request)
{
    return mkperf_text_is(request->event[0].name, MKPERF_NAME_BYTES, MKPERF_TIMER_EVENT);
}

/* ---- OBSERVE, CONFIGURE --------------------------------------------------------------------- */

static bool no_timer(const struct mkperf_profiler *p, struct mkperf_session_error *error)
{
    if (p->ticks.no_timer != NULL) {
        mkperf_plan_refuse(error, MKPERF_RESULT_NO_TIMER, 0, p->ticks.no_timer);
        return true;
    }
    return false;
}

bool mkperf_ticks_observe(struct mkperf_profiler *p, struct mkperf_session_error *error)
{
    static struct mkperf_observe_part part; /* ours: the client may write on meanwhile */

    if (p->running) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_STATE, 0,
                                  "a session is running: stop it first");
    }
    if (no_timer(p, error)) {
        return false;
    }
    part = *(volatile struct mkperf_observe_part *)&p->page->observe;
    if (part.part == 0) {
        struct mkperf_observer *out = &p->page->observer;
        mkperf_text_copy(out->pd, microkit_name, sizeof out->pd);
        mkperf_text_copy(out->timer, p->ticks.timer->name, sizeof out->timer);
    }
    return mkperf_observe_told(&p->ticks.observation, &part, error);
}

/* How long a look takes, and so how often there may be one. */
static uint64_t shortest_period_us(struct mkperf_ticks *t)
{
    uint64_t began = t->timer->now();

    mkperf_observe_look(&t->observation);
    t->cost = t->timer->now() - began;
    uint64_t us = to_us(t, 4 * t->cost) + 2 * (uint64_t)WINDOW_US;
    return us > MIN_PERIOD_US ? us : MIN_PERIOD_US;
}

static bool refuse_period(struct mkperf_session_error *error, uint64_t shortest)
{
    struct mkperf_text text = mkperf_text_begin(error->text, sizeof error->text);

    error->code = MKPERF_RESULT_RANGE;
    error->event = 1;
    mkperf_text_put(&text, "the period of 'timer' must be from ");
    mkperf_text_dec(&text, (uint32_t)shortest);
    mkperf_text_put(&text, " (what looking at these PDs costs, four times) to 1000000 us");
    return false;
}

static bool plan_period(struct mkperf_profiler *p, const struct mkperf_session_want *want,
                        struct mkperf_plan_event *e, struct mkperf_session_error *error)
{
    uint64_t shortest = shortest_period_us(&p->ticks);
    uint64_t period = want->period;

    if (period == 0 && want->frequency != 0 && want->frequency <= MKPERF_MAX_FREQUENCY) {
        e->frequency = want->frequency;
        period = US_PER_S / want->frequency;
    }
    if (period < shortest || period > MAX_PERIOD_US) {
        return refuse_period(error, shortest);
    }
    e->period = (uint32_t)period;
    e->minimum = (uint32_t)shortest;
    return true;
}

static bool plan_limits(const struct mkperf_session_request *request,
                        struct mkperf_session_error *error)
{
    const struct mkperf_session_want *want = &request->event[0];

    if (request->events == 0 || request->events > MKPERF_MAX_EVENTS || want->count) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 1,
                                  "'timer' samples, in a session of at most 16 events");
    }
    if (request->overwrite || request->interactions || request->per_thread) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 1,
                                  "'timer' makes no flight recording and counts nothing");
    }
    if (!want->user != !want->kernel) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 1,
                                  "'timer' cannot tell user mode from the kernel");
    }
    if (request->max_frames > MKPERF_MAX_FRAMES || request->filters > MKPERF_MAX_FILTERS) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 0,
                                  "the call chain's depth must be from 0 to 64, and at most 16 "
                                  "protection domains can be chosen");
    }
    return true;
}

bool mkperf_ticks_plan(struct mkperf_profiler *p, const struct mkperf_session_request *request,
                       struct mkperf_session_error *error)
{
    struct mkperf_plan plan = {
        .events = 1,
        .max_frames = request->max_frames,
        .no_jitter = request->no_jitter != 0,
        .core_bytes = MKPERF_CORE_RING_BYTES,
        .output_bytes = MKPERF_OUTPUT_RING_BYTES,
        .counter_mask = 1,
        .turns = 1,
        .filters = request->filters,
        .wake_samples = request->wake_samples,
    };
    struct mkperf_plan_event *e = &plan.event[0];

    if (no_timer(p, error) || !plan_limits(request, error)) {
        return false;
    }
    if (!p->ticks.observation.told || p->ticks.observation.n == 0) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_NO_TIMER, 1,
                                  "the timer has no PD to observe: only children of the profiler "
                                  "PD can be, and the host has to name them (--system)");
    }
    if (request->check != 0 && p->no_pmu != NULL) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_NO_HOOK, 1,
                                  "nothing to check the timer's samples against: there is no PMU");
    }
    mkperf_text_copy(e->name, MKPERF_TIMER_EVENT, sizeof e->name);
    e->code = MKPERF_TIMER_CODE;
    e->user_number = 1; /* nobody's, but samples name their event by it */
    e->kernel_number = 1;
    e->group = request->event[0].group;
    if (!plan_period(p, &request->event[0], e, error) ||
        !mkperf_riders_plan(p, &plan, request, error)) {
        return false;
    }
    for (unsigned i = 0; i < plan.filters; i++) {
        plan.filter[i] = request->filter[i];
    }
    mkperf_flight_forget(p); /* its events are no longer known */
    p->plan = plan;
    p->ticks.on = true;
    p->ticks.check = request->check != 0;
    return true;
}

/* ---- START, STOP ---------------------------------------------------------------------------- */

/* The ring in which this PD takes the hook's place. The hook's own stays free for checking. */
static void own_ring(struct mkperf_profiler *p)
{
    struct mkperf_ticks *t = &p->ticks;
    struct mkperf_ring *ring = mkperf_core_ring(mkperf_rings, 1);

    t->hook = p->core;
    *ring = (struct mkperf_ring){.tick_hz = p->tick_hz};
    t->ring = (struct mkperf_ring_producer){.ring = ring, .size = MKPERF_CORE_RING_BYTES};
    p->core = (struct mkperf_ring_consumer){.ring = ring, .size = MKPERF_CORE_RING_BYTES};
    p->dropped_samples = 0;
    p->dropped_events = 0;
}

static uint64_t interval(struct mkperf_profiler *p)
{
    struct mkperf_ticks *t = &p->ticks;

    return t->mask == 0 ? t->period : t->period - (t->mask / 2 + 1) + (next_random(t) & t->mask);
}

/* When to look first: so that the second look comes a window after the end of this one. */
static uint64_t first_look_at(const struct mkperf_ticks *t)
{
    return t->due - t->window - t->cost;
}

bool mkperf_ticks_start(struct mkperf_profiler *p, struct mkperf_session_error *error)
{
    struct mkperf_ticks *t = &p->ticks;

    if (t->check && !mkperf_sampling_check_begin(p, error)) {
        return false;
    }
    mkperf_sampling_reset(p);
    p->tick_hz = t->timer->hz();
    p->counting.stamps = 0;
    p->pace[0].period = p->plan.event[0].period;
    p->number[0] = 0;
    own_ring(p);
    uint32_t faults = t->books.faults;
    t->books = (struct mkperf_attribution){.faults = faults};
    t->period = from_us(t, p->plan.event[0].period);
    t->window = from_us(t, WINDOW_US);
    t->mask = p->plan.no_jitter ? 0 : mkperf_jitter_mask((uint32_t)t->period);
    t->wake = mkperf_wake_samples(p->plan.wake_samples, t->timer->hz(), t->timer->hz() * t->period,
                                  t->timer->hz());
    t->waiting = 0;
    t->rest = 0;
    t->spent = 0;
    t->late_us = 0;
    t->sample_next = false;
    t->observation.unreadable = 0;
    t->from = t->timer->now();
    t->due = t->from + interval(p);
    if (!mkperf_riders_start(p, t->from, error)) {
        p->core = t->hook;
        return false;
    }
    p->running = true;
    t->timer->arm(first_look_at(t));
    microkit_irq_ack(MKPERF_CHANNEL_TIMER);
    return true;
}

void mkperf_ticks_stop(struct mkperf_profiler *p)
{
    struct mkperf_ticks *t = &p->ticks;
    uint64_t bytes = 0;

    t->timer->stop();
    mkperf_riders_stop(p);
    if (t->check) {
        mkperf_sampling_check_end(p);
    }
    mkperf_drain_ring(p, &bytes);
    p->core = t->hook;
    p->running = false;
}

/* ---- samples -------------------------------------------------------------------------------- */

static bool filtered(const struct mkperf_profiler *p, uint64_t thread)
{
    for (unsigned i = 0; i < p->plan.filters; i++) {
        if (p->plan.filter[i] == thread) {
            return false;
        }
    }
    return p->plan.filters != 0;
}

/* Whether a sample of that verdict is left out: with a choice of PDs, one that is certainly not of
 * one of them. */
static bool unwanted(const struct mkperf_profiler *p, const struct mkperf_verdict *v,
                     uint64_t thread)
{
    if (v->confidence != MKPERF_AMBIGUOUS) {
        return filtered(p, thread);
    }
    for (unsigned i = 0; i < v->candidates; i++) {
        if (!filtered(p, p->ticks.observation.thread[v->candidate[i]].thread)) {
            return false;
        }
    }
    return p->plan.filters != 0;
}

/* The words behind the fixed ones. Returns the frames. */
static unsigned put_frames(const struct mkperf_profiler *p, const struct mkperf_verdict *v,
                           uint64_t *w, unsigned *flags)
{
    const struct mkperf_observation *o = &p->ticks.observation;
    unsigned n = 0;

    if (v->confidence != MKPERF_AMBIGUOUS) {
        return v->who < 0 ? 0
                          : mkperf_observe_walk(o, (unsigned)v->who, w, p->plan.max_frames, flags);
    }
    for (unsigned i = 0; i < v->candidates && n + 3 <= p->plan.max_frames; i++) {
        const struct mkperf_observed *c = &o->thread[v->candidate[i]];
        w[n++] = MKPERF_FRAME_PD;
        w[n++] = c->thread;
        w[n++] = c->regs.pc + RETURN_BYTES;
    }
    return n;
}

struct values { /* of mkperf_riders_take */
    unsigned n;
    uint64_t word[1 + MKPERF_MAX_READS];
};

static void put_sample(struct mkperf_profiler *p, const struct mkperf_verdict *v, uint64_t thread,
                       uint64_t now, uint64_t weight, const struct values *values)
{
    struct mkperf_ticks *t = &p->ticks;
    bool idle = thread == MKPERF_THREAD_IDLE;
    uint64_t *w = mkperf_ring_reserve(&t->ring, MKPERF_MAX_RECORD_BYTES);

    if (w == NULL) {
        struct mkperf_ring *ring = mkperf_core_ring(mkperf_rings, 1);
        ring->dropped_samples++;
        ring->dropped_events += weight;
        return;
    }
    unsigned words = MKPERF_SAMPLE_FIXED_WORDS;
    unsigned flags = 0;
    w[MKPERF_WORD_TIME] = now;
    w[MKPERF_WORD_THREAD] = thread;
    w[MKPERF_WORD_PERIOD] = weight;
    w[MKPERF_WORD_PC] = 0;
    w[MKPERF_WORD_LR] = 0;
    if (idle) {
        flags = MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER;
        w[words++] = 0;
    } else if (thread == t->observation.self) {
        w[MKPERF_WORD_PC] = (uintptr_t) protected; /* its entry stands for its work */
    } else if (v->who >= 0) {
        w[MKPERF_WORD_PC] = t->observation.thread[v->who].regs.pc;
        w[MKPERF_WORD_LR] = t->observation.thread[v->who].regs.x30;
    }
    unsigned frames = put_frames(p, v, w + words, &flags);
    words += frames;
    for (unsigned i = 0; i < values->n; i++) {
        w[words++] = values->word[i];
        flags |= MKPERF_SAMPLE_READ;
    }
    flags |= (unsigned)v->confidence << MKPERF_CONFIDENCE_SHIFT;
    w[MKPERF_WORD_HEADER] =
        mkperf_record_header(MKPERF_RECORD_SAMPLE, 8 * words, frames, 0, flags, 0);
    mkperf_ring_commit(&t->ring, UINT64_C(8) * words);
}

static void book(struct mkperf_ticks *t, const struct mkperf_verdict *v)
{
    t->books.proved += v->confidence == MKPERF_PROVED;
    t->books.inferred += v->confidence == MKPERF_INFERRED;
    t->books.ambiguous += v->confidence == MKPERF_AMBIGUOUS;
}

/* The weight of the sample that is due, in microseconds; what is left of one goes to the next. */
static uint64_t take_weight(struct mkperf_ticks *t)
{
    uint64_t hz = t->timer->hz();
    uint64_t sum = (t->due - t->from) * US_PER_S + t->rest;

    t->from = t->due;
    t->rest = sum % hz;
    return sum / hz;
}

/* The hook knows a child on another's scheduling context by another name (record.h). */
static bool same_thread(uint64_t a, uint64_t b)
{
    uint64_t child = MKPERF_THREAD_CHILD_BIT | 0xff;
    bool special = a >= MKPERF_THREAD_AMBIGUOUS || b >= MKPERF_THREAD_AMBIGUOUS;

    return a == b ||
           (!special && (a & b & MKPERF_THREAD_CHILD_BIT) != 0 && (a & child) == (b & child));
}

static void compare(struct mkperf_ticks *t, const struct mkperf_verdict *v, uint64_t thread,
                    uint64_t truth)
{
    if (v->confidence == MKPERF_AMBIGUOUS) {
        t->books.marked++;
    } else if (same_thread(thread, truth)) {
        t->books.right++;
    } else {
        t->books.wrong++;
    }
}

/* truth: NULL, or the identity of the thread that the hook saw. */
static void take_sample(struct mkperf_profiler *p, uint64_t now, const uint64_t *truth)
{
    struct mkperf_ticks *t = &p->ticks;
    struct mkperf_observation *o = &t->observation;
    struct mkperf_verdict v = {.confidence = MKPERF_PROVED, .who = MKPERF_WHO_IDLE};
    struct values values;
    uint64_t thread = o->self;

    values.n = mkperf_riders_take(p, now, values.word);
    mkperf_observe_look(o);
    if (truth != NULL || (int64_t)(t->left - t->due) < 0) {
        v = mkperf_attribute(o->evidence, o->n, o->unobserved);
        thread = v.confidence == MKPERF_AMBIGUOUS ? MKPERF_THREAD_AMBIGUOUS
                 : v.who >= 0                     ? o->thread[v.who].thread
                                                  : MKPERF_THREAD_IDLE;
    }
    book(t, &v);
    if (truth != NULL) {
        compare(t, &v, thread, *truth);
    }
    uint64_t weight = take_weight(t);
    if (!unwanted(p, &v, thread)) {
        put_sample(p, &v, thread, now, weight, &values);
    }
}

/* When the next sample is due: not before there is time for two looks, and for others between. */
static void next_due(struct mkperf_profiler *p)
{
    struct mkperf_ticks *t = &p->ticks;
    uint64_t soonest = t->timer->now() + 2 * t->window + t->cost;

    t->due += interval(p);
    if ((int64_t)(t->due - soonest) < 0) {
        t->late_us += to_us(t, soonest - t->due);
        t->due = soonest;
    }
    t->timer->arm(first_look_at(t));
}

/* The look before a sample. */
static void first_look(struct mkperf_profiler *p)
{
    struct mkperf_ticks *t = &p->ticks;
    uint64_t began = t->timer->now();

    mkperf_observe_look(&t->observation);
    uint64_t now = t->timer->now();
    t->cost = now - began > t->cost ? now - began : t->cost;
    if ((int64_t)(t->due - now - t->window / 2) < 0) {
        t->late_us += to_us(t, now + t->window - t->due);
        t->due = now + t->window;
    }
    t->sample_next = true;
    if (t->check) {
        /* The counter makes the sample; should it not come, the timer does, unchecked. */
        uint32_t cycles = WINDOW_US * CYCLES_PER_US + ((uint32_t)next_random(t) & 0xfff);
        t->timer->arm(t->due + 4 * t->window);
        /* In either mode by turns: an overflow in the kernel is taken when that is left, one in
         * user mode anywhere. */
        p->pmu->program(0, t->cycles, true, (next_random(t) & 1) != 0);
        p->pmu->arm(0, mkperf_in_steps(cycles));
        p->pmu->start(1);
    } else {
        t->timer->arm(t->due);
    }
}

/* What the hook saw, of which the last is the present. Whether it saw anything. */
static bool take_truth(struct mkperf_ticks *t, uint64_t *time, uint64_t *thread)
{
    const uint64_t *record;
    unsigned size;
    bool corrupt = false;
    bool seen = false;

    while ((record = mkperf_ring_peek(&t->hook, &size, &corrupt)) != NULL) {
        if (size > 8 * MKPERF_WORD_THREAD) {
            *time = record[MKPERF_WORD_TIME];
            *thread = record[MKPERF_WORD_THREAD];
            seen = true;
        }
        mkperf_ring_release(&t->hook, size);
    }
    return seen;
}

static bool finish_sample(struct mkperf_profiler *p, uint64_t now, const uint64_t *truth)
{
    struct mkperf_ticks *t = &p->ticks;
    bool fresh = false;

    take_sample(p, now, truth);
    t->sample_next = false;
    if (++t->waiting >= t->wake) {
        t->waiting = 0;
        fresh = mkperf_pace_drain(p);
    }
    next_due(p);
    return fresh;
}

bool mkperf_ticks_interrupt(struct mkperf_profiler *p, bool hook)
{
    struct mkperf_ticks *t = &p->ticks;
    uint64_t now = t->timer->now();
    uint64_t truth;
    bool fresh = false;

    t->entered = now;
    mkperf_riders_pause(p);
    if (!t->on || !p->running) {
        t->timer->stop();
    } else if (hook && !t->check) {
        microkit_irq_ack(MKPERF_CHANNEL_PMU); /* a counter came round, which riders.c forgets */
        return false;
    } else if (hook) {
        bool seen = take_truth(t, &now, &truth);
        if (seen && t->sample_next) {
            p->pmu->stop(1);
            t->due = now;
            fresh = finish_sample(p, now, &truth);
        }
        return fresh;
    } else if (t->sample_next) {
        if (t->check) {
            p->pmu->stop(1);
            take_truth(t, &truth, &truth);
            t->due = now;
        }
        fresh = finish_sample(p, now, NULL);
    } else {
        first_look(p);
    }
    microkit_irq_ack(MKPERF_CHANNEL_TIMER);
    return fresh;
}

void mkperf_ticks_leave(struct mkperf_profiler *p)
{
    struct mkperf_ticks *t = &p->ticks;

    if (!p->running || !t->on) {
        return;
    }
    t->left = t->timer->now();
    t->spent += t->entered != 0 ? t->left - t->entered : 0;
    if (t->entered != 0) {
        mkperf_riders_resume(p);
    }
    t->entered = 0;
    if (t->check) {
        p->descriptor->watermark = 8; /* each of its samples wakes */
    }
    t->books.cost_ns = (uint32_t)(t->cost * 1000 * US_PER_S / t->timer->hz());
    t->books.spent_us = to_us(t, t->spent);
    t->books.unread = p->riders.unread;
}
