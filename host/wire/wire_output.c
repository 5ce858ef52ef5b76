/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: all that the stream passes on to its sink, and the order in which the sink gets it.
 *
 * With several cores, or samples of blocked threads, samples and events first wait in a merge
 * (model/arrival.h), and behind it in model/relays.h (off_cpu). Batches have a core, but samples are numbered
 * over all cores. The core of a sample in a lost frame is therefore known only when the last Status
 * of the session reports how many samples each core took.
 */
#include "wire_internal.h"

#define NS_PER_S UINT64_C(1000000000)

uint64_t stream_ns(uint64_t ticks, uint64_t hz)
{
    return ticks / hz * NS_PER_S + ticks % hz * NS_PER_S / hz;
}

bool stream_tick_hz_ok(uint64_t hz)
{
    return hz != 0 && hz <= 10 * NS_PER_S;
}

uint64_t stream_time(struct mkperf_stream *s, uint64_t ticks, uint64_t hz)
{
    uint64_t ns = stream_ns(ticks, hz);

    if (s->clock.rebase) {
        s->clock.rebase = false;
        s->clock.offset_ns = s->totals.last_ns + s->clock.pause_ns - ns;
    }
    return ns + s->clock.offset_ns;
}

void stream_cores_begin(struct mkperf_stream *s, uint32_t core)
{
    if (s->order.merge == NULL && s->session.cores <= 1 && core == 0 &&
        s->order.off_cpu.event == MKPERF_MODEL_EVENTS) {
        return;
    }
    if (s->order.merge == NULL) {
        s->order.merge = mkperf_merge_new(mkperf_off_cpu_sink(&s->order.off_cpu));
        s->order.to = mkperf_merge_sink(s->order.merge);
    }
    s->totals.ncores = s->session.cores > s->totals.ncores ? s->session.cores : s->totals.ncores;
    s->totals.ncores = core >= s->totals.ncores ? core + 1 : s->totals.ncores;
    uint32_t cores = s->session.core_mask != 0 ? s->session.core_mask
                                               : (UINT32_C(1) << s->session.cores) - 1;
    mkperf_merge_await(s->order.merge, s->session.nevents != 0 ? cores : 0,
                       s->sched.running ? cores : 0);
}

enum mkperf_status stream_announce(struct mkperf_stream *s, struct mkperf_error *e)
{
    while (s->announced < s->config.pds->n) {
        const struct mkperf_pd *pd = &s->config.pds->pd[s->announced++];
        MKPERF_TRY(mkperf_sink_pd(&s->config.sink, pd, e));
    }
    return MKPERF_OK;
}

enum mkperf_status stream_begin(struct mkperf_stream *s, struct mkperf_error *e)
{
    if (s->began) {
        return MKPERF_OK;
    }
    s->session.platform = s->hello.platform;
    s->session.cpu = s->hello.cpu;
    s->session.cores = s->hello.cores <= MKPERF_MAX_CORES ? s->hello.cores : MKPERF_MAX_CORES;
    mkperf_pds_describe(s->config.pds, &s->session);
    if (s->hello.target_cores > s->session.target_cores) {
        s->session.target_cores = s->hello.target_cores;
    }
    s->session.nqueues = s->sched.words != 0 ? s->session.nqueues : 0;
    s->session.command = s->config.command;
    s->began = true;
    stream_cores_begin(s, 0);
    MKPERF_TRY(mkperf_sink_begin(&s->config.sink, &s->session, e));
    return stream_announce(s, e);
}

uint32_t stream_lost_core(const struct mkperf_stream *s)
{
    return s->order.merge != NULL ? MKPERF_CORE_UNKNOWN : s->batch.m.core;
}

enum mkperf_status stream_lost(struct mkperf_stream *s, const struct mkperf_lost *lost,
                               struct mkperf_error *e)
{
    assert(lost->where < MKPERF_LOST_PLACES);
    if (lost->samples == 0) {
        return MKPERF_OK;
    }
    s->totals.lost[lost->where] += lost->samples;
    s->seen[lost->where] += lost->samples;
    if (lost->core < MKPERF_MAX_CORES) {
        s->totals.core[lost->core].lost[lost->where] += lost->samples;
        s->core_seen[lost->core].lost[lost->where] += lost->samples;
    }
    return s->began ? mkperf_sink_lost(&s->config.sink, lost, e) : MKPERF_OK;
}

bool mkperf_stream_core(const struct mkperf_stream *s, unsigned i, unsigned *number,
                        struct mkperf_core *core)
{
    const mkperf_CoreStatus *t = &s->status.cores[i];

    if (!s->has_status || i >= s->status.cores_count) {
        return false;
    }
    *number = t->core;
    *core = (struct mkperf_core){.state = t->state < mkperf_CoreState_CORE_ABSENT
                                              ? (enum mkperf_core_state)t->state
                                              : MKPERF_CORE_ABSENT,
                                 .late_answers = t->late_answers};
    return true;
}

/* Returns how many samples the core sent, by its last Status, that did not arrive. */
static uint64_t missing_of_core(const struct mkperf_stream *s, const mkperf_CoreStatus *t)
{
    uint64_t got = s->core_seen[t->core].arrived + t->lost_output;

    return t->captured > got ? t->captured - got : 0;
}

enum mkperf_status stream_cores_close(struct mkperf_stream *s, struct mkperf_error *e)
{
    const mkperf_Status *status = &s->status;
    uint64_t sum = 0, lost = status->sent - (s->next_sample - s->passed_over);

    if (s->order.merge == NULL) {
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
            core->began_ns = stream_ns(t->started_ticks, status->tick_hz) + s->clock.offset_ns;
            core->ended_ns = stream_ns(t->stopped_ticks, status->tick_hz) + s->clock.offset_ns;
        }
        /* Reports the losses that no received Loss record reported. */
        const uint64_t total[] = {
            [MKPERF_LOST_RING] = t->lost_ring, [MKPERF_LOST_OUTPUT] = t->lost_output};
        for (unsigned k = 0; k < sizeof total / sizeof *total; k++) {
            uint64_t seen = s->core_seen[t->core].lost[k];
            struct mkperf_lost one = {.samples = total[k] > seen ? total[k] - seen : 0,
                                      .where = (enum mkperf_lost_where)k,
                                      .core = t->core};
            MKPERF_TRY(stream_lost(s, &one, e));
        }
        sum += missing_of_core(s, t);
    }
    /* The cores have shares of the loss in transit only if their sum is the whole loss. */
    lost += s->seen[MKPERF_LOST_TRANSIT];
    for (unsigned i = 0; i < status->cores_count && sum == lost; i++) {
        const mkperf_CoreStatus *t = &status->cores[i];
        s->totals.core[t->core].lost[MKPERF_LOST_TRANSIT] += missing_of_core(s, t);
    }
    return MKPERF_OK;
}
