/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: latencies as tables, see latency_table.h. Times are microseconds with the nanosecond. */
#include "latency_table.h"

#include <inttypes.h>

#include "base/percent.h"
#include "model/figures.h"

static void us(uint64_t ns, FILE *out)
{
    fprintf(out, " %10" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
}

static void who(const struct mkperf_latency_row *row, FILE *out)
{
    if (row->kind == MKPERF_LATENCY_IRQ) {
        fprintf(out, "  irq %" PRIu32 " -> %s\n", row->irq, row->to);
    } else {
        fprintf(out, "  %s -> %s\n", row->from, row->to);
    }
}

static unsigned count_kind(const struct mkperf_latency_rows *rows, bool calls)
{
    unsigned n = 0;

    for (unsigned i = 0; i < rows->n; i++) {
        n += (rows->row[i].kind == MKPERF_LATENCY_CALL) == calls;
    }
    return n;
}

static void print_times(const struct mkperf_latency_row *row, FILE *out)
{
    if (row->count == 0) { /* none of them woke its PD */
        for (unsigned k = 0; k < MKPERF_QUANTILES + 3; k++) {
            fprintf(out, " %14s", "-");
        }
        return;
    }
    us(row->total / row->count, out);
    for (unsigned k = 0; k < MKPERF_QUANTILES; k++) {
        us(row->quantile[k], out);
    }
    us(row->max, out);
    fprintf(out, " %14.6f", (double)row->max_at / 1e9);
}

static void print_latencies(const struct report_latency *l, bool calls, FILE *out)
{
    if (count_kind(l->rows, calls) == 0) {
        return;
    }
    fprintf(out, "\n# %s, us\n%10s %14s %14s %14s %14s %14s %14s %14s%s  %s\n",
            calls ? "protected calls: from the call to its reply"
                  : "wake-ups: from the notification or interrupt until its PD runs",
            "count", "mean", "50 %", "90 %", "99 %", "99.9 %", "worst", "worst at, s",
            !calls ? "      busy" : "", "from -> to");
    for (unsigned i = 0; i < l->rows->n; i++) {
        const struct mkperf_latency_row *row = &l->rows->row[i];

        if ((row->kind == MKPERF_LATENCY_CALL) != calls) {
            continue;
        }
        fprintf(out, "%10" PRIu64, row->count);
        print_times(row, out);
        if (!calls) {
            fprintf(out, " %9" PRIu64, row->busy);
        }
        who(row, out);
    }
}

static void print_by(const struct report_latency *l, const char *what, const struct mkperf_bys *b,
                     uint64_t of, FILE *out)
{
    for (unsigned i = 0; i < b->n; i++) {
        fprintf(out, "%s %s %.2f %%", i == 0 ? what : ",",
                mkperf_analysis_name(l->analysis, b->by[i].pd), mkperf_percent(b->by[i].ns, of));
    }
    if (b->n > 0) {
        fputc('\n', out);
    }
}

static void print_parts(const struct report_latency *l, FILE *out)
{
    const struct mkperf_analysis *a = l->analysis;

    if (a->nedges == 0) {
        return;
    }
    fprintf(out,
            "\n# what calls are made of, %% of their time: until the callee ran, its own running, "
            "its calls,\n# preempted, budget used up, other\n"
            "%8s %8s %8s %9s %8s %8s  from -> to\n",
            "waited", "own", "calls", "preempted", "budget", "other");
    for (unsigned i = 0; i < l->rows->n; i++) {
        const struct mkperf_call_edge *edge = l->rows->row[i].edge;

        if (edge == NULL) {
            continue;
        }
        const struct mkperf_call_parts *p = &edge->sum;
        fprintf(out, "%8.2f %8.2f %8.2f %9.2f %8.2f %8.2f", mkperf_percent(p->wait, p->wall),
                mkperf_percent(p->own, p->wall), mkperf_percent(p->nested, p->wall),
                mkperf_percent(p->preempted, p->wall), mkperf_percent(p->budget, p->wall),
                mkperf_percent(p->other, p->wall));
        who(&l->rows->row[i], out);
        print_by(l, "             calls:", &edge->nested_by, p->wall, out);
        print_by(l, "             preempted by:", &edge->preempted_by, p->wall, out);
        const struct mkperf_call_parts *w = &edge->worst;
        fprintf(out,
                "             worst, us: %.3f = waited %.3f + own %.3f + calls %.3f + preempted "
                "%.3f + budget %.3f + other %.3f\n",
                (double)w->wall / 1e3, (double)w->wait / 1e3, (double)w->own / 1e3,
                (double)w->nested / 1e3, (double)w->preempted / 1e3, (double)w->budget / 1e3,
                (double)w->other / 1e3);
    }
}

static void print_most(const struct report_latency *l, const char *what, const struct mkperf_bys *b,
                       FILE *out)
{
    const struct mkperf_by *most = mkperf_bys_most(b);

    if (most != NULL) {
        fprintf(out, "  %s %s", what, mkperf_analysis_name(l->analysis, most->pd));
    }
}

static void print_budget(const struct mkperf_sched_pd *p, uint64_t span, FILE *out)
{
    const struct mkperf_scheduling *s = &p->scheduling;

    if (s->known && s->budget_us < s->period_us) {
        double share = (double)s->budget_us / (double)s->period_us;

        fprintf(out,
                "  budget %" PRIu64 " of %" PRIu64
                " us (%.2f %%), consumed %.2f %%, head room %.2f %%",
                s->budget_us, s->period_us, 100 * share, mkperf_percent(p->consumed, span),
                100 * share - mkperf_percent(p->consumed, span));
    }
    if (p->exhausted != 0) {
        fprintf(out, "  used up %" PRIu64 " times", p->exhausted);
    }
}

static void print_pds(const struct report_latency *l, FILE *out)
{
    const struct mkperf_analysis *a = l->analysis;
    uint64_t span = a->last_ns - a->first_ns;

    fprintf(out,
            "\n# PDs, %% of one core's time\n%8s %8s %8s %8s %9s %8s %8s %9s %10s  PD (priority)\n",
            "running", "ready", "in calls", "waiting", "throttled", "stopped", "unknown", "runs",
            "preempted");
    for (uint32_t i = 0; i < a->npds; i++) {
        const struct mkperf_sched_pd *p = &a->pd[i];

        if (p->idle || p->name == NULL || p->in[MKPERF_PD_UNKNOWN] == span) {
            continue; /* none of its events is there */
        }
        fprintf(out, "%8.2f %8.2f %8.2f %8.2f %9.2f %8.2f %8.2f %9" PRIu64 " %10" PRIu64 "  %s",
                mkperf_percent(p->in[MKPERF_PD_RUNNING], span),
                mkperf_percent(p->in[MKPERF_PD_READY], span),
                mkperf_percent(p->in[MKPERF_PD_CALLING], span),
                mkperf_percent(p->in[MKPERF_PD_WAITING], span),
                mkperf_percent(p->in[MKPERF_PD_THROTTLED], span),
                mkperf_percent(p->in[MKPERF_PD_STOPPED], span),
                mkperf_percent(p->in[MKPERF_PD_UNKNOWN], span), p->runs, p->preemptions, p->name);
        if (p->scheduling.known) {
            fprintf(out, " (%" PRIu32 "%s)", p->scheduling.priority,
                    p->scheduling.passive ? ", passive" : "");
        }
        print_most(l, "ready: mostly behind", &p->ready_by, out);
        print_most(l, "calls: mostly", &p->blocked_on, out);
        print_budget(p, span, out);
        fputc('\n', out);
    }
}

/* What a target counted. */
static void print_runs(const struct mkperf_latency_rows *rows, FILE *out)
{
    if (rows->nruns == 0) {
        return;
    }
    fprintf(out, "\n# PDs, %% of one core's time\n%8s %9s  PD\n", "running", "runs");
    for (unsigned i = 0; i < rows->nruns; i++) {
        fprintf(out, "%8.2f %9" PRIu64 "  %s\n",
                rows->seconds > 0 ? (double)rows->run[i].ns / rows->seconds / 1e7 : 0,
                rows->run[i].runs, rows->run[i].pd);
    }
}

static void print_cores(const struct mkperf_analysis *a, FILE *out)
{
    uint64_t span = a->last_ns - a->first_ns;

    fprintf(out, "\n# cores, %% of each core's time\n%8s %8s %8s  core\n", "busy", "idle",
            "unknown");
    for (uint32_t i = 0; i < a->ncores; i++) {
        const struct mkperf_sched_core *c = &a->core[i];

        if (c->seen) {
            fprintf(out, "%8.2f %8.2f %8.2f  %" PRIu32 "\n", mkperf_percent(c->busy, span),
                    mkperf_percent(c->idle, span), mkperf_percent(c->unknown, span), i);
        }
    }
}

static void print_inversions(const struct mkperf_analysis *a, FILE *out)
{
    if (a->ninversions == 0) {
        return;
    }
    fprintf(out, "\n# priority inversions, us\n%10s %14s %14s  %s\n", "count", "total", "worst",
            "what");
    for (unsigned i = 0; i < a->ninversions; i++) {
        const struct mkperf_inversion *v = &a->inversion[i];

        fprintf(out, "%10" PRIu64, v->count);
        us(v->total, out);
        us(v->worst, out);
        fprintf(out, "  %s waited for %s while %s ran; the longest from %.6f to %.6f s\n",
                mkperf_analysis_name(a, v->high), mkperf_analysis_name(a, v->holder),
                mkperf_analysis_name(a, v->runner), (double)v->worst_from / 1e9,
                (double)(v->worst_from + v->worst) / 1e9);
    }
}

static void print_missing(const struct mkperf_analysis *a, FILE *out)
{
    if (a->gaps != 0) {
        fprintf(out, "# gaps        %" PRIu64 ", %.6f s: no statistic includes them\n", a->gaps,
                (double)a->gap_ns / 1e9);
    }
    mkperf_figures_print(MKPERF_FIGURE_HEAD, MKPERF_SECTION_SECOND, MKPERF_SECTION_THIRD,
                         &a->totals, out);
    if (a->late_events != 0) {
        fprintf(out, "# disorder    %" PRIu64 " events of a core came too late to be in order\n",
                a->late_events);
    }
    if (a->calls_void != 0 || a->calls_open != 0) {
        fprintf(out,
                "# calls       %" PRIu64 " of which a part is not known, %" PRIu64
                " without a reply at the end: not included\n",
                a->calls_void, a->calls_open);
    }
}

void report_latency_print(const struct report_latency *l, FILE *out)
{
    const struct mkperf_analysis *a = l->analysis;

    fprintf(out, "# %s: ", l->title);
    if (a != NULL) {
        fprintf(out, "%" PRIu64 " scheduling events in %.6f s\n", a->events, l->rows->seconds);
        print_missing(a, out);
    } else {
        fprintf(out, "latencies of %.6f s\n", l->rows->seconds);
    }
    if (l->rows->dropped != 0) {
        fprintf(out, "# WARNING: %" PRIu64 " latencies are in no line: the target had no room\n",
                l->rows->dropped);
    }
    if (l->rows->n == 0) {
        fprintf(out, "# no calls and no wake-ups\n");
    }
    print_latencies(l, true, out);
    if (a != NULL) {
        print_parts(l, out);
    }
    print_latencies(l, false, out);
    if (a != NULL) {
        print_inversions(a, out);
        print_pds(l, out);
        print_cores(a, out);
    } else {
        print_runs(l->rows, out);
    }
}
