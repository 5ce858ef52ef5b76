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

struct mkperf_ticks mkperf_ticks;

static uint64_t from_us(uint64_t us)
{
    return us * mkperf_ticks.timer->hz() / MKPERF_TICKS_US_PER_S;
}

void mkperf_ticks_init(void)
{
    mkperf_ticks.timer = &MKPERF_TIMER;
    mkperf_ticks.no_timer =
        microkit_irqs >> MKPERF_CHANNEL_TIMER & 1
            ? mkperf_ticks.timer->init()
            : "the profiler PD has no timer interrupt (channel 2), see docs/stock.md";
    if (mkperf_ticks.no_timer != NULL) {
        return;
    }
    if (mkperf_kernel.missing != NULL) { /* There is no probe, which else makes one. */
        uint64_t id = mkperf_ticks.timer->now() * MKPERF_JITTER_MIX;
        mkperf_kernel.boot_id = (id ^ id >> 31) | 1;
    }
}

/* ---- OBSERVE, CONFIGURE --------------------------------------------------------------------- */

bool mkperf_ticks_wanted(const mkperf_Configure *request)
{
    return request->events_count != 0 &&
           mkperf_text_is(request->events[0].name, MKPERF_NAME_BYTES, MKPERF_TIMER_EVENT);
}

bool mkperf_ticks_observe(struct mkperf_session_page *page)
{
    mkperf_Observe part;

    if (mkperf_ticks.no_timer != NULL) {
        return mkperf_refuse(MKPERF_RESULT_NO_TIMER, 0, "%s", mkperf_ticks.no_timer);
    }
    if (!mkperf_request_take_observe(&part, page)) {
        return false;
    }
    if (part.part == 0) {
        mkperf_text_copy(page->observer.pd, microkit_name, sizeof page->observer.pd);
        mkperf_text_copy(page->observer.timer, mkperf_ticks.timer->name,
                         sizeof page->observer.timer);
    }
    return mkperf_observe_reported(&part);
}

/* Plans the period of the timer. Its shortest is four times the cost of a snapshot, and more. */
static bool plan_timer_period(void)
{
    const mkperf_EventSpec *want = &mkperf_plan.request.events[0];
    struct mkperf_plan_event *e = &mkperf_plan.event[0];
    uint64_t began = mkperf_ticks.timer->now();

    mkperf_observe_look();
    mkperf_ticks.cost = mkperf_ticks.timer->now() - began;
    uint64_t shortest = mkperf_ticks_us(4 * mkperf_ticks.cost) +
                        2 * (uint64_t)MKPERF_TICKS_WINDOW_US;
    shortest = shortest > MIN_PERIOD_US ? shortest : MIN_PERIOD_US;
    uint64_t period = want->period;
    if (period == 0 && want->frequency != 0 && want->frequency <= MKPERF_MAX_FREQUENCY) {
        mkperf_plan.session.events[0].frequency = want->frequency;
        period = MKPERF_TICKS_US_PER_S / want->frequency;
    }
    e->period = (uint32_t)period;
    mkperf_plan.session.events[0].period = want->period;
    e->minimum = (uint32_t)shortest;
    return (period >= shortest && period <= MAX_PERIOD_US) ||
           mkperf_refuse(MKPERF_RESULT_RANGE, 1,
                         "the period of 'timer' must be from %u (what looking at these PDs costs, "
                         "four times) to 1000000 us",
                         (uint32_t)shortest);
}

/* Refuses what a session of the timer cannot be. */
static bool check_timer(const mkperf_Configure *request)
{
    const mkperf_EventSpec *want = &request->events[0];
    const struct mkperf_rule rules[] = {
        {mkperf_ticks.no_timer != NULL, MKPERF_RESULT_NO_TIMER, 0, mkperf_ticks.no_timer},
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
        {!mkperf_seen.reported || mkperf_seen.n == 0, MKPERF_RESULT_NO_TIMER, 1,
         "the timer has no PD to observe: it can be the profiler PD's children and its cspace's; "
         "the host names them (--system)"},
        {request->check && mkperf_kernel.missing != NULL, MKPERF_RESULT_NO_HOOK, 1,
         "nothing to check the timer's samples against: no PMU"},
    };

    return mkperf_check_rules(rules, sizeof rules / sizeof *rules, "");
}

bool mkperf_ticks_plan(const struct mkperf_session_request *wanted)
{
    const mkperf_Configure *request = &wanted->configure;

    mkperf_plan = (struct mkperf_plan){
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
        .wake_samples = wanted->wake_samples,
        .cores = UINT32_C(1) << mkperf_kernel.here,
    };
    mkperf_plan.request = *request;

    return check_timer(request) && mkperf_plan_samples() && plan_timer_period() &&
           mkperf_timer_reads_plan();
}

