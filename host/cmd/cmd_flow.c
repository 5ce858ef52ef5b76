/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf flow: shows what limits throughput, the work of each PD at its queues, and the queues.
 *
 * Owns: the command's options, its texts and its tables. host/flow/flow.h has the figures and the rules, and what may be
 * wrong with them. The first three lines are the answer: what limits, by how much, and since when.
 */
#include <inttypes.h>

#include "base/outfile.h"
#include "cmd.h"
#include "flow/flow.h"
#include "import/import.h"
#include "profile/frames.h"
#include "report/report.h"

struct command {
    const char *input, *what_if;
    bool json, advise;
    struct report_filter filter; /* only its time */
    struct report_values values; /* with --json */
};

static const struct mkperf_option options[] = {
    MKPERF_OPTION(
        0, "what-if",
        "predicts the rate with a change: 'PD own -20%', 'PD calls -50%', 'PD priority 100', "
        "'PD core 1', 'PD budget US/PERIOD' or 'PD batch 32'; several with commas",
        .value = "CHANGE", MKPERF_TEXT(struct command, what_if)),
    MKPERF_OPTION(0, "advise", "tries simple changes of each PD, and lists the best ones",
                  MKPERF_SETS(struct command, advise)),
    MKPERF_OPTION(0, "json", "rows as JSON Lines", MKPERF_SETS(struct command, json)),
    {.id = 0},
};
static const struct mkperf_option_group group = {options, NULL};

static double per(double value, double of)
{
    return of > 0 ? value / of : 0;
}

static double per_cent(uint64_t part, uint64_t of)
{
    return 100 * per((double)part, (double)of);
}

/* ---- the answer ---- */

static void print_queue_near(const struct mkperf_flow *f, int queue, const char *where)
{
    if (queue >= 0) {
        const struct mkperf_flow_queue *q = &f->queue[queue];
        printf("  queue %s %s: full %.1f %%, empty %.1f %% of the time; %.1f of %" PRIu64
               " entries on average\n",
               q->about.name, where, per_cent(q->full_ns, q->known_ns),
               per_cent(q->empty_ns, q->known_ns), per(q->area, (double)q->known_ns),
               q->about.capacity);
    }
}

/* A cause that is not the answer, with the figure that shows it. */
static void rule_out(const struct mkperf_flow_limit *l, enum mkperf_flow_cause cause,
                     const char *text, double share)
{
    if (l->cause != cause) {
        printf("  %-9s %s %.1f %% of the time\n", mkperf_flow_cause_names[cause], text,
               100 * share);
    }
}

static void print_answer(const struct mkperf_flow *f, const struct mkperf_flow_limit *l)
{
    if (l->cause == MKPERF_FLOW_UNDECIDED) {
        printf(
            "What limits is undecided: %s.\n\n",
            f->analysis->events == 0
                ? "the recording has no scheduling events; record them with mkperf record --sched"
                : "no PD of the scheduling events moved an entry of a queue");
        return;
    }
    const struct mkperf_flow_stage *s = &f->stage[l->stage];
    mkperf_flow_sentence(f, l, stdout);
    printf(".\n");
    printf("%s: %.0f packets/s +- %.0f (95 %%)", s->name, l->rate, l->error);
    if (l->next >= 0 && l->next_share > 0 && l->cause != MKPERF_FLOW_LOAD) {
        printf("; without this limit at most %.2f times as many, then %s limits.\n",
               1 / l->next_share, f->stage[l->next].name);
    } else if (l->share > 0) {
        printf("; %s can do about %.2f times as many.\n", s->name, 1 / l->share);
    }
    printf("Since %.6f s, until %.6f s; of %.6f s to %.6f s.\n\nEvidence\n", (double)l->from / 1e9,
           (double)l->to / 1e9, (double)f->first_ns / 1e9, (double)f->last_ns / 1e9);
    printf(
        "  %s: own work %.1f %%, calls %.1f %%, ready %.1f %%, throttled %.1f %%, asleep with work "
        "%.1f %% of the time\n",
        s->name, 100 * l->own, 100 * l->calls, 100 * l->ready, 100 * l->throttled, 100 * l->asleep);
    print_queue_near(f, l->full, "before it");
    print_queue_near(f, l->empty, "behind it");
    printf("Ruled out\n");
    rule_out(l, MKPERF_FLOW_LOAD, "the PD waits for packets or space for only", 1 - l->share);
    rule_out(l, MKPERF_FLOW_OWN, "the PD itself runs for only", l->own);
    rule_out(l, MKPERF_FLOW_CALLS, "the PD waits for calls for only", l->calls);
    if (l->core_busy < 0.95) {
        rule_out(l, MKPERF_FLOW_CORE, "the PD's core is busy for only", l->core_busy);
    }
    rule_out(l, MKPERF_FLOW_PRIORITY, "the PD is ready and does not run for only", l->ready);
    rule_out(l, MKPERF_FLOW_BUDGET, "the PD is throttled for only", l->throttled);
    rule_out(l, MKPERF_FLOW_SLEEP, "the PD sleeps with work for only", l->asleep);
    printf("Not decided\n  devices: the recording has no rate of a wire or a disk\n\n");
}

