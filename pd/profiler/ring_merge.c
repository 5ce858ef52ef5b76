/* SPDX-License-Identifier: BSD-2-Clause */
/* Scheduling events of all cores in the order of time: see ring_merge.h. */
#include "ring_merge.h"

struct merge_core {
    struct mkperf_ring_consumer ring; /* the merge's position in the core's ring */
    const uint64_t *record;           /* the next one; NULL: none that is old enough */
    unsigned size;
};

void mkperf_merge_begin(struct mkperf_merge *m)
{
    for (unsigned i = 0; i < MKPERF_TARGET_CORES; i++) {
        mkperf_slots_begin(&m->slots[i]);
    }
}

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

static void merge_record(struct mkperf_merge *m, unsigned core, const uint64_t *record,
                         unsigned size)
{
    uint64_t header = record[MKPERF_WORD_HEADER];
    unsigned type = mkperf_record_type(header);

    if (type == MKPERF_RECORD_SCHED_THREAD && size == 8 * MKPERF_SCHED_THREAD_WORDS) {
        mkperf_slots_take(&m->slots[core], record);
    } else if (type == MKPERF_RECORD_SCHED) {
        mkperf_latency_event(m->latency, core, header,
                             m->slots[core].thread[mkperf_sched_slot_of(header)],
                             record[MKPERF_WORD_TIME]);
    } else if (type == MKPERF_RECORD_SCHED_LOSS) {
        mkperf_latency_gap(m->latency);
    }
}

void mkperf_merge_events(struct mkperf_merge *m, uint32_t mask,
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
        merge_record(m, (unsigned)(first - merge), first->record, first->size);
        first->ring.tail += first->size;
        merge_next(first, until);
    }
    MKPERF_EACH_BIT (i, mask) {
        end[i] = merge[i].ring.tail;
    }
}
