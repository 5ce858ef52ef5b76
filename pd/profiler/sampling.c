/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starting and stopping: counters, descriptor, ring.
 *
 * Owns: the order of things between this PD and the kernel hook. Called for START, STOP and INFO.
 * The descriptor's magic is set only while everything it speaks of is in place; counters run only
 * while it is set.
 */
#include <microkit.h>

#include "policy.h"
#include "profiler.h"

#include "../lib/text.h"

enum {
    PROBE_PERIOD = 1000,    /* cycles */
    PROBE_SPINS = 2000000,  /* some tens of milliseconds at most */
    NEVER_WAKE = INT32_MAX, /* a watermark that no ring reaches */
};

static void publish(struct mkperf_profiler *p)
{
    struct mkperf_descriptor *d = p->descriptor;

    d->generation = ++p->generation;
    d->ring_bytes = (uint32_t)p->core.size;
    d->ring[0] = (uintptr_t)p->core.ring;
    for (unsigned i = 1; i < MKPERF_MAX_CORES; i++) {
        d->ring[i] = 0;
    }
    __atomic_store_n(&d->magic, MKPERF_DESCRIPTOR_MAGIC, __ATOMIC_RELEASE);
}

static void withdraw(struct mkperf_profiler *p)
{
    __atomic_store_n(&p->descriptor->magic, 0, __ATOMIC_RELEASE);
}

/* An empty ring, as the hook will see it at the start of a generation. Only without magic. */
static void empty_ring(struct mkperf_profiler *p)
{
    struct mkperf_ring *r = p->core.ring;

    r->head = 0;
    r->tail = 0;
    r->hook = 0;
    r->dropped_samples = 0;
    r->dropped_events = 0;
    r->spurious = 0;
    r->late_events = 0;
    r->stamp = 0;
    p->core.tail = 0;
    p->dropped_samples = 0;
    p->dropped_events = 0;
}

/* An event that any running program causes; -1 if the PMU has none. */
static int64_t probe_event(const struct mkperf_pmu *pmu)
{
    for (const struct mkperf_pmu_event *e = pmu->events; e->name != NULL; e++) {
        if ((mkperf_text_is(e->name, sizeof "cycles", "cycles") ||
             mkperf_text_is(e->name, sizeof "instructions", "instructions")) &&
            pmu->supported(e->code)) {
            return e->code;
        }
    }
    return -1;
}

/* A session of counter 0 alone, published. */
static void publish_one(struct mkperf_profiler *p, uint32_t first, uint32_t watermark)
{
    struct mkperf_descriptor *d = p->descriptor;

    empty_ring(p);
    d->counter_mask = 1;
    d->kernel_mask = 0;
    d->filters = 0;
    d->special = 0;
    d->continues = 0;
    d->read_mask = 0;
    d->turn_mask = 0;
    d->counts = 0;
    p->soft->magic = 0;
    d->soft_mask = 1; /* whether the kernel has software events is seen, too */
    d->soft = (uintptr_t)p->soft;
    d->max_frames = 0;
    d->watermark = watermark;
    d->counter[0] = (struct mkperf_descriptor_counter){first, MKPERF_MAX_PERIOD, 0};
    publish(p);
}

/* Lets counter 0 overflow once and waits, boundedly, for the hook to have seen it. */
static bool provoke(struct mkperf_profiler *p)
{
    bool seen = false;

    publish_one(p, PROBE_PERIOD, NEVER_WAKE);
    microkit_irq_ack(MKPERF_CHANNEL_PMU); /* unmasked, whatever happened before */
    p->pmu->arm(0, PROBE_PERIOD);
    p->pmu->start(1);
    for (unsigned i = 0; i < PROBE_SPINS && !seen; i++) {
        seen = __atomic_load_n(&p->core.ring->hook, __ATOMIC_ACQUIRE) == MKPERF_HOOK_MAGIC;
    }
    p->pmu->stop(1);
    withdraw(p);
    return seen;
}

/* The probe's own sample, which goes nowhere else, tells the time. */
static uint64_t probe_time(struct mkperf_profiler *p)
{
    unsigned size;
    bool corrupt = false;
    const uint64_t *record = mkperf_ring_peek(&p->core, &size, &corrupt);

    return record != NULL && size > 8 * MKPERF_WORD_TIME ? record[MKPERF_WORD_TIME] : 0;
}

/* Spreads what little differs from boot to boot over 64 bits (splitmix64's finalizer). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

bool mkperf_sampling_probe(struct mkperf_profiler *p, mkperf_Error *error)
{
    int64_t event = probe_event(p->pmu);

    if (event < 0 || !p->pmu->program(0, (uint32_t)event, true, false)) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_NO_PMU, 0,
                                  "the PMU counts neither cycles nor instructions");
    }
    bool seen = provoke(p);
    bool counted = p->pmu->read(0) != UINT32_C(0) - PROBE_PERIOD;

    p->pmu->clear(1);
    if (p->boot_id == 0) {
        p->boot_id = mix(mix(probe_time(p)) ^ p->pmu->entropy()) | 1;
    }
    if (seen) {
        p->soft_there = p->soft->magic == MKPERF_SOFT_MAGIC;
        p->tick_hz = p->core.ring->tick_hz;
        empty_ring(p); /* nobody's sample */
        return true;
    }
    microkit_irq_ack(MKPERF_CHANNEL_PMU); /* a kernel without the hook has masked it */
    if (!counted) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_NO_PMU, 0,
                                  "the PMU's counters stand still in user mode: the kernel or the "
                                  "firmware forbids counting (MDCR_EL2, MDCR_EL3)");
    }
    return mkperf_plan_refuse(
        error, MKPERF_RESULT_NO_HOOK, 0,
        "a counter overflowed and no hook answered: the kernel lacks mkperf's "
        "extension, or the PMU interrupt is off or not this PD's channel 0");
}

