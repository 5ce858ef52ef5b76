/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The counters of a session that samples, slice after slice: see multiplex.h.
 *
 * A change of slices takes two requests. The first stops the counters and returns their values; the
 * second starts the counters of the next slice. The stored values therefore include all work of the
 * hook until then, even samples that a filter or a full ring suppressed.
 */
#include "multiplex.h"

#include <mkperf/jitter.h>

enum { TURN_CYCLES = 10000000 }; /* average length of a slice: 10 ms at 1 GHz */

/* One of an event's counters, in its slice. */
struct place {
    uint32_t event;
    uint32_t counter; /* of the hardware */
    uint32_t number;  /* of the plan */
};

/* The n-th (from 0) counter of the current slice that counts an event. False: there is no n-th. */
static bool nth_place(const struct mkperf_multiplex *m, unsigned n, struct place *out)
{
    for (unsigned i = 0; i < 2 * m->plan->events; i++) {
        const struct mkperf_plan_event *e = &m->plan->event[i / 2];
        uint32_t counter = i % 2 == 0 ? e->user_counter : e->kernel_counter;
        uint32_t number = i % 2 == 0 ? e->user_number : e->kernel_number;
        if (e->slice == m->slice && counter != 0 && n-- == 0) {
            *out = (struct place){i / 2, counter - 1, number - 1};
            return true;
        }
    }
    return false;
}

/* ---- the beginning of a slice ---------------------------------------------------------------- */

static void set_counter(struct mkperf_multiplex *m, unsigned core, const struct place *at)
{
    struct mkperf_request_counter *c = &m->kernel->core[core].d->want.counter[at->counter];
    struct mkperf_multiplex_left *left = &m->left[core][at->number];
    const struct mkperf_plan_event *e = &m->plan->event[at->event];
    uint32_t period = m->pacer->core[core][at->event].period;

    c->reads = 0;
    c->read = 0;
    if (e->read) {
        c->left = MKPERF_COUNT_PERIOD;
        c->first = MKPERF_COUNT_PERIOD;
        c->period = MKPERF_COUNT_PERIOD;
        c->jitter_mask = 0;
        c->read = left->known ? 0 - left->partial : 0;
        return;
    }
    if (!left->known) {
        *left = (struct mkperf_multiplex_left){.left = period, .interval = period};
    }
    /* The period may have become shorter in the meantime. The rest must be in whole steps. */
    uint32_t wanted = mkperf_in_steps(left->left < period ? left->left : period);
    wanted = wanted != 0 ? wanted : MKPERF_PERIOD_STEP;
    left->interval = left->interval - left->left + wanted;
    left->left = wanted;
    c->left = wanted;
    c->first = left->interval;
    c->period = period;
    c->jitter_mask = m->plan->no_jitter ? 0 : mkperf_jitter_mask(period);
    c->reads = mkperf_plan_reads(m->plan, at->event, at->counter);
}

/* Writes the own core's configuration for the current slice. */
static void set_own_core(struct mkperf_multiplex *m)
{
    struct mkperf_configuration *want = mkperf_wanted(m->kernel);
    const struct mkperf_plan_slice *slice = &m->plan->slice[m->slice];
    struct place at;

    for (unsigned n = 0; nth_place(m, n, &at); n++) {
        m->drain->number[at.counter] = (uint8_t)at.number;
        set_counter(m, m->kernel->here, &at);
        mkperf_kernel_select(m->kernel, &m->plan->event[at.event]);
    }
    mkperf_kernel_set_clocks(m->kernel, m->plan, TURN_CYCLES);
    want->read_mask = slice->read_mask;
    want->slice_mask = mkperf_counter_bit(m->plan->clock) | mkperf_counter_bit(m->plan->beat);
    want->counter_mask = slice->counter_mask | want->slice_mask;
    want->enable_mask = want->counter_mask;
    m->kernel->stale = 0;
}

/* Writes the configurations of the other cores, whose counters stopped at other values. */
static void set_other_cores(struct mkperf_multiplex *m)
{
    struct place at;

    mkperf_cores_share(m->kernel, m->kernel->on);
    for (uint32_t rest = mkperf_cores_others(m->kernel, m->kernel->on); rest != 0;
         rest &= rest - 1) {
        for (unsigned n = 0; nth_place(m, n, &at); n++) {
            set_counter(m, (unsigned)__builtin_ctz(rest), &at);
        }
    }
}