/* ---- START, STOP ---------------------------------------------------------------------------- */

/* Returns the interval after a sample that was due at `last`: uniform over `jitter` ticks around the
 * period. With the width of the period it removes the period's frequency and its multiples (the transform
 * of that window is zero there). */
static uint64_t interval(uint64_t last)
{
    uint64_t draw = mkperf_jitter_draw(last, 0, MKPERF_JITTER_MIX);

    return mkperf_ticks.period - mkperf_ticks.jitter / 2 + (draw * mkperf_ticks.jitter >> 32);
}

/* Returns the greatest width that leaves room for two snapshots in the shortest interval. */
static uint64_t jitter(void)
{
    uint64_t shortest = 2 * mkperf_ticks.window + 3 * mkperf_ticks.cost;

    if (mkperf_ticks.period <= shortest) {
        return 0;
    }
    return mkperf_ticks.period >= 2 * shortest ? mkperf_ticks.period
                                               : 2 * (mkperf_ticks.period - shortest);
}

/* Returns the time of the first snapshot. The second one follows a window after its end. */
static uint64_t first_look_at(void)
{
    return mkperf_ticks.due - mkperf_ticks.window - mkperf_ticks.cost;
}

bool mkperf_ticks_start(void)
{
    struct mkperf_ring_consumer *ring = &mkperf_in.ring[mkperf_kernel.here];
    uint64_t hz = mkperf_ticks.timer->hz();

    if (mkperf_plan.request.check &&
        (!mkperf_probe(ring) || !mkperf_probe_begin(ring, mkperf_plan.session.callers))) {
        return false;
    }
    mkperf_output_begin();
    mkperf_kernel_begin();
    mkperf_drain_begin();
    mkperf_pace_begin();
    mkperf_in.number[0] = 0;
    /* In a ring of its own this PD takes the hook's place. The hook's ring stays free for checking. */
    mkperf_ticks.hook = *ring;
    ring->ring = mkperf_core_ring(mkperf_kernel.rings, MKPERF_TARGET_CORES);
    mkperf_ring_clear(ring);
    mkperf_ticks.ring =
        (struct mkperf_ring_producer){.ring = ring->ring, .size = MKPERF_CORE_RING_BYTES};
    mkperf_ticks.period = from_us(mkperf_plan.event[0].period);
    mkperf_ticks.window = from_us(MKPERF_TICKS_WINDOW_US);
    mkperf_ticks.jitter = mkperf_plan.session.no_jitter ? 0 : jitter();
    mkperf_ticks.wake =
        mkperf_wake_samples(mkperf_plan.wake_samples, hz, hz * mkperf_ticks.period, hz);
    mkperf_ticks.waiting = 0;
    mkperf_ticks.rest = 0;
    mkperf_ticks.spent = 0;
    mkperf_ticks.sample_next = false;
    mkperf_ticks.from = mkperf_ticks.timer->now();
    mkperf_ticks.due = mkperf_ticks.from + interval(mkperf_ticks.from);
    if (!mkperf_timer_reads_start(mkperf_ticks.from)) {
        *ring = mkperf_ticks.hook;
        return false;
    }
    mkperf_kernel.session = true;
    mkperf_ticks.timer->arm(first_look_at());
    microkit_irq_ack(MKPERF_CHANNEL_TIMER);
    return true;
}

void mkperf_ticks_stop(void)
{
    mkperf_ticks.timer->stop();
    mkperf_timer_reads_stop();
    if (mkperf_plan.request.check) {
        mkperf_kernel_request(MKPERF_REQUEST_WITHDRAW);
    }
    mkperf_drain();
    mkperf_in.ring[mkperf_kernel.here] = mkperf_ticks.hook;
    mkperf_kernel.session = false;
}

/* ---- interrupts ---------------------------------------------------------------------------- */

