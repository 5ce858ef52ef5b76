/* SPDX-License-Identifier: BSD-2-Clause */
/* Scheduling events on their way to the client: see sched.h. */
#include "sched.h"

#include <string.h>

#include "request.h"

enum {
    EVENT_OUT_BYTES = 8 * MKPERF_SCHED_OUTPUT_WORDS,
    LOST_BYTES = 8 * MKPERF_SCHED_LOSS_WORDS,
};

/* The words of the session, which the kernel reads at each request. They are within a page. */
static struct mkperf_word_table word_table __attribute__((aligned(1024)));

bool mkperf_sched_prepare(struct mkperf_sched *s, struct mkperf_kernel *kernel, mkperf_Error *error)
{
    bool wanted = mkperf_plan_schedules(s->plan);

    if ((wanted || s->plan->session.words != 0) && !mkperf_kernel_events(kernel)) {
        return mkperf_refuse(error, MKPERF_RESULT_NO_HOOK, 0,
                             "the kernel's mkperf extension has no scheduling events");
    }
    word_table.n = s->plan->request.words_count;
    memcpy(word_table.word, s->plan->request.words, sizeof word_table.word);
    mkperf_wanted(kernel)->words = word_table.n != 0 ? (uintptr_t)&word_table : 0;
    mkperf_wanted(kernel)->sched = (wanted ? MKPERF_SCHED_EVENTS : 0) |
                                   (s->plan->session.off_cpu ? MKPERF_SCHED_OFF_CPU : 0);
    *s = (struct mkperf_sched){.plan = s->plan, .output = s->output};
    for (unsigned i = 0; i < MKPERF_TARGET_CORES; i++) {
        mkperf_slots_begin(&s->core[i].slots);
    }
    return true;
}

/* Reports the losses of a core; false if there is no room for it yet. */
static bool tell_lost(struct mkperf_sched *s, unsigned core)
{
    struct mkperf_sched_core *c = &s->core[core];
    uint64_t *w = mkperf_output_room(s->output, LOST_BYTES);

    if (w == NULL) {
        return false;
    }
    w[MKPERF_WORD_HEADER] =
        mkperf_record_header(MKPERF_RECORD_SCHED_LOSS, LOST_BYTES, 0, 0, 0, core);
    w[MKPERF_WORD_TIME] = c->lost_from;
    w[MKPERF_SCHED_LOST] = c->lost;
    mkperf_output_commit(s->output, LOST_BYTES, 0, 0);
    c->lost = 0;
    return true;
}

static void add_lost(struct mkperf_sched_core *c, uint64_t events, uint64_t time)
{
    c->lost_from = c->lost == 0 ? time : c->lost_from;
    c->lost += events;
}

/* Room for the output record of an event or a reading. NULL: there is none, and it is counted as lost. */
static uint64_t *event_room(struct mkperf_sched *s, unsigned core, uint64_t time, unsigned bytes)
{
    struct mkperf_sched_core *c = &s->core[core];
    uint64_t *w = c->lost == 0 || tell_lost(s, core) ? mkperf_output_room(s->output, bytes) : NULL;

    if (w == NULL) {
        s->output->status->sched_lost_output++;
        add_lost(c, 1, time);
    }
    return w;
}

static void stream_event(struct mkperf_sched *s, unsigned core, const uint64_t *record)
{
    const uint64_t size_bits = UINT64_C(0xffff) << 16;
    uint64_t header = record[MKPERF_WORD_HEADER];
    uint64_t *w = event_room(s, core, record[MKPERF_WORD_TIME], EVENT_OUT_BYTES);

    if (w != NULL) {
        w[MKPERF_WORD_HEADER] = (header & ~size_bits) | (uint64_t)EVENT_OUT_BYTES << 16;
        w[MKPERF_WORD_TIME] = record[MKPERF_WORD_TIME];
        w[MKPERF_SCHED_IDENTITY] = s->core[core].slots.thread[mkperf_sched_slot_of(header)];
        mkperf_output_commit(s->output, EVENT_OUT_BYTES, 0, 1);
    }
}

static void stream_words(struct mkperf_sched *s, unsigned core, const uint64_t *record,
                         unsigned size)
{
    uint64_t *w = event_room(s, core, record[MKPERF_WORD_TIME], size);

    if (w != NULL) {
        memcpy(w, record, size);
        mkperf_output_commit(s->output, size, 0, 1);
    }
}

bool mkperf_sched_take(struct mkperf_sched *s, unsigned core, const uint64_t *record, unsigned size)
{
    uint64_t header = record[MKPERF_WORD_HEADER];
    unsigned type = mkperf_record_type(header);

    if (mkperf_record_core(header) != core || !mkperf_plan_follows(s->plan)) {
        return false;
    }
    if (type == MKPERF_RECORD_SCHED && size == 8 * MKPERF_SCHED_WORDS) {
        s->output->status->sched_captured++;
        if (s->plan->session.sched) {
            stream_event(s, core, record);
        }
    } else if (type == MKPERF_RECORD_SCHED_THREAD && size == 8 * MKPERF_SCHED_THREAD_WORDS) {
        mkperf_slots_take(&s->core[core].slots, record);
    } else if (type == MKPERF_RECORD_WORDS && size >= 8 * MKPERF_WORDS_FIXED) {
        s->output->status->sched_captured++;
        stream_words(s, core, record, size);
    } else if (type == MKPERF_RECORD_SCHED_LOSS && size == LOST_BYTES) {
        add_lost(&s->core[core], record[MKPERF_SCHED_LOST], record[MKPERF_WORD_TIME]);
    } else {
        return false;
    }
    return true;
}

void mkperf_sched_drained(struct mkperf_sched *s, unsigned core, uint64_t dropped)
{
    struct mkperf_sched_core *c = &s->core[core];

    s->output->status->sched_lost_ring += dropped - c->dropped;
    c->dropped = dropped;
    if ((s->plan->session.sched || s->plan->session.words != 0) && c->lost != 0) {
        tell_lost(s, core);
    }
}
