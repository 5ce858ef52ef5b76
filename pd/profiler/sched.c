/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events in the profiler PD: see sched.h for ownership and callers.
 *
 * What may be lost: events that the hook could not write, and those that do not fit into the output
 * ring. Both are counted, and a record before the next event of that core says how many.
 */
#include "profiler.h"

#define EVENT_OUT_BYTES (8U * MKPERF_SCHED_OUTPUT_WORDS)
#define LOST_BYTES (8U * MKPERF_SCHED_LOSS_WORDS)

enum {
    PIECE_BUCKETS = MKPERF_ROOM(mkperf_LatencyPair, bucket),
    PART_BYTES = MKPERF_CONTENT_BYTES - 96, /* for the pairs of an answer */
    PAIR_BYTES = 2 + 2 + 11 + 11 + 6 + 11 + 11 + 11 + 11 + 3 + 3,
    /* Positions in a snapshot: cells, then pairs, then run times. */
    FIRST_PAIR = MKPERF_LATENCY_CELLS,
    FIRST_RUN = FIRST_PAIR + MKPERF_LATENCY_PAIRS,
    BUCKET_BYTES = 2 + 5, /* the difference to the bucket before, and a count below 2^32 */
};

bool mkperf_sched_prepare(struct mkperf_profiler *p, mkperf_Error *error)
{
    bool there = (mkperf_answered(&p->kernel)->features & MKPERF_FEATURE_SCHED) != 0;
    struct mkperf_sched *s = &p->sched;

    s->on = false;
    if (mkperf_plan_schedules(&p->plan) && !there) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_NO_HOOK, 0,
                                  "the kernel's mkperf extension has no scheduling events "
                                  "(KernelMkperfSched)");
    }
    mkperf_wanted(&p->kernel)->sched = (mkperf_plan_schedules(&p->plan) ? MKPERF_SCHED_EVENTS : 0) |
                                       (p->plan.off_cpu ? MKPERF_SCHED_OFF_CPU : 0);
    p->number[MKPERF_OFF_CPU_COUNTER] = MKPERF_OFF_CPU_COUNTER;
    s->began = 0;
    s->ended = 0;
    s->run_at = 0;
    s->on = p->plan.latency;
    for (unsigned core = 0; core < MKPERF_MAX_CORES; core++) {
        struct mkperf_sched_core *c = &s->core[core];
        c->lost = 0;
        c->gap = false;
        for (unsigned i = 0; i < MKPERF_SCHED_SLOTS; i++) {
            c->thread[i] = MKPERF_THREAD_NONE;
            c->merged[i] = MKPERF_THREAD_NONE;
        }
    }
    if (s->on) {
        mkperf_latency_begin(&s->latency);
    }
    return true;
}

void mkperf_sched_started(struct mkperf_profiler *p)
{
    p->sched.began = mkperf_answered(&p->kernel)->time;
}

void mkperf_sched_stopped(struct mkperf_profiler *p)
{
    uint64_t time = p->core[p->here].statistics.stopped_ticks;

    if (p->plan.counting && time != 0) {
        p->sched.ended = time;
        p->sched.latency.end = time;
    }
}

void mkperf_sched_ended(struct mkperf_profiler *p)
{
    if (p->sched.ended == 0) {
        p->sched.ended = mkperf_answered(&p->kernel)->time;
    }
}

void mkperf_sched_counted(struct mkperf_profiler *p, uint64_t time)
{
    struct mkperf_sched *s = &p->sched;

    if (s->on) {
        s->run_at = time;
        s->runs = mkperf_latency_runs(&s->latency, time, s->run);
    }
}

/* ---- the stream ------------------------------------------------------------------------------ */

/* Tells the losses of a core; false if there is no room for it yet. */
static bool tell_lost(struct mkperf_profiler *p, struct mkperf_ring_producer *output, unsigned core)
{
    struct mkperf_sched_core *c = &p->sched.core[core];
    uint64_t *w = mkperf_output_room(p, output, LOST_BYTES);

    if (w == NULL) {
        return false;
    }
    w[MKPERF_WORD_HEADER] =
        mkperf_record_header(MKPERF_RECORD_SCHED_LOSS, LOST_BYTES, 0, 0, 0, core);
    w[MKPERF_WORD_TIME] = c->lost_from;
    w[MKPERF_SCHED_LOST] = c->lost;
    mkperf_output_commit(p, output, LOST_BYTES);
    c->lost = 0;
    return true;
}

static void add_lost(struct mkperf_sched_core *c, uint64_t events, uint64_t time)
{
    c->lost_from = c->lost == 0 ? time : c->lost_from;
    c->lost += events;
}

