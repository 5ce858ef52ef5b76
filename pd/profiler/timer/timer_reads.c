/* SPDX-License-Identifier: BSD-2-Clause */
/* PMU counters that are read in the timer's samples: see ticks.h. */
#include "ticks.h"

enum {
    /* How long a counter of 32 bits does not wrap, at 8 events a nanosecond: more than any present
     * CPU completes. The longest period leaves a margin for jitter and lateness. */
    LONGEST_MS = 500,
    LONGEST_PERIOD_US = 100000,
    MS_PER_S = 1000,
};

struct mkperf_timer_reads mkperf_timer_reads;

/* ---- CONFIGURE ------------------------------------------------------------------------------ */

/* Plans event i, which has one counter, whatever modes it counts: hardware counter i - 1, number i
 * (each + 1 here). */
static bool plan_timer_read(unsigned i)
{
    const mkperf_EventSpec *want = &mkperf_plan.request.events[i];
    mkperf_SessionEvent *s = &mkperf_plan.session.events[i];
    struct mkperf_plan_event *e = &mkperf_plan.event[i];
    bool user = want->user || !want->kernel;
    bool kernel = want->kernel || !want->user;

    if (!mkperf_plan_named(i)) {
        return false;
    }
    s->read = true;
    s->group = want->group;
    s->user_counter = user ? i + 1 : 0;
    s->kernel_counter = kernel ? i + 1 : 0;
    e->period = MKPERF_COUNT_PERIOD;
    mkperf_plan_select(i, (user ? MKPERF_PMU_THREADS : 0U) | (kernel ? MKPERF_PMU_KERNEL : 0U), 0);
    mkperf_plan.event_of[i] = (uint8_t)i;
    return true;
}

bool mkperf_timer_reads_plan(void)
{
    const mkperf_Configure *request = &mkperf_plan.request;
    uint32_t n = request->events_count - 1;

    if (n == 0) {
        return true;
    }
    const char *why =
        mkperf_kernel.missing; /* Without the hook, the kernel may let user mode use counters. */
    if (why != NULL && mkperf_cpu.pmu->user != NULL) {
        why = mkperf_cpu.pmu->user->find(&mkperf_cpu);
    }
    const struct mkperf_rule rules[] = {
        {request->check, MKPERF_RESULT_COUNTERS, 2,
         "checking the timer's samples needs the counters itself"},
        {mkperf_plan.event[0].period > LONGEST_PERIOD_US, MKPERF_RESULT_RANGE, 1,
         "with events to be read, the period of 'timer' must be at most 100000 us: counters have "
         "32 bits"},
        {why != NULL, MKPERF_RESULT_NO_PMU, 2, why},
        {n > MKPERF_MAX_READS || n > mkperf_cpu.counters, MKPERF_RESULT_COUNTERS, 2,
         "more events to be read with 'timer' than the CPU has counters, or than 12"},
    };
    for (unsigned i = 1; i <= n; i++) {
        const mkperf_EventSpec *want = &request->events[i];
        if (want->count || !want->read || want->group == 0 ||
            want->group != request->events[0].group) {
            return mkperf_refuse(MKPERF_RESULT_RANGE, i + 1,
                                 "with 'timer' nothing else samples or counts: other events can "
                                 "only be read with it, -e '{timer,...}:S'");
        }
    }
    if (!mkperf_check_rules(rules, sizeof rules / sizeof *rules, "")) {
        return false;
    }
    for (unsigned i = 1; i <= n; i++) {
        if (!plan_timer_read(i)) {
            return false;
        }
    }
    return true;
}

/* ---- a session ------------------------------------------------------------------------------ */

/* Starts the counters from user mode. Returns the index of the first event that the PMU does not
 * take; `events`: it takes all. */
static unsigned start_user(unsigned events)
{
    for (unsigned n = 0; n < events; n++) {
        if (!mkperf_cpu.pmu->user->program(n, mkperf_plan.event[n + 1].user_select)) {
            return n;
        }
    }
    mkperf_cpu.pmu->user->start(mkperf_timer_reads.mask);
    return events;
}

