/* SPDX-License-Identifier: BSD-2-Clause */
/* The latencies of a session: see pipeline.h. */
#include "pipeline.h"

enum {
    PIECE_BUCKETS = MKPERF_ROOM(mkperf_LatencyPair, bucket),
    PART_BYTES = MKPERF_CONTENT_BYTES - 96, /* bytes for the pairs of one answer */
    PAIR_BYTES = 2 + 2 + 11 + 11 + 6 + 11 + 11 + 11 + 11 + 3 + 3,
    BUCKET_BYTES = 2 + 5, /* the difference to the bucket before, and a count below 2^32 */
    /* Positions in a snapshot: the buckets of all pairs, then pairs, then run times. */
    FIRST_PAIR = MKPERF_LATENCY_PAIRS * MKPERF_LATENCY_BUCKETS,
    FIRST_RUN = FIRST_PAIR + MKPERF_LATENCY_PAIRS,
};

_Static_assert((int)mkperf_StopKind_STOP_CALL == (int)MKPERF_LATENCY_CALL &&
                   (int)mkperf_StopKind_STOP_IRQ == (int)MKPERF_LATENCY_IRQ &&
                   (int)mkperf_StopKind_STOP_THROTTLED == (int)MKPERF_LATENCY_THROTTLED,
               "the request's conditions are limits of latencies");

void mkperf_latencies_begin(struct mkperf_latencies *l)
{
    l->on = mkperf_plan.latency;
    l->ended = 0;
    l->run_at = 0;
    if (l->on) {
        mkperf_latency_begin(&l->latency);
        mkperf_latency_limit(&l->latency, mkperf_plan.request.stop_if,
                             mkperf_plan.request.stop_if_count, mkperf_kernel.tick_hz,
                             &mkperf_status);
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

/* Puts buckets of the snapshot into an answer, those from position `at` on, as many as fit. Returns
 * the next position. A pair of which nothing fits begins the next part. */
static uint32_t fill_pairs(const struct mkperf_latencies *l, uint32_t at, mkperf_Latency *out)
{
    mkperf_LatencyPair *to = NULL;
    bool first = false; /* The pair has no bucket in an answer yet. */
    uint32_t bytes = 0;
    unsigned last = 0;

    for (; at < FIRST_PAIR; at++) {
        unsigned index = at / MKPERF_LATENCY_BUCKETS;
        unsigned bucket = at % MKPERF_LATENCY_BUCKETS;
        if (bucket == 0) {
            first = true;
            to = NULL;
        }
        if (l->shown.pair[index].count == 0) {
            at += MKPERF_LATENCY_BUCKETS - 1;
            continue;
        }
        uint32_t count = mkperf_latency_count(&l->shown, index, bucket);
        if (count == 0) {
            continue;
        }
        bool piece = to == NULL || to->bucket_count == PIECE_BUCKETS;
        bytes += BUCKET_BYTES + (piece ? PAIR_BYTES : 0);
        if (bytes > PART_BYTES ||
            (piece && out->pairs_count == MKPERF_ROOM(mkperf_Latency, pairs))) {
            return first ? at - bucket : at;
        }
        if (piece) {
            to = &out->pairs[out->pairs_count++];
            put_pair(&l->shown, index, first, to);
            first = false;
            last = 0;
        }
        to->bucket[to->bucket_count++] = bucket - last;
        to->in_bucket[to->in_bucket_count++] = count;
        last = bucket;
    }
    return at;
}

/* Puts run times into an answer, those of threads from `at` on, as many as fit. Returns the next. */
static uint32_t fill_threads(const struct mkperf_latencies *l, uint32_t at, mkperf_Latency *out)
{
    for (; at < l->runs && out->threads_count < MKPERF_ROOM(mkperf_Latency, threads); at++) {
        out->threads[out->threads_count++] = l->run[at];
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
    }
    if (at < FIRST_PAIR || out->pairs_count != 0) {
        return at;
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
    uint32_t at = 0;

    /* Otherwise the runs' times are those of the counts. */
    if (!mkperf_plan.counting || l->run_at == 0) {
        mkperf_latencies_counted(l, l->ended != 0 ? l->ended : mkperf_kernel_time());
    }
    l->shown = l->latency;
    l->parts = 0;
    while (at < FIRST_RUN + l->runs && l->parts < MKPERF_LATENCY_PARTS) {
        l->part[l->parts++] = at;
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
    out->enabled_ticks = mkperf_kernel_enabled(l->run_at);
    out->part = part;
    out->parts = l->parts;
    out->pairs_dropped = l->shown.dropped;
    fill_part(l, l->part[part], out);
    return true;
}
