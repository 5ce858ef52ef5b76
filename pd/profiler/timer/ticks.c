/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session of the timer and the times of its snapshots: see ticks.h. An invalid request is refused
 * with its reason, and the earlier plan stays.
 *
 * What may be lost: samples that do not fit into the output ring, as with the hook. A snapshot that
 * is too late moves the sample; the delay is in the sample's weight and counted as late.
 */
#include "ticks.h"

#include "../policy.h"

#ifndef MKPERF_TIMER
#define MKPERF_TIMER mkperf_generic_timer
#endif

enum {
    MIN_PERIOD_US = 100,
    MAX_PERIOD_US = 1000000,
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
    if (mkperf_kernel.missing != NULL) { /* There is no probe, which else makes one. */
        mkperf_kernel.boot_id = (t->random ^ t->random >> 31) | 1;
    }
}

/* ---- OBSERVE, CONFIGURE --------------------------------------------------------------------- */

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
    const mkperf_EventSpec *want = &m->plan.request.events[0];
    struct mkperf_plan_event *e = &m->plan.event[0];
    uint64_t began = t->timer->now();

    mkperf_observe_look(&t->observation);
    t->cost = t->timer->now() - began;
    uint64_t shortest = mkperf_ticks_us(t, 4 * t->cost) + 2 * (uint64_t)MKPERF_TICKS_WINDOW_US;
    shortest = shortest > MIN_PERIOD_US ? shortest : MIN_PERIOD_US;
    uint64_t period = want->period;
    if (period == 0 && want->frequency != 0 && want->frequency <= MKPERF_MAX_FREQUENCY) {
        m->plan.session.events[0].frequency = want->frequency;
        period = MKPERF_TICKS_US_PER_S / want->frequency;
    }
    e->period = (uint32_t)period;
    m->plan.session.events[0].period = want->period;
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
        {request->sched || request->latency || request->words_count != 0, MKPERF_RESULT_RANGE, 0,
         "scheduling events and queues come from the kernel's extension, and a session of 'timer' "
         "does without it"},
        {want->count, MKPERF_RESULT_RANGE, 1, "'timer' samples and does not count"},
        {request->overwrite || request->interactions || request->per_pd, MKPERF_RESULT_RANGE, 1,
         "'timer' makes no flight recording and counts nothing"},
        {!want->user != !want->kernel || want->guest || want->host, MKPERF_RESULT_RANGE, 1,
         "'timer' cannot distinguish user mode, kernel and guests"},
        {(request->cores & ~(UINT32_C(1) << mkperf_kernel.here)) != 0, MKPERF_RESULT_RANGE, 1,
         "'timer' samples only the profiler PD's core"},
        {!t->observation.reported || t->observation.n == 0, MKPERF_RESULT_NO_TIMER, 1,
         "the timer has no PD to observe: it can be the profiler PD's children and its cspace's; "
         "the host names them (--system)"},
        {request->check && mkperf_kernel.missing != NULL, MKPERF_RESULT_NO_HOOK, 1,
         "nothing to check the timer's samples against: no PMU"},
    };

    return mkperf_check_rules(rules, sizeof rules / sizeof *rules, "", error);
}

bool mkperf_ticks_plan(struct mkperf_ticks *t, const struct mkperf_session_request *wanted,
                       mkperf_Error *error)
{
    static struct mkperf_planning m; /* too large for a PD's stack */
    const mkperf_Configure *request = &wanted->configure;

    m = (struct mkperf_planning){
        .cpu = &mkperf_kernel.cpu,
        .error = error,
        .plan = {
            .session = {.events_count = request->events_count,
                        .slices = 1,
                        .source = mkperf_SampleSource_SOURCE_TIMER,
                        .events[0] = {.name = MKPERF_TIMER_EVENT,
                                      .code = MKPERF_TIMER_CODE,
                                      /* no counter, but samples name their event by it */
                                      .user_counter = 1,
                                      .kernel_counter = 1,
                                      .group = request->events[0].group}},
            .events = request->events_count,
            .core_bytes = MKPERF_CORE_RING_BYTES,
            .output_bytes = MKPERF_OUTPUT_RING_BYTES,
            .counter_mask = 1,
            .cores = UINT32_C(1) << mkperf_kernel.here,
            .wake_samples = wanted->wake_samples,
        }};
    m.plan.request = *request;

    if (!check_timer(t, request, error) || !mkperf_plan_samples(&m) || !plan_timer_period(t, &m) ||
        !mkperf_timer_reads_plan(&m)) {
        return false;
    }
    mkperf_plan = m.plan;
    t->check = request->check;
    return true;
}

/* ---- START, STOP ---------------------------------------------------------------------------- */

/* Sets up the ring in which this PD takes the hook's place. The hook's own stays free for
 * checking. */
