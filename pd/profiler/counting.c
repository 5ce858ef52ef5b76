/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting: see counting.h.
 *
 * The hook arms a counter again after an overflow and writes a record; what a snapshot says and the
 * records belong together if no record came after it. Of that, records of scheduling events do not
 * count.
 */
#include "counting.h"

#include "profiler.h"

enum {
    CLOCK_CYCLES = 4000000, /* of a slice, on average: 4 ms at 1 GHz */
    MAX_READS = 1000,       /* attempts at a reading without an overflow in between */
};

uint64_t mkperf_counting_stamp(struct mkperf_profiler *p)
{
    mkperf_kernel_request(p, 0);
    return mkperf_answered(&p->kernel)->time;
}

/* What the counters of a core have counted in all, by slot. op: STOP, or 0. A core that does not
 * answer has counted what its records say. */
static void collect_core(struct mkperf_profiler *p, unsigned core, uint32_t op, uint64_t *out)
{
    struct mkperf_counting *c = &p->counting;
    const struct mkperf_answer *a = &p->kernel.d[core]->answer;
    const struct mkperf_ring *ring = p->core[core].ring.ring;
    uint32_t answered = 0;
    uint64_t bytes = 0;

    for (unsigned i = 0; i < MAX_READS; i++) {
        answered = mkperf_cores_request(p, UINT32_C(1) << core, op | MKPERF_REQUEST_SNAPSHOT);
        uint64_t head = a->head; /* the drain may make a request, too */
        uint64_t time = a->time;
        mkperf_drain_ring(p, &bytes);
        if (answered == 0 || c->last[core] < time ||
            head == __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE)) {
            break;
        }
    }
    for (unsigned i = 0; i < MKPERF_COUNT_SLOTS; i++) {
        out[i] = c->total[core][i];
    }
    for (uint32_t rest = answered != 0 ? c->mask : 0; rest != 0; rest &= rest - 1) {
        unsigned n = (unsigned)__builtin_ctz(rest);
        /* includes an overflow not yet handled */
        out[c->slot[n]] += a->counter[n].value - MKPERF_COUNT_PERIOD;
    }
}

/* The same of all cores, and when that was: the own core is the last. With STOP they stop at the
 * same time, before any is read. */
static uint64_t collect(struct mkperf_profiler *p, uint32_t op, uint64_t (*out)[MKPERF_COUNT_SLOTS])
{
    if (op == MKPERF_REQUEST_STOP) {
        mkperf_cores_request(p, p->on, op);
    }
    for (unsigned i = 1; i <= p->cores; i++) {
        unsigned core = (p->here + i) % p->cores;
        if (p->on >> core & 1) {
            collect_core(p, core, op, out[core]);
        }
    }
    uint64_t stopped = p->core[p->here].statistics.stopped_ticks;
    if (op == MKPERF_REQUEST_STOP && stopped != 0) {
        return stopped;
    }
    return p->on >> p->here & 1 ? mkperf_answered(&p->kernel)->time : mkperf_counting_stamp(p);
}

bool mkperf_counting_by_thread(const struct mkperf_profiler *p)
{
    return (mkperf_answered(&p->kernel)->features & MKPERF_FEATURE_COUNTS) != 0;
}

static uint64_t since(uint64_t now, uint64_t then)
{
    return now != 0 && then != 0 && now > then ? now - then : 0;
}

/* Ticks that each event's counters have counted until now. */
static void run_times(const struct mkperf_profiler *p, uint64_t now, uint64_t *out)
{
    for (unsigned i = 0; i < p->plan.events; i++) {
        bool on = p->plan.event[i].slice == p->counting.slice;
        out[i] = p->counting.running[i] + (on ? since(now, p->counting.resumed) : 0);
    }
}

static void assign(struct mkperf_profiler *p, uint32_t counter, unsigned slot)
{
    if (counter != 0) {
        p->counting.slot[counter - 1] = (uint8_t)slot;
        mkperf_wanted(&p->kernel)->slot[counter - 1] = (uint8_t)slot;
    }
}

