/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: latencies as values for programs, see latency_table.h: one row a line, as JSON or separated.
 * A field's name is in JSON alone; the order of a kind's fields is fixed.
 */
#include <inttypes.h>

#include "latency_table.h"
#include "path_table.h"

struct values {
    FILE *out;
    const char *separator; /* NULL: JSON */
};

static void row(const struct values *v, const char *kind)
{
    fprintf(v->out, v->separator == NULL ? "{\"type\":\"%s\"" : "%s", kind);
}

static void end(const struct values *v)
{
    fputs(v->separator == NULL ? "}\n" : "\n", v->out);
}

static void number(const struct values *v, const char *key, uint64_t value)
{
    if (v->separator == NULL) {
        fprintf(v->out, ",\"%s\":%" PRIu64, key, value);
    } else {
        fprintf(v->out, "%s%" PRIu64, v->separator, value);
    }
}

/* Names are printable (base/printable.h): quotes and backslashes are what is left. */
static void text(const struct values *v, const char *key, const char *value)
{
    if (v->separator != NULL) {
        fprintf(v->out, "%s%s", v->separator, value);
        return;
    }
    fprintf(v->out, ",\"%s\":\"", key);
    for (; *value != '\0'; value++) {
        fprintf(v->out, *value == '"' || *value == '\\' ? "\\%c" : "%c", *value);
    }
    fputc('"', v->out);
}

static void name(const struct values *v, const char *key, const struct mkperf_analysis *a,
                 uint32_t pd)
{
    text(v, key, pd == MKPERF_SCHED_NOBODY ? "?" : mkperf_analysis_name(a, pd));
}

static void put_latency(const struct values *v, const struct mkperf_latency_row *r)
{
    static const char *const keys[MKPERF_QUANTILES] = {"p50_ns", "p90_ns", "p99_ns", "p999_ns"};

    row(v, mkperf_latency_kind_names[r->kind]);
    text(v, "from", r->from);
    text(v, "to", r->to);
    number(v, "irq", r->irq);
    number(v, "count", r->count);
    number(v, "total_ns", r->total);
    for (unsigned i = 0; i < MKPERF_QUANTILES; i++) {
        number(v, keys[i], r->quantile[i]);
    }
    number(v, "max_ns", r->max);
    number(v, "max_at_ns", r->max_at);
    number(v, "busy", r->busy);
    end(v);
}

static void put_by(const struct values *v, const struct mkperf_analysis *a, const char *kind,
                   const char *from, const char *to, const struct mkperf_bys *b)
{
    for (unsigned i = 0; i < b->n; i++) {
        row(v, kind);
        text(v, "from", from);
        text(v, "to", to);
        name(v, "by", a, b->by[i].pd);
        number(v, "ns", b->by[i].ns);
        end(v);
    }
}

static void put_parts(const struct values *v, const char *kind, const struct mkperf_latency_row *r,
                      const struct mkperf_call_parts *p)
{
    row(v, kind);
    text(v, "from", r->from);
    text(v, "to", r->to);
    number(v, "wall_ns", p->wall);
    number(v, "wait_ns", p->wait);
    number(v, "own_ns", p->own);
    number(v, "nested_ns", p->nested);
    number(v, "preempted_ns", p->preempted);
    number(v, "budget_ns", p->budget);
    number(v, "other_ns", p->other);
    end(v);
}

static void put_pd(const struct values *v, const struct mkperf_analysis *a, uint32_t i)
{
    static const char *const keys[MKPERF_PD_STATES] = {"unknown_ns", "running_ns", "ready_ns",
                                                       "calling_ns", "waiting_ns", "throttled_ns",
                                                       "stopped_ns"};
    const struct mkperf_sched_pd *p = &a->pd[i];

    row(v, "pd");
    text(v, "pd", p->name);
    number(v, "priority", p->scheduling.priority);
    for (unsigned k = 0; k < MKPERF_PD_STATES; k++) {
        number(v, keys[k], p->in[k]);
    }
    number(v, "runs", p->runs);
    number(v, "preempted", p->preemptions);
    number(v, "exhausted", p->exhausted);
    number(v, "budget_us", p->scheduling.budget_us);
    number(v, "period_us", p->scheduling.period_us);
    number(v, "consumed_ns", p->consumed);
    end(v);
    put_by(v, a, "ready", p->name, "", &p->ready_by);
    put_by(v, a, "blocked", p->name, "", &p->blocked_on);
}

