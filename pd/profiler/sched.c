/* SPDX-License-Identifier: BSD-2-Clause */
/* Scheduling events on their way to the client: see pipeline.h. */
#include "pipeline.h"

static struct sched_core {
    struct mkperf_slots slots;
    uint64_t dropped;   /* the part of the ring's count that lost_ring includes */
    uint64_t lost;      /* events not yet reported in the stream */
    uint64_t lost_from; /* time of the first of these events */
} sched[MKPERF_TARGET_CORES];

bool mkperf_sched_prepare(void)
{
    bool wanted = mkperf_plan_schedules();
    struct mkperf_tables *tables = mkperf_tables_in(mkperf_kernel.rings);

    if ((wanted || mkperf_plan.session.words != 0) && !mkperf_kernel_events()) {
        return mkperf_refuse(MKPERF_RESULT_NO_HOOK, 0,
                             "the kernel's mkperf extension has no scheduling events");
    }
    memcpy(tables->word, mkperf_plan.request.words, sizeof tables->word);
    mkperf_wanted()->words = mkperf_plan.request.words_count;
    mkperf_wanted()->sched = (wanted ? MKPERF_SCHED_EVENTS : 0) |
                             (mkperf_plan.session.off_cpu ? MKPERF_SCHED_OFF_CPU : 0);
    for (unsigned i = 0; i < MKPERF_TARGET_CORES; i++) {
        sched[i] = (struct sched_core){0};
        mkperf_slots_begin(&sched[i].slots);
    }
    return true;
}

/* Reports the losses of a core; false if there is no room for it yet. */
static bool tell_lost(unsigned core)
{
    struct sched_core *c = &sched[core];
    const uint64_t record[MKPERF_SCHED_LOSS_WORDS] = {
        [MKPERF_WORD_HEADER] =
            mkperf_record_header(MKPERF_RECORD_SCHED_LOSS, sizeof record, 0, 0, 0, core),
        [MKPERF_WORD_TIME] = c->lost_from,
        [MKPERF_SCHED_LOST] = c->lost,
    };

    if (mkperf_output_put(record, sizeof record, 0)) {
        c->lost = 0;
    }
    return c->lost == 0;
}

static void add_lost(struct sched_core *c, uint64_t events, uint64_t time)
{
    c->lost_from = c->lost == 0 ? time : c->lost_from;
    c->lost += events;
}

/* Hands over an event or a reading of words, or counts it as lost. Inlined, so that the size of an
 * event is constant. */
static inline __attribute__((always_inline)) void
stream_record(unsigned core, const uint64_t *record, unsigned size)
{
    struct sched_core *c = &sched[core];

    if ((c->lost != 0 && !tell_lost(core)) || !mkperf_output_put(record, size, 1)) {
        mkperf_status.sched_lost_output++;
        add_lost(c, 1, record[MKPERF_WORD_TIME]);
    }
}

static void stream_event(unsigned core, const uint64_t *record)
{
    const uint64_t size_bits = UINT64_C(0xffff) << 16;
    uint64_t header = record[MKPERF_WORD_HEADER];
    const uint64_t event[MKPERF_SCHED_OUTPUT_WORDS] = {
        [MKPERF_WORD_HEADER] = (header & ~size_bits) | (uint64_t)sizeof event << 16,
        [MKPERF_WORD_TIME] = record[MKPERF_WORD_TIME],
        [MKPERF_SCHED_IDENTITY] = sched[core].slots.thread[mkperf_sched_slot_of(header)],
    };

    stream_record(core, event, sizeof event);
}

bool mkperf_sched_take(unsigned core, const uint64_t *record, unsigned size)
{
    uint64_t header = record[MKPERF_WORD_HEADER];
    unsigned type = mkperf_record_type(header);

    if (mkperf_record_core(header) != core || !mkperf_plan_follows()) {
        return false;
    }
    if (type == MKPERF_RECORD_SCHED && size == 8 * MKPERF_SCHED_WORDS) {
        mkperf_status.sched_captured++;
        if (mkperf_plan.session.sched) {
            stream_event(core, record);
        }
    } else if (type == MKPERF_RECORD_SCHED_THREAD && size == 8 * MKPERF_SCHED_THREAD_WORDS) {
        mkperf_slots_take(&sched[core].slots, record);
    } else if (type == MKPERF_RECORD_WORDS && size >= 8 * MKPERF_WORDS_FIXED) {
        mkperf_status.sched_captured++;
        stream_record(core, record, size);
    } else if (type == MKPERF_RECORD_SCHED_LOSS && size == 8 * MKPERF_SCHED_LOSS_WORDS) {
        add_lost(&sched[core], record[MKPERF_SCHED_LOST], record[MKPERF_WORD_TIME]);
    } else {
        return false;
    }
    return true;
}

void mkperf_sched_drained(unsigned core, uint64_t dropped)
{
    struct sched_core *c = &sched[core];

    mkperf_status.sched_lost_ring += dropped - c->dropped;
    c->dropped = dropped;
    if ((mkperf_plan.session.sched || mkperf_plan.session.words != 0) && c->lost != 0) {
        tell_lost(core);
    }
}
