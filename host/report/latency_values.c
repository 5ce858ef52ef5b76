/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latencies and critical paths as values for programs, see report.h: one row per line, as JSON or with a separator. Only
 * JSON contains the names of values, so the order of the values of each kind is fixed.
 */
#include "report.h"

#include "export/formats.h"
#include "model/figures.h"

static void put_by(struct report_values *v, const struct mkperf_analysis *a, const char *kind,
                   const char *from, const char *to, const char *exit, const struct mkperf_bys *b)
{
    for (unsigned i = 0; i < b->n; i++) {
        REPORT_ROW(v, kind, REPORT_TEXT("from", from), REPORT_TEXT("to", to),
                   REPORT_TEXT("by", mkperf_analysis_name(a, b->by[i].pd)),
                   REPORT_NUMBER("ns", b->by[i].ns), REPORT_LAST_TEXT("exit", exit));
    }
}

static void put_parts(struct report_values *v, const char *kind, const struct mkperf_latency_row *r,
                      const char *exit, const struct mkperf_call_parts *p)
{
    REPORT_ROW(v, kind, REPORT_TEXT("from", r->from), REPORT_TEXT("to", r->to),
               REPORT_NUMBER("wall_ns", p->wall), REPORT_NUMBER("wait_ns", p->wait),
               REPORT_NUMBER("own_ns", p->own), REPORT_NUMBER("nested_ns", p->nested),
               REPORT_NUMBER("preempted_ns", p->preempted), REPORT_NUMBER("budget_ns", p->budget),
               REPORT_NUMBER("other_ns", p->other), REPORT_LAST_TEXT("exit", exit));
}

static void put_analysis(struct report_values *v, const struct mkperf_analysis *a)
{
    for (unsigned i = 0; i < a->ninversions; i++) {
        const struct mkperf_inversion *x = &a->inversion[i];

        REPORT_ROW(v, "inversion", REPORT_TEXT("high", mkperf_analysis_name(a, x->high)),
                   REPORT_TEXT("holder", mkperf_analysis_name(a, x->holder)),
                   REPORT_TEXT("runner", mkperf_analysis_name(a, x->runner)),
                   REPORT_NUMBER("count", x->count), REPORT_NUMBER("total_ns", x->total),
                   REPORT_NUMBER("max_ns", x->worst), REPORT_NUMBER("max_from_ns", x->worst_from));
    }
    for (uint32_t i = 0; i < a->npds; i++) {
        if (!a->pd[i].idle && a->pd[i].name != NULL) {
            const struct mkperf_sched_pd *p = &a->pd[i];
            const struct mkperf_scheduling *s = &p->scheduling;
            REPORT_ROW(v, "pd", REPORT_TEXT("pd", p->name), REPORT_NUMBER("priority", s->priority),
                       REPORT_NUMBER("unknown_ns", p->in[MKPERF_PD_UNKNOWN]),
                       REPORT_NUMBER("running_ns", p->in[MKPERF_PD_RUNNING]),
                       REPORT_NUMBER("ready_ns", p->in[MKPERF_PD_READY]),
                       REPORT_NUMBER("calling_ns", p->in[MKPERF_PD_CALLING]),
                       REPORT_NUMBER("waiting_ns", p->in[MKPERF_PD_WAITING]),
                       REPORT_NUMBER("throttled_ns", p->in[MKPERF_PD_THROTTLED]),
                       REPORT_NUMBER("stopped_ns", p->in[MKPERF_PD_STOPPED]),
                       REPORT_NUMBER("runs", p->runs), REPORT_NUMBER("preempted", p->preemptions),
                       REPORT_NUMBER("exhausted", p->exhausted),
                       REPORT_NUMBER("budget_us", s->budget_us),
                       REPORT_NUMBER("period_us", s->period_us),
                       REPORT_NUMBER("consumed_ns", p->consumed));
            put_by(v, a, "ready", p->name, "", "", &p->ready_by);
            put_by(v, a, "blocked", p->name, "", "", &p->blocked_on);
        }
    }
    for (uint32_t i = 0; i < a->ncores; i++) {
        if (a->core[i].seen) {
            REPORT_ROW(v, "core", REPORT_NUMBER("core", i),
                       REPORT_NUMBER("busy_ns", a->core[i].busy),
                       REPORT_NUMBER("idle_ns", a->core[i].idle),
                       REPORT_NUMBER("unknown_ns", a->core[i].unknown));
        }
    }
    REPORT_ROW(v, "total", REPORT_NUMBER("first_ns", a->first_ns),
               REPORT_NUMBER("last_ns", a->last_ns), REPORT_NUMBER("events", a->events),
               REPORT_NUMBER("switches", a->switches), REPORT_NUMBER("gaps", a->gaps),
               REPORT_NUMBER("gap_ns", a->gap_ns), REPORT_NUMBER("calls_void", a->calls_void),
               REPORT_NUMBER("calls_open", a->calls_open));
}

