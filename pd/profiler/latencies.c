/* SPDX-License-Identifier: BSD-2-Clause */
/* The latencies of a session: see pipeline.h. */
#include "pipeline.h"

enum {
    PIECE_BUCKETS = MKPERF_ROOM(mkperf_LatencyPair, bucket),
    PART_BYTES = MKPERF_CONTENT_BYTES - 96, /* bytes for the pairs of one answer */
    PAIR_BYTES = 2 + 2 + 11 + 11 + 6 + 11 + 11 + 11 + 11 + 11 + 3 + 3,
    BUCKET_BYTES = 2 + 5, /* the difference to the bucket before, and a count below 2^32 */
    /* Positions in a snapshot: the buckets of all pairs, then run times. */
    FIRST_RUN = MKPERF_LATENCY_PAIRS * MKPERF_LOG_BUCKETS,
};

/* Most parts of an answer; the cells of latency.h fill fewer. */
enum { MOST_PARTS = 256 };

static struct {
    struct mkperf_latency latency;
    /* Threads of the slots, as of the last merged event. */
    struct mkperf_slots slots[MKPERF_TARGET_CORES];
    bool on;        /* The last session had latencies. */
    uint64_t ended; /* ticks; 0: the session runs */

    /* the snapshot */
    struct mkperf_latency shown;
    mkperf_LatencyThread run[MKPERF_LATENCY_THREADS]; /* run times until run_at */
    uint64_t run_at;                                  /* ticks; 0: no run times */
    unsigned runs;
    uint32_t parts;
    uint32_t part[MOST_PARTS]; /* first position of each part */
} latencies;

void mkperf_latencies_begin(void)
{
    latencies.on = mkperf_plan.latency;
    latencies.ended = 0;
    latencies.run_at = 0;
    if (latencies.on) {
        mkperf_latency_begin(&latencies.latency);
        mkperf_latency_limit(&latencies.latency, mkperf_plan.request.stop_if,
                             mkperf_plan.request.stop_if_count, mkperf_kernel.tick_hz,
                             &mkperf_status);
    }
    for (unsigned i = 0; i < MKPERF_TARGET_CORES; i++) {
        mkperf_slots_begin(&latencies.slots[i]);
    }
}

void mkperf_latencies_end(uint64_t time)
{
    if (latencies.ended == 0) {
        latencies.ended = time;
        latencies.latency.end = time;
    }
}

void mkperf_latencies_counted(uint64_t time)
{
    if (latencies.on) {
        latencies.run_at = time;
        latencies.runs = mkperf_latency_runs(&latencies.latency, time, latencies.run);
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

static void merge_record(unsigned core, const uint64_t *record, unsigned size)
{
    uint64_t header = record[MKPERF_WORD_HEADER];
    unsigned type = mkperf_record_type(header);

    if (type == MKPERF_RECORD_SCHED_THREAD && size == 8 * MKPERF_SCHED_THREAD_WORDS) {
        mkperf_slots_take(&latencies.slots[core], record);
    } else if (type == MKPERF_RECORD_SCHED) {
        mkperf_latency_event(&latencies.latency, core, header,
                             latencies.slots[core].thread[mkperf_sched_slot_of(header)],
                             record[MKPERF_WORD_TIME]);
    } else if (type == MKPERF_RECORD_SCHED_LOSS) {
        mkperf_latency_gap(&latencies.latency);
    }
}

void mkperf_latencies_merge(uint32_t mask, const struct mkperf_ring_consumer *ring, uint64_t until,
                            uint64_t *end)
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
        merge_record((unsigned)(first - merge), first->record, first->size);
        first->ring.tail += first->size;
        merge_next(first, until);
    }
    MKPERF_EACH_BIT (i, mask) {
        end[i] = merge[i].ring.tail;
    }
}

/* ---- answers ------------------------------------------------------------------------------ */

/* Puts buckets of the snapshot into an answer, those from position `at` on, as many as fit. Returns
 * the next position. The first bucket of a pair begins its first piece, even if it is empty. */
static uint32_t fill_pairs(uint32_t at, mkperf_Latency *out)
{
    mkperf_LatencyPair *to = NULL;
    uint32_t bytes = 0;
    unsigned last = 0;

    for (; at < FIRST_RUN; at++) {
        unsigned index = at / MKPERF_LOG_BUCKETS;
        unsigned bucket = at % MKPERF_LOG_BUCKETS;
        const struct mkperf_latency_pair *pair = &latencies.shown.pair[index];
        if (pair->count == 0 && (pair->busy == 0 || bucket != 0)) {
            at += MKPERF_LOG_BUCKETS - 1 - bucket;
            continue;
        }
        uint32_t count = mkperf_latency_count(&latencies.shown, index, bucket);
        if (count == 0 && bucket != 0) {
            continue;
        }
        bool piece = to == NULL || bucket == 0 || to->bucket_count == PIECE_BUCKETS;
        bytes += BUCKET_BYTES + (piece ? PAIR_BYTES : 0);
        if (bytes > PART_BYTES ||
            (piece && out->pairs_count == MKPERF_ROOM(mkperf_Latency, pairs))) {
            return at;
        }
        if (piece) {
            to = &out->pairs[out->pairs_count++];
            mkperf_latency_ends(&latencies.shown, pair, to);
            last = 0;
        }
        if (bucket == 0) { /* The first piece has what is counted beside the buckets. */
            to->count = pair->count;
            to->total_ticks = pair->total;
            to->max_ticks = pair->max;
            to->max_at = pair->max_at;
            to->busy = pair->busy;
        }
        if (count != 0) {
            to->bucket[to->bucket_count++] = bucket - last;
            to->in_bucket[to->in_bucket_count++] = count;
            last = bucket;
        }
    }
    return at;
}

/* Fills the part that begins at position `at`. Returns the position of the next part. */
static uint32_t fill_part(uint32_t at, mkperf_Latency *out)
{
    out->pairs_count = 0;
    out->threads_count = 0;
    at = at < FIRST_RUN ? fill_pairs(at, out) : at;
    while (out->pairs_count == 0 && at < FIRST_RUN + latencies.runs &&
           out->threads_count < MKPERF_ROOM(mkperf_Latency, threads)) {
        out->threads[out->threads_count++] = latencies.run[at++ - FIRST_RUN];
    }
    return at;
}

bool mkperf_latencies_answer(uint32_t part, mkperf_Latency *out)
{
    if (!latencies.on || mkperf_kernel.began == 0) {
        return mkperf_refuse(MKPERF_RESULT_STATE, 0, "no session with latencies was started");
    }
    if (part == 0) { /* Take a snapshot, and cut it into parts: `out` is used for that. */
        /* Beside counts, the runs' times are those of the counts. */
        if (!mkperf_plan.counting || latencies.run_at == 0) {
            mkperf_latencies_counted(latencies.ended != 0 ? latencies.ended : mkperf_kernel_time());
        }
        uint32_t at = 0;
        latencies.shown = latencies.latency;
        latencies.parts = 0;
        while (at < FIRST_RUN + latencies.runs && latencies.parts < MOST_PARTS) {
            latencies.part[latencies.parts++] = at;
            at = fill_part(at, out);
        }
    }
    if (part >= latencies.parts) {
        return mkperf_refuse(MKPERF_RESULT_RANGE, 0, "there is no such part");
    }
    *out = (mkperf_Latency)mkperf_Latency_init_zero;
    out->enabled_ticks = mkperf_kernel_enabled(latencies.run_at);
    out->part = part;
    out->parts = latencies.parts;
    out->pairs_dropped = latencies.shown.dropped;
    fill_part(latencies.part[part], out);
    return true;
}
