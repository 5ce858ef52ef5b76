/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latencies, critical paths and end-to-end paths, as tables and as values for programs; see report.h. Times in tables are
 * microseconds with three decimals.
 */
#include "report.h"

#include "export/formats.h"

char *report_pair(const struct mkperf_latency_row *row, const char *before_exit)
{
    bool is_exit = row->kind == MKPERF_LATENCY_EXIT;
    char exit[64];

    return row->kind == MKPERF_LATENCY_IRQ
               ? mkperf_xprintf("irq %" PRIu32 " -> %s", row->irq, row->to)
               : mkperf_xprintf("%s -> %s%s%s", row->from, row->to, is_exit ? before_exit : "",
                                is_exit ? mkperf_exit_name(row->irq, exit) : "");
}

static void print_pair(const struct mkperf_latency_row *row, FILE *out)
{
    char *pair = report_pair(row, ": ");

    fprintf(out, "  %s\n", pair);
    free(pair);
}

/* The tables of latencies. The last one has two kinds of rows. */
static const struct latencies {
    unsigned kinds; /* a set */
    bool busy;      /* rows of this kind count events that woke no PD */
    const char *title;
} calls = {1U << MKPERF_LATENCY_CALL, false, "protected calls: from the call to its reply"},
  exits = {1U << MKPERF_LATENCY_EXIT, false,
           "exits of guests: from the exit until the guest runs again"},
  wake_ups = {1U << MKPERF_LATENCY_NOTIFY | 1U << MKPERF_LATENCY_IRQ, true,
              "wake-ups: from the notification or interrupt until its PD runs"};

static const char times_titles[] = "     count           mean           50 %           90 %"
                                   "           99 %         99.9 %          worst    worst at, s";
static const unsigned per_mille[] = {500, 900, 990, 999};
enum { QUANTILES = sizeof per_mille / sizeof *per_mille };

/* Prints the quantiles and the worst time. */
static void print_quantiles(const struct mkperf_log_histogram *h, FILE *out)
{
    for (unsigned k = 0; k < QUANTILES; k++) {
        fprintf(out, " %14.3f", (double)mkperf_log_quantile(h, per_mille[k]) / 1e3);
    }
    fprintf(out, " %14.3f", (double)h->max / 1e3);
}

/* Prints the columns of times_titles. at: when the worst time ended. */
static void print_times(const struct mkperf_log_histogram *h, uint64_t at, FILE *out)
{
    fprintf(out, "%10" PRIu64, h->count);
    for (unsigned k = 0; k < QUANTILES + 3 && h->count == 0; k++) { /* none woke its PD */
        fprintf(out, " %14s", "-");
    }
    if (h->count != 0) {
        uint64_t mean = h->total / h->count;
        fprintf(out, " %14.3f", (double)mean / 1e3);
        print_quantiles(h, out);
        fprintf(out, " %14.6f", (double)at / 1e9);
    }
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
            fprintf(out, "\n# %s, us\n%s%s  from -> to\n", t->title, times_titles,
                    t->busy ? "      busy" : "");
            any = true;
        }
        print_times(row->of, row->max_at, out);
        if (t->busy) {
            fprintf(out, " %9" PRIu64, row->busy);
        }
        print_pair(row, out);
    }
}

/* Prints the PDs of `b` behind `what`, in one line: their parts in per cent of `of` ns, or if that is 0, their times. */
static void print_bys(const struct mkperf_analysis *a, const char *what, const struct mkperf_bys *b,
                      uint64_t of, FILE *out)
{
    for (unsigned i = 0; i < b->n; i++) {
        bool unknown = of == 0 && b->by[i].pd == MKPERF_SCHED_NOBODY;

        fprintf(out, of != 0 ? "%s %s %.2f %%" : "%s %s %.3f us", i == 0 ? what : ",",
                unknown ? "not known" : mkperf_analysis_name(a, b->by[i].pd),
                of != 0 ? mkperf_percent(b->by[i].ns, of) : (double)b->by[i].ns / 1e3);
    }
    fputs(b->n > 0 ? "\n" : "", out);
}

