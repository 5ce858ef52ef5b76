/* SPDX-License-Identifier: BSD-2-Clause */
/* Scheduling events on their way to the client: see pipeline.h. */
#include "pipeline.h"

/* The words of the session, which the kernel reads at each request. They are within a page. */
static struct mkperf_word_table word_table __attribute__((aligned(1024)));

bool mkperf_sched_prepare(struct mkperf_sched *s, mkperf_Error *error)
{
    bool wanted = mkperf_plan_schedules(&mkperf_plan);

    if ((wanted || mkperf_plan.session.words != 0) && !mkperf_kernel_events()) {
        return mkperf_refuse(error, MKPERF_RESULT_NO_HOOK, 0,
                             "the kernel's mkperf extension has no scheduling events");
    }
    word_table.n = mkperf_plan.request.words_count;
    memcpy(word_table.word, mkperf_plan.request.words, sizeof word_table.word);
    mkperf_wanted()->words = word_table.n != 0 ? (uintptr_t)&word_table : 0;
    mkperf_wanted()->sched = (wanted ? MKPERF_SCHED_EVENTS : 0) |
                             (mkperf_plan.session.off_cpu ? MKPERF_SCHED_OFF_CPU : 0);
    *s = (struct mkperf_sched){0};
    for (unsigned i = 0; i < MKPERF_TARGET_CORES; i++) {
        mkperf_slots_begin(&s->core[i].slots);
    }
    return true;
}

/* Reports the losses of a core; false if there is no room for it yet. */
static bool tell_lost(struct mkperf_sched *s, unsigned core)
{
    struct mkperf_sched_core *c = &s->core[core];
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

static void add_lost(struct mkperf_sched_core *c, uint64_t events, uint64_t time)
{
    c->lost_from = c->lost == 0 ? time : c->lost_from;
    c->lost += events;
}

/* Hands over an event or a reading of words, or counts it as lost. Inlined, so that the size of an event is constant. */
static inline __attribute__((always_inline)) void
stream_record(struct mkperf_sched *s, unsigned core, const uint64_t *record, unsigned size)
{
    struct mkperf_sched_core *c = &s->core[core];

    if ((c->lost != 0 && !tell_lost(s, core)) || !mkperf_output_put(record, size, 1)) {
        mkperf_status.sched_lost_output++;
        add_lost(c, 1, record[MKPERF_WORD_TIME]);
    }
}

static void stream_event(struct mkperf_sched *s, unsigned core, const uint64_t *record)
{
    const uint64_t size_bits = UINT64_C(0xffff) << 16;
    uint64_t header = record[MKPERF_WORD_HEADER];
    const uint64_t event[MKPERF_SCHED_OUTPUT_WORDS] = {
        [MKPERF_WORD_HEADER] = (header & ~size_bits) | (uint64_t)sizeof event << 16,
        [MKPERF_WORD_TIME] = record[MKPERF_WORD_TIME],
        [MKPERF_SCHED_IDENTITY] = s->core[core].slots.thread[mkperf_sched_slot_of(header)],
    };

    stream_record(s, core, event, sizeof event);
}

bool mkperf_sched_take(struct mkperf_sched *s, unsigned core, const uint64_t *record, unsigned size)
{
    uint64_t header = record[MKPERF_WORD_HEADER];
    unsigned type = mkperf_record_type(header);

    if (mkperf_record_core(header) != core || !mkperf_plan_follows(&mkperf_plan)) {
        return false;
    }
    if (type == MKPERF_RECORD_SCHED && size == 8 * MKPERF_SCHED_WORDS) {
        mkperf_status.sched_captured++;
        if (mkperf_plan.session.sched) {
            stream_event(s, core, record);
        }
    } else if (type == MKPERF_RECORD_SCHED_THREAD && size == 8 * MKPERF_SCHED_THREAD_WORDS) {
        mkperf_slots_take(&s->core[core].slots, record);
    } else if (type == MKPERF_RECORD_WORDS && size >= 8 * MKPERF_WORDS_FIXED) {
        mkperf_status.sched_captured++;
        stream_record(s, core, record, size);
    } else if (type == MKPERF_RECORD_SCHED_LOSS && size == 8 * MKPERF_SCHED_LOSS_WORDS) {
        add_lost(&s->core[core], record[MKPERF_SCHED_LOST], record[MKPERF_WORD_TIME]);
    } else {
        return false;
    }
    return true;
}

void mkperf_sched_drained(struct mkperf_sched *s, unsigned core, uint64_t dropped)
{
    struct mkperf_sched_core *c = &s->core[core];

    mkperf_status.sched_lost_ring += dropped - c->dropped;
    c->dropped = dropped;
    if ((mkperf_plan.session.sched || mkperf_plan.session.words != 0) && c->lost != 0) {
        tell_lost(s, core);
    }
}
