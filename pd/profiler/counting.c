/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting: see counting.h.
 *
 * The hook may interrupt anywhere here. It arms a counter anew after an overflow and writes a
 * record; a value and the records belong together if no record came while the value was read.
 */
#include "counting.h"

#include "profiler.h"

enum {
    CLOCK_CYCLES = 4000000, /* of a turn, on average: 4 ms at 1 GHz */
    STAMP_SPINS = 200000,
    MAX_READS = 1000,         /* attempts at a reading without an overflow in between */
    NEAR_OVERFLOW = 16777216, /* events that no counter makes during a stamp */
};

/* What the counters of the turn have counted in all, by slot. */
static void collect(struct mkperf_profiler *p, uint64_t *out)
{
    struct mkperf_counting *c = &p->counting;
    uint32_t value[MKPERF_MAX_COUNTERS] = {0};
    uint64_t bytes = 0;
    uint64_t head;

    for (unsigned i = 0; i < MAX_READS; i++) {
        mkperf_drain_ring(p, &bytes);
        head = __atomic_load_n(&p->core.ring->head, __ATOMIC_ACQUIRE);
        for (uint32_t rest = c->mask; rest != 0; rest &= rest - 1) {
            unsigned n = (unsigned)__builtin_ctz(rest);
            value[n] = p->pmu->read(n);
        }
        if (head == p->core.tail &&
            head == __atomic_load_n(&p->core.ring->head, __ATOMIC_ACQUIRE)) {
            break;
        }
    }
    for (unsigned i = 0; i < MKPERF_COUNT_SLOTS; i++) {
        out[i] = c->total[i];
    }
    for (uint32_t rest = c->mask; rest != 0; rest &= rest - 1) {
        unsigned n = (unsigned)__builtin_ctz(rest);
        out[c->slot[n]] += value[n] - MKPERF_COUNT_PERIOD; /* an overflow not yet taken, too */
    }
}

/* A counter whose overflow can be raised: a free one, or one that is far from its own. */
static unsigned stamp_counter(const struct mkperf_profiler *p, uint32_t used, bool still)
{
    unsigned n = p->pmu->counters();

    for (unsigned i = 0; i < n; i++) {
        if (!(used >> i & 1)) {
            return i;
        }
    }
    for (unsigned i = 0; i < n; i++) {
        if (still || 0 - p->pmu->read(i) > NEAR_OVERFLOW) {
            return i;
        }
    }
    return MKPERF_MAX_COUNTERS;
}

/*
 * The time, from the kernel: an interrupt that belongs to no counter of the session's. Where all
 * counters are used, one is taken out of the session for that moment; it counts on.
 */
uint64_t mkperf_counting_stamp(struct mkperf_profiler *p, bool still)
{
    struct mkperf_descriptor *d = p->descriptor;
    const struct mkperf_ring *ring = p->core.ring;
    uint32_t used = d->counter_mask;
    unsigned i = stamp_counter(p, used, still);
    uint64_t before = __atomic_load_n(&ring->spurious, __ATOMIC_ACQUIRE);
    bool seen = false;

    if (i >= MKPERF_MAX_COUNTERS || p->pmu->raise == NULL) {
        return 0;
    }
    __atomic_store_n(&d->counter_mask, used & ~(UINT32_C(1) << i), __ATOMIC_RELEASE);
    p->pmu->raise(UINT32_C(1) << i);
    for (unsigned spins = 0; spins < STAMP_SPINS && !seen; spins++) {
        seen = __atomic_load_n(&ring->spurious, __ATOMIC_ACQUIRE) != before;
    }
    if (!seen) {
        p->pmu->clear(UINT32_C(1) << i);
    }
    __atomic_store_n(&d->counter_mask, used, __ATOMIC_RELEASE);
    p->counting.stamps += seen;
    p->tick_hz = seen ? ring->tick_hz : p->tick_hz;
    return seen ? ring->stamp : 0;
}

static uint64_t since(uint64_t now, uint64_t then)
{
    return now != 0 && then != 0 && now > then ? now - then : 0;
}

/* Ticks that each event's counters have counted until now. */
static void run_times(const struct mkperf_profiler *p, uint64_t now, uint64_t *out)
{
    for (unsigned i = 0; i < p->plan.events; i++) {
        bool on = p->plan.event[i].turn == p->counting.turn;
        out[i] = p->counting.running[i] + (on ? since(now, p->counting.resumed) : 0);
    }
}

