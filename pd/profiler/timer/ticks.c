/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The times of the timer's snapshots: see ticks.h.
 *
 * What may be lost: samples that do not fit into the output ring, as with the hook. A snapshot that
 * is too late moves the sample; the delay is in the sample's weight and counted as late.
 */
#include "ticks.h"

#include <microkit.h>

#include "../policy.h"
#include "../probe.h"
#include "../request.h"

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

void mkperf_ticks_init(struct mkperf_ticks *t)
{
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
    if (t->kernel->missing != NULL) { /* There is no probe, which else makes one. */
        t->kernel->boot_id = (t->random ^ t->random >> 31) | 1;
    }
}

/* ---- START, STOP ---------------------------------------------------------------------------- */

/* The ring in which this PD takes the hook's place. The hook's own stays free for checking. */
static void own_ring(struct mkperf_ticks *t)
{
    struct mkperf_ring *ring = mkperf_core_ring(t->kernel->rings, MKPERF_TARGET_CORES);
    struct mkperf_ring_consumer *drained = &t->drain->ring[t->kernel->here];

    t->hook = *drained;
    *ring = (struct mkperf_ring){0};
    t->ring = (struct mkperf_ring_producer){.ring = ring, .size = MKPERF_CORE_RING_BYTES};
    *drained = (struct mkperf_ring_consumer){.ring = ring, .size = MKPERF_CORE_RING_BYTES};
}

/* Uniform over `jitter` ticks around the period. With the width of the period it
 * removes the period's frequency and its multiples (the transform of that window is zero there). */
static uint64_t interval(struct mkperf_ticks *t)
{
    return t->period - t->jitter / 2 + (next_random(t) * t->jitter >> 32);
}

/* The greatest width that leaves room for two snapshots in the shortest interval. */
static uint64_t jitter(const struct mkperf_ticks *t)
{
    uint64_t shortest = 2 * t->window + 3 * t->cost;

    if (t->period <= shortest) {
        return 0;
    }
    return t->period >= 2 * shortest ? t->period : 2 * (t->period - shortest);
}

/* The time of the first snapshot. The second one follows a window after its end. */
static uint64_t first_look_at(const struct mkperf_ticks *t)
{
    return t->due - t->window - t->cost;
}

bool mkperf_ticks_start(struct mkperf_ticks *t, mkperf_Error *error)
{
    struct mkperf_kernel *k = t->kernel;
    struct mkperf_ring_consumer *ring = &t->drain->ring[k->here];
    uint64_t hz = t->timer->hz();

    if (t->check &&
        (!mkperf_probe(k, ring, error) || !mkperf_probe_begin(k, ring, t->plan->callers, error))) {
        return false;
    }
    mkperf_output_begin(t->drain->output, t->plan, error);
    mkperf_kernel_begin(k);
    mkperf_drain_begin(t->drain);
    mkperf_pace_begin(t->drain->pacer);
    t->drain->number[0] = 0;
    own_ring(t);
    t->statistics = (mkperf_Attribution){.faults = t->statistics.faults};
    t->period = from_us(t, t->plan->event[0].period);
    t->window = from_us(t, MKPERF_TICKS_WINDOW_US);
    t->jitter = t->plan->no_jitter ? 0 : jitter(t);
    t->wake = mkperf_wake_samples(t->plan->wake_samples, hz, hz * t->period, hz);
    t->waiting = 0;
    t->rest = 0;
    t->spent = 0;
    t->late_us = 0;
    t->sample_next = false;
    t->observation.unreadable = 0;
    t->from = t->timer->now();
    t->due = t->from + interval(t);
    if (!mkperf_timer_reads_start(&t->reads, t->from, error)) {
        *ring = t->hook;
        return false;
    }
    t->running = true;
    k->session = true;
    t->timer->arm(first_look_at(t));
    microkit_irq_ack(MKPERF_CHANNEL_TIMER);
    return true;
}