/* ---- predictions ---- */

enum { CHANGES = 16, ADVICE = 5 };

static void print_prediction(struct command *c, const char *change,
                             const struct mkperf_flow_prediction *p)
{
    struct report_values *v = &c->values;

    if (c->json) {
        report_value_row(v, "prediction");
        report_value_text(v, "change", change);
        report_value_real(v, "recorded_per_s", p->recorded);
        report_value_real(v, "replayed_per_s", p->replayed);
        report_value_real(v, "predicted_per_s", p->after);
        report_value_share(v, "gain", p->gain);
        report_value_share(v, "least", p->least);
        report_value_share(v, "most", p->most);
        report_value_end(v);
    } else {
        printf("%+7.1f %% (%+.1f to %+.1f)  %10.0f packets/s  %s\n", p->gain, p->least, p->most,
               p->after, change);
    }
}

static void print_assumptions(const struct command *c, const struct mkperf_flow_prediction *p)
{
    if (!c->json) {
        printf("# Assumed: each packet and each activation needs the work of the recording; caches "
               "and devices do "
               "not matter;\n# sources have as many packets as before, or always one. The replay "
               "without a change "
               "is %.1f %% off the recording.\n# The interval has that error, and the gains if PDs "
               "notify for each "
               "packet or only before they wait.\n\n",
               100 * per(p->replayed - p->recorded, p->recorded));
    }
}

/* Reads the changes of a text, with commas between them, into change[CHANGES]. */
static enum mkperf_status read_changes(const struct command *c, const struct mkperf_flow *f,
                                       struct mkperf_flow_change *change, unsigned *n,
                                       struct mkperf_error *e)
{
    char *text = mkperf_xstrdup(c->what_if), *rest = NULL;

    e->status = MKPERF_OK;
    for (char *one = strtok_r(text, ",", &rest); one != NULL && e->status == MKPERF_OK;
         one = strtok_r(NULL, ",", &rest)) {
        if (*n == CHANGES) {
            mkperf_error_set(e, MKPERF_ERR_USAGE, "--what-if: more than %d changes", CHANGES);
        } else {
            (void)mkperf_flow_parse(f, one, &change[(*n)++], e);
        }
    }
    free(text);
    return e->status;
}

struct advice {
    char text[MKPERF_MODEL_NAME + 32];
    struct mkperf_flow_prediction p;
};

static int compare_advice(const void *pa, const void *pb)
{
    const struct advice *a = pa, *b = pb;

    return (a->p.gain < b->p.gain) - (a->p.gain > b->p.gain);
}