/* Starts the counters as a session of the hook in which no counter samples. Returns what start_user returns. */
static unsigned start_hook(unsigned events)
{
    struct mkperf_configuration *want = mkperf_kernel_blank(MKPERF_CORE_RING_BYTES);

    want->counter_mask = mkperf_timer_reads.mask;
    want->enable_mask = mkperf_timer_reads.mask;
    want->read_mask = mkperf_timer_reads.mask;
    want->watermark = MKPERF_CORE_RING_BYTES;
    for (unsigned n = 0; n < events; n++) {
        want->counter[n] =
            mkperf_counter_every(mkperf_plan.event[n + 1].user_select, MKPERF_COUNT_PERIOD);
    }
    return mkperf_kernel_request(MKPERF_REQUEST_APPLY) ? events : mkperf_answered()->what;
}

bool mkperf_timer_reads_start(uint64_t now)
{
    unsigned events = mkperf_plan.events - 1;

    mkperf_timer_reads =
        (struct mkperf_timer_reads){.at = now, .hook = mkperf_kernel.missing == NULL};
    if (events == 0) {
        return true;
    }
    mkperf_timer_reads.mask = (UINT32_C(1) << events) - 1;
    unsigned good = mkperf_timer_reads.hook ? start_hook(events) : start_user(events);
    if (good == events) {
        return true;
    }
    mkperf_timer_reads.mask = 0;
    return mkperf_refuse(MKPERF_RESULT_EVENT_UNSUPPORTED, good + 2,
                         "the PMU does not take this event's number");
}

void mkperf_timer_reads_stop(void)
{
    if (mkperf_timer_reads.mask != 0 && mkperf_timer_reads.hook) {
        mkperf_kernel_request(MKPERF_REQUEST_WITHDRAW);
    } else if (mkperf_timer_reads.mask != 0) {
        mkperf_cpu.pmu->user->stop(mkperf_timer_reads.mask);
    }
    mkperf_timer_reads.mask = 0;
}

void mkperf_timer_reads_pause(void)
{
    if (mkperf_timer_reads.mask == 0) {
        return;
    }
    if (mkperf_timer_reads.hook) {
        mkperf_kernel_request(MKPERF_REQUEST_STOP | MKPERF_REQUEST_SNAPSHOT);
    } else {
        mkperf_cpu.pmu->user->stop(mkperf_timer_reads.mask);
    }
    for (unsigned n = 0; mkperf_timer_reads.mask >> n & 1; n++) {
        if (mkperf_timer_reads.hook) { /* The hook's counters begin again each time. */
            mkperf_timer_reads.count[n] += mkperf_answered()->counter[n].value -
                                           MKPERF_COUNT_PERIOD;
        } else {
            uint32_t value = mkperf_cpu.pmu->user->read(n);
            mkperf_timer_reads.count[n] += value - mkperf_timer_reads.last[n];
            mkperf_timer_reads.last[n] = value;
        }
    }
}

void mkperf_timer_reads_resume(void)
{
    if (mkperf_timer_reads.mask != 0 && mkperf_timer_reads.hook) {
        mkperf_kernel_request(MKPERF_REQUEST_CONTINUE);
    } else if (mkperf_timer_reads.mask != 0) {
        mkperf_cpu.pmu->user->start(mkperf_timer_reads.mask);
    }
}

unsigned mkperf_timer_reads_take(uint64_t hz, uint64_t now, uint64_t *out)
{
    bool known = (now - mkperf_timer_reads.at) / (hz / MS_PER_S) <= LONGEST_MS;
    unsigned n = 0;

    if (mkperf_timer_reads.mask == 0) {
        return 0;
    }
    for (; mkperf_timer_reads.mask >> n & 1; n++) {
        out[1 + n] = (uint64_t)(n + 1) << MKPERF_READ_COUNTER_SHIFT | mkperf_timer_reads.count[n];
        mkperf_timer_reads.count[n] = 0;
    }
    out[0] = n;
    mkperf_timer_reads.at = now;
    mkperf_timer_reads.unread += !known;
    return known ? 1 + n : 0;
}
