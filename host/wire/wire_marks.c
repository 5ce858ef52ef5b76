/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: marks, and the target's reports of what this connection did not get. */
#include <string.h>

#include "wire_internal.h"

/* The PD that set the mark: by its identity, else by its name. */
static uint32_t marking_pd(struct mkperf_stream *s, const mkperf_Mark *m)
{
    if (m->thread == 0) {
        for (uint32_t i = 0; i < mkperf_pds_count(s->config.pds); i++) {
            if (strcmp(mkperf_pds_at(s->config.pds, i)->name, m->pd) == 0) {
                return i;
            }
        }
    }
    return mkperf_pds_find(s->config.pds, m->thread - 2);
}

enum mkperf_status stream_mark(struct mkperf_stream *s, const mkperf_Mark *m,
                               struct mkperf_error *e)
{
    const struct mkperf_sink *sink = &s->config.sink;

    if (!s->began || s->waiting || !stream_tick_hz_ok(m->tick_hz)) {
        return MKPERF_OK; /* outside a session there is nothing to mark */
    }
    struct mkperf_mark mark = {
        .time_ns = stream_time(s, m->time_ticks, m->tick_hz),
        .pd = marking_pd(s, m),
        .kind = m->kind == mkperf_MarkKind_MARK_BEGIN ? MKPERF_MARK_BEGIN
                : m->kind == mkperf_MarkKind_MARK_END ? MKPERF_MARK_END
                                                      : MKPERF_MARK_POINT,
        .id = m->id,
        .name = m->name,
    };
    s->totals.marks++;
    if (!MKPERF_SINK_HAS(sink, mark)) {
        return MKPERF_OK;
    }
    return stream_announce(s, e) == MKPERF_OK ? mkperf_sink_mark(sink, &mark, e) : e->status;
}

enum mkperf_status stream_gap(struct mkperf_stream *s, const mkperf_Gap *m, struct mkperf_error *e)
{
    struct mkperf_lost lost = {
        .samples = m->samples, .where = MKPERF_LOST_LINK, .core = stream_lost_core(s)};

    if (!s->has_session || m->session != s->session_id) {
        return MKPERF_OK;
    }
    if (m->reason == mkperf_GapReason_GAP_SLOW) {
        if (s->numbered && m->first_sample == s->next_sample) {
            s->next_sample += m->samples;
            s->passed_over += m->samples;
            return stream_lost(s, &lost, e);
        }
    } else if (!s->numbered) {
        s->numbered = true;
        s->skipped = s->next_sample = m->first_sample + m->samples;
        s->from_start = s->skipped == 0;
    }
    return MKPERF_OK; /* the number of the next batch shows it */
}