/* Tries a faster PD, faster calls, a higher priority, and each other core, for each PD. */
static void advise(struct command *c, const struct mkperf_flow *f,
                   const struct mkperf_flow_limit *l)
{
    unsigned cores = f->analysis->ncores, n = 0;
    struct advice *all = mkperf_xcalloc((size_t)f->nstages * (3 + cores), sizeof *all);

    for (unsigned i = 0; i < f->nstages; i++) {
        const struct mkperf_flow_stage *s = &f->stage[i];
        for (unsigned k = 0; k < 3 + cores && s->pd < f->analysis->npds; k++) {
            struct advice *a = &all[n];
            struct mkperf_flow_change change = {.pd = s->pd, .factor = 0.8};
            if ((k == 1 && s->in_state[MKPERF_PD_CALLING] == 0) ||
                (k >= 3 && f->analysis->pd[s->pd].core == k - 3)) {
                continue;
            }
            change.what = k == 0   ? MKPERF_FLOW_CHANGE_OWN
                          : k == 1 ? MKPERF_FLOW_CHANGE_CALLS
                          : k == 2 ? MKPERF_FLOW_CHANGE_PRIORITY
                                   : MKPERF_FLOW_CHANGE_CORE;
            change.value = k == 2 ? 254 : k - 3;
            snprintf(a->text, sizeof a->text,
                     k < 2    ? "%s %s -20%%"
                     : k == 2 ? "%s %s 254"
                              : "%s %s %u",
                     s->name,
                     k == 0   ? "own"
                     : k == 1 ? "calls"
                     : k == 2 ? "priority"
                              : "core",
                     k - 3);
            a->p = mkperf_flow_predict(f, l, &change, 1);
            n++;
        }
    }
    mkperf_sort(all, n, sizeof *all, compare_advice);
    if (!c->json) {
        printf("Advice: what the best of %u changes would bring\n", n);
    }
    for (unsigned i = 0; i < n && i < ADVICE && all[i].p.gain > 1; i++) {
        print_prediction(c, all[i].text, &all[i].p);
    }
    free(all);
}

/* ---- tables ---- */

/* The time of a PD in which it ran, and in which it called, in ns for each packet. */
static double each(const struct mkperf_flow_stage *s, enum mkperf_pd_state state)
{
    return per((double)s->in_state[state], (double)mkperf_flow_packets(s));
}

static void print_stages(const struct mkperf_flow *f)
{
    bool cycles = f->cycles != MKPERF_MODEL_EVENTS;

    printf("#                                                 packets an activation      ns a "
           "packet  wake-ups"
           "    share of the time in %%\n"
           "# class           in         out  packets/s    mean   50%%   99%%  most     own     "
           "calls  a packet"
           "   busy  starved  blocked  PD\n#\n");
    for (unsigned i = 0; i < f->nstages; i++) {
        const struct mkperf_flow_stage *s = &f->stage[i];
        uint64_t total, busy = mkperf_flow_busy(s, &total), n = mkperf_flow_packets(s);

        printf("%-7s %12" PRIu64 "%12" PRIu64 " %10.0f %7.2f %5" PRIu64 " %5" PRIu64 " %5" PRIu64
               " %7.0f %9.0f %9.3f %6.1f %8.1f %8.1f  %s\n",
               s->kind, s->in, s->out, per((double)n * 1e9, (double)(f->last_ns - f->first_ns)),
               per((double)s->packets.total, (double)s->packets.count),
               mkperf_log_quantile(&s->packets, 500), mkperf_log_quantile(&s->packets, 990),
               s->packets.max, each(s, MKPERF_PD_RUNNING), each(s, MKPERF_PD_CALLING),
               per((double)s->activations, (double)n), per_cent(busy, total),
               per_cent(s->waited[MKPERF_FLOW_STARVED], total),
               per_cent(s->waited[MKPERF_FLOW_BLOCKED] + s->running_full, total), s->name);
    }
    for (unsigned i = 0; i < f->nstages && cycles; i++) {
        const struct mkperf_flow_stage *s = &f->stage[i];
        double n = (double)mkperf_flow_packets(s);

        if (i == 0) {
            printf("#\n# cycles a packet, by samples\n#     own    kernel     calls  PD\n#\n");
        }
        printf("%9.0f %9.0f %9.0f  %s\n", per((double)s->cycles_own, n),
               per((double)s->cycles_kernel, n), per((double)s->cycles_calls, n), s->name);
    }
}

