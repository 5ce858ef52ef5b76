/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The counters of a session, slice after slice: see hook_session.h.
 *
 * A change of slices takes two requests. The first stops the counters and returns their values; the
 * second starts the counters of the next slice. The stored values therefore include all work of the
 * hook until then, even samples that a filter or a full ring suppressed.
 */
#include "hook_session.h"

#include <mkperf/jitter.h>

enum { /* average length of a slice: 10 and 4 ms at 1 GHz */
       SAMPLING_CYCLES = 10000000,
       COUNTING_CYCLES = 4000000,
       BEAT_CYCLES = 4000000, /* Scheduling events in 4 ms at 1 GHz fit the core's ring by far. */
};

/* The state in which a counter was stopped. */
struct left {
    bool known;
    uint32_t left;     /* events to its overflow */
    uint32_t interval; /* events of the interval that this overflow ends */
    uint64_t partial;  /* for a group that is read: its count since the leader's last overflow */
};

static struct multiplex {
    uint64_t resumed;                    /* ticks: start of the current slice; 0: of the session */
    uint64_t running[MKPERF_MAX_EVENTS]; /* ticks in completed slices, by event */
    uint64_t stopped[MKPERF_MAX_EVENTS]; /* ticks: end of the event's last slice */
    /* What is left of each period, by the counter's number. */
    struct left left[MKPERF_TARGET_CORES][MKPERF_MAX_COUNTERS];
} multiplex;

/* ---- the beginning of a slice ---------------------------------------------------------------- */

/* Writes the counter with number n, which is one of the current slice, into a core's
 * configuration. */
static void set_counter(unsigned core, uint32_t n)
{
    uint32_t counter = n - mkperf_plan.slice[mkperf_in.slice].first;
    uint32_t event = mkperf_plan.event_of[n];
    struct mkperf_request_counter *c = &mkperf_kernel.core[core].d->want.counter[counter];
    struct left *left = &multiplex.left[core][n];
    uint32_t period = mkperf_pace[core][event].period;
    bool kernel = mkperf_plan.event[event].kernel_counter == counter + 1 ||
                  mkperf_cpu_infers_modes(&mkperf_cpu);
    uint32_t least = kernel ? MKPERF_MIN_KERNEL_PERIOD : MKPERF_HOOK_MIN_PERIOD;

    if (mkperf_plan.counting || mkperf_plan.session.events[event].read) {
        *c = mkperf_counter_every(c->select, MKPERF_COUNT_PERIOD);
        c->read = left->known ? 0 - left->partial : 0;
        return;
    }
    if (!left->known) {
        *left = (struct left){.left = period, .interval = period};
    }
    /* The period may have become shorter in the meantime. The rest must be in whole steps. */
    uint32_t wanted = mkperf_in_steps(left->left < period ? left->left : period);
    wanted = wanted != 0 ? wanted : MKPERF_PERIOD_STEP;
    left->interval = left->interval - left->left + wanted;
    left->left = wanted;
    c->left = wanted;
    c->interval = left->interval;
    c->period = period;
    c->least = mkperf_plan.event[event].least > least ? mkperf_plan.event[event].least : least;
    c->jitter_mask = mkperf_plan.session.no_jitter ? 0 : mkperf_jitter_mask(period);
    c->read = 0;
    c->reads = mkperf_plan_reads(event, counter);
}

/* Writes the own core's configuration for the current slice. */
static void set_own_core(void)
{
    struct mkperf_configuration *want = mkperf_wanted();
    struct mkperf_tally *tally = &mkperf_in.tally;
    const struct mkperf_plan_slice *slice = &mkperf_plan.slice[mkperf_in.slice];

    want->kernel_mask = 0;
    for (uint32_t n = slice->first; n < slice->end; n++) {
        uint32_t counter = n - slice->first;
        unsigned event = mkperf_plan.event_of[n];
        bool kernel = mkperf_plan.event[event].kernel_counter == counter + 1;
        mkperf_in.number[counter] = (uint8_t)n;
        tally->slot[counter] = (uint8_t)(2 * event + kernel);
        want->slot[counter] = tally->slot[counter];
        set_counter(mkperf_kernel.here, n);
        mkperf_kernel_select(event);
    }
    /* Jitter keeps any program out of step with the clocks. */
    const uint32_t clock[] = {mkperf_plan.clock, mkperf_plan.beat};
    const uint32_t cycles[] = {mkperf_plan.counting ? COUNTING_CYCLES : SAMPLING_CYCLES,
                               BEAT_CYCLES};
    for (unsigned i = 0; i < 2; i++) {
        if (clock[i] != 0) {
            struct mkperf_request_counter *to = &want->counter[clock[i] - 1];
            *to = mkperf_counter_every(mkperf_plan.clock_select, cycles[i]);
            to->jitter_mask = mkperf_jitter_mask(cycles[i]);
        }
    }
    tally->mask = mkperf_plan.counting ? slice->counter_mask : 0;
    want->count_mask = mkperf_counts_by_thread() ? tally->mask : 0;
    want->read_mask = slice->read_mask;
    want->slice_mask = mkperf_counter_bit(mkperf_plan.clock) | mkperf_counter_bit(mkperf_plan.beat);
    want->counter_mask = slice->counter_mask | want->slice_mask;
    want->enable_mask = want->counter_mask;
    mkperf_kernel.stale = 0;
}