static void assign(struct mkperf_profiler *p, uint32_t counter, unsigned slot)
{
    if (counter != 0) {
        p->counting.slot[counter - 1] = (uint8_t)slot;
        p->descriptor->slot[counter - 1] = (uint8_t)slot;
    }
}

/* The descriptor and the slots for a turn. Its counters stand still. */
static void set_turn(struct mkperf_profiler *p, uint32_t turn)
{
    struct mkperf_descriptor *d = p->descriptor;
    const struct mkperf_plan *plan = &p->plan;

    p->counting.turn = turn;
    p->counting.mask = plan->turn[turn].counter_mask;
    for (unsigned i = 0; i < plan->events; i++) {
        if (plan->event[i].turn == turn) {
            assign(p, plan->event[i].user_counter, 2 * i);
            assign(p, plan->event[i].kernel_counter, 2 * i + 1);
        }
    }
    d->kernel_mask = plan->turn[turn].kernel_mask;
    d->count_mask = p->counting.mask;
    d->count_epoch = ++p->count_epoch;
    d->counter_mask = p->counting.mask | (plan->clock != 0 ? UINT32_C(1) << (plan->clock - 1) : 0);
}

void mkperf_counting_begin(struct mkperf_profiler *p)
{
    struct mkperf_descriptor *d = p->descriptor;
    struct mkperf_counts *t = p->counts;

    p->counting = (struct mkperf_counting){0};
    for (unsigned i = 0; i < MKPERF_MAX_COUNTERS; i++) {
        d->counter[i] =
            (struct mkperf_descriptor_counter){MKPERF_COUNT_PERIOD, MKPERF_COUNT_PERIOD, 0};
    }
    if (p->plan.clock != 0) {
        /* With jitter, so that no program is in step with the turns. */
        d->counter[p->plan.clock - 1] = (struct mkperf_descriptor_counter){
            CLOCK_CYCLES, CLOCK_CYCLES, mkperf_jitter_mask(CLOCK_CYCLES)};
    }
    *t = (struct mkperf_counts){0};
    d->counts = p->plan.per_thread ? (uintptr_t)t : 0;
    set_turn(p, 0);
}

void mkperf_counting_started(struct mkperf_profiler *p)
{
    p->counting.began = mkperf_counting_stamp(p, true);
    p->counting.resumed = p->counting.began;
}

void mkperf_counting_take(struct mkperf_profiler *p, const uint64_t *record)
{
    struct mkperf_counting *c = &p->counting;
    unsigned counter = mkperf_record_counter(record[MKPERF_WORD_HEADER]);

    p->now = record[MKPERF_WORD_TIME];
    if (counter + 1 == p->plan.clock) {
        c->struck = true;
    } else if (c->mask >> counter & 1) {
        c->total[c->slot[counter]] += record[MKPERF_WORD_PERIOD];
    }
}

/* Programs what was checked when the session began. */
static void program_turn(struct mkperf_profiler *p)
{
    for (unsigned i = 0; i < p->plan.events; i++) {
        const struct mkperf_plan_event *e = &p->plan.event[i];
        if (e->turn == p->counting.turn) {
            mkperf_sampling_program(p, e);
        }
    }
    for (uint32_t rest = p->counting.mask; rest != 0; rest &= rest - 1) {
        p->pmu->arm((unsigned)__builtin_ctz(rest), MKPERF_COUNT_PERIOD);
    }
}

void mkperf_counting_rotate(struct mkperf_profiler *p)
{
    struct mkperf_counting *c = &p->counting;
    uint64_t all[MKPERF_COUNT_SLOTS];

    if (!c->struck) {
        return;
    }
    c->struck = false;
    c->rotated++;
    p->pmu->stop(c->mask);
    collect(p, all);
    for (unsigned i = 0; i < MKPERF_COUNT_SLOTS; i++) {
        c->total[i] = all[i];
    }
    /* The time of the clock's record: turns begin and end late by the same. */
    run_times(p, p->now, c->running);
    c->resumed = p->now;
    p->pmu->clear(c->mask);
    set_turn(p, (c->turn + 1) % p->plan.turns);
    program_turn(p);
    p->pmu->start(c->mask);
}