static void print_queues(const struct mkperf_flow *f)
{
    printf("#\n#                         entries in the queue          share in %%     us in the "
           "queue\n"
           "#    size     mean       +-   99%%  most   empty   full      mean       99%%     "
           "arrivals = departures"
           " + change  queue\n#\n");
    for (unsigned i = 0; i < f->nqueues; i++) {
        const struct mkperf_flow_queue *q = &f->queue[i];
        double ns = (double)q->known_ns;

        if (!q->began) {
            continue;
        }
        printf("%9" PRIu64 " %8.2f %8.2f %5" PRIu64 " %5" PRIu64
               " %7.1f %6.1f %9.3f %9.3f %12" PRIu64 " %12" PRIu64 " %+8" PRId64
               "  %s (%s -> %s)\n",
               q->about.capacity, per(q->area, ns), per(q->doubt, ns),
               mkperf_log_quantile(&q->filled, 990), q->most, per_cent(q->empty_ns, q->known_ns),
               per_cent(q->full_ns, q->known_ns),
               per((double)q->stay.total, (double)q->stay.count) / 1e3,
               (double)mkperf_log_quantile(&q->stay, 990) / 1e3, q->produced, q->consumed,
               (int64_t)(q->now - q->first), q->about.name,
               q->about.producer != NULL ? q->about.producer : "device",
               q->about.consumer != NULL ? q->about.consumer : "device");
    }
    for (unsigned i = 0; i < f->nqueues; i++) {
        const struct mkperf_flow_queue *q = &f->queue[i];

        if (!q->about.seen) {
            printf("# %s is not recorded: the profiler PD has no mapping of it\n", q->about.name);
        } else if (!q->began) {
            printf("# %s has no plausible reading\n", q->about.name);
        }
        if (q->unknown != 0 || q->implausible != 0) {
            printf("# WARNING: %s: of %" PRIu64 " readings, %" PRIu64
                   " are implausible: no queue can have these indices; %" PRIu64
                   " are unknown: an index may have wrapped. %.6f s are in no figure.\n",
                   q->about.name, q->readings, q->implausible, q->unknown,
                   (double)q->unknown_ns / 1e9);
        }
    }
}

/* ---- JSON ---- */

static void put_limit(struct report_values *v, const struct mkperf_flow *f,
                      const struct mkperf_flow_limit *l)
{
    report_value_row(v, "limit");
    report_value_text(v, "cause", mkperf_flow_cause_names[l->cause]);
    if (l->stage >= 0) {
        report_value_text(v, "pd", f->stage[l->stage].name);
        report_value_text(v, "by", mkperf_analysis_name(f->analysis, l->by));
        report_value_share(v, "busy", 100 * l->share);
        report_value_share(v, "own", 100 * l->own);
        report_value_share(v, "calls", 100 * l->calls);
        report_value_share(v, "ready", 100 * l->ready);
        report_value_share(v, "throttled", 100 * l->throttled);
        report_value_share(v, "asleep", 100 * l->asleep);
        report_value_share(v, "core_busy", 100 * l->core_busy);
        report_value_share(v, "packets_per_s", l->rate);
        report_value_share(v, "error_per_s", l->error);
        report_value_number(v, "from_ns", l->from);
        report_value_number(v, "to_ns", l->to);
        report_value_text(v, "before", l->full >= 0 ? f->queue[l->full].about.name : "");
        report_value_text(v, "behind", l->empty >= 0 ? f->queue[l->empty].about.name : "");
        report_value_text(v, "next", l->next >= 0 ? f->stage[l->next].name : "");
        report_value_share(v, "next_busy", 100 * l->next_share);
    }
    report_value_end(v);
}