/* The configuration and the slots for a slice. */
static void set_slice(struct mkperf_profiler *p, uint32_t slice)
{
    struct mkperf_configuration *want = mkperf_wanted(&p->kernel);
    const struct mkperf_plan *plan = &p->plan;

    p->counting.slice = slice;
    p->counting.mask = plan->slice[slice].counter_mask;
    for (unsigned i = 0; i < plan->events; i++) {
        if (plan->event[i].slice == slice) {
            assign(p, plan->event[i].user_counter, 2 * i);
            assign(p, plan->event[i].kernel_counter, 2 * i + 1);
            mkperf_kernel_select(p, &plan->event[i]);
        }
    }
    want->count_mask = p->counting.mask;
    want->slice_mask = mkperf_counter_bit(plan->beat);
    want->counter_mask = p->counting.mask | mkperf_counter_bit(plan->clock) | want->slice_mask;
    want->enable_mask = want->counter_mask;
}

void mkperf_counting_begin(struct mkperf_profiler *p)
{
    struct mkperf_configuration *want = mkperf_wanted(&p->kernel);

    p->counting = (struct mkperf_counting){0};
    for (unsigned i = 0; i < MKPERF_MAX_COUNTERS; i++) {
        want->counter[i] = (struct mkperf_request_counter){.left = MKPERF_COUNT_PERIOD,
                                                           .first = MKPERF_COUNT_PERIOD,
                                                           .period = MKPERF_COUNT_PERIOD};
    }
    if (p->plan.clock != 0) {
        /* With jitter, so that no program is in step with the slices. */
        want->counter[p->plan.clock - 1] = (struct mkperf_request_counter){
            .select = p->cpu.pmu->select(p->plan.clock_code, true, true),
            .left = CLOCK_CYCLES,
            .first = CLOCK_CYCLES,
            .period = CLOCK_CYCLES,
            .jitter_mask = mkperf_jitter_mask(CLOCK_CYCLES),
        };
    }
    if (p->plan.beat != 0) {
        want->counter[p->plan.beat - 1] = mkperf_multiplex_beat(p);
    }
    *p->counts = (struct mkperf_counts){0};
    set_slice(p, 0);
}

void mkperf_counting_started(struct mkperf_profiler *p)
{
    p->counting.began = p->on >> p->here & 1 ? mkperf_answered(&p->kernel)->time
                                             : mkperf_counting_stamp(p);
    p->counting.resumed = p->counting.began;
}

void mkperf_counting_take(struct mkperf_profiler *p, struct mkperf_core *core,
                          const uint64_t *record)
{
    struct mkperf_counting *c = &p->counting;
    unsigned counter = mkperf_record_counter(record[MKPERF_WORD_HEADER]);

    core->now = record[MKPERF_WORD_TIME];
    c->last[core - p->core] = core->now;
    if (counter + 1 == p->plan.clock) {
        c->expired = true;
    } else if (c->mask >> counter & 1) {
        c->total[core - p->core][c->slot[counter]] += record[MKPERF_WORD_PERIOD];
    }
}

void mkperf_counting_rotate(struct mkperf_profiler *p)
{
    struct mkperf_counting *c = &p->counting;

    if (!c->expired) {
        return;
    }
    c->expired = false;
    c->rotated++;
    uint64_t now = collect(p, MKPERF_REQUEST_STOP, c->total);
    run_times(p, now, c->running);
    set_slice(p, (c->slice + 1) % p->plan.slices);
    mkperf_cores_share(p, p->on);
    if (mkperf_cores_request(p, p->on, MKPERF_REQUEST_CONTINUE) >> p->here & 1) {
        c->resumed = mkperf_answered(&p->kernel)->time;
    } else if (!(p->on >> p->here & 1)) {
        c->resumed = mkperf_counting_stamp(p);
    }
}