static void stream(struct mkperf_profiler *p, struct mkperf_ring_producer *output, unsigned core,
                   uint64_t header, uint64_t identity, uint64_t time)
{
    const uint64_t size_bits = UINT64_C(0xffff) << 16;
    struct mkperf_sched_core *c = &p->sched.core[core];
    uint64_t *w = c->lost == 0 || tell_lost(p, output, core)
                      ? mkperf_output_room(p, output, EVENT_OUT_BYTES)
                      : NULL;

    if (w == NULL) {
        p->statistics.sched_lost_output++;
        add_lost(c, 1, time);
        return;
    }
    w[MKPERF_WORD_HEADER] = (header & ~size_bits) | (uint64_t)EVENT_OUT_BYTES << 16;
    w[MKPERF_WORD_TIME] = time;
    w[MKPERF_SCHED_IDENTITY] = identity;
    mkperf_output_commit(p, output, EVENT_OUT_BYTES);
    p->flight.events++;
}

static void take_event(struct mkperf_profiler *p, struct mkperf_ring_producer *output,
                       unsigned core, const uint64_t *record)
{
    uint64_t header = record[MKPERF_WORD_HEADER];
    uint64_t time = record[MKPERF_WORD_TIME];
    uint64_t identity = p->sched.core[core].thread[mkperf_sched_slot_of(header)];

    p->core[core].now = time;
    p->statistics.sched_captured++;
    if (p->plan.sched) {
        stream(p, output, core, header, identity, time);
    }
}

void mkperf_sched_take(struct mkperf_profiler *p, struct mkperf_ring_producer *output,
                       const uint64_t *record, unsigned size)
{
    uint64_t header = record[MKPERF_WORD_HEADER];
    unsigned type = mkperf_record_type(header);
    unsigned core = mkperf_record_core(header);
    unsigned words = type == MKPERF_RECORD_SCHED          ? MKPERF_SCHED_WORDS
                     : type == MKPERF_RECORD_SCHED_THREAD ? MKPERF_SCHED_THREAD_WORDS
                                                          : MKPERF_SCHED_LOSS_WORDS;

    if (core >= MKPERF_TARGET_CORES || size != 8 * words || !mkperf_plan_schedules(&p->plan)) {
        p->statistics.corrupt++;
        return;
    }
    if (type == MKPERF_RECORD_SCHED) {
        take_event(p, output, core, record);
    } else if (type == MKPERF_RECORD_SCHED_THREAD) {
        p->sched.core[core].thread[mkperf_sched_slot_of(header)] =
            mkperf_thread_of(record[MKPERF_WORD_THREAD], record[MKPERF_WORD_SC]);
    } else {
        add_lost(&p->sched.core[core], record[MKPERF_SCHED_LOST], record[MKPERF_WORD_TIME]);
    }
}

void mkperf_sched_drained(struct mkperf_profiler *p)
{
    for (uint32_t rest = p->on; rest != 0; rest &= rest - 1) {
        struct mkperf_core *c = &p->core[__builtin_ctz(rest)];
        uint64_t dropped = __atomic_load_n(&c->ring.ring->dropped_sched, __ATOMIC_RELAXED);
        p->statistics.sched_lost_ring += dropped - c->dropped_sched;
        c->dropped_sched = dropped;
    }
    for (unsigned core = 0; p->plan.sched && core < MKPERF_MAX_CORES; core++) {
        if (p->sched.core[core].lost != 0 && !tell_lost(p, &p->output, core)) {
            return;
        }
    }
}

/* ---- latencies ------------------------------------------------------------------------------- */

static void put_pair(const struct mkperf_latency *l, unsigned index, bool first,
                     mkperf_LatencyPair *to)
{
    const struct mkperf_latency_pair *pair = &l->pair[index % MKPERF_LATENCY_PAIRS];
    struct mkperf_latency_ends ends = mkperf_latency_ends(l, pair);

    *to = (mkperf_LatencyPair){
        .kind = (mkperf_LatencyKind)ends.kind,
        .from = ends.kind == MKPERF_LATENCY_IRQ ? 0 : mkperf_thread_to_wire(ends.from),
        .to = mkperf_thread_to_wire(ends.to),
        .irq = ends.irq,
    };
    if (first) {
        to->count = pair->count;
        to->total_ticks = pair->total;
        to->max_ticks = pair->max;
        to->max_at = pair->max_at;
    }
}