static void put_rows(struct report_values *v, const struct mkperf_flow *f)
{
    for (unsigned i = 0; i < f->nstages; i++) {
        const struct mkperf_flow_stage *s = &f->stage[i];
        uint64_t total, busy = mkperf_flow_busy(s, &total);

        REPORT_ROW(v, "stage", REPORT_TEXT("pd", s->name), REPORT_TEXT("class", s->kind),
                   REPORT_NUMBER("in", s->in), REPORT_NUMBER("out", s->out),
                   REPORT_NUMBER("activations", s->activations), REPORT_NUMBER("empty", s->empty),
                   REPORT_NUMBER("packets_50", mkperf_log_quantile(&s->packets, 500)),
                   REPORT_NUMBER("packets_99", mkperf_log_quantile(&s->packets, 990)),
                   REPORT_NUMBER("packets_most", s->packets.max),
                   REPORT_NUMBER("own_ns", s->in_state[MKPERF_PD_RUNNING]),
                   REPORT_NUMBER("calls_ns", s->in_state[MKPERF_PD_CALLING]),
                   REPORT_NUMBER("busy_ns", busy), REPORT_NUMBER("known_ns", total),
                   REPORT_NUMBER("starved_ns", s->waited[MKPERF_FLOW_STARVED]),
                   REPORT_NUMBER("blocked_ns", s->waited[MKPERF_FLOW_BLOCKED] + s->running_full),
                   REPORT_NUMBER("cycles_own", s->cycles_own),
                   REPORT_NUMBER("cycles_kernel", s->cycles_kernel),
                   REPORT_NUMBER("cycles_calls", s->cycles_calls));
    }
    for (unsigned i = 0; i < f->nqueues; i++) {
        const struct mkperf_flow_queue *q = &f->queue[i];

        report_value_row(v, "queue");
        report_value_text(v, "queue", q->about.name);
        report_value_text(v, "class", q->about.kind);
        report_value_text(v, "producer", q->about.producer != NULL ? q->about.producer : "");
        report_value_text(v, "consumer", q->about.consumer != NULL ? q->about.consumer : "");
        report_value_number(v, "size", q->about.capacity);
        report_value_number(v, "seen", q->about.seen);
        report_value_share(v, "mean", per(q->area, (double)q->known_ns));
        report_value_share(v, "doubt", per(q->doubt, (double)q->known_ns));
        report_value_number(v, "entries_99", mkperf_log_quantile(&q->filled, 990));
        report_value_number(v, "entries_most", q->most);
        report_value_number(v, "known_ns", q->known_ns);
        report_value_number(v, "empty_ns", q->empty_ns);
        report_value_number(v, "full_ns", q->full_ns);
        report_value_share(v, "stay_ns", per((double)q->stay.total, (double)q->stay.count));
        report_value_number(v, "stay_99_ns", mkperf_log_quantile(&q->stay, 990));
        report_value_number(v, "stayed", q->stay.count);
        report_value_number(v, "arrivals", q->produced);
        report_value_number(v, "departures", q->consumed);
        report_value_number(v, "first", q->first);
        report_value_number(v, "last", q->now);
        report_value_number(v, "readings", q->readings);
        report_value_number(v, "implausible", q->implausible);
        report_value_number(v, "unknown", q->unknown);
        report_value_number(v, "unknown_ns", q->unknown_ns);
        report_value_end(v);
    }
}

static enum mkperf_status answer(struct command *c, const struct mkperf_flow *f,
                                 struct mkperf_error *e)
{
    struct mkperf_flow_limit l = mkperf_flow_limit(f);
    struct mkperf_flow_change change[CHANGES];
    unsigned n = 0;

