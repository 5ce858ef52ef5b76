/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions whose events are counted: see hook_session.h. */
#include "hook_session.h"

#include <string.h>

enum { MAX_READS = 1000 }; /* attempts to read without an overflow during the reading */

struct row {
    uint64_t identity;
    uint64_t count[MKPERF_COUNT_SLOTS];
};

/* The snapshot of which clients get the parts. Counts are by slot (include/mkperf/counts.h). */
static struct {
    uint64_t now; /* ticks: its time */
    uint64_t by_core[MKPERF_TARGET_CORES][MKPERF_COUNT_SLOTS];
    uint64_t count[MKPERF_COUNT_SLOTS]; /* counts of all cores together */
    uint64_t ran[MKPERF_MAX_EVENTS];    /* ticks during which the event was counted */
    uint32_t cores;                     /* the cores in it, bit = number; 0 with a single core */
    uint32_t threads;
    struct row thread[MKPERF_COUNT_THREADS];
} counts;

/* Stores the total counts of a core by slot in out. op: STOP, or 0. The counts of a core that does
 * not answer are those in its records. The reading is repeated if an overflow's record followed it;
 * records of scheduling events do not matter. */
static void collect_core(unsigned core, uint32_t op, uint64_t *out)
{
    const struct mkperf_answer *a = &mkperf_kernel.core[core].d->answer;
    const struct mkperf_ring *ring = mkperf_in.ring[core].ring;
    const struct mkperf_tally *tally = &mkperf_in.tally;
    uint32_t answered = 0;

    for (unsigned i = 0; i < MAX_READS; i++) {
        answered = mkperf_cores_request(UINT32_C(1) << core, op | MKPERF_REQUEST_SNAPSHOT);
        uint64_t head = a->head; /* The drain may make a request, too. */
        uint64_t time = a->time;
        mkperf_drain();
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
static uint64_t collect_cores(uint32_t op, uint64_t (*out)[MKPERF_COUNT_SLOTS])
{
    if (op == MKPERF_REQUEST_STOP) {
        mkperf_cores_request(mkperf_kernel.on, op);
    }
    for (unsigned i = 1; i <= mkperf_kernel.cores; i++) {
        unsigned core = (mkperf_kernel.here + i) % mkperf_kernel.cores;
        if (mkperf_kernel.on >> core & 1) {
            collect_core(core, op, out[core]);
        }
    }
    uint64_t stopped = mkperf_status.cores[mkperf_kernel.here].stopped_ticks;
    return op == MKPERF_REQUEST_STOP && stopped != 0 ? stopped : mkperf_kernel_answer_time();
}

void mkperf_counting_begin(void)
{
    struct mkperf_configuration *want = mkperf_wanted();

    counts.threads = 0;
    counts.cores = 0;
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
static struct row *row_of(uint64_t identity)
{
    for (uint32_t i = 0; i < counts.threads; i++) {
        if (counts.thread[i].identity == identity) {
            return &counts.thread[i];
        }
    }
    if (counts.threads == MKPERF_COUNT_THREADS) {
        return NULL;
    }
    counts.thread[counts.threads] = (struct row){.identity = identity};
    return &counts.thread[counts.threads++];
}

/* Copies the kernel's table, and stores the sums over its threads. Returns the row of the profiler PD; NULL: it
 * has none. */
static struct row *copy_threads(uint64_t *sum)
{
    const struct mkperf_counts *t = mkperf_counts_table();
    struct row *self = NULL;

    memset(sum, 0, MKPERF_COUNT_SLOTS * sizeof *sum);
    counts.threads = 0;
    for (unsigned i = 0; i < MKPERF_COUNT_THREADS; i++) {
        const struct mkperf_counts_thread *from = &t->thread[i];
        if (from->key == 0) {
            continue;
        }
        struct row *copy = &counts.thread[counts.threads++];
        copy->identity = mkperf_soft_identity(from->key, from->sc);
        self = copy->identity == mkperf_kernel.self ? copy : self;
        for (unsigned s = 0; s < MKPERF_COUNT_SLOTS; s++) {
            copy->count[s] = from->count[s];
            sum[s] += from->count[s];
        }
    }
    return self;
}

/* Software events have no user and kernel part; they happen in the kernel. */
static void copy_soft(void)
{
    const struct mkperf_counts *table = mkperf_counts_table();

    for (unsigned e = 0; e < mkperf_plan.events; e++) {
        uint32_t kind = mkperf_plan.event[e].soft;
        if (kind == 0) {
            continue;
        }
        counts.count[2 * e + 1] = table->total[kind - 1];
        for (unsigned i = 0; i < MKPERF_COUNT_THREADS && mkperf_plan.request.per_pd; i++) {
            const struct mkperf_counts_thread *t = &table->thread[i];
            struct row *row = t->key != 0 ? row_of(mkperf_soft_identity(t->key, t->sc)) : NULL;
            if (row != NULL) {
                row->count[2 * e + 1] = t->soft[kind - 1];
            }
        }
    }
}

/* Takes what is left out from the counts of the user counters. The rest is the sum over the other threads. */
static void leave_out(void)
{
    for (size_t e = 0; e < mkperf_plan.events; e++) {
        uint32_t left_out = mkperf_plan.event[e].left_out;
        uint64_t sum = 0;
        for (unsigned i = 0; i < counts.threads && left_out != 0; i++) {
            uint64_t *count = &counts.thread[i].count[2 * e];
            bool guest = mkperf_thread_is_vcpu(counts.thread[i].identity);
            *count = guest == (left_out == MKPERF_PMU_GUEST) ? 0 : *count;
            sum += *count;
        }
        counts.count[2 * e] = left_out != 0 ? sum : counts.count[2 * e];
    }
}

/* Takes a snapshot by a request. The request enters the kernel. A kernel that updates its table at
 * entries has therefore added the events of all other threads. */
void mkperf_counting_snapshot(uint32_t op)
{
    memset(counts.by_core, 0, sizeof counts.by_core);
    counts.now = collect_cores(op, counts.by_core);
    for (unsigned i = 0; i < MKPERF_COUNT_SLOTS; i++) {
        counts.count[i] = 0;
        for (unsigned core = 0; core < mkperf_kernel.cores; core++) {
            counts.count[i] += counts.by_core[core][i];
        }
    }
    counts.threads = 0;
    if (mkperf_counts_by_thread()) {
        uint64_t sum[MKPERF_COUNT_SLOTS];
        struct row *self = copy_threads(sum);
        /* Events that no thread has belong to the profiler PD, which runs. Other cores' threads run while the
         * table is read, so the rest can be negative. It is not subtracted from the profiler PD. */
        for (unsigned i = 0; i < MKPERF_COUNT_SLOTS && self != NULL; i++) {
            uint64_t rest = counts.count[i] - sum[i];
            self->count[i] += mkperf_kernel.cores > 1 && (int64_t)rest < 0 ? 0 : rest;
        }
        leave_out();
    }
    copy_soft();
    mkperf_multiplex_times(counts.now, counts.ran);
    mkperf_latencies_counted(counts.now);
    /* The kernel's table is one for all cores. */
    counts.cores = mkperf_kernel.cores > 1 && !mkperf_plan.leaves_out ? mkperf_kernel.on : 0;
}

/* Puts the counts of all events, which are by slot. most: the ticks that an event can have run. Returns the
 * number of events. */
static pb_size_t put_events(mkperf_EventCount *to, const uint64_t *count, uint64_t most)
{
    for (size_t i = 0; i < mkperf_plan.events; i++) {
        to[i] = (mkperf_EventCount){
            .user = count[2 * i],
            .kernel = count[2 * i + 1],
            .running_ticks = counts.ran[i] < most ? counts.ran[i] : most,
        };
    }
    return (pb_size_t)mkperf_plan.events;
}

/* Fills in the index-th core of the snapshot. A late core counted for a shorter time. */
static void answer_core(uint32_t index, mkperf_Counts *out)
{
    mkperf_CoreCount *to = &out->cores[0];
    uint32_t rest = counts.cores;

    for (; index > 0; index--) {
        rest &= rest - 1;
    }
    to->core = (uint32_t)__builtin_ctz(rest);
    uint64_t started = mkperf_status.cores[to->core].started_ticks;
    to->enabled_ticks = started != 0 && counts.now > started ? counts.now - started : 0;
    to->events_count = put_events(to->events, counts.by_core[to->core], to->enabled_ticks);
    out->cores_count = 1;
}

static void answer_threads(uint32_t first, mkperf_Counts *out)
{
    for (uint32_t i = first; i < counts.threads && out->threads_count < MKPERF_COUNT_PART; i++) {
        mkperf_ThreadCount *to = &out->threads[out->threads_count++];
        to->thread = mkperf_thread_to_wire(counts.thread[i].identity);
        to->user_count = (pb_size_t)mkperf_plan.events;
        to->kernel_count = (pb_size_t)mkperf_plan.events;
        for (size_t e = 0; e < mkperf_plan.events; e++) {
            to->user[e] = counts.thread[i].count[2 * e];
            to->kernel[e] = counts.thread[i].count[2 * e + 1];
        }
    }
}

bool mkperf_counting_answer(uint32_t part, mkperf_Counts *out)
{
    bool beside = mkperf_plan_beside();

    if ((!mkperf_plan.counting && !beside) || mkperf_kernel.began == 0) {
        return mkperf_refuse(MKPERF_RESULT_STATE, 0, "no session that counts was started");
    }
    if (beside && mkperf_kernel.session) {
        return mkperf_refuse(MKPERF_RESULT_STATE, 0,
                             "the counts of sampled events are known when the session has ended");
    }
    if (part == 0 && beside) {
        copy_threads(counts.count); /* The session has ended, and the table is complete. */
        memset(counts.ran, 0, sizeof counts.ran);
        counts.now = mkperf_status.cores[mkperf_kernel.here].stopped_ticks;
        counts.cores = 0;
    } else if (part == 0 && mkperf_kernel.session) {
        mkperf_counting_snapshot(0);
    }
    uint32_t cores = (uint32_t)__builtin_popcount(counts.cores);
    uint32_t threads = mkperf_plan.request.per_pd ? counts.threads : 0;
    uint32_t first_core = 1 + (threads + MKPERF_COUNT_PART - 1) / MKPERF_COUNT_PART;
    *out = (mkperf_Counts){
        .enabled_ticks = mkperf_kernel_enabled(counts.now),
        .part = part,
        .parts = first_core + cores,
        .slices = mkperf_plan.session.slices,
        .by_pd = mkperf_plan.request.per_pd && mkperf_counts_by_thread(),
    };
    if (part >= out->parts) {
        return mkperf_refuse(MKPERF_RESULT_RANGE, 0, "the counts have no such part");
    }
    if (part == 0) {
        out->events_count = put_events(out->events, counts.count, UINT64_MAX);
    } else if (part < first_core) {
        answer_threads((part - 1) * MKPERF_COUNT_PART, out);
    } else {
        answer_core(part - first_core, out);
    }
    return true;
}
