/* SPDX-License-Identifier: BSD-2-Clause */
/* Latencies as rows, see analysis.h. */
#include "analysis.h"

#define NS_PER_S 1000000000

const char *const mkperf_latency_kind_names[MKPERF_LATENCY_KINDS] = {
    [MKPERF_LATENCY_CALL] = "call",
    [MKPERF_LATENCY_NOTIFY] = "notification",
    [MKPERF_LATENCY_IRQ] = "irq",
    [MKPERF_LATENCY_EXIT] = "exit",
};

static struct mkperf_latency_row *append_row(struct mkperf_latency_rows *rows,
                                             enum mkperf_latency_kind kind, const char *from,
                                             const char *to, uint32_t irq)
{
    MKPERF_GROW(rows->row, rows->room, rows->n + 1);
    struct mkperf_latency_row *row = &rows->row[rows->n++];
    *row = (struct mkperf_latency_row){.kind = kind, .irq = irq};
    snprintf(row->from, sizeof row->from, "%s", from);
    snprintf(row->to, sizeof row->to, "%s", to);
    return row;
}

struct mkperf_latency_row *mkperf_latency_row(struct mkperf_latency_rows *rows,
                                              enum mkperf_latency_kind kind, const char *from,
                                              const char *to, uint32_t irq)
{
    for (unsigned i = 0; i < rows->n; i++) {
        struct mkperf_latency_row *row = &rows->row[i];

        if (row->kind == kind && row->irq == irq && strcmp(row->from, from) == 0 &&
            strcmp(row->to, to) == 0) {
            return row;
        }
    }
    return append_row(rows, kind, from, to, irq);
}

void mkperf_latency_run(struct mkperf_latency_rows *rows, const char *pd, uint64_t thread,
                        uint64_t ticks, uint64_t runs)
{
    MKPERF_GROW(rows->run, rows->run_room, rows->nruns + 1);
    struct mkperf_latency_run *run = &rows->run[rows->nruns++];
    *run = (struct mkperf_latency_run){.thread = thread, .ticks = ticks, .runs = runs};
    snprintf(run->pd, sizeof run->pd, "%s", pd);
}

void mkperf_latency_rows_of(const struct mkperf_analysis *a, struct mkperf_latency_rows *rows)
{
    *rows = (struct mkperf_latency_rows){.seconds = (double)(a->last_ns - a->first_ns) / NS_PER_S};
    for (unsigned i = 0; i < a->nedges; i++) {
        const struct mkperf_call_edge *e = &a->edge[i];
        struct mkperf_latency_row *row =
            append_row(rows, e->exit != 0 ? MKPERF_LATENCY_EXIT : MKPERF_LATENCY_CALL,
                       mkperf_analysis_name(a, e->from), mkperf_analysis_name(a, e->to), e->exit);
        row->edge = e;
        row->of = &e->wall;
        row->max_at = e->worst_at;
    }
    for (unsigned kind = MKPERF_LATENCY_NOTIFY; kind <= MKPERF_LATENCY_IRQ; kind++) {
        for (unsigned i = 0; i < a->nwakes; i++) {
            const struct mkperf_wakeup *w = &a->wake[i];
            bool irq = w->kind == MKPERF_SCHED_IRQ;

            if (irq == (kind == MKPERF_LATENCY_IRQ)) {
                struct mkperf_latency_row *row =
                    append_row(rows, (enum mkperf_latency_kind)kind,
                               irq ? "" : mkperf_analysis_name(a, w->from),
                               mkperf_analysis_name(a, w->to), w->irq);
                row->busy = w->busy;
                row->of = &w->delay;
                row->max_at = w->worst_at;
            }
        }
    }
}

static uint64_t to_ns(uint64_t ticks, uint64_t hz)
{
    if (hz == 0 || ticks / hz >= UINT64_MAX / NS_PER_S) {
        return hz == 0 ? 0 : UINT64_MAX;
    }
    return ticks / hz * NS_PER_S + ticks % hz * NS_PER_S / hz;
}

bool mkperf_latency_row_add(struct mkperf_latency_row *row, uint64_t tick_hz, uint64_t bucket,
                            uint64_t n)
{
    if (bucket >= MKPERF_LOG_BUCKETS) {
        return false;
    }
    uint64_t next = mkperf_log_bucket_from((unsigned)bucket + 1);
    return mkperf_log_add_bucket(&row->ns, mkperf_log_bucket(to_ns(next - 1, tick_hz)), n) != 0;
}

void mkperf_latency_rows_finish(struct mkperf_latency_rows *rows)
{
    for (unsigned i = 0; i < rows->n; i++) {
        struct mkperf_latency_row *row = &rows->row[i];

        row->ns.total = to_ns(row->ns.total, rows->tick_hz);
        row->ns.max = to_ns(row->ns.max, rows->tick_hz);
        row->max_at = to_ns(row->max_at, rows->tick_hz);
    }
    for (unsigned i = 0; i < rows->nruns; i++) {
        rows->run[i].ns = to_ns(rows->run[i].ticks, rows->tick_hz);
    }
    MKPERF_SORT(rows->row, rows->n, MKPERF_UP(rows->row, kind), MKPERF_DOWN(rows->row, ns.total));
    for (unsigned i = 0; i < rows->n; i++) {
        rows->row[i].of = &rows->row[i].ns;
    }
    MKPERF_SORT(rows->run, rows->nruns, MKPERF_DOWN(rows->run, ticks));
}

void mkperf_latency_rows_free(struct mkperf_latency_rows *rows)
{
    for (unsigned i = 0; i < rows->n; i++) {
        mkperf_log_free(&rows->row[i].ns);
    }
    free(rows->row);
    free(rows->run);
    *rows = (struct mkperf_latency_rows){0};
}