void mkperf_multiplex_begin(void)
{
    multiplex = (struct multiplex){0};
    mkperf_in.slice = 0;
    mkperf_in.rotated = 0;
    mkperf_in.number[MKPERF_OFF_CPU_COUNTER] = MKPERF_OFF_CPU_COUNTER;
    set_own_core();
}

/* ---- the end of a slice ---------------------------------------------------------------------- */

/* Keeps the state in which the counter with number n was stopped on a core. */
static void keep_counter(unsigned core, uint32_t n)
{
    uint32_t counter = n - mkperf_plan.slice[mkperf_in.slice].first;
    const struct mkperf_answer_counter *now = &mkperf_kernel.core[core].d->answer.counter[counter];
    struct left *left = &multiplex.left[core][n];

    left->known = true;
    if (mkperf_plan.counting) { /* This includes an overflow that is not yet handled. */
        struct mkperf_tally *tally = &mkperf_in.tally;
        tally->total[core][tally->slot[counter]] += now->value - MKPERF_COUNT_PERIOD;
        return;
    }
    if (mkperf_plan.session.events[mkperf_plan.event_of[n]].read) {
        left->partial = (uint32_t)(now->value - MKPERF_COUNT_PERIOD) - now->read;
        return;
    }
    left->left = 0 - now->value;
    left->interval = now->interval;
    if (left->left == 0 || left->left > left->interval) {
        left->left = left->interval; /* an impossible value */
    }
}

void mkperf_multiplex_times(uint64_t now, uint64_t *out)
{
    uint64_t from = multiplex.resumed != 0 ? multiplex.resumed : mkperf_kernel.began;

    for (unsigned i = 0; i < mkperf_plan.events; i++) {
        const struct mkperf_plan_event *e = &mkperf_plan.event[i];
        uint64_t present = e->slice == mkperf_in.slice && now > from ? now - from : 0;
        /* The kernel counts a software event in all slices. */
        out[i] = e->soft != 0 ? mkperf_kernel_enabled(now) : multiplex.running[i] + present;
    }
}

/* Stops the slice's counters, and stores their values and the time. A core that does not stop in
 * time leaves a session that samples, because its counters would count events of the wrong slice. */
static bool end_slice(void)
{
    const struct mkperf_plan_slice *slice = &mkperf_plan.slice[mkperf_in.slice];
    uint32_t stopped =
        mkperf_cores_request(mkperf_kernel.on, MKPERF_REQUEST_STOP | MKPERF_REQUEST_SNAPSHOT);

    if (stopped == 0) {
        return false;
    }
    mkperf_kernel.on &= mkperf_plan.counting ? mkperf_kernel.on : stopped;
    mkperf_drain(); /* under the numbers of this slice */
    uint64_t now = mkperf_plan.counting ? mkperf_status.cores[mkperf_kernel.here].stopped_ticks : 0;
    now = now != 0 ? now : mkperf_kernel_time();
    mkperf_in.now = now;
    MKPERF_EACH_BIT (core, stopped) {
        for (uint32_t n = slice->first; n < slice->end; n++) {
            keep_counter(core, n);
        }
    }
    mkperf_multiplex_times(now, multiplex.running);
    for (unsigned i = 0; i < mkperf_plan.events; i++) {
        multiplex.stopped[i] = mkperf_plan.event[i].slice == mkperf_in.slice ? now
                                                                             : multiplex.stopped[i];
    }
    multiplex.resumed = now;
    return true;
}

void mkperf_multiplex_rotate(void)
{
    if (!mkperf_in.tally.expired) {
        return;
    }
    if (end_slice()) {
        mkperf_in.slice = (mkperf_in.slice + 1) % mkperf_plan.session.slices;
        mkperf_in.rotated++;
        set_own_core();
        const struct mkperf_plan_slice *slice = &mkperf_plan.slice[mkperf_in.slice];
        mkperf_cores_share(mkperf_kernel.on);
        MKPERF_EACH_BIT (core, mkperf_cores_others(mkperf_kernel.on)) {
            for (uint32_t n = slice->first; n < slice->end; n++) {
                set_counter(core, n); /* Its counters stopped at other values. */
            }
        }
        /* The slice's events are paced as if no time had passed since they stopped. */
        for (unsigned i = 0; i < mkperf_plan.events; i++) {
            if (mkperf_plan.event[i].slice == mkperf_in.slice) {
                mkperf_pace_resume(i, multiplex.resumed - multiplex.stopped[i]);
            }
        }
        mkperf_cores_request(mkperf_kernel.on, MKPERF_REQUEST_CONTINUE);
        multiplex.resumed = mkperf_plan.counting ? mkperf_kernel_answer_time() : multiplex.resumed;
    }
    mkperf_in.tally.expired = false;
}

void mkperf_multiplex_end(void)
{
    if (mkperf_plan.clock != 0) {
        end_slice();
    }
}

void mkperf_multiplex_status(void)
{
    uint64_t now = mkperf_in.now;

    if (mkperf_plan.session.slices < 2 || mkperf_plan.counting || mkperf_kernel.began == 0) {
        return;
    }
    mkperf_status.enabled_ticks = mkperf_kernel_enabled(now);
    mkperf_status.running_ticks_count = (pb_size_t)mkperf_plan.events;
    mkperf_multiplex_times(mkperf_kernel.session ? now : multiplex.resumed,
                           mkperf_status.running_ticks);
}
