/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latencies: scheduling events of all cores, in the order of time. A call from core to core is in
 * two rings.
 *
 * Owns: mkperf_sched_merge. Called by drain.c before the rings are emptied, and looks at their
 * records without releasing them; so it needs no memory but a position a core. The kernel writes
 * events with its lock held, and the request that this makes has had the lock since: all that is
 * older than the answer is in the rings. What is newer stays there until the next drain, since
 * another core may have something older than that.
 */
#include "profiler.h"

struct merge_core {
    struct mkperf_ring_consumer ring; /* its own position */
    const uint64_t *record;           /* the next one; NULL: none that is old enough */
    unsigned size;
};

/* A corrupt ring is skipped here, and counted where it is drained. */
static void merge_next(struct merge_core *c, uint64_t until)
{
    bool corrupt = false;

    c->record = mkperf_ring_peek(&c->ring, &c->size, &corrupt);
    if (c->record != NULL &&
        (c->size <= 8 * MKPERF_WORD_TIME || c->record[MKPERF_WORD_TIME] > until)) {
        c->record = NULL;
    }
}

static void merge_record(struct mkperf_profiler *p, unsigned core, const uint64_t *record,
                         unsigned size)
{
    uint64_t *thread = p->sched.core[core].merged;
    uint64_t header = record[MKPERF_WORD_HEADER];
    unsigned type = mkperf_record_type(header);

    if (type == MKPERF_RECORD_SCHED_THREAD && size == 8 * MKPERF_SCHED_THREAD_WORDS) {
        thread[mkperf_sched_slot_of(header)] =
            mkperf_thread_of(record[MKPERF_WORD_THREAD], record[MKPERF_WORD_SC]);
    } else if (type == MKPERF_RECORD_SCHED) {
        mkperf_latency_event(&p->sched.latency, core, header, thread[mkperf_sched_slot_of(header)],
                             record[MKPERF_WORD_TIME]);
    } else if (type == MKPERF_RECORD_SCHED_LOSS) {
        mkperf_latency_gap(&p->sched.latency);
    }
}

void mkperf_sched_merge(struct mkperf_profiler *p, uint64_t *end)
{
    struct merge_core merge[MKPERF_TARGET_CORES];
    uint64_t until = mkperf_counting_stamp(p);

    for (uint32_t rest = p->on; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        merge[i].ring = p->core[i].ring;
        merge_next(&merge[i], until);
    }
    for (;;) {
        struct merge_core *first = NULL;
        for (uint32_t rest = p->on; rest != 0; rest &= rest - 1) {
            struct merge_core *c = &merge[__builtin_ctz(rest)];
            if (c->record != NULL &&
                (first == NULL || c->record[MKPERF_WORD_TIME] < first->record[MKPERF_WORD_TIME])) {
                first = c;
            }
        }
        if (first == NULL) {
            break;
        }
        merge_record(p, (unsigned)(first - merge), first->record, first->size);
        first->ring.tail += first->size;
        merge_next(first, until);
    }
    for (uint32_t rest = p->on; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        end[i] = merge[i].ring.tail;
    }
}