static void put_analysis(const struct values *v, const struct mkperf_analysis *a)
{
    for (unsigned i = 0; i < a->ninversions; i++) {
        const struct mkperf_inversion *x = &a->inversion[i];

        row(v, "inversion");
        name(v, "high", a, x->high);
        name(v, "holder", a, x->holder);
        name(v, "runner", a, x->runner);
        number(v, "count", x->count);
        number(v, "total_ns", x->total);
        number(v, "max_ns", x->worst);
        number(v, "max_from_ns", x->worst_from);
        end(v);
    }
    for (uint32_t i = 0; i < a->npds; i++) {
        if (!a->pd[i].idle && a->pd[i].name != NULL) {
            put_pd(v, a, i);
        }
    }
    for (uint32_t i = 0; i < a->ncores; i++) {
        if (a->core[i].seen) {
            row(v, "core");
            number(v, "core", i);
            number(v, "busy_ns", a->core[i].busy);
            number(v, "idle_ns", a->core[i].idle);
            number(v, "unknown_ns", a->core[i].unknown);
            end(v);
        }
    }
    row(v, "total");
    number(v, "first_ns", a->first_ns);
    number(v, "last_ns", a->last_ns);
    number(v, "events", a->events);
    number(v, "switches", a->switches);
    number(v, "gaps", a->gaps);
    number(v, "gap_ns", a->gap_ns);
    number(v, "calls_void", a->calls_void);
    number(v, "calls_open", a->calls_open);
    end(v);
}

void report_latency_values(const struct report_latency *l, FILE *out)
{
    const struct values v = {.out = out, .separator = l->json ? NULL : l->separator};

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
            row(&v, "run");
            text(&v, "pd", l->rows->run[i].pd);
            number(&v, "running_ns", l->rows->run[i].ns);
            number(&v, "runs", l->rows->run[i].runs);
            end(&v);
        }
        row(&v, "total");
        number(&v, "enabled_ns", (uint64_t)(l->rows->seconds * 1e9 + 0.5));
        number(&v, "dropped", l->rows->dropped);
        end(&v);
    }
}

static void name_or_none(const struct values *v, const char *key, const struct mkperf_analysis *a,
                         uint32_t pd)
{
    text(v, key, pd == MKPERF_SCHED_NOBODY ? "" : mkperf_analysis_name(a, pd));
}

void report_path_values(const struct report_path *p, const char *separator, FILE *out)
{
    const struct values v = {.out = out, .separator = separator};

    row(&v, "path");
    number(&v, "from_ns", p->path->from);
    number(&v, "to_ns", p->path->to);
    number(&v, "steps", p->path->n);
    end(&v);
    for (size_t i = 0; i < p->path->n; i++) {
        const struct mkperf_path_step *s = &p->path->step[i];

        row(&v, "step");
        number(&v, "from_ns", s->what.from);
        number(&v, "to_ns", s->what.to);
        name(&v, "pd", p->analysis, s->what.pd);
        text(&v, "state", mkperf_pd_state_names[s->what.state]);
        name_or_none(&v, "by", p->analysis, s->what.by);
        name_or_none(&v, "serving", p->analysis, s->what.serving);
        text(&v, "entered",
             s->entered != MKPERF_SCHED_SWITCH ? mkperf_sched_kind_names[s->entered] : "");
        number(&v, "irq", s->irq);
        end(&v);
    }
}
