/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions whose events are counted: see hook_session.h. */
#include "hook_session.h"

#include <string.h>

enum { MAX_READS = 1000 }; /* attempts to read without an overflow during the reading */

/* Stores the total counts of a core by slot in out. op: STOP, or 0. The counts of a core that does
 * not answer are those in its records. The reading is repeated if an overflow's record followed it;
 * records of scheduling events do not matter. */
static void collect_core(struct mkperf_counting *c, unsigned core, uint32_t op, uint64_t *out)
{
    const struct mkperf_answer *a = &mkperf_kernel.core[core].d->answer;
    const struct mkperf_ring *ring = c->drain->ring[core].ring;
    const struct mkperf_tally *tally = &c->drain->tally;
    uint32_t answered = 0;

    for (unsigned i = 0; i < MAX_READS; i++) {
        answered = mkperf_cores_request(UINT32_C(1) << core, op | MKPERF_REQUEST_SNAPSHOT);
        uint64_t head = a->head; /* The drain may make a request, too. */
        uint64_t time = a->time;
        mkperf_drain(c->drain);
        if (answered == 0 || tally->last[core] < time ||
            head == __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE)) {
            break;
        }
    }
    for (unsigned i = 0; i < MKPERF_COUNT_SLOTS; i++) {
        out[i] = tally->total[core][i];
    }
    MKPERF_EACH_BIT (n, answered != 0 ? tally->mask : 0) {
        /* This includes an overflow that is not yet handled. */
        out[tally->slot[n]] += a->counter[n].value - MKPERF_COUNT_PERIOD;
    }
}

/* Stores the total counts of all cores in out, the own core's last. Returns the time of that. With
 * STOP all cores stop before any is read, so that they stop at about one time. */
static uint64_t collect_cores(struct mkperf_counting *c, uint32_t op,
                              uint64_t (*out)[MKPERF_COUNT_SLOTS])
{

    if (op == MKPERF_REQUEST_STOP) {
        mkperf_cores_request(mkperf_kernel.on, op);
    }
    for (unsigned i = 1; i <= mkperf_kernel.cores; i++) {
        unsigned core = (mkperf_kernel.here + i) % mkperf_kernel.cores;
        if (mkperf_kernel.on >> core & 1) {
            collect_core(c, core, op, out[core]);
        }
    }
    uint64_t stopped = mkperf_status.cores[mkperf_kernel.here].stopped_ticks;
    return op == MKPERF_REQUEST_STOP && stopped != 0 ? stopped : mkperf_kernel_answer_time();
}

static bool counts_by_thread(void)
{
    return (mkperf_plan.request.per_pd || mkperf_plan.leaves_out) && mkperf_kernel_events();
}

void mkperf_counting_begin(struct mkperf_counting *c)
{
    struct mkperf_configuration *want = mkperf_wanted();

    c->threads = 0;
    c->cores = 0;
    *c->table = (struct mkperf_counts){0};
    want->counts = counts_by_thread() ? (uintptr_t)c->table : 0;
    for (unsigned i = 0; i < mkperf_plan.events; i++) {
        const struct mkperf_plan_event *e = &mkperf_plan.event[i];
        uint32_t bit = mkperf_counter_bit(e->beside);
        if (bit != 0) {
            want->counter[e->beside - 1] =
                mkperf_counter_every(e->user_select, MKPERF_COUNT_PERIOD);
            want->slot[e->beside - 1] = (uint8_t)(2 * i);
            want->count_mask |= bit;
            want->read_mask |= bit; /* so that its overflows write no record */
            want->counter_mask |= bit;
            want->enable_mask |= bit;
        }
    }
}

/* Finds the thread's row or adds it. NULL: the table is full. */
static struct mkperf_counting_thread *row_of(struct mkperf_counting *c, uint64_t identity)
{
    for (uint32_t i = 0; i < c->threads; i++) {
        if (c->thread[i].identity == identity) {
            return &c->thread[i];
        }
    }
    if (c->threads == MKPERF_COUNT_THREADS) {
        return NULL;
    }
    c->thread[c->threads] = (struct mkperf_counting_thread){.identity = identity};
    return &c->thread[c->threads++];
}

/* Copies the kernel's table. Events that are missing there belong to the profiler PD, which
 * runs. */
