/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer of `mkperf flow` and its tables of PDs and queues, as text; `mkperf top --flow` shows the same.
 *
 * Owns: the columns and their order. flow/flow.h describes the figures and what may be wrong with them. A column is a word of
 * report_flow_columns, a format, and a value of stage_values or queue_values, all with the same number. Called by cmd/cmd_flow.c and
 * cmd/cmd_top.c.
 */

#include "report.h"

static void print_queue_near(const struct mkperf_flow *f, int queue, const char *where, FILE *to)
{
    if (queue >= 0) {
        const struct mkperf_flow_queue *q = &f->queue[queue];
        fprintf(to,
                "  queue %s %s: full %.1f %%, empty %.1f %% of the time; %.1f of %" PRIu64
                " entries on average\n",
                q->about.name, where, mkperf_percent(q->full_ns, q->known_ns),
                mkperf_percent(q->empty_ns, q->known_ns), mkperf_per(q->area, (double)q->known_ns),
                q->about.capacity);
    }
}

/* A cause that is not the answer, with the figure that shows it. */
static void rule_out(const struct mkperf_flow_limit *l, enum mkperf_flow_cause cause,
                     const char *text, double share, FILE *to)
{
    if (l->cause != cause) {
        fprintf(to, "  %-9s %s %.1f %% of the time\n", mkperf_flow_cause_names[cause], text,
                100 * share);
    }
}

void report_flow_answer(const struct mkperf_flow *f, const struct mkperf_flow_limit *l, FILE *to)
{
    report_first_print(&f->analysis->totals, to);
    mkperf_flow_sentence(f, l, to);
    fprintf(to, l->cause == MKPERF_FLOW_UNDECIDED ? ".\n\n" : ".\n");
    if (l->cause == MKPERF_FLOW_UNDECIDED) {
        return;
    }
    const struct mkperf_flow_stage *s = &f->stage[l->stage];
    fprintf(to, "%s: %.0f packets/s +- %.0f (95 %%)", s->name, l->rate, l->error);
    if (l->next >= 0 && l->next_share > 0 && l->cause != MKPERF_FLOW_LOAD) {
        fprintf(to, "; without this limit at most %.2f times as many, then %s limits.\n",
                1 / l->next_share, f->stage[l->next].name);
    } else if (l->share > 0) {
        fprintf(to, "; %s can do about %.2f times as many.\n", s->name, 1 / l->share);
    }
    fprintf(to, "Since %.6f s, until %.6f s; of %.6f s to %.6f s.\n\nEvidence\n",
            (double)l->from / 1e9, (double)l->to / 1e9, (double)f->first_ns / 1e9,
            (double)f->last_ns / 1e9);
    fprintf(
        to,
        "  %s: own work %.1f %%, calls %.1f %%, ready %.1f %%, throttled %.1f %%, asleep with work "
        "%.1f %% of the time\n",
        s->name, 100 * l->own, 100 * l->calls, 100 * l->ready, 100 * l->throttled, 100 * l->asleep);
    print_queue_near(f, l->full, "before it", to);
    print_queue_near(f, l->empty, "behind it", to);
    fprintf(to, "Ruled out\n");
    rule_out(l, MKPERF_FLOW_LOAD, "the PD waits for packets or space for only", 1 - l->share, to);
    rule_out(l, MKPERF_FLOW_OWN, "the PD itself runs for only", l->own, to);
    rule_out(l, MKPERF_FLOW_CALLS, "the PD waits for calls for only", l->calls, to);
    if (l->core_busy < 0.95) {
        rule_out(l, MKPERF_FLOW_CORE, "the PD's core is busy for only", l->core_busy, to);
    }
    rule_out(l, MKPERF_FLOW_PRIORITY, "the PD is ready and does not run for only", l->ready, to);
    rule_out(l, MKPERF_FLOW_BUDGET, "the PD is throttled for only", l->throttled, to);
    rule_out(l, MKPERF_FLOW_SLEEP, "the PD sleeps with work for only", l->asleep, to);
    fprintf(to, "Not decided\n  devices: the recording has no rate of a wire or a disk\n\n");
}

