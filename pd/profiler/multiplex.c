/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multiplexing: see multiplex.h.
 *
 * Between two slices stand two requests: the counters are stopped and the hook says where each is,
 * and then it begins with those of the next. So nothing that the hook did until then, reported or not
 * (filters, a full ring), is missing in what is kept.
 *
 * May be lost: nothing.
 */
#include "multiplex.h"

#include "profiler.h"

enum {
    TURN_CYCLES = 10000000, /* of a slice, on average: 10 ms at 1 GHz */
    BEAT_CYCLES = 4000000,  /* scheduling events in 4 ms at 1 GHz fit the core's ring by far */
};

bool mkperf_multiplex_on(const struct mkperf_profiler *p, unsigned event)
{
    return p->plan.event[event].slice == p->multiplex.slice;
}

static struct mkperf_request_counter clock_counter(const struct mkperf_profiler *p, uint32_t cycles)
{
    return (struct mkperf_request_counter){
        .select = p->cpu.pmu->select(p->plan.clock_code, true, true),
        .left = cycles,
        .first = cycles,
        .period = cycles,
        .jitter_mask = mkperf_jitter_mask(cycles),
    };
}

struct mkperf_request_counter mkperf_multiplex_beat(const struct mkperf_profiler *p)
{
    return clock_counter(p, BEAT_CYCLES);
}

/* ---- counters of an event ------------------------------------------------------------------- */

/* One of an event's counters, in its slice. */
struct place {
    uint32_t event;
    uint32_t counter; /* of the hardware */
    uint32_t number;
};

/* The event's counter in user mode (which = 0) or the kernel (1). False: it has none. */
static bool place_of(const struct mkperf_plan *plan, unsigned event, unsigned which,
                     struct place *out)
{
    const struct mkperf_plan_event *e = &plan->event[event];
    uint32_t counter = which == 0 ? e->user_counter : e->kernel_counter;
    uint32_t number = which == 0 ? e->user_number : e->kernel_number;

    *out = (struct place){event, counter - 1, number - 1};
    return counter != 0;
}

/* The n-th (from 0) counter of the current slice that counts an event. False: there is no n-th. */
static bool nth_place(const struct mkperf_profiler *p, unsigned n, struct place *out)
{
    for (unsigned i = 0; i < 2 * p->plan.events; i++) {
        if (mkperf_multiplex_on(p, i / 2) && place_of(&p->plan, i / 2, i % 2, out) && n-- == 0) {
            return true;
        }
    }
    return false;
}

/* ---- a slice's end --------------------------------------------------------------------------- */

static void keep_counter(struct mkperf_profiler *p, unsigned core, const struct place *at)
{
    const struct mkperf_answer_counter *now = &p->kernel.d[core]->answer.counter[at->counter];
    struct mkperf_multiplex_left *left = &p->multiplex.left[core][at->number];

    left->known = true;
    if (p->plan.event[at->event].read) {
        left->partial = (uint32_t)(now->value - MKPERF_COUNT_PERIOD) - now->read;
        return;
    }
    left->left = 0 - now->value;
    left->interval = now->interval;
    if (left->left == 0 || left->left > left->interval) {
        left->left = left->interval; /* cannot be */
    }
}

static void add_time(struct mkperf_profiler *p)
{
    struct mkperf_multiplex *t = &p->multiplex;

    for (unsigned i = 0; i < p->plan.events; i++) {
        t->running[i] += mkperf_multiplex_on(p, i) && p->now > t->resumed ? p->now - t->resumed : 0;
    }
    t->resumed = p->now;
}

/* ---- a slice's beginning --------------------------------------------------------------------- */

static void set_counter(struct mkperf_profiler *p, unsigned core, const struct place *at)
{
    struct mkperf_request_counter *c = &p->kernel.d[core]->want.counter[at->counter];
    struct mkperf_multiplex_left *left = &p->multiplex.left[core][at->number];
    const struct mkperf_plan_event *e = &p->plan.event[at->event];
    uint32_t period = p->core[core].pace[at->event].period;

    p->number[at->counter] = (uint8_t)at->number;
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
    /* Its period may have become shorter in the meantime; the rest is in whole steps. */
    uint32_t wanted = mkperf_in_steps(left->left < period ? left->left : period);
    wanted = wanted != 0 ? wanted : MKPERF_PERIOD_STEP;
    left->interval = left->interval - left->left + wanted;
    left->left = wanted;
    c->left = wanted;
    c->first = left->interval;
    c->period = period;
    c->jitter_mask = p->plan.no_jitter ? 0 : mkperf_jitter_mask(period);
    c->reads = mkperf_plan_reads(&p->plan, at->event, at->counter);
}

/* The configuration for the present slice. */
static void set_present(struct mkperf_profiler *p)
{
    struct mkperf_configuration *want = mkperf_wanted(&p->kernel);
    const struct mkperf_plan_slice *slice = &p->plan.slice[p->multiplex.slice];
    struct place at;

    for (unsigned n = 0; nth_place(p, n, &at); n++) {
        set_counter(p, p->here, &at);
        mkperf_kernel_select(p, &p->plan.event[at.event]);
    }
    if (p->plan.clock != 0) {
        want->counter[p->plan.clock - 1] = clock_counter(p, TURN_CYCLES);
    }
    if (p->plan.beat != 0) {
        want->counter[p->plan.beat - 1] = mkperf_multiplex_beat(p);
    }
    want->read_mask = slice->read_mask;
    want->slice_mask = mkperf_counter_bit(p->plan.clock) | mkperf_counter_bit(p->plan.beat);
    want->counter_mask = slice->counter_mask | want->slice_mask;
    want->enable_mask = want->counter_mask;
    p->core[p->here].stale = false;
}

