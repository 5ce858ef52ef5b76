/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events of a perf.data that mkperf wrote, see tracepoints.h.
 *
 * Owns: their raw data. Called by reader_sample.c for samples of tracepoints and by reader.c for gaps.
 */
#include "reader_internal.h"

/* The PD of a pid; 0 is the idle thread. */
static enum mkperf_status pd_of(struct perfin_reader *r, uint32_t pid, bool known, uint32_t *pd)
{
    const struct perfin_session *s = &r->session;

    *pd = MKPERF_SCHED_NOBODY;
    if (!known) {
        return MKPERF_OK;
    }
    for (uint32_t i = 0; pid == 0 && i < s->nprocesses; i++) {
        if (s->process[i].has_thread && s->process[i].thread == MKPERF_THREAD_IDLE) {
            pid = s->process[i].pid;
        }
    }
    return perfin_pd_of(r, pid, pd);
}

enum mkperf_status perfin_read_sched(struct perfin_reader *r, struct mkperf_sched *out,
                                     enum mkperf_trace_point point, const uint8_t *raw, size_t n)
{
    bool is_switch = point == MKPERF_TRACE_SWITCH;
    uint32_t from, to, kind, known;

    if (!is_switch && point != MKPERF_TRACE_SCHED) {
        return MKPERF_OK; /* derived */
    }
    if (raw == NULL || n < (is_switch ? TRACE_SWITCH_BYTES : TRACE_SCHED_BYTES)) {
        return perfin_fail(r, "a scheduling event is cut");
    }
    from = mkperf_get32(raw + TRACE_COMMON_PID);
    to = mkperf_get32(raw + (is_switch ? TRACE_SWITCH_NEXT : TRACE_SCHED_PID));
    known = mkperf_get32(raw + (is_switch ? TRACE_SWITCH_KNOWN : TRACE_SCHED_KNOWN));
    kind = is_switch ? MKPERF_SCHED_SWITCH : mkperf_get32(raw + TRACE_SCHED_KIND);
    out->reason = is_switch ? (enum mkperf_sched_reason)mkperf_get32(raw + TRACE_SWITCH_REASON)
                            : MKPERF_STOPPED_UNKNOWN;
    out->irq = is_switch ? 0 : mkperf_get32(raw + TRACE_SCHED_IRQ);
    if (kind >= MKPERF_SCHED_GAP || (unsigned)out->reason >= MKPERF_STOPPED_REASONS) {
        return perfin_fail(r, "a scheduling event of no known kind");
    }
    if (out->core >= MKPERF_MODEL_CORES) {
        return perfin_fail(r, "a scheduling event of a core beyond 4095");
    }
    out->kind = (enum mkperf_sched_kind)kind;
    if (perfin_begin(r) != MKPERF_OK || pd_of(r, from, known != 0, &out->from) != MKPERF_OK ||
        pd_of(r, to, true, &out->to) != MKPERF_OK) {
        return r->e->status;
    }
    perfin_note_time(r, out->time_ns);
    r->sched_events++;
    MKPERF_GROW(r->sched_ns, r->cores_room, (size_t)out->core + 1);
    r->sched_ns[out->core] = out->time_ns;
    return mkperf_sink_sched(r->sink, out, r->e);
}

enum mkperf_status perfin_read_gap(struct perfin_reader *r, uint64_t lost, uint64_t time,
                                   uint32_t core)
{
    struct mkperf_sched gap = {
        .time_ns = time,
        .core = core,
        .kind = MKPERF_SCHED_GAP,
        .from = MKPERF_SCHED_NOBODY,
        .to = MKPERF_SCHED_NOBODY,
        .lost = lost,
        .since_ns = core < r->cores_room ? r->sched_ns[core] : 0,
    };

    if (core >= MKPERF_MODEL_CORES) {
        return perfin_fail(r, "a gap of a core beyond 4095");
    }
    return perfin_begin(r) == MKPERF_OK ? mkperf_sink_sched(r->sink, &gap, r->e) : r->e->status;
}
