/* SPDX-License-Identifier: BSD-2-Clause */
/* Latencies and critical paths as tables, see report.h. Times are microseconds with three decimals. */
#include "report.h"

#include "model/figures.h"

static void print_us(uint64_t ns, FILE *out)
{
    fprintf(out, " %10" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
}

static void print_pair(const struct mkperf_latency_row *row, FILE *out)
{
    char exit[64];

    if (row->kind == MKPERF_LATENCY_IRQ) {
        fprintf(out, "  irq %" PRIu32 " -> %s\n", row->irq, row->to);
    } else {
        fprintf(out, "  %s -> %s%s%s\n", row->from, row->to,
                row->kind == MKPERF_LATENCY_EXIT ? ": " : "",
                row->kind == MKPERF_LATENCY_EXIT ? mkperf_exit_name(row->edge->exit, exit) : "");
    }
}

/* The tables of latencies. The last one has two kinds of rows. */
static const struct latencies {
    unsigned kinds; /* a set */
    bool busy;      /* its rows count events that woke no PD */
    const char *title;
} calls = {1U << MKPERF_LATENCY_CALL, false, "protected calls: from the call to its reply"},
  exits = {1U << MKPERF_LATENCY_EXIT, false,
           "exits of guests: from the exit until the guest runs again"},
  wake_ups = {1U << MKPERF_LATENCY_NOTIFY | 1U << MKPERF_LATENCY_IRQ, true,
              "wake-ups: from the notification or interrupt until its PD runs"};

void report_times_print(const struct mkperf_latency_row *row, FILE *out)
{
    if (row->count == 0) { /* none of them woke its PD */
        for (unsigned k = 0; k < MKPERF_QUANTILES + 3; k++) {
            fprintf(out, " %14s", "-");
        }
        return;
    }
    print_us(row->total / row->count, out);
    for (unsigned k = 0; k < MKPERF_QUANTILES; k++) {
        print_us(row->quantile[k], out);
    }
    print_us(row->max, out);
    fprintf(out, " %14.6f", (double)row->max_at / 1e9);
}

static void print_latencies(const struct report_latency *l, const struct latencies *t, FILE *out)
{
    bool any = false;

    for (unsigned i = 0; i < l->rows->n; i++) {
        const struct mkperf_latency_row *row = &l->rows->row[i];

        if ((t->kinds >> row->kind & 1) == 0) {
            continue;
        }
        if (!any) {
            fprintf(out, "\n# %s, us\n%10s %14s %14s %14s %14s %14s %14s %14s%s  %s\n", t->title,
                    "count", "mean", "50 %", "90 %", "99 %", "99.9 %", "worst", "worst at, s",
                    t->busy ? "      busy" : "", "from -> to");
            any = true;
        }
        fprintf(out, "%10" PRIu64, row->count);
        report_times_print(row, out);
        if (t->busy) {
            fprintf(out, " %9" PRIu64, row->busy);
        }
        print_pair(row, out);
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
            "\n# what calls and exits are made of, %% of their time: until the callee ran, its own "
            "running, its calls,\n# preempted, budget used up, other\n"
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
        print_pair(&l->rows->row[i], out);
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
        print_us(v->total, out);
        print_us(v->worst, out);
        fprintf(out, "  %s waited for %s while %s ran; the longest from %.6f to %.6f s\n",
                mkperf_analysis_name(a, v->high), mkperf_analysis_name(a, v->holder),
                mkperf_analysis_name(a, v->runner), (double)v->worst_from / 1e9,
                (double)(v->worst_from + v->worst) / 1e9);
    }
}

void report_latency_print(const struct report_latency *l, FILE *out)
{
    const struct mkperf_analysis *a = l->analysis;

    if (a != NULL) {
        report_first_print(&a->totals, out);
    }
    fprintf(out, "# %s: ", l->title);
    if (a != NULL) {
        fprintf(out, "%" PRIu64 " scheduling events in %.6f s\n", a->events, l->rows->seconds);
        if (a->gaps != 0) {
            fprintf(out, "# gaps        %" PRIu64 ", %.6f s: no statistic includes them\n", a->gaps,
                    (double)a->gap_ns / 1e9);
        }
        mkperf_figures_print(MKPERF_FIGURE_HEAD, MKPERF_SECTION_SECOND, MKPERF_SECTION_THIRD,
                             &a->totals, out);
        if (a->late_events != 0) {
            fprintf(out,
                    "# disorder    %" PRIu64 " events of a core arrived too late to be in order\n",
                    a->late_events);
        }
        if (a->calls_void != 0 || a->calls_open != 0) {
            fprintf(out,
                    "# calls       %" PRIu64 " of which a part is not known, %" PRIu64
                    " without a reply at the end: not included\n",
                    a->calls_void, a->calls_open);
        }
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
    print_latencies(l, &calls, out);
    print_latencies(l, &exits, out);
    if (a != NULL) {
        print_parts(l, out);
    }
    print_latencies(l, &wake_ups, out);
    if (a != NULL) {
        print_inversions(a, out);
        print_pds(l, out);
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
    } else {
        print_runs(l->rows, out);
    }
}

static const char *const entered_by[MKPERF_SCHED_KINDS] = {
    [MKPERF_SCHED_CALL] = "call",
    [MKPERF_SCHED_REPLY] = "reply",
    [MKPERF_SCHED_NOTIFY] = "notify",
    [MKPERF_SCHED_FAULT] = "fault",
};

static const char *core_runs(const struct mkperf_analysis *a, uint32_t by)
{
    return by < a->npds && !a->pd[by].idle ? mkperf_analysis_name(a, by) : NULL;
}

void report_path_text(const struct mkperf_analysis *a, const struct mkperf_path_step *step,
                      char *text, size_t n)
{
    const struct mkperf_interval *i = &step->what;
    const char *pd = mkperf_analysis_name(a, i->pd), *by = core_runs(a, i->by);

    switch (i->state) {
    case MKPERF_PD_RUNNING:
        if (i->serving != MKPERF_SCHED_NOBODY) {
            snprintf(text, n, "%s runs, for %s", pd, mkperf_analysis_name(a, i->serving));
        } else {
            snprintf(text, n, "%s runs", pd);
        }
        break;
    case MKPERF_PD_READY:
        if (i->by < a->npds && a->pd[i->by].idle) {
            snprintf(text, n, "%s is ready, its core still idle", pd);
        } else {
            snprintf(text, n, by != NULL ? "%s is ready, %s runs" : "%s is ready", pd, by);
        }
        break;
    case MKPERF_PD_CALLING:
        snprintf(text, n, by != NULL ? "%s waits for its call of %s" : "%s waits for its call", pd,
                 by);
        break;
    case MKPERF_PD_WAITING:
        if (step->irq_known) {
            snprintf(text, n, "%s waits for interrupt %" PRIu32, pd, step->irq);
        } else {
            snprintf(text, n, "%s waits", pd);
        }
        break;
    case MKPERF_PD_THROTTLED:
        snprintf(text, n, "%s has used up its budget", pd);
        break;
    case MKPERF_PD_STOPPED:
        snprintf(text, n, "%s is stopped", pd);
        break;
    default:
        snprintf(text, n, "not known: no events of %s", pd);
        break;
    }
}

/* Whether two steps belong to the same row of the sums. */
static bool is_same_row(const struct mkperf_path_step *a, const struct mkperf_path_step *b)
{
    return a->what.pd == b->what.pd && a->what.state == b->what.state && a->what.by == b->what.by &&
           a->what.serving == b->what.serving && a->irq_known == b->irq_known && a->irq == b->irq;
}

static int compare_sums(const void *pa, const void *pb)
{
    const struct report_path_sum *a = pa, *b = pb;

    return a->ns != b->ns ? mkperf_compare(b->ns, a->ns) : a->step > b->step ? 1 : -1;
}

size_t report_path_sums(const struct mkperf_path *path, struct report_path_sum **sums)
{
    struct report_path_sum *sum = NULL;
    size_t n = 0, room = 0;

    for (size_t i = 0; i < path->n; i++) {
        size_t k = 0;

        while (k < n && !is_same_row(sum[k].step, &path->step[i])) {
            k++;
        }
        if (k == n) {
            MKPERF_GROW(sum, room, n + 1);
            sum[n++] = (struct report_path_sum){.step = &path->step[i]};
        }
        sum[k].ns += path->step[i].what.to - path->step[i].what.from;
        sum[k].times++;
    }
    mkperf_sort(sum, n, sizeof *sum, compare_sums);
    *sums = sum;
    return n;
}

static void print_sums(const struct report_path *p, FILE *out)
{
    struct report_path_sum *sum;
    size_t n = report_path_sums(p->path, &sum);
    char text[256];

    fprintf(out, "\n%14s %8s %8s  what\n", "us", "%", "times");
    for (size_t k = 0; k < n; k++) {
        report_path_text(p->analysis, sum[k].step, text, sizeof text);
        fprintf(out, "%10" PRIu64 ".%03" PRIu64 " %8.2f %8" PRIu64 "  %s\n", sum[k].ns / 1000,
                sum[k].ns % 1000, mkperf_percent(sum[k].ns, p->path->to - p->path->from),
                sum[k].times, text);
    }
    free(sum);
}

void report_path_print(const struct report_path *p, FILE *out)
{
    const struct mkperf_path *path = p->path;
    uint64_t ns = path->to - path->from;
    char text[256];

    fprintf(out,
            "# critical path of %s\n"
            "# %" PRIu64 ".%03" PRIu64 " us, from %.9f to %.9f s: %zu steps\n",
            p->title, ns / 1000, ns % 1000, (double)path->from / 1e9, (double)path->to / 1e9,
            path->n);
    print_sums(p, out);
    fprintf(out, "\n%14s %14s %8s  what\n", "after, us", "us", "by");
    for (size_t i = 0; i < path->n; i++) {
        const struct mkperf_path_step *s = &path->step[i];
        uint64_t after = s->what.from - path->from, lasts = s->what.to - s->what.from;
        const char *by = entered_by[s->entered];

        report_path_text(p->analysis, s, text, sizeof text);
        fprintf(out, "%10" PRIu64 ".%03" PRIu64 " %10" PRIu64 ".%03" PRIu64 " %8s  %s\n",
                after / 1000, after % 1000, lasts / 1000, lasts % 1000, by != NULL ? by : "", text);
    }
}