/* The same for the other cores, whose counters were left elsewhere. */
static void set_others(struct mkperf_profiler *p)
{
    struct place at;

    mkperf_cores_share(p, p->on);
    for (uint32_t rest = p->on & ~(UINT32_C(1) << p->here); rest != 0; rest &= rest - 1) {
        unsigned core = (unsigned)__builtin_ctz(rest);
        for (unsigned n = 0; nth_place(p, n, &at); n++) {
            set_counter(p, core, &at);
        }
        p->core[core].stale = false;
    }
}

void mkperf_multiplex_begin(struct mkperf_profiler *p)
{
    p->multiplex = (struct mkperf_multiplex){0};
    set_present(p);
}

void mkperf_multiplex_started(struct mkperf_profiler *p)
{
    p->multiplex.began = p->plan.clock != 0 ? mkperf_answered(&p->kernel)->time : 0;
    p->multiplex.resumed = p->multiplex.began;
}

/* Its events are paced as if no time had passed since they were stopped. */
static void resume_pace(struct mkperf_profiler *p)
{
    for (unsigned n = 0; n < p->plan.events * p->cores; n++) {
        unsigned i = n % p->plan.events;
        struct mkperf_pace *pace = &p->core[n / p->plan.events].pace[i];
        uint64_t away = p->now - p->multiplex.stopped[i];
        if (mkperf_multiplex_on(p, i)) {
            pace->from += pace->from != 0 ? away : 0;
            pace->last += pace->last != 0 ? away : 0;
        }
    }
}

void mkperf_multiplex_take(struct mkperf_profiler *p, struct mkperf_core *c, const uint64_t *record,
                           unsigned size)
{
    if (p->plan.beat != 0 && size >= 8 * MKPERF_SLICE_WORDS &&
        mkperf_record_counter(record[MKPERF_WORD_HEADER]) == p->plan.beat - 1) {
        c->now = record[MKPERF_WORD_TIME];
        return; /* it has woken this PD */
    }
    if (p->plan.clock == 0 || p->plan.counting || size < 8 * MKPERF_SLICE_WORDS) {
        p->statistics.corrupt++;
        return;
    }
    c->now = record[MKPERF_WORD_TIME];
    p->multiplex.expired = true;
}

/* Stops the slice's counters and takes note of where they are. A core that does not stop in time
 * leaves the session: what its counters count from now on has no name. */
static bool end_turn(struct mkperf_profiler *p)
{
    uint64_t bytes = 0;
    struct place at;
    uint32_t stopped =
        mkperf_cores_request(p, p->on, MKPERF_REQUEST_STOP | MKPERF_REQUEST_SNAPSHOT);

    if (stopped == 0) {
        return false;
    }
    p->on &= stopped;
    mkperf_drain_ring(p, &bytes); /* under the numbers of this slice */
    p->now = mkperf_counting_stamp(p);
    for (uint32_t rest = stopped; rest != 0; rest &= rest - 1) {
        for (unsigned n = 0; nth_place(p, n, &at); n++) {
            keep_counter(p, (unsigned)__builtin_ctz(rest), &at);
        }
    }
    add_time(p);
    return true;
}

void mkperf_multiplex_rotate(struct mkperf_profiler *p)
{
    struct mkperf_multiplex *t = &p->multiplex;

    if (!t->expired || p->plan.clock == 0 || p->plan.counting) {
        return;
    }
    if (end_turn(p)) {
        for (unsigned i = 0; i < p->plan.events; i++) {
            t->stopped[i] = mkperf_multiplex_on(p, i) ? p->now : t->stopped[i];
        }
        t->slice = (t->slice + 1) % p->plan.slices;
        t->rotated++;
        set_present(p);
        set_others(p);
        resume_pace(p);
        mkperf_cores_request(p, p->on, MKPERF_REQUEST_CONTINUE);
    }
    t->expired = false;
}

void mkperf_multiplex_end(struct mkperf_profiler *p)
{
    if (p->plan.clock != 0) {
        end_turn(p);
    }
}

void mkperf_multiplex_times(const struct mkperf_profiler *p, mkperf_Status *out)
{
    const struct mkperf_multiplex *t = &p->multiplex;

    if (p->plan.slices < 2 || p->plan.counting || t->began == 0) {
        return;
    }
    out->enabled_ticks = p->now > t->began ? p->now - t->began : 0;
    out->running_ticks_count = (pb_size_t)p->plan.events;
    for (unsigned i = 0; i < p->plan.events; i++) {
        bool on = p->running && mkperf_multiplex_on(p, i) && p->now > t->resumed;
        out->running_ticks[i] = t->running[i] + (on ? p->now - t->resumed : 0);
    }
}
