/* SPDX-License-Identifier: BSD-2-Clause */
/* The latencies of a session: see latencies.h. */
#include "latencies.h"

#include "request.h"

enum {
    PIECE_BUCKETS = MKPERF_ROOM(mkperf_LatencyPair, bucket),
    PART_BYTES = MKPERF_CONTENT_BYTES - 96, /* bytes for the pairs of one answer */
    PAIR_BYTES = 2 + 2 + 11 + 11 + 6 + 11 + 11 + 11 + 11 + 3 + 3,
    BUCKET_BYTES = 2 + 5, /* the difference to the bucket before, and a count below 2^32 */
    /* Positions in a snapshot: cells, then pairs, then run times. */
    FIRST_PAIR = MKPERF_LATENCY_CELLS,
    FIRST_RUN = FIRST_PAIR + MKPERF_LATENCY_PAIRS,
};

_Static_assert((int)MKPERF_MAX_STOPS == (int)MKPERF_LATENCY_LIMITS &&
                   (int)mkperf_StopKind_STOP_CALL == (int)MKPERF_LATENCY_CALL &&
                   (int)mkperf_StopKind_STOP_IRQ == (int)MKPERF_LATENCY_IRQ &&
                   (int)mkperf_StopKind_STOP_THROTTLED == (int)MKPERF_LATENCY_THROTTLED,
               "the request's conditions are limits of latencies");

/* Sets the latencies that end a flight recording. The plan has at most MKPERF_LATENCY_LIMITS of
 * them. */
static void set_limits(struct mkperf_latencies *l)
{
    for (unsigned i = 0; i < l->plan->request.stop_if_count; i++) {
        const mkperf_StopIf *stop = &l->plan->request.stop_if[i];
        const struct mkperf_latency_limit limit = {(uint32_t)stop->kind, stop->from, stop->to,
                                                   stop->ns * l->kernel->tick_hz / 1000000000};
        mkperf_latency_add_limit(&l->latency, &limit);
    }
}

void mkperf_latencies_begin(struct mkperf_latencies *l)
{
    l->on = l->plan->latency;
    l->ended = 0;
    l->run_at = 0;
    if (l->on) {
        mkperf_latency_begin(&l->latency);
        set_limits(l);
    }
    for (unsigned i = 0; i < MKPERF_TARGET_CORES; i++) {
        mkperf_slots_begin(&l->slots[i]);
    }
}

void mkperf_latencies_end(struct mkperf_latencies *l, uint64_t time)
{
    if (l->ended == 0) {
        l->ended = time;
        l->latency.end = time;
    }
}

void mkperf_latencies_counted(struct mkperf_latencies *l, uint64_t time)
{
    if (l->on) {
        l->run_at = time;
        l->runs = mkperf_latency_runs(&l->latency, time, l->run);
    }
}

/* ---- from the rings ---------------------------------------------------------------------- */

struct merge_core {
    struct mkperf_ring_consumer ring; /* the merge's position in the core's ring */
    const uint64_t *record;           /* the next one; NULL: none that is old enough */
    unsigned size;
};

/* Reads the next record of a core, if it is not after `until`. A corrupt ring is skipped here, and
 * counted where it is drained. */
static void merge_next(struct merge_core *c, uint64_t until)
{
    bool corrupt = false;

    c->record = mkperf_ring_peek(&c->ring, &c->size, &corrupt);
    if (c->record != NULL &&
        (c->size <= 8 * MKPERF_WORD_TIME || c->record[MKPERF_WORD_TIME] > until)) {
        c->record = NULL;
    }
}

