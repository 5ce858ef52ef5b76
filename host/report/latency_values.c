/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: latencies as values for programs, see latency_table.h: one row a line, as JSON or separated.
 * A field's name is in JSON alone; the order of a kind's fields is fixed.
 */
#include <inttypes.h>

#include "latency_table.h"
#include "path_table.h"
#include "values.h"

static void put_latency(const struct report_values *v, const struct mkperf_latency_row *r)
{
    static const char *const keys[MKPERF_QUANTILES] = {"p50_ns", "p90_ns", "p99_ns", "p999_ns"};

    report_value_row(v, mkperf_latency_kind_names[r->kind]);
    report_value_text(v, "from", r->from);
    report_value_text(v, "to", r->to);
    report_value_number(v, "irq", r->irq);
    report_value_number(v, "count", r->count);
    report_value_number(v, "total_ns", r->total);
    for (unsigned i = 0; i < MKPERF_QUANTILES; i++) {
        report_value_number(v, keys[i], r->quantile[i]);
    }
    report_value_number(v, "max_ns", r->max);
    report_value_number(v, "max_at_ns", r->max_at);
    report_value_number(v, "busy", r->busy);
    report_value_end(v);
}

static void put_by(const struct report_values *v, const struct mkperf_analysis *a, const char *kind,
                   const char *from, const char *to, const struct mkperf_bys *b)
{
    for (unsigned i = 0; i < b->n; i++) {
        report_value_row(v, kind);
        report_value_text(v, "from", from);
        report_value_text(v, "to", to);
        report_value_text(v, "by", mkperf_analysis_name(a, b->by[i].pd));
        report_value_number(v, "ns", b->by[i].ns);
        report_value_end(v);
    }
}

static void put_parts(const struct report_values *v, const char *kind,
                      const struct mkperf_latency_row *r, const struct mkperf_call_parts *p)
{
    report_value_row(v, kind);
    report_value_text(v, "from", r->from);
    report_value_text(v, "to", r->to);
    report_value_number(v, "wall_ns", p->wall);
    report_value_number(v, "wait_ns", p->wait);
    report_value_number(v, "own_ns", p->own);
    report_value_number(v, "nested_ns", p->nested);
    report_value_number(v, "preempted_ns", p->preempted);
    report_value_number(v, "budget_ns", p->budget);
    report_value_number(v, "other_ns", p->other);
    report_value_end(v);
}

static void put_pd(const struct report_values *v, const struct mkperf_analysis *a, uint32_t i)
{
    static const char *const keys[MKPERF_PD_STATES] = {"unknown_ns", "running_ns", "ready_ns",
                                                       "calling_ns", "waiting_ns", "throttled_ns",
                                                       "stopped_ns"};
    const struct mkperf_sched_pd *p = &a->pd[i];

    report_value_row(v, "pd");
    report_value_text(v, "pd", p->name);
    report_value_number(v, "priority", p->scheduling.priority);
    for (unsigned k = 0; k < MKPERF_PD_STATES; k++) {
        report_value_number(v, keys[k], p->in[k]);
    }
    report_value_number(v, "runs", p->runs);
    report_value_number(v, "preempted", p->preemptions);
    report_value_number(v, "exhausted", p->exhausted);
    report_value_number(v, "budget_us", p->scheduling.budget_us);
    report_value_number(v, "period_us", p->scheduling.period_us);
    report_value_number(v, "consumed_ns", p->consumed);
    report_value_end(v);
    put_by(v, a, "ready", p->name, "", &p->ready_by);
    put_by(v, a, "blocked", p->name, "", &p->blocked_on);
}