static void copy_threads(struct mkperf_counting *c)
{
    const struct mkperf_counts *t = c->table;
    uint64_t rest[MKPERF_COUNT_SLOTS];
    struct mkperf_counting_thread *self = NULL;

    for (unsigned s = 0; s < MKPERF_COUNT_SLOTS; s++) {
        rest[s] = c->count[s];
    }
    for (unsigned i = 0; i < MKPERF_COUNT_THREADS; i++) {
        const struct mkperf_counts_thread *from = &t->thread[i];
        if (from->key == 0) {
            continue;
        }
        struct mkperf_counting_thread *copy = &c->thread[c->threads++];
        copy->identity = mkperf_soft_identity(from->key, from->sc);
        self = from->key == t->self && from->sc == t->self_sc ? copy : self;
        for (unsigned s = 0; s < MKPERF_COUNT_SLOTS; s++) {
            copy->count[s] = from->count[s];
            rest[s] -= from->count[s];
        }
    }
    /* Other cores' threads run while the table is read, so the rest can be negative. It is not
     * subtracted from the profiler PD. */
    for (unsigned s = 0; s < MKPERF_COUNT_SLOTS && self != NULL; s++) {
        self->count[s] += mkperf_kernel.cores > 1 && (int64_t)rest[s] < 0 ? 0 : rest[s];
    }
}

/* Software events have no user and kernel part; they happen in the kernel. */
static void copy_soft(struct mkperf_counting *c)
{
    for (unsigned e = 0; e < mkperf_plan.events; e++) {
        uint32_t kind = mkperf_plan.event[e].soft;
        if (kind == 0) {
            continue;
        }
        c->count[2 * e + 1] = c->drain->soft.table->total[kind - 1];
        for (unsigned i = 0; i < MKPERF_COUNT_THREADS && mkperf_plan.request.per_pd; i++) {
            const struct mkperf_soft_thread *t = &c->drain->soft.table->thread[i];
            struct mkperf_counting_thread *row =
                t->key != 0 ? row_of(c, mkperf_soft_identity(t->key, t->sc)) : NULL;
            if (row != NULL) {
                row->count[2 * e + 1] = t->count[kind - 1];
            }
        }
    }
}

/* Takes what is left out from the counts of the user counters. The rest is the sum over the other threads. */
static void leave_out(struct mkperf_counting *c)
{
    for (size_t e = 0; e < mkperf_plan.events; e++) {
        uint32_t left_out = mkperf_plan.event[e].left_out;
        uint64_t sum = 0;
        for (unsigned i = 0; i < c->threads && left_out != 0; i++) {
            uint64_t *count = &c->thread[i].count[2 * e];
            bool guest = mkperf_thread_is_vcpu(c->thread[i].identity);
            *count = guest == (left_out == MKPERF_PMU_GUEST) ? 0 : *count;
            sum += *count;
        }
        c->count[2 * e] = left_out != 0 ? sum : c->count[2 * e];
    }
}

/* Takes a snapshot by a request. The request enters the kernel. A kernel that updates its table at
 * entries has therefore added the events of all other threads. */
void mkperf_counting_snapshot(struct mkperf_counting *c, uint32_t op)
{
    memset(c->by_core, 0, sizeof c->by_core);
    c->now = collect_cores(c, op, c->by_core);
    for (unsigned i = 0; i < MKPERF_COUNT_SLOTS; i++) {
        c->count[i] = 0;
        for (unsigned core = 0; core < mkperf_kernel.cores; core++) {
            c->count[i] += c->by_core[core][i];
        }
    }
    c->threads = 0;
    if (counts_by_thread()) {
        copy_threads(c);
        leave_out(c);
    }
    copy_soft(c);
    mkperf_multiplex_times(c->multiplex, c->now, c->ran);
    mkperf_latencies_counted(&c->drain->latencies, c->now);
    /* The kernel's table is one for all cores. */
    c->cores = mkperf_kernel.cores > 1 && !mkperf_plan.leaves_out ? mkperf_kernel.on : 0;
}