/* Copies the kernel's table, and gives the profiler PD, which runs, what is missing in it. */
static void copy_threads(struct mkperf_profiler *p)
{
    struct mkperf_counting *c = &p->counting;
    const struct mkperf_counts *t = p->counts;
    uint64_t rest[MKPERF_COUNT_SLOTS];
    struct mkperf_counts_thread *self = NULL;

    c->threads = 0;
    for (unsigned s = 0; s < MKPERF_COUNT_SLOTS; s++) {
        rest[s] = c->count[s];
    }
    for (unsigned i = 0; i < MKPERF_COUNT_THREADS; i++) {
        if (t->thread[i].key != 0) {
            struct mkperf_counts_thread *copy = &c->thread[c->threads++];
            *copy = t->thread[i];
            self = copy->key == t->self ? copy : self;
            for (unsigned s = 0; s < MKPERF_COUNT_SLOTS; s++) {
                rest[s] -= copy->count[s];
            }
        }
    }
    for (unsigned s = 0; s < MKPERF_COUNT_SLOTS && self != NULL; s++) {
        self->count[s] += rest[s];
    }
}

static void snapshot(struct mkperf_profiler *p)
{
    struct mkperf_counting *c = &p->counting;

    if (p->plan.per_thread && p->running) {
        /* A kernel that counts at its entries has given nobody what was done since the last: with
         * an entry of this PD's own, the rest is its own. */
        mkperf_counting_stamp(p, false);
    }
    collect(p, c->count);
    c->threads = 0;
    if (p->plan.per_thread && p->counts->magic == MKPERF_COUNTS_MAGIC) {
        copy_threads(p);
    }
    mkperf_soft_count(p);
    c->now = mkperf_counting_stamp(p, !p->running);
    run_times(p, c->now, c->ran);
}

void mkperf_counting_end(struct mkperf_profiler *p)
{
    snapshot(p);
    p->descriptor->counts = 0;
    p->descriptor->count_mask = 0;
}

static void answer_totals(const struct mkperf_profiler *p, mkperf_Counts *out)
{
    const struct mkperf_counting *c = &p->counting;

    out->events_count = (pb_size_t)p->plan.events;
    for (size_t i = 0; i < p->plan.events; i++) {
        out->events[i].user = c->count[2 * i];
        out->events[i].kernel = c->count[2 * i + 1];
        out->events[i].running_ticks = p->plan.event[i].soft != 0 ? since(c->now, c->began)
                                                                  : c->ran[i];
    }
}

static void answer_threads(const struct mkperf_profiler *p, uint32_t part, mkperf_Counts *out)
{
    const struct mkperf_counting *c = &p->counting;
    uint32_t first = (part - 1) * MKPERF_COUNT_PART;

    for (uint32_t i = first; i < c->threads && out->threads_count < MKPERF_COUNT_PART; i++) {
        mkperf_ThreadCount *to = &out->threads[out->threads_count++];
        to->thread = mkperf_thread_to_wire(c->thread[i].key - mkperf_counts_key(0));
        to->user_count = (pb_size_t)p->plan.events;
        to->kernel_count = (pb_size_t)p->plan.events;
        for (size_t e = 0; e < p->plan.events; e++) {
            to->user[e] = c->thread[i].count[2 * e];
            to->kernel[e] = c->thread[i].count[2 * e + 1];
        }
    }
}

bool mkperf_counting_answer(struct mkperf_profiler *p, uint32_t part, mkperf_Error *error)
{
    static mkperf_Counts out; /* too large for a PD's stack */
    struct mkperf_counting *c = &p->counting;

    if (!p->plan.counting || p->id == 0) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_STATE, 0,
                                  "no session that counts was started");
    }
    if (part == 0 && p->running) {
        snapshot(p);
    }
    out = (mkperf_Counts){
        .session = p->id,
        .running = p->running,
        .tick_hz = p->tick_hz,
        .enabled_ticks = since(c->now, c->began),
        .part = part,
        .parts = 1 + (c->threads + MKPERF_COUNT_PART - 1) / MKPERF_COUNT_PART,
        .turns = p->plan.turns,
        .by_pd = p->plan.per_thread &&
                 (p->plan.soft_only || p->counts->magic == MKPERF_COUNTS_MAGIC),
    };
    if (part >= out.parts) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 0, "the counts have no such part");
    }
    if (part == 0) {
        answer_totals(p, &out);
    } else {
        answer_threads(p, part, &out);
    }
    p->page->counts = out;
    return true;
}
