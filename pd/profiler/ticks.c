/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the timer's sessions, see ticks.h.
 *
 * What may be lost: samples that do not fit into the output ring, as with the hook. A snapshot that
 * is too late moves the sample; the delay is in the sample's weight and counted as late.
 */
#include "ticks.h"

#include <microkit.h>

#include "profiler.h"

#ifndef MKPERF_TIMER
#define MKPERF_TIMER mkperf_generic_timer
#endif

enum {
    CYCLES_PER_US = 1000, /* nominal: when a checking counter overflows in the window */
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
    return us * t->timer->hz() / MKPERF_TICKS_US_PER_S;
}

uint64_t mkperf_ticks_us(const struct mkperf_ticks *t, uint64_t ticks)
{
    return ticks * MKPERF_TICKS_US_PER_S / t->timer->hz();
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

/* ---- START, STOP ---------------------------------------------------------------------------- */

/* The ring in which this PD takes the hook's place. The hook's own stays free for checking. */
static void own_ring(struct mkperf_profiler *p)
{
    struct mkperf_ticks *t = &p->ticks;
    struct mkperf_ring *ring = mkperf_core_ring(mkperf_rings, MKPERF_TARGET_CORES);

    struct mkperf_core *c = &p->core[p->here];

    t->hook = c->ring;
    *ring = (struct mkperf_ring){0};
    t->ring = (struct mkperf_ring_producer){.ring = ring, .size = MKPERF_CORE_RING_BYTES};
    c->ring = (struct mkperf_ring_consumer){.ring = ring, .size = MKPERF_CORE_RING_BYTES};
    c->dropped_samples = 0;
    c->dropped_events = 0;
}

/* Uniform over `jitter` ticks around the period. With the width of the period it
 * removes the period's frequency and its multiples (the transform of that window is zero there). */
static uint64_t interval(struct mkperf_profiler *p)
{
    struct mkperf_ticks *t = &p->ticks;

    return t->period - t->jitter / 2 + (next_random(t) * t->jitter >> 32);
}

/* As wide as the shortest interval permits with two snapshots. */
static uint64_t jitter(const struct mkperf_ticks *t)
{
    uint64_t shortest = 2 * t->window + 3 * t->cost;

    if (t->period <= shortest) {
        return 0;
    }
    return t->period >= 2 * shortest ? t->period : 2 * (t->period - shortest);
}

/* When to take the first snapshot: so that the second follows a window after its end. */
static uint64_t first_look_at(const struct mkperf_ticks *t)
{
    return t->due - t->window - t->cost;
}

bool mkperf_ticks_start(struct mkperf_profiler *p, mkperf_Error *error)
{
    struct mkperf_ticks *t = &p->ticks;

    if (t->check && !mkperf_sampling_check_begin(p, error)) {
        return false;
    }
    mkperf_sampling_reset(p);
    p->tick_hz = t->timer->hz();
    p->core[p->here].pace[0].period = p->plan.event[0].period;
    p->number[0] = 0;
    own_ring(p);
    uint32_t faults = t->statistics.faults;
    t->statistics = (mkperf_Attribution){.faults = faults};
    t->period = from_us(t, p->plan.event[0].period);
    t->window = from_us(t, MKPERF_TICKS_WINDOW_US);
    t->jitter = p->plan.no_jitter ? 0 : jitter(t);
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
    if (!mkperf_timer_reads_start(p, t->from, error)) {
        p->core[p->here].ring = t->hook;
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
    mkperf_timer_reads_stop(p);
    if (t->check) {
        mkperf_sampling_check_end(p);
    }
    mkperf_drain_ring(p, &bytes);
    p->core[p->here].ring = t->hook;
    p->running = false;
}

/* ---- interrupts ---------------------------------------------------------------------------- */

/* When the next sample is due: not before there is time for two snapshots, and for other PDs in
 * between. */
static void next_due(struct mkperf_profiler *p)
{
    struct mkperf_ticks *t = &p->ticks;
    uint64_t soonest = t->timer->now() + 2 * t->window + t->cost;

    t->due += interval(p);
    if ((int64_t)(t->due - soonest) < 0) {
        t->late_us += mkperf_ticks_us(t, soonest - t->due);
        t->due = soonest;
    }
    t->timer->arm(first_look_at(t));
}

/* The snapshot before a sample. */
static void first_look(struct mkperf_profiler *p)
{
    struct mkperf_ticks *t = &p->ticks;
    uint64_t began = t->timer->now();

    mkperf_observe_look(&t->observation);
    uint64_t now = t->timer->now();
    t->cost = now - began > t->cost ? now - began : t->cost;
    if ((int64_t)(t->due - now - t->window / 2) < 0) {
        t->late_us += mkperf_ticks_us(t, now + t->window - t->due);
        t->due = now + t->window;
    }
    t->sample_next = true;
    if (t->check) {
        /* The counter takes the sample; if it does not, the timer does, unchecked. Do not derive
         * the next deadline from it, or one delay would shift all later samples. */
        uint32_t cycles = MKPERF_TICKS_WINDOW_US * CYCLES_PER_US +
                          ((uint32_t)next_random(t) & 0xfff);
        t->timer->arm(t->due + 4 * t->window);
        /* In both modes, like the timer: in user mode alone, system calls would delay the counter,
         * and the sample would be of the code after them. */
        mkperf_sampling_check_arm(p, mkperf_in_steps(cycles));
    } else {
        t->timer->arm(t->due);
    }
}

/* The callers in a record of the hook's, outermost last. Returns how many. */
static unsigned read_callers(const uint64_t *record, uint64_t caller[MKPERF_MAX_CALLERS])
{
    uint64_t header = record[MKPERF_WORD_HEADER];
    bool kernel = (mkperf_record_flags(header) & MKPERF_SAMPLE_KERNEL) != 0;
    const uint64_t *word = record + MKPERF_SAMPLE_FIXED_WORDS + kernel;
    unsigned words = mkperf_record_nframes(header);
    unsigned n = 0;

    if (!(mkperf_record_flags(header) & MKPERF_SAMPLE_CALLERS) || words == 0 ||
        word[words - 1] >= words) {
        return 0;
    }
    const uint64_t *end = word + words - 1;
    for (const uint64_t *c = end - *end; c + MKPERF_CALLER_WORDS <= end && n < MKPERF_MAX_CALLERS;
         c += MKPERF_CALLER_WORDS + (c[MKPERF_CALLER_FRAMES] & 0xff)) {
        caller[n++] = mkperf_thread_of(c[MKPERF_CALLER_THREAD], c[MKPERF_CALLER_SC]);
    }
    return n;
}

/* Reads the hook's samples; the last one is the current one. Returns whether there was any. */
static bool take_truth(struct mkperf_ticks *t, uint64_t *time, struct mkperf_ticks_truth *truth)
{
    const uint64_t *record;
    unsigned size;
    bool corrupt = false;
    bool seen = false;

    while ((record = mkperf_ring_peek(&t->hook, &size, &corrupt)) != NULL) {
        if (size > 8 * MKPERF_WORD_SC) {
            *time = record[MKPERF_WORD_TIME];
            truth->thread = mkperf_thread_of(record[MKPERF_WORD_THREAD], record[MKPERF_WORD_SC]);
            truth->callers = read_callers(record, truth->caller);
            seen = true;
        }
        mkperf_ring_release(&t->hook, size);
    }
    return seen;
}

static bool finish_sample(struct mkperf_profiler *p, uint64_t now,
                          const struct mkperf_ticks_truth *truth)
{
    struct mkperf_ticks *t = &p->ticks;
    bool fresh = false;

    mkperf_ticks_take(p, now, truth);
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
    struct mkperf_ticks_truth truth;
    bool fresh = false;

    t->entered = now;
    mkperf_timer_reads_pause(p);
    if (!t->on || !p->running) {
        t->timer->stop();
    } else if (hook && !t->check) {
        microkit_irq_ack(MKPERF_CHANNEL_PMU); /* a counter wrapped, which timer_reads.c ignores */
        return false;
    } else if (hook) {
        bool seen = take_truth(t, &now, &truth);
        if (seen && t->sample_next) {
            mkperf_sampling_check_stop(p);
            fresh = finish_sample(p, now, &truth);
        }
        return fresh;
    } else if (t->sample_next) {
        if (t->check) {
            mkperf_sampling_check_stop(p);
            take_truth(t, &(uint64_t){0}, &truth);
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
        mkperf_timer_reads_resume(p);
    }
    t->entered = 0;
    t->statistics.cost_ns = (uint32_t)(t->cost * 1000 * MKPERF_TICKS_US_PER_S / t->timer->hz());
    t->statistics.spent_us = mkperf_ticks_us(t, t->spent);
    t->statistics.unread = p->timer_reads.unread;
}