void mkperf_ticks_stop(struct mkperf_ticks *t)
{
    t->timer->stop();
    mkperf_timer_reads_stop(&t->reads);
    if (t->check) {
        mkperf_kernel_request(t->kernel, MKPERF_REQUEST_WITHDRAW);
    }
    mkperf_drain(t->drain);
    t->drain->ring[t->kernel->here] = t->hook;
    t->running = false;
    t->kernel->session = false;
}

/* ---- interrupts ---------------------------------------------------------------------------- */

/* The time of the next sample, which leaves time for two snapshots and for other PDs between
 * them. */
static void next_due(struct mkperf_ticks *t)
{
    uint64_t soonest = t->timer->now() + 2 * t->window + t->cost;

    t->due += interval(t);
    if ((int64_t)(t->due - soonest) < 0) {
        t->late_us += mkperf_ticks_us(t, soonest - t->due);
        t->due = soonest;
    }
    t->timer->arm(first_look_at(t));
}

/* The snapshot before a sample. */
static void first_look(struct mkperf_ticks *t)
{
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
        mkperf_probe_arm(t->kernel, mkperf_in_steps(cycles));
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

static bool finish_sample(struct mkperf_ticks *t, uint64_t now,
                          const struct mkperf_ticks_truth *truth)
{
    bool fresh = false;

    mkperf_ticks_take(t, now, truth);
    t->sample_next = false;
    if (++t->waiting >= t->wake) {
        t->waiting = 0;
        fresh = mkperf_drain(t->drain).output;
    }
    next_due(t);
    return fresh;
}

bool mkperf_ticks_interrupt(struct mkperf_ticks *t, bool hook)
{
    uint64_t now = t->timer->now();
    struct mkperf_ticks_truth truth;
    bool fresh = false;

    t->entered = now;
    mkperf_timer_reads_pause(&t->reads);
    if (!t->running) {
        t->timer->stop();
    } else if (hook && !t->check) {
        microkit_irq_ack(MKPERF_CHANNEL_PMU); /* a counter wrapped, which timer_reads.c ignores */
        return false;
    } else if (hook) {
        bool seen = take_truth(t, &now, &truth);
        if (seen && t->sample_next) {
            mkperf_kernel_request(t->kernel, MKPERF_REQUEST_STOP);
            fresh = finish_sample(t, now, &truth);
        }
        return fresh;
    } else if (t->sample_next) {
        if (t->check) {
            mkperf_kernel_request(t->kernel, MKPERF_REQUEST_STOP);
            take_truth(t, &(uint64_t){0}, &truth);
        }
        fresh = finish_sample(t, now, NULL);
    } else {
        first_look(t);
    }
    microkit_irq_ack(MKPERF_CHANNEL_TIMER);
    return fresh;
}

void mkperf_ticks_leave(struct mkperf_ticks *t)
{
    if (!t->running) {
        return;
    }
    t->left = t->timer->now();
    t->spent += t->entered != 0 ? t->left - t->entered : 0;
    if (t->entered != 0) {
        mkperf_timer_reads_resume(&t->reads);
    }
    t->entered = 0;
}

void mkperf_ticks_fault(struct mkperf_ticks *t, uint32_t child)
{
    t->observation.stopped |= child <= MKPERF_MAX_CHILD_ID ? UINT64_C(1) << child : 0;
    t->statistics.faults++;
}

void mkperf_ticks_status(const struct mkperf_ticks *t, mkperf_Status *out)
{
    out->cores_count = 0; /* The timer samples this PD's core only. */
    out->late_events = t->late_us;
    out->has_attribution = true;
    out->attribution = t->statistics;
    out->attribution.cost_ns = (uint32_t)(t->cost * 1000 * MKPERF_TICKS_US_PER_S / t->timer->hz());
    out->attribution.spent_us = mkperf_ticks_us(t, t->spent);
    out->attribution.unread = t->reads.unread;
}