static void merge_record(struct mkperf_latencies *l, unsigned core, const uint64_t *record,
                         unsigned size)
{
    uint64_t header = record[MKPERF_WORD_HEADER];
    unsigned type = mkperf_record_type(header);

    if (type == MKPERF_RECORD_SCHED_THREAD && size == 8 * MKPERF_SCHED_THREAD_WORDS) {
        mkperf_slots_take(&l->slots[core], record);
    } else if (type == MKPERF_RECORD_SCHED) {
        mkperf_latency_event(&l->latency, core, header,
                             l->slots[core].thread[mkperf_sched_slot_of(header)],
                             record[MKPERF_WORD_TIME]);
    } else if (type == MKPERF_RECORD_SCHED_LOSS) {
        mkperf_latency_gap(&l->latency);
    }
}

/* Notes that a latency has reached a limit of the request, which ends a flight recording. */
static void note_condition(const struct mkperf_latencies *l)
{
    const struct mkperf_latency_reached *reached = &l->latency.reached;
    mkperf_Status *s = l->kernel->status;

    if (s->trigger != mkperf_FlightTrigger_FLIGHT_STOP) {
        return; /* It has ended. */
    }
    s->trigger = mkperf_FlightTrigger_FLIGHT_CONDITION;
    s->trigger_kind = l->plan->request.stop_if[reached->limit - 1].kind;
    s->trigger_from = reached->from;
    s->trigger_thread = reached->to;
    s->trigger_ticks = reached->ticks;
    s->trigger_at = reached->at;
}

void mkperf_latencies_merge(struct mkperf_latencies *l, uint32_t mask,
                            const struct mkperf_ring_consumer *ring, uint64_t until, uint64_t *end)
{
    struct merge_core merge[MKPERF_TARGET_CORES];

    MKPERF_EACH_BIT (i, mask) {
        merge[i].ring = ring[i];
        merge_next(&merge[i], until);
    }
    for (;;) {
        struct merge_core *first = NULL;
        MKPERF_EACH_BIT (i, mask) {
            struct merge_core *c = &merge[i];
            if (c->record != NULL &&
                (first == NULL || c->record[MKPERF_WORD_TIME] < first->record[MKPERF_WORD_TIME])) {
                first = c;
            }
        }
        if (first == NULL) {
            break;
        }
        merge_record(l, (unsigned)(first - merge), first->record, first->size);
        first->ring.tail += first->size;
        merge_next(first, until);
    }
    MKPERF_EACH_BIT (i, mask) {
        end[i] = merge[i].ring.tail;
    }
    if (l->latency.reached.limit != 0) {
        note_condition(l);
    }
}

/* ---- answers ------------------------------------------------------------------------------ */