    if ((c->what_if != NULL || c->advise) && l.cause == MKPERF_FLOW_UNDECIDED) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT,
                                "%s: predictions need scheduling events (mkperf record --sched)",
                                c->input);
    }
    if (c->what_if != NULL && read_changes(c, f, change, &n, e) != MKPERF_OK) {
        return e->status;
    }
    if (c->json) {
        c->values = report_values_begin(stdout, NULL, "flow", c->input);
        report_gap_values(f->analysis, &c->values);
        put_limit(&c->values, f, &l);
    } else {
        print_answer(f, &l);
    }
    if (c->what_if != NULL || c->advise) {
        struct mkperf_flow_prediction p = mkperf_flow_predict(f, &l, change, n);
        if (c->what_if != NULL) {
            print_prediction(c, c->what_if, &p);
        }
        if (c->advise) {
            advise(c, f, &l);
        }
        print_assumptions(c, &p);
    }
    if (c->json) {
        put_rows(&c->values, f);
    } else {
        if (f->analysis->gaps != 0) {
            printf("# WARNING: events are missing for %.6f s, which are in no figure.\n",
                   (double)f->analysis->gap_ns / 1e9);
        }
        print_stages(f);
        print_queues(f);
    }
    return mkperf_stdout_flush(e);
}

static enum mkperf_status run_flow(void *self, const struct mkperf_args *args,
                                   struct mkperf_error *e)
{
    struct command *c = self;
    const struct mkperf_input in = {.from = NULL};
    struct mkperf_analysis *a = mkperf_analysis_new();
    struct mkperf_flow f;

    c->input = args->n > 0 ? args->operand[0] : c->input;
    mkperf_flow_init(&f, a);
    const struct mkperf_sink sink = mkperf_flow_sink(&f);
    if (mkperf_frames_time(&c->filter, c->input, e) == MKPERF_OK) {
        f.from_ns = c->filter.has_time ? c->filter.from_ns : f.from_ns;
        f.to_ns = c->filter.has_time ? c->filter.to_ns : f.to_ns;
        (void)mkperf_input_read(c->input, &in, &sink, e);
    }
    if (e->status == MKPERF_OK && f.nqueues == 0) {
        mkperf_error_set(e, MKPERF_ERR_INPUT,
                         "%s: the recording has no queues; docs/flow.md describes how the target "
                         "lists them",
                         c->input);
    } else if (e->status == MKPERF_OK && c->filter.has_time && (!f.began || f.from_ns != 0)) {
        mkperf_error_set(e, MKPERF_ERR_USAGE, "--time: the recording has no event in this time");
    } else if (e->status == MKPERF_OK) {
        (void)answer(c, &f, e);
    }
    mkperf_flow_free(&f);
    mkperf_analysis_free(a);
    return e->status;
}

const struct mkperf_command mkperf_flow_command = {
    .name = "flow",
    .summary = "show what limits throughput, and the queues between PDs",
    .synopsis = "[options] [FILE]",
    .description =
        "Of a recording with scheduling events and readings of queues: what limits the throughput, "
        "with the figures that show it; for each PD its packets, how many it handles when it "
        "wakes, and its time for each; for each queue how full it is and how long an entry stays. "
        "docs/flow.md describes the rules, and how a target lists its queues.",
    .options = {{&report_input_options, offsetof(struct command, input)},
                {&report_time_options, offsetof(struct command, filter)},
                {&group, 0}},
    .operand = MKPERF_VALUE_FILE,
    .operands_max = 1,
    .examples = "mkperf record -t tcp:192.168.1.5 --sched --duration 10\n"
                "mkperf flow\n"
                "mkperf flow --what-if 'echo own -20%'\n"
                "mkperf flow --json | jq 'select(.type == \"limit\")'",
    .statuses = MKPERF_STATUSES_READ | MKPERF_STATUSES_WRITE,
    .self = MKPERF_SELF(struct command, .input = "perf.data"),
    .run = run_flow,
};