static void print_parts(const struct report_latency *l, FILE *out)
{
    const struct mkperf_analysis *a = l->analysis;

    if (a == NULL || a->nedges == 0) {
        return;
    }
    fputs("\n# what calls and exits are made of, % of their time: until the callee ran, its own "
          "running, its calls,\n# preempted, budget used up, other\n"
          "  waited      own    calls preempted   budget    other  from -> to\n",
          out);
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
        print_bys(a, "             calls:", &edge->nested_by, p->wall, out);
        print_bys(a, "             preempted by:", &edge->preempted_by, p->wall, out);
        const struct mkperf_call_parts *w = &edge->worst;
        fprintf(out,
                "             worst, us: %.3f = waited %.3f + own %.3f + calls %.3f + preempted "
                "%.3f + budget %.3f + other %.3f\n",
                (double)w->wall / 1e3, (double)w->wait / 1e3, (double)w->own / 1e3,
                (double)w->nested / 1e3, (double)w->preempted / 1e3, (double)w->budget / 1e3,
                (double)w->other / 1e3);
    }
}

static void print_most(const struct mkperf_analysis *a, const char *what,
                       const struct mkperf_bys *b, FILE *out)
{
    const struct mkperf_by *most = mkperf_bys_most(b);

    if (most != NULL) {
        fprintf(out, "  %s %s", what, mkperf_analysis_name(a, most->pd));
    }
}