enum { PD_COLUMNS = 13, QUEUE_COLUMNS = 12, COLUMNS = PD_COLUMNS + QUEUE_COLUMNS };

const char report_flow_columns[] =
    "in out rate batch batch-50 batch-99 batch-most own calls wake-ups busy starved blocked "
    "size mean error entries-99 entries-most empty full stay stay-99 arrivals departures change";

static const char *const formats[COLUMNS] = {
    "%12.0f", "%12.0f", "%11.0f", "%8.2f",  "%6.0f", "%6.0f", "%6.0f",
    "%8.0f",  "%10.0f", "%10.3f", "%7.1f",  "%9.1f", "%9.1f", /* PDs */
    "%9.0f",  "%9.2f",  "%9.2f",  "%6.0f",  "%6.0f", "%8.1f", "%7.1f",
    "%10.3f", "%10.3f", "%13.0f", "%13.0f", "%+9.0f"};

/* The values of a PD, or of a queue, in the order of the columns. Counts are exact to 2^53. */
static void stage_values(const struct mkperf_flow *f, const struct mkperf_flow_stage *s,
                         double value[PD_COLUMNS])
{
    uint64_t total, busy = mkperf_flow_busy(s, &total), n = mkperf_flow_packets(s);
    const double all[PD_COLUMNS] = {
        (double)s->in,
        (double)s->out,
        mkperf_per((double)n * 1e9, (double)(f->last_ns - f->first_ns)),
        mkperf_per((double)s->packets.total, (double)s->packets.count),
        (double)mkperf_log_quantile(&s->packets, 500),
        (double)mkperf_log_quantile(&s->packets, 990),
        (double)s->packets.max,
        mkperf_per((double)s->in_state[MKPERF_PD_RUNNING], (double)n),
        mkperf_per((double)s->in_state[MKPERF_PD_CALLING], (double)n),
        mkperf_per((double)s->activations, (double)n),
        mkperf_percent(busy, total),
        mkperf_percent(s->waited[MKPERF_FLOW_STARVED], total),
        mkperf_percent(s->waited[MKPERF_FLOW_BLOCKED] + s->running_full, total)};

    memcpy(value, all, sizeof all);
}

static void queue_values(const struct mkperf_flow_queue *q, double value[QUEUE_COLUMNS])
{
    double ns = (double)q->known_ns;
    const double all[QUEUE_COLUMNS] = {(double)q->about.capacity,
                                       mkperf_per(q->area, ns),
                                       mkperf_per(q->doubt, ns),
                                       (double)mkperf_log_quantile(&q->filled, 990),
                                       (double)q->most,
                                       mkperf_percent(q->empty_ns, q->known_ns),
                                       mkperf_percent(q->full_ns, q->known_ns),
                                       mkperf_per((double)q->stay.total, (double)q->stay.count) /
                                           1e3,
                                       (double)mkperf_log_quantile(&q->stay, 990) / 1e3,
                                       (double)q->produced,
                                       (double)q->consumed,
                                       (double)(int64_t)(q->now - q->first)};

    memcpy(value, all, sizeof all);
}

static void print_values(const double *value, unsigned from, unsigned n, FILE *to)
{
    for (unsigned i = 0; i < n; i++) {
        fprintf(to, formats[from + i], value[i]);
    }
}

struct sorting {
    const struct mkperf_flow *f;
    unsigned by;
};

/* Greatest first; equal ones by their names. */
static int order(double a, double b, const char *name_a, const char *name_b)
{
    return a != b ? (a < b) - (a > b) : strcmp(name_a, name_b);
}

static int compare_stages(const void *pa, const void *pb, void *context)
{
    const struct mkperf_flow_stage *a = pa, *b = pb;
    const struct sorting *s = context;
    double va[PD_COLUMNS], vb[PD_COLUMNS];

    stage_values(s->f, a, va);
    stage_values(s->f, b, vb);
    return order(va[s->by], vb[s->by], a->name, b->name);
}