static void put_analysis(const struct report_values *v, const struct mkperf_analysis *a)
{
    for (unsigned i = 0; i < a->ninversions; i++) {
        const struct mkperf_inversion *x = &a->inversion[i];

        report_value_row(v, "inversion");
        report_value_text(v, "high", mkperf_analysis_name(a, x->high));
        report_value_text(v, "holder", mkperf_analysis_name(a, x->holder));
        report_value_text(v, "runner", mkperf_analysis_name(a, x->runner));
        report_value_number(v, "count", x->count);
        report_value_number(v, "total_ns", x->total);
        report_value_number(v, "max_ns", x->worst);
        report_value_number(v, "max_from_ns", x->worst_from);
        report_value_end(v);
    }
    for (uint32_t i = 0; i < a->npds; i++) {
        if (!a->pd[i].idle && a->pd[i].name != NULL) {
            put_pd(v, a, i);
        }
    }
    for (uint32_t i = 0; i < a->ncores; i++) {
        if (a->core[i].seen) {
            report_value_row(v, "core");
            report_value_number(v, "core", i);
            report_value_number(v, "busy_ns", a->core[i].busy);
            report_value_number(v, "idle_ns", a->core[i].idle);
            report_value_number(v, "unknown_ns", a->core[i].unknown);
            report_value_end(v);
        }
    }
    report_value_row(v, "total");
    report_value_number(v, "first_ns", a->first_ns);
    report_value_number(v, "last_ns", a->last_ns);
    report_value_number(v, "events", a->events);
    report_value_number(v, "switches", a->switches);
    report_value_number(v, "gaps", a->gaps);
    report_value_number(v, "gap_ns", a->gap_ns);
    report_value_number(v, "calls_void", a->calls_void);
    report_value_number(v, "calls_open", a->calls_open);
    report_value_end(v);
}

void report_latency_values(const struct report_latency *l, FILE *out)
{
    const struct report_values v = {.out = out, .separator = l->json ? NULL : l->separator};

    for (unsigned i = 0; i < l->rows->n; i++) {
        const struct mkperf_latency_row *r = &l->rows->row[i];

        put_latency(&v, r);
        if (r->edge != NULL) {
            put_parts(&v, "parts", r, &r->edge->sum);
            put_parts(&v, "worst", r, &r->edge->worst);
            put_by(&v, l->analysis, "nested", r->from, r->to, &r->edge->nested_by);
            put_by(&v, l->analysis, "preempted", r->from, r->to, &r->edge->preempted_by);
        }
    }
    if (l->analysis != NULL) {
        put_analysis(&v, l->analysis);
    } else {
        for (unsigned i = 0; i < l->rows->nruns; i++) {
            report_value_row(&v, "run");
            report_value_text(&v, "pd", l->rows->run[i].pd);
            report_value_number(&v, "running_ns", l->rows->run[i].ns);
            report_value_number(&v, "runs", l->rows->run[i].runs);
            report_value_end(&v);
        }
        report_value_row(&v, "total");
        report_value_number(&v, "enabled_ns", (uint64_t)(l->rows->seconds * 1e9 + 0.5));
        report_value_number(&v, "dropped", l->rows->dropped);
        report_value_end(&v);
    }
}

static void name_or_none(const struct report_values *v, const char *key,
                         const struct mkperf_analysis *a, uint32_t pd)
{
    report_value_text(v, key, pd == MKPERF_SCHED_NOBODY ? "" : mkperf_analysis_name(a, pd));
}

void report_path_values(const struct report_path *p, const char *separator, FILE *out)
{
    const struct report_values v = {.out = out, .separator = separator};

    report_value_row(&v, "path");
    report_value_number(&v, "from_ns", p->path->from);
    report_value_number(&v, "to_ns", p->path->to);
    report_value_number(&v, "steps", p->path->n);
    report_value_end(&v);
    for (size_t i = 0; i < p->path->n; i++) {
        const struct mkperf_path_step *s = &p->path->step[i];

        report_value_row(&v, "step");
        report_value_number(&v, "from_ns", s->what.from);
        report_value_number(&v, "to_ns", s->what.to);
        report_value_text(&v, "pd", mkperf_analysis_name(p->analysis, s->what.pd));
        report_value_text(&v, "state", mkperf_pd_state_names[s->what.state]);
        name_or_none(&v, "by", p->analysis, s->what.by);
        name_or_none(&v, "serving", p->analysis, s->what.serving);
        report_value_text(&v, "entered",
                          s->entered != MKPERF_SCHED_SWITCH ? mkperf_sched_kind_names[s->entered]
                                                            : "");
        report_value_number(&v, "irq", s->irq);
        report_value_end(&v);
    }
}
