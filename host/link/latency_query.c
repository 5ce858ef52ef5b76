/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see latency_query.h. */
#include "latency_query.h"

enum mkperf_status mkperf_latency_query_begin(struct mkperf_recorder *r, struct mkperf_error *e)
{
    mkperf_ToTarget stop = {.which_msg = mkperf_ToTarget_stop_tag};

    r->options.configure.latency = true;
    if (mkperf_recorder_begin(r, e) != MKPERF_OK) {
        return e->status;
    }
    if (r->link.answer.which_msg == mkperf_ToHost_session_tag &&
        !r->link.answer.msg.session.latency) {
        (void)mkperf_recorder_ask(r, &stop, "Stop", e);
        return mkperf_error_set(e, MKPERF_ERR_REFUSED,
                                "%s: the target's build does not aggregate latencies",
                                r->options.link.target);
    }
    return MKPERF_OK;
}

static const char *name_of(struct mkperf_recorder *r, uint64_t thread)
{
    struct mkperf_pds *pds = r->pds;

    return mkperf_pds_at(pds, mkperf_pds_find(pds, thread - 2))->name;
}

/* False: it does not make sense. */
static bool add_pair(struct mkperf_recorder *r, struct mkperf_latency_rows *rows,
                     const mkperf_LatencyPair *p)
{
    uint64_t bucket = 0;

    if ((unsigned)p->kind >= MKPERF_LATENCY_KINDS || p->bucket_count != p->in_bucket_count) {
        return false;
    }
    bool irq = p->kind == mkperf_LatencyKind_LATENCY_IRQ;
    struct mkperf_latency_row *row = mkperf_latency_row(rows, (enum mkperf_latency_kind)p->kind,
                                                        irq ? "" : name_of(r, p->from),
                                                        name_of(r, p->to), p->irq);
    row->ns.count += p->count;
    row->ns.total += p->total_ticks;
    if (p->max_ticks > row->ns.max) {
        row->ns.max = p->max_ticks;
        row->max_at = p->max_at;
    }
    row->busy += p->busy;
    for (unsigned i = 0; i < p->bucket_count; i++) {
        bucket += p->bucket[i];
        if (!mkperf_latency_row_add(row, rows->tick_hz, bucket, p->in_bucket[i])) {
            return false;
        }
    }
    return true;
}

static enum mkperf_status bad_answer(const struct mkperf_recorder *r, struct mkperf_error *e)
{
    return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: an answer that is not to GetLatency",
                            r->options.link.target);
}

enum mkperf_status mkperf_latency_query(struct mkperf_recorder *r, struct mkperf_latency_rows *rows,
                                        struct mkperf_error *e)
{
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_get_latency_tag};
    const mkperf_Latency *answer = &r->link.answer.msg.latency;
    uint32_t parts = 1;

    mkperf_latency_rows_free(rows);
    for (uint32_t part = 0; part < parts; part++) {
        m.msg.get_latency.part = part;
        if (mkperf_recorder_ask(r, &m, "GetLatency", e) != MKPERF_OK ||
            mkperf_recorder_refused(r, e) != MKPERF_OK) {
            return e->status;
        }
        if (r->link.answer.which_msg != mkperf_ToHost_latency_tag || answer->part != part ||
            answer->parts > MKPERF_MAX_PARTS || answer->tick_hz == 0) {
            return bad_answer(r, e);
        }
        parts = answer->parts;
        rows->tick_hz = answer->tick_hz;
        rows->dropped = answer->pairs_dropped;
        rows->seconds = (double)answer->enabled_ticks / (double)answer->tick_hz;
        for (unsigned i = 0; i < answer->pairs_count; i++) {
            if (!add_pair(r, rows, &answer->pairs[i])) {
                return bad_answer(r, e);
            }
        }
        for (unsigned i = 0; i < answer->threads_count; i++) {
            const mkperf_LatencyThread *run = &answer->threads[i];
            mkperf_latency_run(rows, name_of(r, run->thread), run->thread - 2, run->run_ticks,
                               run->runs);
        }
    }
    mkperf_latency_rows_finish(rows);
    return MKPERF_OK;
}
