/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns: see turns.h.
 *
 * What the hook knows of a counter (the interval that it is in, and of one that is read what it had
 * counted at its leader's last overflow) is asked from the hook itself: with the turn's counters
 * stopped the clock is made to overflow at once, and its record tells. So nothing that the hook did
 * until then, told or not (filters, a full ring), is missing in what is kept.
 *
 * May be lost: nothing. Where the clock does not answer, the turn goes on.
 */
#include "turns.h"

#include "profiler.h"

enum {
    TURN_CYCLES = 10000000, /* of a turn, on average: 10 ms at 1 GHz */
    ASK_CYCLES = 64,
    ASK_SPINS = 200000,
};

bool mkperf_turns_on(const struct mkperf_profiler *p, unsigned event)
{
    return p->plan.event[event].turn == p->turns.turn;
}

static struct mkperf_descriptor_counter clock_counter(void)
{
    return (struct mkperf_descriptor_counter){TURN_CYCLES, TURN_CYCLES,
                                              mkperf_jitter_mask(TURN_CYCLES)};
}

/* ---- counters of an event ------------------------------------------------------------------- */

/* One of an event's counters, in its turn. */
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

/* The n-th (from 0) counter of the present turn that counts an event. False: there is no n-th. */
static bool nth_place(const struct mkperf_profiler *p, unsigned n, struct place *out)
{
    for (unsigned i = 0; i < 2 * p->plan.events; i++) {
        if (mkperf_turns_on(p, i / 2) && place_of(&p->plan, i / 2, i % 2, out) && n-- == 0) {
            return true;
        }
    }
    return false;
}

/* ---- a turn's end --------------------------------------------------------------------------- */

static void keep_counter(struct mkperf_profiler *p, const struct place *at)
{
    struct mkperf_turns_left *left = &p->turns.left[at->number];
    uint32_t value = p->pmu->read(at->counter);
    uint64_t state = p->turns.state[at->counter];

    left->known = true;
    if (p->plan.event[at->event].read) {
        left->partial = (uint32_t)(value - MKPERF_COUNT_PERIOD) - state;
        return;
    }
    uint32_t skip = p->skip_mask >> at->counter & 1 ? p->skip[at->counter] : 0;

    p->skip[at->counter] = 0;
    left->left = 0 - value;
    left->interval = (uint32_t)state - skip;
    if (left->left == 0 || left->left > left->interval) {
        left->left = left->interval; /* cannot be */
    }
}

/* Asks the hook, with the turn's counters stopped. False: no answer. */
static bool ask_hook(struct mkperf_profiler *p)
{
    uint32_t clock = p->plan.clock - 1;
    uint64_t bytes = 0;

    p->turns.struck = false;
    p->pmu->stop(UINT32_C(1) << clock);
    p->pmu->arm(clock, ASK_CYCLES);
    p->pmu->start(UINT32_C(1) << clock);
    for (unsigned i = 0; i < ASK_SPINS && !p->turns.struck; i++) {
        if (__atomic_load_n(&p->core.ring->head, __ATOMIC_ACQUIRE) != p->core.tail) {
            mkperf_drain_ring(p, &bytes);
        }
    }
    return p->turns.struck && (p->turns.mask & p->plan.turn[p->turns.turn].counter_mask) ==
                                  p->plan.turn[p->turns.turn].counter_mask;
}

static void add_time(struct mkperf_profiler *p)
{
    struct mkperf_turns *t = &p->turns;

    for (unsigned i = 0; i < p->plan.events; i++) {
        t->running[i] += mkperf_turns_on(p, i) && p->now > t->resumed ? p->now - t->resumed : 0;
    }
    t->resumed = p->now;
}

/* ---- a turn's beginning --------------------------------------------------------------------- */

static void set_counter(struct mkperf_profiler *p, const struct place *at)
{
    struct mkperf_descriptor *d = p->descriptor;
    struct mkperf_turns_left *left = &p->turns.left[at->number];
    const struct mkperf_plan_event *e = &p->plan.event[at->event];
    uint32_t period = p->pace[at->event].period;

    p->number[at->counter] = (uint8_t)at->number;
    d->reads[at->counter] = 0;
    d->read[at->counter] = 0;
    if (e->read) {
        d->counter[at->counter] =
            (struct mkperf_descriptor_counter){MKPERF_COUNT_PERIOD, MKPERF_COUNT_PERIOD, 0};
        d->read[at->counter] = left->known ? 0 - left->partial : 0;
        left->left = MKPERF_COUNT_PERIOD;
        return;
    }
    if (!left->known) {
        *left = (struct mkperf_turns_left){.left = period, .interval = period};
    }
    /* Its period may have become shorter meanwhile; and what is left is whole steps. */
    uint32_t wanted = mkperf_in_steps(left->left < period ? left->left : period);
    wanted = wanted != 0 ? wanted : MKPERF_PERIOD_STEP;
    left->interval = left->interval - left->left + wanted;
    left->left = wanted;
    d->reads[at->counter] = mkperf_plan_reads(&p->plan, at->event, at->counter);
    d->counter[at->counter] = (struct mkperf_descriptor_counter){
        left->interval, period, p->plan.no_jitter ? 0 : mkperf_jitter_mask(period)};
}

/* The descriptor for the present turn. Its counters stand still. */
static void set_present(struct mkperf_profiler *p)
{
    struct mkperf_descriptor *d = p->descriptor;
    const struct mkperf_plan_turn *turn = &p->plan.turn[p->turns.turn];
    struct place at;

    for (unsigned n = 0; nth_place(p, n, &at); n++) {
        set_counter(p, &at);
    }
    d->kernel_mask = turn->kernel_mask;
    d->read_mask = turn->read_mask;
    d->turn_mask = p->plan.clock != 0 ? UINT32_C(1) << (p->plan.clock - 1) : 0;
    d->counter_mask = turn->counter_mask | d->turn_mask;
    d->special = p->plan.filters | d->read_mask | d->turn_mask;
}

void mkperf_turns_begin(struct mkperf_profiler *p)
{
    p->turns = (struct mkperf_turns){0};
    p->descriptor->continues = 0;
    for (unsigned i = 0; i < MKPERF_MAX_COUNTERS; i++) {
        p->descriptor->counter[i] = (struct mkperf_descriptor_counter){0, 0, 0};
        p->descriptor->reads[i] = 0;
        p->descriptor->read[i] = 0;
    }
    set_present(p);
    if (p->plan.clock != 0) {
        p->descriptor->counter[p->plan.clock - 1] = clock_counter();
    }
}

void mkperf_turns_started(struct mkperf_profiler *p)
{
    p->turns.began = p->plan.clock != 0 ? mkperf_counting_stamp(p, true) : 0;
    p->turns.resumed = p->turns.began;
}

/* Its events go on being paced as if the time since they were stopped had not been. */
static void resume_pace(struct mkperf_profiler *p)
{
    for (unsigned i = 0; i < p->plan.events; i++) {
        struct mkperf_pace *pace = &p->pace[i];
        uint64_t away = p->now - p->turns.stopped[i];
        if (mkperf_turns_on(p, i)) {
            pace->from += pace->from != 0 ? away : 0;
            pace->last += pace->last != 0 ? away : 0;
        }
    }
}

static void program_present(struct mkperf_profiler *p)
{
    struct place at;

    for (unsigned i = 0; i < p->plan.events; i++) {
        if (mkperf_turns_on(p, i)) {
            mkperf_sampling_program(p, &p->plan.event[i]);
        }
    }
    for (unsigned n = 0; nth_place(p, n, &at); n++) {
        p->pmu->arm(at.counter, p->turns.left[at.number].left);
    }
}

static void next_turn(struct mkperf_profiler *p)
{
    struct mkperf_turns *t = &p->turns;

    t->turn = (t->turn + 1) % p->plan.turns;
    t->rotated++;
    set_present(p);
    resume_pace(p);
    program_present(p);
    p->descriptor->counter[p->plan.clock - 1] = clock_counter();
    p->descriptor->continues = 1;
    __atomic_store_n(&p->descriptor->generation, ++p->generation, __ATOMIC_RELEASE);
}

void mkperf_turns_take(struct mkperf_profiler *p, const uint64_t *record, unsigned size)
{
    struct mkperf_turns *t = &p->turns;
    uint32_t mask = size >= 8 * MKPERF_TURN_WORDS ? (uint32_t)record[2] & MKPERF_COUNT_BITS : 0;
    unsigned at = MKPERF_TURN_WORDS;

    if (p->plan.clock == 0 || p->plan.counting ||
        size < 8 * (at + (unsigned)__builtin_popcount(mask))) {
        p->books.corrupt++;
        return;
    }
    p->now = record[MKPERF_WORD_TIME];
    t->struck = true;
    t->mask = mask;
    for (; mask != 0; mask &= mask - 1) {
        t->state[__builtin_ctz(mask)] = record[at++];
    }
}

void mkperf_turns_rotate(struct mkperf_profiler *p)
{
    struct mkperf_turns *t = &p->turns;
    uint32_t mask = p->plan.turn[t->turn].counter_mask;
    struct place at;

    if (!t->struck || p->plan.clock == 0 || p->plan.counting) {
        return;
    }
    p->pmu->stop(mask);
    if (ask_hook(p)) {
        for (unsigned n = 0; nth_place(p, n, &at); n++) {
            keep_counter(p, &at);
        }
        p->skip_mask &= ~mask;
        add_time(p);
        for (unsigned i = 0; i < p->plan.events; i++) {
            t->stopped[i] = mkperf_turns_on(p, i) ? p->now : t->stopped[i];
        }
        next_turn(p);
    }
    t->struck = false;
    p->pmu->start(p->plan.turn[t->turn].counter_mask);
}

void mkperf_turns_end(struct mkperf_profiler *p)
{
    if (p->plan.clock != 0) {
        if (ask_hook(p)) {
            add_time(p);
        }
        p->pmu->stop(UINT32_C(1) << (p->plan.clock - 1));
    }
}

void mkperf_turns_times(const struct mkperf_profiler *p, mkperf_Status *out)
{
    const struct mkperf_turns *t = &p->turns;

    if (p->plan.turns < 2 || p->plan.counting || t->began == 0) {
        return;
    }
    out->enabled_ticks = p->now > t->began ? p->now - t->began : 0;
    out->running_ticks_count = (pb_size_t)p->plan.events;
    for (unsigned i = 0; i < p->plan.events; i++) {
        bool on = p->running && mkperf_turns_on(p, i) && p->now > t->resumed;
        out->running_ticks[i] = t->running[i] + (on ? p->now - t->resumed : 0);
    }
}