/* Puts cells of the snapshot from `at` on into an answer, as many as fit. Returns the next. */
static uint32_t fill_part(const struct mkperf_sched *s, uint32_t at, mkperf_Latency *out)
{
    const struct mkperf_latency *l = &s->shown;
    uint32_t bytes = 0;
    unsigned last = 0;

    for (; at < s->cells; at++) {
        unsigned index = mkperf_latency_cell_pair(l->cell[at]);
        bool first = at == 0 || mkperf_latency_cell_pair(l->cell[at - 1]) != index;
        mkperf_LatencyPair *to = &out->pairs[out->pairs_count - 1];
        bool piece = out->pairs_count == 0 || first || to->bucket_count == PIECE_BUCKETS;
        bytes += BUCKET_BYTES + (piece ? PAIR_BYTES : 0);
        if (bytes > PART_BYTES ||
            (piece && out->pairs_count == MKPERF_ROOM(mkperf_Latency, pairs))) {
            break;
        }
        if (piece) {
            to = &out->pairs[out->pairs_count++];
            put_pair(l, index, first, to);
            last = 0;
        }
        unsigned bucket = mkperf_latency_cell_bucket(l->cell[at]);
        to->bucket[to->bucket_count++] = bucket - last;
        to->in_bucket[to->in_bucket_count++] = mkperf_latency_cell_count(l->cell[at]);
        last = bucket;
    }
    return at;
}

/* The same with run times, of threads from `at` on. */
static uint32_t fill_threads(const struct mkperf_sched *s, uint32_t at, mkperf_Latency *out)
{
    for (; at < s->runs && out->threads_count < MKPERF_ROOM(mkperf_Latency, threads); at++) {
        out->threads[out->threads_count++] = (mkperf_LatencyThread){
            .thread = mkperf_thread_to_wire(s->run[at].identity),
            .run_ticks = s->run[at].ticks,
            .runs = s->run[at].runs,
        };
    }
    return at;
}

/* The same with the notifications of pairs from `at` on that found their thread busy. */
static uint32_t fill_busy(const struct mkperf_sched *s, uint32_t at, mkperf_Latency *out)
{
    for (; at < MKPERF_LATENCY_PAIRS && out->pairs_count < MKPERF_ROOM(mkperf_Latency, pairs);
         at++) {
        if (s->shown.pair[at].busy != 0) {
            mkperf_LatencyPair *to = &out->pairs[out->pairs_count++];
            put_pair(&s->shown, at, false, to);
            to->busy = s->shown.pair[at].busy;
        }
    }
    return at;
}

/* The part from `at` on. Returns the next part's. */
static uint32_t fill(const struct mkperf_sched *s, uint32_t at, mkperf_Latency *out)
{
    out->pairs_count = 0;
    out->threads_count = 0;
    if (at < FIRST_PAIR) {
        at = fill_part(s, at, out);
        return at < s->cells ? at : FIRST_PAIR;
    }
    if (at < FIRST_RUN) {
        at = FIRST_PAIR + fill_busy(s, at - FIRST_PAIR, out);
        if (out->pairs_count != 0) {
            return at;
        }
    }
    return FIRST_RUN + fill_threads(s, at - FIRST_RUN, out);
}

static void take_snapshot(struct mkperf_profiler *p, mkperf_Latency *out)
{
    struct mkperf_sched *s = &p->sched;
    uint32_t at;

    if (!p->plan.counting || s->run_at == 0) { /* else they are of the counts' time */
        mkperf_sched_counted(p, s->ended != 0 ? s->ended : mkperf_counting_stamp(p));
    }
    s->enabled = s->began != 0 && s->run_at > s->began ? s->run_at - s->began : 0;
    s->shown = s->latency;
    s->cells = mkperf_latency_sort(&s->shown);
    s->parts = 0;
    at = s->cells != 0 ? 0 : FIRST_PAIR;
    while (at < FIRST_RUN + s->runs && s->parts < MKPERF_SCHED_PARTS) {
        s->part[s->parts++] = (uint16_t)at;
        at = fill(s, at, out);
    }
}

bool mkperf_sched_answer(struct mkperf_profiler *p, uint32_t part, mkperf_Error *error)
{
    static mkperf_Latency out; /* too large for a PD's stack */
    struct mkperf_sched *s = &p->sched;

    if (!s->on) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_STATE, 0,
                                  "no session with latencies was started");
    }
    if (part == 0) {
        take_snapshot(p, &out);
    }
    if (part >= s->parts) {
        return mkperf_plan_refuse(error, MKPERF_RESULT_RANGE, 0, "there is no such part");
    }
    out.session = p->id;
    out.tick_hz = p->tick_hz;
    out.enabled_ticks = s->enabled;
    out.part = part;
    out.parts = s->parts;
    out.pairs_dropped = s->shown.dropped;
    fill(s, s->part[part], &out);
    p->page->latency = out;
    return true;
}