static void print_pds(const struct mkperf_analysis *a, FILE *out)
{
    uint64_t span = a->last_ns - a->first_ns;

    fputs("\n# PDs, % of one core's time\n running    ready in calls  waiting throttled  stopped  "
          "unknown      runs  preempted  PD (priority)\n",
          out);
    for (uint32_t i = 0; i < a->npds; i++) {
        const struct mkperf_sched_pd *p = &a->pd[i];
        const struct mkperf_scheduling *s = &p->scheduling;

        if (p->idle || p->name == NULL || p->in[MKPERF_PD_UNKNOWN] == span) {
            continue; /* none of its events is there */
        }
        for (unsigned k = 1; k <= MKPERF_PD_STATES; k++) {
            unsigned state = k % MKPERF_PD_STATES; /* unknown is the first state, the last column */
            fprintf(out, "%*.2f ", state == MKPERF_PD_THROTTLED ? 9 : 8,
                    mkperf_percent(p->in[state], span));
        }
        fprintf(out, "%9" PRIu64 " %10" PRIu64 "  %s", p->runs, p->preemptions, p->name);
        if (s->known) {
            fprintf(out, " (%" PRIu32 "%s)", s->priority, s->passive ? ", passive" : "");
        }
        print_most(a, "ready: mostly behind", &p->ready_by, out);
        print_most(a, "calls: mostly", &p->blocked_on, out);
        if (mkperf_is_limited(s)) {
            double share = (double)s->budget_us / (double)s->period_us;
            fprintf(out,
                    "  budget %" PRIu64 " of %" PRIu64
                    " us (%.2f %%), consumed %.2f %%, head room %.2f %%",
                    s->budget_us, s->period_us, 100 * share, mkperf_percent(p->consumed, span),
                    100 * share - mkperf_percent(p->consumed, span));
        }
        if (p->exhausted != 0) {
            fprintf(out, "  used up %" PRIu64 " time%s", p->exhausted, mkperf_plural(p->exhausted));
        }
        fputc('\n', out);
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
        fprintf(out, "%" PRIu64 " scheduling event%s in %.6f s\n", a->events,
                mkperf_plural(a->events), l->rows->seconds);
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
    print_parts(l, out);
    print_latencies(l, &wake_ups, out);
    if (a != NULL) {
        for (unsigned i = 0; i < a->ninversions; i++) {
            const struct mkperf_inversion *v = &a->inversion[i];

            fprintf(
                out,
                "%s%10" PRIu64 " %14.3f %14.3f  %s waited for %s while %s ran; the longest from "
                "%.6f to %.6f s\n",
                i == 0 ? "\n# priority inversions, us\n     count          total          worst  "
                         "what\n"
                       : "",
                v->count, (double)v->total / 1e3, (double)v->worst / 1e3,
                mkperf_analysis_name(a, v->high), mkperf_analysis_name(a, v->holder),
                mkperf_analysis_name(a, v->runner), (double)v->worst_from / 1e9,
                (double)(v->worst_from + v->worst) / 1e9);
        }
        print_pds(a, out);
        uint64_t span = a->last_ns - a->first_ns;
        fputs("\n# cores, % of each core's time\n    busy     idle  unknown  core\n", out);
        for (uint32_t i = 0; i < a->ncores; i++) {
            const struct mkperf_sched_core *c = &a->core[i];
            if (c->seen) {
                fprintf(out, "%8.2f %8.2f %8.2f  %" PRIu32 "\n", mkperf_percent(c->busy, span),
                        mkperf_percent(c->idle, span), mkperf_percent(c->unknown, span), i);
            }
        }
    } else if (l->rows->nruns != 0) { /* the target counted them */
        fputs("\n# PDs, % of one core's time\n running      runs  PD\n", out);
        for (unsigned i = 0; i < l->rows->nruns; i++) {
            const struct mkperf_latency_run *run = &l->rows->run[i];
            fprintf(out, "%8.2f %9" PRIu64 "  %s\n",
                    mkperf_per((double)run->ns / 1e7, l->rows->seconds), run->runs, run->pd);
        }
    }
}

/* Returns the event by which the PD of a step was woken by that of the step before; "": both are the same PD. */
static const char *entered_by(const struct mkperf_path_step *s)
{
    return s->entered != MKPERF_SCHED_SWITCH ? mkperf_sched_kind_names[s->entered] : "";
}

void report_path_text(const struct mkperf_analysis *a, const struct mkperf_path_step *step,
                      char *text, size_t n)
{
    static const char *const states[MKPERF_PD_STATES] = {
        [MKPERF_PD_UNKNOWN] = "not known: no events of %s",
        [MKPERF_PD_RUNNING] = "%s runs",
        [MKPERF_PD_READY] = "%s is ready",
        [MKPERF_PD_CALLING] = "%s waits for its call",
        [MKPERF_PD_WAITING] = "%s waits",
        [MKPERF_PD_THROTTLED] = "%s has used up its budget",
        [MKPERF_PD_STOPPED] = "%s is stopped",
    };
    const struct mkperf_interval *i = &step->what;
    bool by = i->by < a->npds, idle = by && a->pd[i->by].idle;

    snprintf(text, n, states[i->state], mkperf_analysis_name(a, i->pd));
    size_t used = strlen(text);
    text += used;
    n -= used;
    if (i->state == MKPERF_PD_RUNNING && i->serving != MKPERF_SCHED_NOBODY) {
        snprintf(text, n, ", for %s", mkperf_analysis_name(a, i->serving));
    } else if (i->state == MKPERF_PD_READY && by) {
        snprintf(text, n, idle ? ", its core still idle" : ", %s runs",
                 mkperf_analysis_name(a, i->by));
    } else if (i->state == MKPERF_PD_CALLING && by && !idle) {
        snprintf(text, n, " of %s", mkperf_analysis_name(a, i->by));
    } else if (i->state == MKPERF_PD_WAITING && step->irq_known) {
        snprintf(text, n, " for interrupt %" PRIu32, step->irq);
    }
}

size_t report_path_sums(const struct mkperf_path *path, struct report_path_sum **sums)
{
    struct report_path_sum *sum = mkperf_xcalloc(path->n, sizeof *sum);
    struct mkperf_hash keys = {.count = 0};

    for (size_t i = 0; i < path->n; i++) {
        const struct mkperf_path_step *s = &path->step[i];
        const struct mkperf_interval *w = &s->what;
        const uint64_t key[] = {w->pd, w->state, w->by, w->serving, s->irq_known, s->irq};
        uint32_t k = mkperf_hash_number(&keys, key, sizeof key / sizeof *key);

        if (sum[k].times++ == 0) {
            sum[k].first = i;
        }
        sum[k].ns += w->to - w->from;
    }
    size_t n = keys.count;
    mkperf_hash_free(&keys);
    MKPERF_SORT(sum, n, MKPERF_DOWN(sum, ns), MKPERF_UP(sum, first));
    *sums = sum;
    return n;
}

void report_path_print(const struct mkperf_analysis *a, const struct mkperf_path *path,
                       const char *title, FILE *out)
{
    uint64_t ns = path->to - path->from;
    char text[256];

    fprintf(out, "# critical path of %s\n# %.3f us, from %.9f to %.9f s: %zu steps\n", title,
            (double)ns / 1e3, (double)path->from / 1e9, (double)path->to / 1e9, path->n);
    struct report_path_sum *sum;
    size_t n = report_path_sums(path, &sum);
    fputs("\n            us        %    times  what\n", out);
    for (size_t k = 0; k < n; k++) {
        report_path_text(a, &path->step[sum[k].first], text, sizeof text);
        fprintf(out, "%14.3f %8.2f %8" PRIu64 "  %s\n", (double)sum[k].ns / 1e3,
                mkperf_percent(sum[k].ns, ns), sum[k].times, text);
    }
    free(sum);
    fputs("\n     after, us             us       by  what\n", out);
    for (size_t i = 0; i < path->n; i++) {
        const struct mkperf_path_step *s = &path->step[i];

        report_path_text(a, s, text, sizeof text);
        fprintf(out, "%14.3f %14.3f %8s  %s\n", (double)(s->what.from - path->from) / 1e3,
                (double)(s->what.to - s->what.from) / 1e3, entered_by(s), text);
    }
}

/*
 * Latencies and critical paths as values for programs, see report.h: one row per line, as JSON or with a separator. Only
 * JSON contains the names of values, so the order of the values of each kind is fixed.
 */

/* Ends the row of a pair: with the reason of a guest's exit, or "". */
static void end_row(struct mkperf_textout *v, const char *exit)
{
    mkperf_json_known(v, "exit", exit);
    mkperf_json(v, "}\n");
}

static void put_times(struct mkperf_textout *v, const struct mkperf_log_histogram *h, uint64_t at)
{
    mkperf_json(v,
                ",'count':%" PRIu64 ",'total_ns':%" PRIu64 ",'p50_ns':%" PRIu64 ",'p90_ns':%" PRIu64
                ",'p99_ns':%" PRIu64 ",'p999_ns':%" PRIu64 ",'max_ns':%" PRIu64
                ",'max_at_ns':%" PRIu64,
                h->count, h->total, mkperf_log_quantile(h, 500), mkperf_log_quantile(h, 900),
                mkperf_log_quantile(h, 990), mkperf_log_quantile(h, 999), h->max, at);
}

static void put_by_row(struct mkperf_textout *v, const struct mkperf_analysis *a, const char *kind,
                       const char *from, const char *to, const char *exit,
                       const struct mkperf_bys *b)
{
    for (unsigned i = 0; i < b->n; i++) {
        mkperf_json(v, "{'type':%s,'from':%s,'to':%s,'by':%s,'ns':%" PRIu64, kind, from, to,
                    mkperf_analysis_name(a, b->by[i].pd), b->by[i].ns);
        end_row(v, exit);
    }
}

static void put_parts(struct mkperf_textout *v, const char *kind,
                      const struct mkperf_latency_row *r, const char *exit,
                      const struct mkperf_call_parts *p)
{
    mkperf_json(v,
                "{'type':%s,'from':%s,'to':%s,'wall_ns':%" PRIu64 ",'wait_ns':%" PRIu64
                ",'own_ns':%" PRIu64 ",'nested_ns':%" PRIu64 ",'preempted_ns':%" PRIu64
                ",'budget_ns':%" PRIu64 ",'other_ns':%" PRIu64,
                kind, r->from, r->to, p->wall, p->wait, p->own, p->nested, p->preempted, p->budget,
                p->other);
    end_row(v, exit);
}

static void put_analysis(struct mkperf_textout *v, const struct mkperf_analysis *a)
{
    for (unsigned i = 0; i < a->ninversions; i++) {
        const struct mkperf_inversion *x = &a->inversion[i];

        mkperf_json(v,
                    "{'type':'inversion','high':%s,'holder':%s,'runner':%s,'count':%" PRIu64
                    ",'total_ns':%" PRIu64 ",'max_ns':%" PRIu64 ",'max_from_ns':%" PRIu64 "}\n",
                    mkperf_analysis_name(a, x->high), mkperf_analysis_name(a, x->holder),
                    mkperf_analysis_name(a, x->runner), x->count, x->total, x->worst,
                    x->worst_from);
    }
    for (uint32_t i = 0; i < a->npds; i++) {
        if (!a->pd[i].idle && a->pd[i].name != NULL) {
            const struct mkperf_sched_pd *p = &a->pd[i];
            const struct mkperf_scheduling *s = &p->scheduling;
            mkperf_json(v,
                        "{'type':'pd','pd':%s,'priority':%u,'unknown_ns':%" PRIu64
                        ",'running_ns':%" PRIu64 ",'ready_ns':%" PRIu64 ",'calling_ns':%" PRIu64
                        ",'waiting_ns':%" PRIu64 ",'throttled_ns':%" PRIu64 ",'stopped_ns':%" PRIu64
                        ",'runs':%" PRIu64 ",'preempted':%" PRIu64 ",'exhausted':%" PRIu64
                        ",'budget_us':%" PRIu64 ",'period_us':%" PRIu64 ",'consumed_ns':%" PRIu64
                        "}\n",
                        p->name, s->priority, p->in[MKPERF_PD_UNKNOWN], p->in[MKPERF_PD_RUNNING],
                        p->in[MKPERF_PD_READY], p->in[MKPERF_PD_CALLING], p->in[MKPERF_PD_WAITING],
                        p->in[MKPERF_PD_THROTTLED], p->in[MKPERF_PD_STOPPED], p->runs,
                        p->preemptions, p->exhausted, s->budget_us, s->period_us, p->consumed);
            put_by_row(v, a, "ready", p->name, "", "", &p->ready_by);
            put_by_row(v, a, "blocked", p->name, "", "", &p->blocked_on);
        }
    }
    for (uint32_t i = 0; i < a->ncores; i++) {
        if (a->core[i].seen) {
            mkperf_json(v,
                        "{'type':'core','core':%u,'busy_ns':%" PRIu64 ",'idle_ns':%" PRIu64
                        ",'unknown_ns':%" PRIu64 "}\n",
                        i, a->core[i].busy, a->core[i].idle, a->core[i].unknown);
        }
    }
    mkperf_json(v,
                "{'type':'total','first_ns':%" PRIu64 ",'last_ns':%" PRIu64 ",'events':%" PRIu64
                ",'switches':%" PRIu64 ",'gaps':%" PRIu64 ",'gap_ns':%" PRIu64
                ",'calls_void':%" PRIu64 ",'calls_open':%" PRIu64 "}\n",
                a->first_ns, a->last_ns, a->events, a->switches, a->gaps, a->gap_ns, a->calls_void,
                a->calls_open);
}

void report_gap_values(const struct mkperf_analysis *a, struct mkperf_textout *v)
{
    char text[MKPERF_FIRST_TEXT];

    for (unsigned i = 0; i < MKPERF_FIRSTS && v->separator == NULL; i++) {
        if (mkperf_first((enum mkperf_first)i, &a->totals, text)) {
            mkperf_jsonl_warning(v, MKPERF_ERROR, text);
        }
    }
    if (a->gaps != 0 && v->separator == NULL) {
        snprintf(text, sizeof text,
                 "scheduling events are missing for %.6f s: it is not known what ran then",
                 (double)a->gap_ns / 1e9);
        mkperf_jsonl_warning(v, MKPERF_WARNING, text);
    }
}

void report_latency_values(const struct report_latency *l, struct mkperf_textout *v)
{
    if (l->analysis != NULL) {
        report_gap_values(l->analysis, v);
    }
    for (unsigned i = 0; i < l->rows->n; i++) {
        const struct mkperf_latency_row *r = &l->rows->row[i];
        bool is_exit = r->kind == MKPERF_LATENCY_EXIT;
        char text[64] = "";
        const char *exit = is_exit ? mkperf_exit_name(r->irq, text) : text;

        mkperf_json(v, "{'type':%s,'from':%s,'to':%s,'irq':%" PRIu32,
                    mkperf_latency_kind_names[r->kind], r->from, r->to, is_exit ? 0 : r->irq);
        put_times(v, r->of, r->max_at);
        mkperf_json(v, ",'busy':%" PRIu64, r->busy);
        end_row(v, exit);
        for (uint32_t k = 0; k < r->of->room; k++) {
            if (r->of->in[k] != 0) {
                mkperf_json(v,
                            "{'type':'bucket','of':%s,'from':%s,'to':%s,'irq':%u"
                            ",'below_ns':%" PRIu64 ",'count':%" PRIu64,
                            mkperf_latency_kind_names[r->kind], r->from, r->to, r->irq,
                            mkperf_log_bucket_from(k + 1), r->of->in[k]);
                end_row(v, exit);
            }
        }
        if (r->edge != NULL) {
            put_parts(v, "parts", r, exit, &r->edge->sum);
            put_parts(v, "worst", r, exit, &r->edge->worst);
            put_by_row(v, l->analysis, "nested", r->from, r->to, exit, &r->edge->nested_by);
            put_by_row(v, l->analysis, "preempted", r->from, r->to, exit, &r->edge->preempted_by);
        }
    }
    if (l->analysis != NULL) {
        put_analysis(v, l->analysis);
    } else {
        for (unsigned i = 0; i < l->rows->nruns; i++) {
            mkperf_json(v, "{'type':'run','pd':%s,'running_ns':%" PRIu64 ",'runs':%" PRIu64 "}\n",
                        l->rows->run[i].pd, l->rows->run[i].ns, l->rows->run[i].runs);
        }
        mkperf_json(v, "{'type':'total','enabled_ns':%" PRIu64 ",'dropped':%" PRIu64 "}\n",
                    (uint64_t)(l->rows->seconds * 1e9 + 0.5), l->rows->dropped);
    }
}

static const char *name_or_none(const struct mkperf_analysis *a, uint32_t pd)
{
    return pd == MKPERF_SCHED_NOBODY ? "" : mkperf_analysis_name(a, pd);
}

void report_path_values(const struct mkperf_analysis *a, const struct mkperf_path *path,
                        struct mkperf_textout *v)
{
    mkperf_json(v,
                "{'type':'path','from_ns':%" PRIu64 ",'to_ns':%" PRIu64 ",'steps':%" PRIu64 "}\n",
                path->from, path->to, path->n);
    for (size_t i = 0; i < path->n; i++) {
        const struct mkperf_path_step *s = &path->step[i];
        const struct mkperf_interval *what = &s->what;

        mkperf_json(v,
                    "{'type':'step','from_ns':%" PRIu64 ",'to_ns':%" PRIu64 ",'pd':%s,'state':%s"
                    ",'by':%s,'serving':%s,'entered':%s,'irq':%u}\n",
                    what->from, what->to, mkperf_analysis_name(a, what->pd),
                    mkperf_pd_state_names[what->state], name_or_none(a, what->by),
                    name_or_none(a, what->serving), entered_by(s), s->irq);
    }
}

/* ---- end-to-end paths ---- */

enum { ROUTE_TEXT = 1200 };

static uint64_t worst_end(const struct mkperf_route_times *t)
{
    return t->wall.count != 0 ? t->instance[0].from + t->instance[0].ns : 0;
}

void report_route_line(const struct report_route *r, FILE *out)
{
    char text[ROUTE_TEXT];

    if (r == NULL) {
        fprintf(out, "%s  path\n", times_titles);
        return;
    }
    mkperf_route_text(r->routes->analysis, &r->times->route, text, sizeof text);
    print_times(&r->times->wall, worst_end(r->times), out);
    fprintf(out, "  %s\n", text);
}

static void print_part(const struct mkperf_log_histogram *h, unsigned k, const char *pd,
                       const char *what, const char *name, FILE *out)
{
    fprintf(out, "%14.3f", (double)h->total / (double)h->count / 1e3);
    print_quantiles(h, out);
    fprintf(out, "  %u %s: %s%s\n", k, pd, what, name);
}

/* Returns the next queue from number i on by which stage k gets entries of the PD before; nqueues: there is none. */
static unsigned next_queue(const struct report_route *r, unsigned k, unsigned i)
{
    const struct mkperf_flow *f = r->flow;
    const uint32_t *pd = r->times->route.pd;

    while (i < f->nqueues && (f->queue[i].producer != pd[k - 1] || f->queue[i].consumer != pd[k] ||
                              f->queue[i].about.returns || f->queue[i].stay.count == 0)) {
        i++;
    }
    return i;
}

/* Finds the critical path of an instance. */
static void find_path(const struct report_route *r, size_t i, struct mkperf_path *path)
{
    const struct mkperf_route_times *t = r->times;

    mkperf_path_find(path, &r->routes->timeline, t->route.pd[t->route.n - 1], t->instance[i].from,
                     t->instance[i].from + t->instance[i].ns);
}

void report_route_print(const struct report_route *r, FILE *out)
{
    const struct mkperf_analysis *a = r->routes->analysis;
    const struct mkperf_route_times *t = r->times;
    char text[ROUTE_TEXT], title[ROUTE_TEXT + 80];

    mkperf_route_text(a, &t->route, text, sizeof text);
    fprintf(out, "# end to end, until %s replies or waits again, us\n",
            mkperf_analysis_name(a, t->route.pd[t->route.n - 1]));
    if (t->open != 0 || t->gaps != 0) {
        fprintf(out,
                "# %" PRIu64 " that lasted at the end, and %" PRIu64
                " in which events are missing, are in no time\n",
                t->open, t->gaps);
    }
    report_route_line(NULL, out);
    report_route_line(r, out);
    fputs("\n# parts of each stage, us\n          mean           50 %           90 %           99 %"
          "         99.9 %          worst  stage: part\n",
          out);
    for (unsigned k = 1; k < t->route.n; k++) {
        const struct mkperf_stage *s = &t->stage[k];
        const char *pd = mkperf_analysis_name(a, t->route.pd[k]);

        for (unsigned p = 0; p < MKPERF_STAGE_PARTS; p++) {
            if (s->part[p].total != 0) {
                print_part(&s->part[p], k, pd, mkperf_stage_part_names[p], "", out);
            }
        }
        for (unsigned i = next_queue(r, k, 0); i < r->flow->nqueues; i = next_queue(r, k, i + 1)) {
            const struct mkperf_flow_queue *q = &r->flow->queue[i];
            print_part(&q->stay, k, pd, "an entry was in the queue ", q->about.name, out);
        }
        print_bys(a, "             ready, while others ran:", &s->ready_by, 0, out);
        print_bys(a, "             calls:", &s->calls_of, 0, out);
        if (s->busy != 0) {
            fprintf(out, "             %" PRIu64 " found it at work\n", s->busy);
        }
        if (s->ended != 0) {
            fprintf(out, "             %" PRIu64 " ended here: they are in no time\n", s->ended);
        }
    }
    for (size_t i = 0; i < r->worst && i < t->wall.count; i++) {
        struct mkperf_path path;

        snprintf(title, sizeof title, "%s, number %zu of %" PRIu64 ", longest first", text, i + 1,
                 t->wall.count);
        fputc('\n', out);
        find_path(r, i, &path);
        report_path_print(a, &path, title, out);
        mkperf_path_free(&path);
    }
}

static void put_route_by(const struct mkperf_analysis *a, struct mkperf_textout *v, unsigned k,
                         const char *pd, const char *what, const struct mkperf_bys *b)
{
    for (unsigned i = 0; i < b->n; i++) {
        mkperf_json(v,
                    "{'type':'path-stage-by','stage':%u,'pd':%s,'what':%s,'by':%s"
                    ",'ns':%" PRIu64 "}\n",
                    k, pd, what, mkperf_analysis_name(a, b->by[i].pd), b->by[i].ns);
    }
}

void report_route_values(const struct report_route *r, struct mkperf_textout *v)
{
    const struct mkperf_analysis *a = r->routes->analysis;
    const struct mkperf_route_times *t = r->times;
    char text[ROUTE_TEXT];

    mkperf_route_text(a, &t->route, text, sizeof text);
    mkperf_json(v, "{'type':'end-to-end','path':%s", text);
    put_times(v, &t->wall, worst_end(t));
    mkperf_json(v, ",'open':%" PRIu64 ",'gaps':%" PRIu64 "}\n", t->open, t->gaps);
    for (unsigned k = 1; k < t->route.n; k++) {
        const struct mkperf_stage *s = &t->stage[k];
        const char *pd = mkperf_analysis_name(a, t->route.pd[k]);

        for (unsigned p = 0; p < MKPERF_STAGE_PARTS; p++) {
            mkperf_json(v, "{'type':'path-stage','stage':%u,'pd':%s,'part':%s", k, pd,
                        mkperf_stage_part_names[p]);
            put_times(v, &s->part[p], 0);
            mkperf_json(v, ",'busy':%" PRIu64 ",'ended':%" PRIu64 "}\n", s->busy, s->ended);
        }
        for (unsigned i = next_queue(r, k, 0); i < r->flow->nqueues; i = next_queue(r, k, i + 1)) {
            mkperf_json(v, "{'type':'path-queue','stage':%u,'pd':%s,'queue':%s", k, pd,
                        r->flow->queue[i].about.name);
            put_times(v, &r->flow->queue[i].stay, 0);
            mkperf_json(v, "}\n");
        }
        put_route_by(a, v, k, pd, "ready", &s->ready_by);
        put_route_by(a, v, k, pd, "calls", &s->calls_of);
    }
    for (size_t i = 0; i < r->worst && i < t->wall.count; i++) {
        struct mkperf_path path;

        find_path(r, i, &path);
        report_path_values(a, &path, v);
        mkperf_path_free(&path);
    }
}