static void own_ring(struct mkperf_ticks *t)
{
    struct mkperf_ring *ring = mkperf_core_ring(mkperf_kernel.rings, MKPERF_TARGET_CORES);
    struct mkperf_ring_consumer *drained = &t->drain->ring[mkperf_kernel.here];

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

/* Returns the greatest width that leaves room for two snapshots in the shortest interval. */
static uint64_t jitter(const struct mkperf_ticks *t)
{
    uint64_t shortest = 2 * t->window + 3 * t->cost;

    if (t->period <= shortest) {
        return 0;
    }
    return t->period >= 2 * shortest ? t->period : 2 * (t->period - shortest);
}

/* Returns the time of the first snapshot. The second one follows a window after its end. */
static uint64_t first_look_at(const struct mkperf_ticks *t)
{
    return t->due - t->window - t->cost;
}

bool mkperf_ticks_start(struct mkperf_ticks *t, mkperf_Error *error)
{
    struct mkperf_ring_consumer *ring = &t->drain->ring[mkperf_kernel.here];
    uint64_t hz = t->timer->hz();

    if (t->check && (!mkperf_probe(ring, error) ||
                     !mkperf_probe_begin(ring, mkperf_plan.session.callers, error))) {
        return false;
    }
    mkperf_output_begin(error);
    mkperf_kernel_begin();
    mkperf_drain_begin(t->drain);
    mkperf_pace_begin(&t->drain->pacer);
    t->drain->number[0] = 0;
    own_ring(t);
    t->period = from_us(t, mkperf_plan.event[0].period);
    t->window = from_us(t, MKPERF_TICKS_WINDOW_US);
    t->jitter = mkperf_plan.session.no_jitter ? 0 : jitter(t);
    t->wake = mkperf_wake_samples(mkperf_plan.wake_samples, hz, hz * t->period, hz);
    t->waiting = 0;
    t->rest = 0;
    t->spent = 0;
    t->sample_next = false;
    t->observation.unreadable = 0;
    t->from = t->timer->now();
    t->due = t->from + interval(t);
    if (!mkperf_timer_reads_start(&t->reads, t->from, error)) {
        *ring = t->hook;
        return false;
    }
    t->running = true;
    mkperf_kernel.session = true;
    t->timer->arm(first_look_at(t));
    microkit_irq_ack(MKPERF_CHANNEL_TIMER);
    return true;
}

void mkperf_ticks_stop(struct mkperf_ticks *t)
{
    t->timer->stop();
    mkperf_timer_reads_stop(&t->reads);
    if (t->check) {
        mkperf_kernel_request(MKPERF_REQUEST_WITHDRAW);
    }
    mkperf_drain(t->drain);
    t->drain->ring[mkperf_kernel.here] = t->hook;
    t->running = false;
    mkperf_kernel.session = false;
}

/* ---- interrupts ---------------------------------------------------------------------------- */

/* Sets the time of the next sample, which leaves time for two snapshots and for other PDs between
 * them. */
static void next_due(struct mkperf_ticks *t)
{
    uint64_t soonest = t->timer->now() + 2 * t->window + t->cost;

    t->due += interval(t);
    if ((int64_t)(t->due - soonest) < 0) {
        mkperf_status.late_events += mkperf_ticks_us(t, soonest - t->due);
        t->due = soonest;
    }
    t->timer->arm(first_look_at(t));
}

/* Takes the snapshot before a sample. */
static void first_look(struct mkperf_ticks *t)
{
    uint64_t began = t->timer->now();

    mkperf_observe_look(&t->observation);
    uint64_t now = t->timer->now();
    t->cost = now - began > t->cost ? now - began : t->cost;
    if ((int64_t)(t->due - now - t->window / 2) < 0) {
        mkperf_status.late_events += mkperf_ticks_us(t, now + t->window - t->due);
        t->due = now + t->window;
    }
    t->sample_next = true;
    if (t->check) {
        /* The counter takes the sample; if it does not, the timer does, unchecked. Do not derive
         * the next deadline from it, or one delay would shift all later samples. */
        uint32_t cycles = MKPERF_TICKS_WINDOW_US * CYCLES_PER_US +
                          ((uint32_t)next_random(t) & 0xfff);
        t->timer->arm(t->due + 4 * t->window);
        /* The counter counts in both modes, as the timer does. In user mode only, system calls would
         * delay it, and the sample would be of the code after them. */
        mkperf_probe_arm(mkperf_in_steps(cycles));
    } else {
        t->timer->arm(t->due);
    }
}

/* Copies the callers from a record of the hook, outermost last. Returns how many there are. */
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
            mkperf_kernel_request(MKPERF_REQUEST_STOP);
            fresh = finish_sample(t, now, &truth);
        }
        return fresh;
    } else if (t->sample_next) {
        if (t->check) {
            mkperf_kernel_request(MKPERF_REQUEST_STOP);
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
    t->faults++;
}

void mkperf_ticks_status(const struct mkperf_ticks *t)
{
    mkperf_Attribution *out = &mkperf_status.attribution;

    mkperf_status.cores_count = 0; /* The timer samples this PD's core only. */
    out->faults = t->faults;
    out->cost_ns = (uint32_t)(t->cost * 1000 * MKPERF_TICKS_US_PER_S / t->timer->hz());
    out->spent_us = mkperf_ticks_us(t, t->spent);
    out->unread = t->reads.unread;
}
