/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several cores in the stream: one order of their samples, and the part of each in the totals.
 *
 * Owns: when samples are merged (model/merge.h), and losses by core. Batches carry their core, but
 * samples are numbered over all cores: what was in lost frames is known by core only when the
 * target has said how many it took on each.
 */
#include "wire_internal.h"

uint32_t stream_lost_core(const struct mkperf_stream *s)
{
    return s->merge != NULL ? MKPERF_CORE_UNKNOWN : s->batch.core;
}

void stream_cores_begin(struct mkperf_stream *s, uint32_t core)
{
    if (s->merge == NULL && s->session.cores <= 1 && core == 0 && !s->off_cpu_on) {
        return;
    }
    if (s->merge == NULL) {
        s->merge = mkperf_merge_new();
    }
    s->totals.ncores = s->session.cores > s->totals.ncores ? s->session.cores : s->totals.ncores;
    s->totals.ncores = core >= s->totals.ncores ? core + 1 : s->totals.ncores;
    uint32_t cores = s->session.core_mask != 0 ? s->session.core_mask
                                               : (UINT32_C(1) << s->session.cores) - 1;
    mkperf_merge_await(s->merge, s->session.nevents != 0 ? cores : 0, s->sched_running ? cores : 0);
}

/* Behind the order of cores, samples of blocked threads wait for their thread to run. */
static const struct mkperf_sink *sink_of(const struct mkperf_stream *s)
{
    return s->off_cpu_on ? &s->off_cpu_sink : &s->config.sink;
}

enum mkperf_status stream_emit(struct mkperf_stream *s, const struct mkperf_sample *sample,
                               struct mkperf_error *e)
{
    return s->merge != NULL ? mkperf_merge_add(s->merge, sample, sink_of(s), e)
                            : mkperf_sink_sample(&s->config.sink, sample, e);
}

enum mkperf_status stream_emit_sched(struct mkperf_stream *s, const struct mkperf_sched *event,
                                     struct mkperf_error *e)
{
    const struct mkperf_sink *sink = sink_of(s);

    if (!MKPERF_SINK_HAS(sink, sched)) {
        return MKPERF_OK;
    }
    return s->merge != NULL ? mkperf_merge_add_sched(s->merge, event, sink, e)
                            : mkperf_sink_sched(sink, event, e);
}

enum mkperf_status stream_release(struct mkperf_stream *s, bool all, struct mkperf_error *e)
{
    return s->merge != NULL ? mkperf_merge_release(s->merge, all, sink_of(s), e) : MKPERF_OK;
}

static enum mkperf_core_state state_of(const mkperf_CoreStatus *t)
{
    return t->state == mkperf_CoreState_CORE_RUNS   ? MKPERF_CORE_RUNS
           : t->state == mkperf_CoreState_CORE_LATE ? MKPERF_CORE_LATE
                                                    : MKPERF_CORE_ABSENT;
}

void stream_cores_status(struct mkperf_stream *s, const mkperf_Status *m)
{
    for (unsigned i = 0; s->merge != NULL && i < m->cores_count; i++) {
        const mkperf_CoreStatus *t = &m->cores[i];
        if (t->core < MKPERF_MAX_CORES) {
            s->totals.core[t->core].state = state_of(t);
        }
    }
}

bool mkperf_stream_core(const struct mkperf_stream *s, unsigned i, unsigned *number,
                        struct mkperf_core *core)
{
    const mkperf_CoreStatus *t = &s->status.cores[i];

    if (!s->has_status || i >= s->status.cores_count) {
        return false;
    }
    *number = t->core;
    *core = (struct mkperf_core){.state = state_of(t), .late_answers = t->late_answers};
    return true;
}

/* A core's losses beyond its Loss records, which may have been in lost frames. */
static enum mkperf_status close_core(struct mkperf_stream *s, const mkperf_CoreStatus *t,
                                     struct mkperf_error *e)
{
    const uint64_t total[] = {
        [MKPERF_LOST_RING] = t->lost_ring, [MKPERF_LOST_OUTPUT] = t->lost_output};

    for (unsigned i = 0; i < sizeof total / sizeof *total; i++) {
        uint64_t seen = s->core_seen[t->core].lost[i];
        struct mkperf_lost lost = {.samples = total[i] > seen ? total[i] - seen : 0,
                                   .where = (enum mkperf_lost_where)i,
                                   .core = t->core};
        if (stream_lost(s, &lost, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return MKPERF_OK;
}

/* What a core sent and we did not get, by the target's last Status. */
static uint64_t missing(const struct mkperf_stream *s, const mkperf_CoreStatus *t)
{
    uint64_t got = s->core_seen[t->core].arrived + t->lost_output;

    return t->captured > got ? t->captured - got : 0;
}

enum mkperf_status stream_cores_close(struct mkperf_stream *s, struct mkperf_error *e)
{
    const mkperf_Status *status = &s->status;
    uint64_t sum = 0, lost = status->sent - (s->next_sample - s->passed_over);

    if (s->merge == NULL) {
        return MKPERF_OK;
    }
    for (unsigned i = 0; i < status->cores_count; i++) {
        const mkperf_CoreStatus *t = &status->cores[i];
        if (t->core >= MKPERF_MAX_CORES) {
            s->malformed++;
            return MKPERF_OK;
        }
        struct mkperf_core *core = &s->totals.core[t->core];
        core->late_events += t->late_events;
        core->late_answers += t->late_answers;
        if (stream_tick_hz_ok(status->tick_hz)) {
            core->began_ns = stream_ns(t->started_ticks, status->tick_hz) + s->offset_ns;
            core->ended_ns = stream_ns(t->stopped_ticks, status->tick_hz) + s->offset_ns;
        }
        if (close_core(s, t, e) != MKPERF_OK) {
            return e->status;
        }
        sum += missing(s, t);
    }
    lost += s->seen[MKPERF_LOST_TRANSIT];
    for (unsigned i = 0; i < status->cores_count && sum == lost; i++) {
        const mkperf_CoreStatus *t = &status->cores[i];
        s->totals.core[t->core].lost[MKPERF_LOST_TRANSIT] += missing(s, t);
    }
    return MKPERF_OK;
}