static int compare_queues(const void *pa, const void *pb, void *context)
{
    const struct mkperf_flow_queue *a = pa, *b = pb;
    const struct sorting *s = context;
    double va[QUEUE_COLUMNS], vb[QUEUE_COLUMNS];

    queue_values(a, va);
    queue_values(b, vb);
    return order(va[s->by - PD_COLUMNS], vb[s->by - PD_COLUMNS], a->about.name, b->about.name);
}

void report_flow_sort(struct mkperf_flow *f, unsigned column)
{
    struct sorting s = {.f = f, .by = column};

    if (column < PD_COLUMNS) {
        qsort_r(f->stage, f->nstages, sizeof *f->stage, compare_stages, &s);
    } else if (column < COLUMNS) {
        qsort_r(f->queue, f->nqueues, sizeof *f->queue, compare_queues, &s);
    }
}

static void print_stages(const struct mkperf_flow *f, FILE *to)
{
    bool cycles = f->cycles != MKPERF_MODEL_EVENTS;

    fprintf(to,
            "#                                                 packets an activation      ns a "
            "packet  wake-ups"
            "    share of the time in %%\n"
            "# class           in         out  packets/s    mean   50%%   99%%  most     own     "
            "calls  a packet"
            "   busy  starved  blocked  PD\n#\n");
    for (unsigned i = 0; i < f->nstages; i++) {
        const struct mkperf_flow_stage *s = &f->stage[i];
        double value[PD_COLUMNS];

        stage_values(f, s, value);
        fprintf(to, "%-7s ", s->kind);
        print_values(value, 0, PD_COLUMNS, to);
        fprintf(to, "  %s\n", s->name);
    }
    for (unsigned i = 0; i < f->nstages && cycles; i++) {
        const struct mkperf_flow_stage *s = &f->stage[i];
        double n = (double)mkperf_flow_packets(s);

        if (i == 0) {
            fprintf(to, "#\n# cycles a packet, by samples\n#     own    kernel     calls  PD\n#\n");
        }
        fprintf(to, "%9.0f %9.0f %9.0f  %s\n", mkperf_per((double)s->cycles_own, n),
                mkperf_per((double)s->cycles_kernel, n), mkperf_per((double)s->cycles_calls, n),
                s->name);
    }
}

static void print_queues(const struct mkperf_flow *f, FILE *to)
{
    fprintf(to,
            "#\n#                         entries in the queue          share in %%     us in the "
            "queue\n"
            "#    size     mean       +-   99%%  most   empty   full      mean       99%%     "
            "arrivals = departures"
            " + change  queue\n#\n");
    for (unsigned i = 0; i < f->nqueues; i++) {
        const struct mkperf_flow_queue *q = &f->queue[i];
        double value[QUEUE_COLUMNS];

        if (!q->began) {
            continue;
        }
        queue_values(q, value);
        print_values(value, PD_COLUMNS, QUEUE_COLUMNS, to);
        fprintf(to, "  %s (%s -> %s)\n", q->about.name,
                q->about.producer != NULL ? q->about.producer : "device",
                q->about.consumer != NULL ? q->about.consumer : "device");
    }
    for (unsigned i = 0; i < f->nqueues; i++) {
        const struct mkperf_flow_queue *q = &f->queue[i];

        if (!q->about.seen) {
            fprintf(to, "# %s is not recorded: the profiler PD has no mapping of it\n",
                    q->about.name);
        } else if (!q->began) {
            fprintf(to, "# %s has no plausible reading\n", q->about.name);
        }
        if (q->unknown != 0 || q->implausible != 0) {
            fprintf(to,
                    "# WARNING: %s: of %" PRIu64 " readings, %" PRIu64
                    " are implausible: no queue can have these indices; %" PRIu64
                    " are unknown: an index may have wrapped. %.6f s are in no figure.\n",
                    q->about.name, q->readings, q->implausible, q->unknown,
                    (double)q->unknown_ns / 1e9);
        }
    }
}

void report_flow_tables(const struct mkperf_flow *f, FILE *to)
{
    if (f->analysis->gaps != 0) {
        fprintf(to, "# WARNING: events are missing for %.6f s, which are in no figure.\n",
                (double)f->analysis->gap_ns / 1e9);
    }
    print_stages(f, to);
    print_queues(f, to);
}