void mkperf_multiplex_begin(struct mkperf_multiplex *m)
{
    *m = (struct mkperf_multiplex){
        .plan = m->plan, .kernel = m->kernel, .pacer = m->pacer, .drain = m->drain};
    m->drain->number[MKPERF_OFF_CPU_COUNTER] = MKPERF_OFF_CPU_COUNTER;
    set_own_core(m);
}

void mkperf_multiplex_started(struct mkperf_multiplex *m)
{
    m->began = m->plan->clock != 0 ? mkperf_answered(m->kernel)->time : 0;
    m->resumed = m->began;
}

/* ---- the end of a slice ---------------------------------------------------------------------- */

static void keep_counter(struct mkperf_multiplex *m, unsigned core, const struct place *at)
{
    const struct mkperf_answer_counter *now = &m->kernel->core[core].d->answer.counter[at->counter];
    struct mkperf_multiplex_left *left = &m->left[core][at->number];

    left->known = true;
    if (m->plan->event[at->event].read) {
        left->partial = (uint32_t)(now->value - MKPERF_COUNT_PERIOD) - now->read;
        return;
    }
    left->left = 0 - now->value;
    left->interval = now->interval;
    if (left->left == 0 || left->left > left->interval) {
        left->left = left->interval; /* an impossible value */
    }
}

/* Stops the slice's counters, and stores their values and the time. A core that does not stop in
 * time leaves the session, because its counters would count events of the wrong slice. */
static bool end_slice(struct mkperf_multiplex *m)
{
    struct mkperf_kernel *k = m->kernel;
    struct place at;
    uint32_t stopped =
        mkperf_cores_request(k, k->on, MKPERF_REQUEST_STOP | MKPERF_REQUEST_SNAPSHOT);

    if (stopped == 0) {
        return false;
    }
    k->on &= stopped;
    mkperf_drain(m->drain); /* under the numbers of this slice */
    uint64_t now = mkperf_kernel_time(k);
    m->drain->now = now;
    for (uint32_t rest = stopped; rest != 0; rest &= rest - 1) {
        for (unsigned n = 0; nth_place(m, n, &at); n++) {
            keep_counter(m, (unsigned)__builtin_ctz(rest), &at);
        }
    }
    for (unsigned i = 0; i < m->plan->events; i++) {
        if (m->plan->event[i].slice == m->slice) {
            m->running[i] += now > m->resumed ? now - m->resumed : 0;
            m->stopped[i] = now;
        }
    }
    m->resumed = now;
    return true;
}

void mkperf_multiplex_rotate(struct mkperf_multiplex *m)
{
    if (!m->drain->tally->expired) {
        return;
    }
    if (end_slice(m)) {
        m->slice = (m->slice + 1) % m->plan->slices;
        m->rotated++;
        set_own_core(m);
        set_other_cores(m);
        /* The slice's events are paced as if no time had passed since they stopped. */
        for (unsigned i = 0; i < m->plan->events; i++) {
            if (m->plan->event[i].slice == m->slice) {
                mkperf_pace_resume(m->pacer, i, m->resumed - m->stopped[i]);
            }
        }
        mkperf_cores_request(m->kernel, m->kernel->on, MKPERF_REQUEST_CONTINUE);
    }
    m->drain->tally->expired = false;
}

void mkperf_multiplex_end(struct mkperf_multiplex *m)
{
    if (m->plan->clock != 0) {
        end_slice(m);
    }
}

void mkperf_multiplex_status(const struct mkperf_multiplex *m, bool running, mkperf_Status *out)
{
    uint64_t now = m->drain->now;

    if (m->plan->slices < 2 || m->plan->counting || m->began == 0) {
        return;
    }
    out->enabled_ticks = now > m->began ? now - m->began : 0;
    out->running_ticks_count = (pb_size_t)m->plan->events;
    for (unsigned i = 0; i < m->plan->events; i++) {
        bool on = running && m->plan->event[i].slice == m->slice && now > m->resumed;
        out->running_ticks[i] = m->running[i] + (on ? now - m->resumed : 0);
    }
}