bool mkperf_sampling_program(struct mkperf_profiler *p, const struct mkperf_plan_event *e)
{
    bool done = true;

    if (e->user_counter != 0) {
        done = p->pmu->program(e->user_counter - 1, e->code, true, false);
    }
    if (done && e->kernel_counter != 0) {
        done = p->pmu->program(e->kernel_counter - 1, e->code, false, true);
    }
    return done;
}

/* All events, to learn that the PMU takes them; those of the first turn last, so that they stay. */
static bool program(struct mkperf_profiler *p, mkperf_Error *error)
{
    for (unsigned i = p->plan.events; i-- > 0;) {
        if (!mkperf_sampling_program(p, &p->plan.event[i])) {
            return mkperf_plan_refuse(error, MKPERF_RESULT_EVENT_UNSUPPORTED, i + 1,
                                      "the PMU does not take this event's number");
        }
    }
    if (p->plan.clock != 0 && !p->pmu->program(p->plan.clock - 1, p->plan.clock_code, true, true)) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_NO_PMU, 0, "the PMU does not count cycles");
    }
    return true;
}

static uint32_t first_watermark(const struct mkperf_profiler *p)
{
    uint32_t wake = p->plan.counting ? 1 : p->plan.wake_samples;

    return mkperf_watermark(mkperf_wake_samples(wake, 0, 0, p->tick_hz), 0, (uint32_t)p->core.size);
}

static void set_filters(struct mkperf_profiler *p)
{
    struct mkperf_descriptor *d = p->descriptor;

    for (unsigned i = 0; i < p->plan.filters; i++) {
        d->filter[i] = p->plan.filter[i];
    }
    /* A count is of all threads. */
    d->filters = p->plan.counting ? 0 : p->plan.filters;
}

void mkperf_sampling_reset(struct mkperf_profiler *p)
{
    p->core.size = p->plan.core_bytes;
    if (mkperf_ring_used(&p->output) == 0) {
        p->output.size = p->plan.output_bytes; /* positions fit any size while nothing is in it */
    }
    empty_ring(p);
    p->id++;
    p->now = 0;
    p->books = (mkperf_Status)mkperf_Status_init_zero;
    for (unsigned where = 0; where < MKPERF_LOSS_LINK; where++) {
        p->lost[where] = (struct mkperf_lost){0};
    }
    p->untold = false;
}

bool mkperf_sampling_check_begin(struct mkperf_profiler *p, mkperf_Error *error)
{
    if (!mkperf_sampling_probe(p, error)) {
        return false;
    }
    p->ticks.cycles = (uint32_t)probe_event(p->pmu); /* the probe had one */
    publish_one(p, MKPERF_MAX_PERIOD, 1);
    return true;
}

void mkperf_sampling_check_end(struct mkperf_profiler *p)
{
    p->pmu->stop(1);
    withdraw(p);
    p->pmu->clear(1);
}

uint32_t mkperf_sampling_start(struct mkperf_profiler *p, mkperf_Error *error)
{
    struct mkperf_descriptor *d = p->descriptor;

    if (!mkperf_sampling_probe(p, error) || !program(p, error) || !mkperf_flight_begin(p, error)) {
        return error->code;
    }
    mkperf_sampling_reset(p);
    mkperf_pace_begin(p);
    d->max_frames = p->plan.max_frames;
    d->watermark = first_watermark(p);
    d->counts = 0;
    d->count_mask = 0;
    p->counting.stamps = 0;
    if (p->plan.counting) {
        mkperf_counting_begin(p);
    } else {
        mkperf_turns_begin(p);
    }
    set_filters(p);
    mkperf_soft_prepare(p);
    publish(p);
    if (!mkperf_soft_started(p, error)) {
        withdraw(p);
        mkperf_flight_forget(p);
        return error->code;
    }
    for (uint32_t rest = d->counter_mask; rest != 0; rest &= rest - 1) {
        unsigned c = (unsigned)__builtin_ctz(rest);
        p->pmu->arm(c, d->counter[c].first);
    }
    p->running = true;
    if (p->plan.counting) {
        mkperf_counting_started(p);
    } else {
        mkperf_turns_started(p);
    }
    p->pmu->start(d->counter_mask);
    return MKPERF_RESULT_OK;
}

void mkperf_sampling_stop(struct mkperf_profiler *p)
{
    uint64_t bytes = 0;

    if (p->plan.counting && p->plan.per_thread) {
        mkperf_counting_stamp(p, false); /* as for a snapshot */
    }
    p->pmu->stop(p->plan.counter_mask);
    mkperf_drain_ring(p, &bytes); /* all of it: nothing is added any more */
    if (p->plan.counting) {
        mkperf_counting_end(p);
    } else {
        mkperf_turns_end(p);
    }
    mkperf_soft_ended(p);
    withdraw(p);
    p->pmu->clear(p->plan.counter_mask);
    p->running = false;
}