/* Copies the kernel's table, and adds the missing counts to the profiler PD, which is running. */
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
        const struct mkperf_counts_thread *from = &t->thread[i];
        if (from->key != 0) {
            struct mkperf_counts_thread *copy = &c->thread[c->threads++];
            *copy = *from;
            copy->key = mkperf_soft_key(from->key, from->sc);
            self = from->key == t->self && from->sc == t->self_sc ? copy : self;
            for (unsigned s = 0; s < MKPERF_COUNT_SLOTS; s++) {
                rest[s] -= copy->count[s];
            }
        }
    }
    /* Other cores' threads run while the table is read: what that adds is not this PD's to pay. */
    for (unsigned s = 0; s < MKPERF_COUNT_SLOTS && self != NULL; s++) {
        self->count[s] += p->cores > 1 && (int64_t)rest[s] < 0 ? 0 : rest[s];
    }
}

/* op: STOP, or 0. The request is an entry of this PD's own into the kernel, so a kernel that counts
 * at its entries has given the others what was theirs. */
static void snapshot(struct mkperf_profiler *p, uint32_t op)
{
    struct mkperf_counting *c = &p->counting;

    c->now = collect(p, op, c->by_core);
    for (unsigned i = 0; i < MKPERF_COUNT_SLOTS; i++) {
        c->count[i] = 0;
        for (unsigned core = 0; core < p->cores; core++) {
            c->count[i] += c->by_core[core][i];
        }
    }
    c->threads = 0;
    if (p->plan.per_thread && mkperf_counting_by_thread(p)) {
        copy_threads(p);
    }
    mkperf_soft_count(p);
    run_times(p, c->now, c->ran);
    mkperf_sched_counted(p, c->now);
    c->cores = p->cores > 1 ? p->on : 0;
}

void mkperf_counting_end(struct mkperf_profiler *p)
{
    snapshot(p, MKPERF_REQUEST_STOP);
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

/* The index-th core of the snapshot. One that came late has had its counters for as much less. */
static void answer_core(const struct mkperf_profiler *p, uint32_t index, mkperf_Counts *out)
{
    const struct mkperf_counting *c = &p->counting;
    mkperf_CoreCount *to = &out->cores[0];
    uint32_t rest = c->cores;

    for (; index > 0; index--) {
        rest &= rest - 1;
    }
    to->core = (uint32_t)__builtin_ctz(rest);
    to->enabled_ticks = since(c->now, p->core[to->core].statistics.started_ticks);
    to->events_count = (pb_size_t)p->plan.events;
    for (size_t i = 0; i < p->plan.events; i++) {
        uint64_t ran = p->plan.event[i].soft != 0 ? since(c->now, c->began) : c->ran[i];
        to->events[i].user = c->by_core[to->core][2 * i];
        to->events[i].kernel = c->by_core[to->core][2 * i + 1];
        to->events[i].running_ticks = ran < to->enabled_ticks ? ran : to->enabled_ticks;
    }
    out->cores_count = 1;
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
        snapshot(p, 0);
    }
    uint32_t cores = (uint32_t)__builtin_popcount(c->cores);
    uint32_t parts = 1 +
                     (c->threads + MKPERF_COUNT_PART - 1) / MKPERF_COUNT_PART; /* without those */
    out = (mkperf_Counts){
        .session = p->id,
        .running = p->running,
        .tick_hz = p->tick_hz,
        .enabled_ticks = since(c->now, c->began),
        .part = part,
        .parts = parts + cores,
        .slices = p->plan.slices,
        .by_pd = p->plan.per_thread && (p->plan.soft_only || mkperf_counting_by_thread(p)),
    };
    if (part >= out.parts) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 0, "the counts have no such part");
    }
    if (part == 0) {
        answer_totals(p, &out);
    } else if (part < parts) {
        answer_threads(p, part, &out);
    } else {
        answer_core(p, part - parts, &out);
    }
    p->page->counts = out;
    return true;
}