void report_gap_values(const struct mkperf_analysis *a, struct report_values *v)
{
    char text[MKPERF_FIRST_TEXT];

    for (unsigned i = 0; i < MKPERF_FIRSTS && v->separator == NULL; i++) {
        if (mkperf_first((enum mkperf_first)i, &a->totals, text)) {
            mkperf_jsonl_warning(&v->to, MKPERF_ERROR, text);
        }
    }
    if (a->gaps != 0 && v->separator == NULL) {
        snprintf(text, sizeof text,
                 "scheduling events are missing for %.6f s: it is not known what ran then",
                 (double)a->gap_ns / 1e9);
        mkperf_jsonl_warning(&v->to, MKPERF_WARNING, text);
    }
}

void report_latency_values(const struct report_latency *l, struct report_values *v)
{
    if (l->analysis != NULL) {
        report_gap_values(l->analysis, v);
    }
    for (unsigned i = 0; i < l->rows->n; i++) {
        const struct mkperf_latency_row *r = &l->rows->row[i];
        bool exits = r->kind == MKPERF_LATENCY_EXIT;
        char text[64] = "";
        const char *exit = exits ? mkperf_exit_name(r->edge->exit, text) : text;

        REPORT_ROW(v, mkperf_latency_kind_names[r->kind], REPORT_TEXT("from", r->from),
                   REPORT_TEXT("to", r->to), REPORT_NUMBER("irq", r->irq), REPORT_TIMES(r),
                   REPORT_NUMBER("busy", r->busy), REPORT_LAST_TEXT("exit", exit));
        if (r->edge != NULL) {
            put_parts(v, "parts", r, exit, &r->edge->sum);
            put_parts(v, "worst", r, exit, &r->edge->worst);
            put_by(v, l->analysis, "nested", r->from, r->to, exit, &r->edge->nested_by);
            put_by(v, l->analysis, "preempted", r->from, r->to, exit, &r->edge->preempted_by);
        }
    }
    if (l->analysis != NULL) {
        put_analysis(v, l->analysis);
    } else {
        for (unsigned i = 0; i < l->rows->nruns; i++) {
            REPORT_ROW(v, "run", REPORT_TEXT("pd", l->rows->run[i].pd),
                       REPORT_NUMBER("running_ns", l->rows->run[i].ns),
                       REPORT_NUMBER("runs", l->rows->run[i].runs));
        }
        REPORT_ROW(v, "total",
                   REPORT_NUMBER("enabled_ns", (uint64_t)(l->rows->seconds * 1e9 + 0.5)),
                   REPORT_NUMBER("dropped", l->rows->dropped));
    }
}

static const char *name_or_none(const struct mkperf_analysis *a, uint32_t pd)
{
    return pd == MKPERF_SCHED_NOBODY ? "" : mkperf_analysis_name(a, pd);
}

void report_path_values(const struct report_path *p, struct report_values *v)
{
    REPORT_ROW(v, "path", REPORT_NUMBER("from_ns", p->path->from),
               REPORT_NUMBER("to_ns", p->path->to), REPORT_NUMBER("steps", p->path->n));
    for (size_t i = 0; i < p->path->n; i++) {
        const struct mkperf_path_step *s = &p->path->step[i];
        const struct mkperf_interval *what = &s->what;
        bool entered = s->entered != MKPERF_SCHED_SWITCH;

        REPORT_ROW(v, "step", REPORT_NUMBER("from_ns", what->from),
                   REPORT_NUMBER("to_ns", what->to),
                   REPORT_TEXT("pd", mkperf_analysis_name(p->analysis, what->pd)),
                   REPORT_TEXT("state", mkperf_pd_state_names[what->state]),
                   REPORT_TEXT("by", name_or_none(p->analysis, what->by)),
                   REPORT_TEXT("serving", name_or_none(p->analysis, what->serving)),
                   REPORT_TEXT("entered", entered ? mkperf_sched_kind_names[s->entered] : ""),
                   REPORT_NUMBER("irq", s->irq));
    }
}
