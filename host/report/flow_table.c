/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer of `mkperf flow` and its tables of PDs and queues, as text; `mkperf top --flow` shows the same.
 *
 * Owns: the columns and their order. flow/flow.h describes the figures and what may be wrong with them. A column is a word of
 * report_flow_columns, a format, and a value of stage_values or queue_values, all with the same number. Called by cmd/cmd_flow.c and
 * cmd/cmd_top.c.
 */
#include <math.h>

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

/* Adds a cause that is not the answer, with the figure that shows it. */
static void rule_out(const struct mkperf_flow_limit *l, enum mkperf_flow_cause cause,
                     const char *text, double share, FILE *to)
{
    if (l->cause != cause && share < 0.95) {
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
    rule_out(l, MKPERF_FLOW_CORE, "the PD's core is busy for only", l->core_busy, to);
    rule_out(l, MKPERF_FLOW_PRIORITY, "the PD is ready and does not run for only", l->ready, to);
    rule_out(l, MKPERF_FLOW_BUDGET, "the PD is throttled for only", l->throttled, to);
    rule_out(l, MKPERF_FLOW_SLEEP, "the PD sleeps with work for only", l->asleep, to);
    fprintf(to, "Not decided\n  devices: the recording has no rate of a wire or a disk\n\n");
}

enum { PD_TIMES = 15, PD_COLUMNS = 18, QUEUE_COLUMNS = 12, COLUMNS = PD_COLUMNS + QUEUE_COLUMNS };

const char report_flow_columns[] =
    "in out rate activations batch batch-50 batch-99 batch-most own calls wake-ups drops busy "
    "starved blocked cycles kernel cycles-calls "
    "size mean error entries-99 entries-most empty full stay stay-99 arrivals departures change";

/* clang-format off */
static const struct {
    int width, digits;
} formats[COLUMNS] = {
    {12, 0}, {12, 0}, {11, 0}, {12, 0}, {8, 2}, {6, 0}, {6, 0}, {6, 0}, {8, 0}, {10, 0}, {10, 3}, {9, 0}, {7, 1}, {9, 1}, {9, 1},
    {9, 0}, {8, 0}, {8, 0}, /* cycles */
    {9, 0}, {9, 2}, {9, 2}, {6, 0}, {6, 0}, {8, 1}, {7, 1}, {12, 3}, {12, 3}, {13, 0}, {13, 0}, {9, 0}, /* queues */
};
/* clang-format on */

/* Stores the values of a PD, or of a queue, in the order of the columns, and returns its name. Counts are exact to 2^53. NAN:
 * unknown without scheduling events. */
static const char *stage_values(const struct mkperf_flow *f, const struct mkperf_flow_stage *s,
                                double value[PD_COLUMNS])
{
    uint64_t total = mkperf_flow_known(s);
    double n = (double)mkperf_flow_packets(s), events = f->analysis->session.sched ? 0 : NAN;
    const double all[PD_COLUMNS] = {
        (double)s->in,
        (double)s->out,
        mkperf_per(n * 1e9, (double)(f->last_ns - f->first_ns)),
        events + (double)s->activations,
        events + mkperf_per((double)s->packets.total, (double)s->packets.count),
        events + (double)mkperf_log_quantile(&s->packets, 500),
        events + (double)mkperf_log_quantile(&s->packets, 990),
        events + (double)s->packets.max,
        events + mkperf_per((double)s->in_state[MKPERF_PD_RUNNING], n),
        events + mkperf_per((double)s->in_state[MKPERF_PD_CALLING], n),
        events + mkperf_per((double)s->activations, n),
        mkperf_flow_drops(f, s),
        events + mkperf_percent(mkperf_flow_busy(s), total),
        events + mkperf_percent(s->waited[MKPERF_FLOW_STARVED], total),
        events + mkperf_percent(s->waited[MKPERF_FLOW_BLOCKED] + s->running_full, total),
        mkperf_per((double)s->cycles_own, n),
        mkperf_per((double)s->cycles_kernel, n),
        mkperf_per((double)s->cycles_calls, n)};

    memcpy(value, all, sizeof all);
    return s->name;
}

static const char *queue_values(const struct mkperf_flow *f, const struct mkperf_flow_queue *q,
                                double value[QUEUE_COLUMNS])
{
    double ns = (double)q->known_ns;
    const double all[QUEUE_COLUMNS] = {
        (double)q->about.capacity,
        mkperf_per(q->area, ns),
        mkperf_flow_doubt(f, q),
        (double)mkperf_log_quantile(&q->filled, 990),
        (double)q->most,
        mkperf_percent(q->empty_ns, q->known_ns),
        mkperf_percent(q->full_ns, q->known_ns),
        mkperf_flow_stay(f, q) / 1e3,
        f->analysis->session.sched ? (double)mkperf_log_quantile(&q->stay, 990) / 1e3 : NAN,
        (double)q->produced,
        (double)q->consumed,
        (double)(int64_t)(q->now - q->first)};

    memcpy(value, all, sizeof all);
    return q->about.name;
}

static void print_values(const double *value, unsigned from, unsigned n, FILE *to)
{
    for (unsigned i = from; i < from + n; i++, value++) {
        if (isnan(*value)) {
            fprintf(to, "%*s", formats[i].width, "-");
        } else {
            fprintf(to, i + 1 == COLUMNS ? "%+*.*f" : "%*.*f", formats[i].width, formats[i].digits,
                    *value);
        }
    }
}

struct flow_sorting {
    const struct mkperf_flow *f;
    unsigned by;
};

/* Orders rows: the greatest first, equal ones by their names. */
static int compare_by_column(const void *pa, const void *pb, void *context)
{
    const struct flow_sorting *s = context;
    const void *of[] = {pa, pb};
    const char *name[2];
    double all[2][PD_COLUMNS + QUEUE_COLUMNS];

    for (unsigned i = 0; i < 2; i++) {
        name[i] = s->by < PD_COLUMNS ? stage_values(s->f, of[i], all[i])
                                     : queue_values(s->f, of[i], all[i] + PD_COLUMNS);
    }
    double a = fmax(all[0][s->by], -INFINITY), b = fmax(all[1][s->by], -INFINITY); /* NAN: last */
    return a > b || a < b ? (a < b) - (a > b) : strcmp(name[0], name[1]);
}

void report_flow_sort(struct mkperf_flow *f, unsigned column)
{
    struct flow_sorting s = {.f = f, .by = column};

    if (column < PD_COLUMNS) {
        qsort_r(f->stage, f->nstages, sizeof *f->stage, compare_by_column, &s);
    } else if (column < COLUMNS) {
        qsort_r(f->queue, f->nqueues, sizeof *f->queue, compare_by_column, &s);
    }
}

static void print_queues(const struct mkperf_flow *f, FILE *to)
{
    double most = 1; /* readings of a queue */

    fprintf(
        to,
        "#\n#                         entries in the queue          share in %%       us in the "
        "queue\n#    size     mean       +-   99%%  most   empty   full        mean         99%%   "
        "  arrivals = departures + change  queue\n#\n");
    for (unsigned i = 0; i < f->nqueues; i++) {
        const struct mkperf_flow_queue *q = &f->queue[i];
        double value[QUEUE_COLUMNS];

        if (!q->began) {
            continue;
        }
        queue_values(f, q, value);
        print_values(value, PD_COLUMNS, QUEUE_COLUMNS, to);
        fprintf(to, "  %s (%s -> %s)\n", q->about.name,
                q->about.producer != NULL ? q->about.producer : "device",
                q->about.consumer != NULL ? q->about.consumer : "device");
    }
    for (unsigned i = 0; i < f->nqueues; i++) {
        const struct mkperf_flow_queue *q = &f->queue[i];

        most = fmax(most, (double)q->readings);
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
    if (!f->analysis->session.sched) {
        fprintf(
            to,
            "# Queues were read %.0f times per second, without scheduling events. Their entries "
            "are estimated: +- has the\n# interval of the mean at 95 %%, and each share is within "
            "%.1f points. Arrivals and departures are exact.\n",
            mkperf_per(most * 1e9, (double)(f->last_ns - f->first_ns)), 98 / sqrt(most));
    }
}

void report_flow_tables(const struct mkperf_flow *f, FILE *to)
{
    if (f->analysis->gaps != 0) {
        fprintf(to, "# WARNING: events are missing for %.6f s, which are in no figure.\n",
                (double)f->analysis->gap_ns / 1e9);
    }
    bool cycles = f->cycles != MKPERF_MODEL_EVENTS;

    fprintf(to,
            "#                                                             packets an activation   "
            "     ns/packet  wake-ups             share of the time in %%%s\n"
            "# class           in         out  packets/s activations    mean   50%%   99%%  most  "
            "   own     calls  a packet    drops   busy  starved  blocked%s  PD\n#\n",
            cycles ? "           cycles/packet" : "", cycles ? "      own  kernel   calls" : "");
    for (unsigned i = 0; i < f->nstages; i++) {
        const struct mkperf_flow_stage *s = &f->stage[i];
        double value[PD_COLUMNS];

        stage_values(f, s, value);
        fprintf(to, "%-7s ", s->kind);
        print_values(value, 0, cycles ? PD_COLUMNS : PD_TIMES, to);
        fprintf(to, "  %s\n", s->name);
    }
    print_queues(f, to);
}