static void put_pair(const struct mkperf_latency *l, unsigned index, bool first,
                     mkperf_LatencyPair *to)
{
    const struct mkperf_latency_pair *pair = &l->pair[index % MKPERF_LATENCY_PAIRS];
    struct mkperf_latency_ends ends = mkperf_latency_ends(l, pair);

    *to = (mkperf_LatencyPair){
        .kind = ends.kind == MKPERF_LATENCY_EXIT ? mkperf_LatencyKind_LATENCY_EXIT
                                                 : (mkperf_LatencyKind)ends.kind,
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
static uint32_t fill_pairs(const struct mkperf_latencies *l, uint32_t at, mkperf_Latency *out)
{
    const struct mkperf_latency *shown = &l->shown;
    uint32_t bytes = 0;
    unsigned last = 0;

    for (; at < l->cells; at++) {
        unsigned index = mkperf_latency_cell_pair(shown->cell[at]);
        bool first = at == 0 || mkperf_latency_cell_pair(shown->cell[at - 1]) != index;
        mkperf_LatencyPair *to = &out->pairs[out->pairs_count - 1];
        bool piece = out->pairs_count == 0 || first || to->bucket_count == PIECE_BUCKETS;
        bytes += BUCKET_BYTES + (piece ? PAIR_BYTES : 0);
        if (bytes > PART_BYTES ||
            (piece && out->pairs_count == MKPERF_ROOM(mkperf_Latency, pairs))) {
            break;
        }
        if (piece) {
            to = &out->pairs[out->pairs_count++];
            put_pair(shown, index, first, to);
            last = 0;
        }
        unsigned bucket = mkperf_latency_cell_bucket(shown->cell[at]);
        to->bucket[to->bucket_count++] = bucket - last;
        to->in_bucket[to->in_bucket_count++] = mkperf_latency_cell_count(shown->cell[at]);
        last = bucket;
    }
    return at;
}

/* Puts run times into an answer, those of threads from `at` on, as many as fit. Returns the next. */
static uint32_t fill_threads(const struct mkperf_latencies *l, uint32_t at, mkperf_Latency *out)
{
    for (; at < l->runs && out->threads_count < MKPERF_ROOM(mkperf_Latency, threads); at++) {
        out->threads[out->threads_count++] = (mkperf_LatencyThread){
            .thread = mkperf_thread_to_wire(l->run[at].identity),
            .run_ticks = l->run[at].ticks,
            .runs = l->run[at].runs,
        };
    }
    return at;
}

/* Puts wake-ups of busy threads into an answer, of pairs from `at` on, as many as fit. Returns the
 * next. */
static uint32_t fill_busy(const struct mkperf_latencies *l, uint32_t at, mkperf_Latency *out)
{
    for (; at < MKPERF_LATENCY_PAIRS && out->pairs_count < MKPERF_ROOM(mkperf_Latency, pairs);
         at++) {
        if (l->shown.pair[at].busy != 0) {
            mkperf_LatencyPair *to = &out->pairs[out->pairs_count++];
            put_pair(&l->shown, at, false, to);
            to->busy = l->shown.pair[at].busy;
        }
    }
    return at;
}

/* Fills the part that begins at position `at`. Returns the position of the next part. */
static uint32_t fill_part(const struct mkperf_latencies *l, uint32_t at, mkperf_Latency *out)
{
    out->pairs_count = 0;
    out->threads_count = 0;
    if (at < FIRST_PAIR) {
        at = fill_pairs(l, at, out);
        return at < l->cells ? at : FIRST_PAIR;
    }
    if (at < FIRST_RUN) {
        at = FIRST_PAIR + fill_busy(l, at - FIRST_PAIR, out);
        if (out->pairs_count != 0) {
            return at;
        }
    }
    return FIRST_RUN + fill_threads(l, at - FIRST_RUN, out);
}

/* Cuts a snapshot into parts. out: used for that, and left undefined. */
static void cut_snapshot(struct mkperf_latencies *l, mkperf_Latency *out)
{
    uint32_t at;

    /* Otherwise the runs' times are those of the counts. */
    if (!l->plan->counting || l->run_at == 0) {
        mkperf_latencies_counted(l, l->ended != 0 ? l->ended : mkperf_kernel_time(l->kernel));
    }
    l->shown = l->latency;
    l->cells = mkperf_latency_sort(&l->shown);
    l->parts = 0;
    at = l->cells != 0 ? 0 : FIRST_PAIR;
    while (at < FIRST_RUN + l->runs && l->parts < MKPERF_LATENCY_PARTS) {
        l->part[l->parts++] = (uint16_t)at;
        at = fill_part(l, at, out);
    }
}

bool mkperf_latencies_answer(struct mkperf_latencies *l, uint32_t part, mkperf_Latency *out,
                             mkperf_Error *error)
{
    if (!l->on) {
        return mkperf_refuse(error, MKPERF_RESULT_STATE, 0,
                             "no session with latencies was started");
    }
    if (part == 0) {
        cut_snapshot(l, out);
    }
    if (part >= l->parts) {
        return mkperf_refuse(error, MKPERF_RESULT_RANGE, 0, "there is no such part");
    }
    *out = (mkperf_Latency)mkperf_Latency_init_zero;
    out->enabled_ticks = mkperf_kernel_enabled(l->kernel, l->run_at);
    out->part = part;
    out->parts = l->parts;
    out->pairs_dropped = l->shown.dropped;
    fill_part(l, l->part[part], out);
    return true;
}