/* Takes the snapshot before a sample. */
static void first_look(void)
{
    uint64_t began = mkperf_ticks.timer->now();

    mkperf_observe_look();
    uint64_t now = mkperf_ticks.timer->now();
    mkperf_ticks.cost = now - began > mkperf_ticks.cost ? now - began : mkperf_ticks.cost;
    if ((int64_t)(mkperf_ticks.due - now - mkperf_ticks.window / 2) < 0) {
        mkperf_status.late_events += mkperf_ticks_us(now + mkperf_ticks.window - mkperf_ticks.due);
        mkperf_ticks.due = now + mkperf_ticks.window;
    }
    mkperf_ticks.sample_next = true;
    if (mkperf_plan.request.check) {
        /* The counter takes the sample; if it does not, the timer does, unchecked. Do not derive
         * the next deadline from it, or one delay would shift all later samples. */
        uint32_t draw = mkperf_jitter_draw(mkperf_ticks.due, 1, MKPERF_JITTER_MIX);
        uint32_t cycles = MKPERF_TICKS_WINDOW_US * CYCLES_PER_US + (draw & 0xfff);
        mkperf_ticks.timer->arm(mkperf_ticks.due + 4 * mkperf_ticks.window);
        /* The counter counts in both modes, as the timer does. In user mode only, system calls would
         * delay it, and the sample would be of the code after them. */
        mkperf_probe_arm(mkperf_in_steps(cycles));
    } else {
        mkperf_ticks.timer->arm(mkperf_ticks.due);
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
static bool take_truth(uint64_t *time, struct mkperf_ticks_truth *truth)
{
    const uint64_t *record;
    unsigned size;
    bool corrupt = false;
    bool seen = false;

    while ((record = mkperf_ring_peek(&mkperf_ticks.hook, &size, &corrupt)) != NULL) {
        if (size > 8 * MKPERF_WORD_SC) {
            *time = record[MKPERF_WORD_TIME];
            truth->thread = mkperf_thread_of(record[MKPERF_WORD_THREAD], record[MKPERF_WORD_SC]);
            truth->callers = read_callers(record, truth->caller);
            seen = true;
        }
        mkperf_ring_release(&mkperf_ticks.hook, size);
    }
    return seen;
}

/* Takes the sample, and sets the time of the next one, which leaves time for two snapshots and for other PDs
 * between them. Returns whether the output ring has new records. */
static bool finish_sample(uint64_t now, const struct mkperf_ticks_truth *truth)
{
    bool fresh = false;

    mkperf_ticks_take(now, truth);
    mkperf_ticks.sample_next = false;
    if (++mkperf_ticks.waiting >= mkperf_ticks.wake) {
        mkperf_ticks.waiting = 0;
        fresh = mkperf_drain().output;
    }
    uint64_t soonest = mkperf_ticks.timer->now() + 2 * mkperf_ticks.window + mkperf_ticks.cost;
    mkperf_ticks.due += interval(mkperf_ticks.due);
    if ((int64_t)(mkperf_ticks.due - soonest) < 0) {
        mkperf_status.late_events += mkperf_ticks_us(soonest - mkperf_ticks.due);
        mkperf_ticks.due = soonest;
    }
    mkperf_ticks.timer->arm(first_look_at());
    return fresh;
}

bool mkperf_ticks_interrupt(bool hook)
{
    uint64_t now = mkperf_ticks.timer->now();
    struct mkperf_ticks_truth truth;
    bool fresh = false;

    mkperf_ticks.entered = now;
    mkperf_timer_reads_pause();
    if (!mkperf_ticks_running()) {
        mkperf_ticks.timer->stop();
    } else if (hook && !mkperf_plan.request.check) {
        microkit_irq_ack(MKPERF_CHANNEL_PMU); /* a counter wrapped, which timer_reads.c ignores */
        return false;
    } else if (hook) {
        bool seen = take_truth(&now, &truth);
        if (seen && mkperf_ticks.sample_next) {
            mkperf_kernel_request(MKPERF_REQUEST_STOP);
            fresh = finish_sample(now, &truth);
        }
        return fresh;
    } else if (mkperf_ticks.sample_next) {
        if (mkperf_plan.request.check) {
            mkperf_kernel_request(MKPERF_REQUEST_STOP);
            take_truth(&(uint64_t){0}, &truth);
        }
        fresh = finish_sample(now, NULL);
    } else {
        first_look();
    }
    microkit_irq_ack(MKPERF_CHANNEL_TIMER);
    return fresh;
}

void mkperf_ticks_leave(void)
{
    if (!mkperf_ticks_running()) {
        return;
    }
    mkperf_ticks.left = mkperf_ticks.timer->now();
    mkperf_ticks.spent += mkperf_ticks.entered != 0 ? mkperf_ticks.left - mkperf_ticks.entered : 0;
    if (mkperf_ticks.entered != 0) {
        mkperf_timer_reads_resume();
    }
    mkperf_ticks.entered = 0;
}

void mkperf_ticks_fault(uint32_t child)
{
    mkperf_seen.stopped |= child <= MKPERF_MAX_CHILD_ID ? UINT64_C(1) << child : 0;
    mkperf_ticks.faults++;
}

void mkperf_ticks_status(void)
{
    mkperf_Attribution *out = &mkperf_status.attribution;

    mkperf_status.cores_count = 0; /* The timer samples this PD's core only. */
    out->faults = mkperf_ticks.faults;
    out->cost_ns =
        (uint32_t)(mkperf_ticks.cost * 1000 * MKPERF_TICKS_US_PER_S / mkperf_ticks.timer->hz());
    out->spent_us = mkperf_ticks_us(mkperf_ticks.spent);
    out->unread = mkperf_timer_reads.unread;
}