/* Reads the kernel's table after a session with counts beside samples. */
static void take_beside(struct mkperf_counting *c)
{
    memset(c->count, 0, sizeof c->count);
    for (unsigned i = 0; i < MKPERF_COUNT_THREADS; i++) {
        for (unsigned s = 0; s < MKPERF_COUNT_SLOTS; s++) {
            c->count[s] += c->table->thread[i].count[s];
        }
    }
    memset(c->ran, 0, sizeof c->ran);
    c->now = mkperf_status.cores[mkperf_kernel.here].stopped_ticks;
    c->cores = 0;
    c->threads = 0;
    copy_threads(c);
}

static void answer_totals(const struct mkperf_counting *c, mkperf_Counts *out)
{
    out->events_count = (pb_size_t)mkperf_plan.events;
    for (size_t i = 0; i < mkperf_plan.events; i++) {
        out->events[i].user = c->count[2 * i];
        out->events[i].kernel = c->count[2 * i + 1];
        out->events[i].running_ticks = c->ran[i];
    }
}

/* Fills in the index-th core of the snapshot. A late core counted for a shorter time. */
static void answer_core(const struct mkperf_counting *c, uint32_t index, mkperf_Counts *out)
{
    mkperf_CoreCount *to = &out->cores[0];
    uint32_t rest = c->cores;

    for (; index > 0; index--) {
        rest &= rest - 1;
    }
    to->core = (uint32_t)__builtin_ctz(rest);
    uint64_t started = mkperf_status.cores[to->core].started_ticks;
    to->enabled_ticks = started != 0 && c->now > started ? c->now - started : 0;
    to->events_count = (pb_size_t)mkperf_plan.events;
    for (size_t i = 0; i < mkperf_plan.events; i++) {
        to->events[i].user = c->by_core[to->core][2 * i];
        to->events[i].kernel = c->by_core[to->core][2 * i + 1];
        to->events[i].running_ticks = c->ran[i] < to->enabled_ticks ? c->ran[i] : to->enabled_ticks;
    }
    out->cores_count = 1;
}

static void answer_threads(const struct mkperf_counting *c, uint32_t first, mkperf_Counts *out)
{
    for (uint32_t i = first; i < c->threads && out->threads_count < MKPERF_COUNT_PART; i++) {
        mkperf_ThreadCount *to = &out->threads[out->threads_count++];
        to->thread = mkperf_thread_to_wire(c->thread[i].identity);
        to->user_count = (pb_size_t)mkperf_plan.events;
        to->kernel_count = (pb_size_t)mkperf_plan.events;
        for (size_t e = 0; e < mkperf_plan.events; e++) {
            to->user[e] = c->thread[i].count[2 * e];
            to->kernel[e] = c->thread[i].count[2 * e + 1];
        }
    }
}

bool mkperf_counting_answer(struct mkperf_counting *c, uint32_t part, bool running,
                            mkperf_Counts *out, mkperf_Error *error)
{
    bool beside = mkperf_plan_beside(&mkperf_plan);

    if ((!mkperf_plan.counting && !beside) || mkperf_kernel.began == 0) {
        return mkperf_refuse(error, MKPERF_RESULT_STATE, 0, "no session that counts was started");
    }
    if (beside && running) {
        return mkperf_refuse(error, MKPERF_RESULT_STATE, 0,
                             "the counts of sampled events are known when the session has ended");
    }
    if (part == 0 && beside) {
        take_beside(c);
    } else if (part == 0 && running) {
        mkperf_counting_snapshot(c, 0);
    }
    uint32_t cores = (uint32_t)__builtin_popcount(c->cores);
    uint32_t threads = mkperf_plan.request.per_pd ? c->threads : 0;
    uint32_t first_core = 1 + (threads + MKPERF_COUNT_PART - 1) / MKPERF_COUNT_PART;
    *out = (mkperf_Counts){
        .enabled_ticks = mkperf_kernel_enabled(c->now),
        .part = part,
        .parts = first_core + cores,
        .slices = mkperf_plan.session.slices,
        .by_pd = mkperf_plan.request.per_pd && counts_by_thread(),
    };
    if (part >= out->parts) {
        return mkperf_refuse(error, MKPERF_RESULT_RANGE, 0, "the counts have no such part");
    }
    if (part == 0) {
        answer_totals(c, out);
    } else if (part < first_core) {
        answer_threads(c, (part - 1) * MKPERF_COUNT_PART, out);
    } else {
        answer_core(c, part - first_core, out);
    }
    return true;
}
