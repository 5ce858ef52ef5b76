/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf flow: shows what limits throughput, the work of each PD at its queues, and the queues.
 *
 * Owns: the command's options, predictions, and rows for programs. report/flow_table.c prints the answer and the tables.
 * flow/flow.h has the figures and the rules, and what may be wrong with them.
 */
#include "cmd.h"
#include "report/report.h"

struct flow_command {
    const char *input, *what_if;
    bool json, advise;
    unsigned sort;                /* a column; REPORT_FLOW_UNSORTED */
    struct report_filter filter;  /* only the filter's time is used */
    struct mkperf_textout values; /* the values that --json prints */
};

static const struct mkperf_option flow_options[] = {
    MKPERF_OPTION(
        0, "what-if",
        "predicts the rate with a change: 'PD own -20%', 'PD calls -50%', 'PD priority 100', "
        "'PD core 1', 'PD budget US/PERIOD' or 'PD batch 32'; several with commas; without queues, "
        "alternatives with semicolons",
        .value = "CHANGE", MKPERF_TEXT(struct flow_command, what_if)),
    MKPERF_OPTION(0, "advise", "tries simple changes of each PD, and lists the best ones",
                  MKPERF_SETS(struct flow_command, advise)),
    MKPERF_OPTION('s', "sort", "PDs or queues by this column, greatest first",
                  MKPERF_TAKES(WORD, "COLUMN"), .words = report_flow_columns,
                  MKPERF_ENUM(struct flow_command, sort, 0, REPORT_FLOW_UNSORTED)),
    MKPERF_OPTION(0, "json", "rows as JSON Lines", MKPERF_SETS(struct flow_command, json)),
    {.letter = 0},
};

/* ---- predictions ---- */

enum { CHANGES = 16, ADVICE = 5 };

static void print_prediction(struct flow_command *c, const char *change,
                             const struct mkperf_flow_prediction *p)
{
    if (c->json) {
        mkperf_json(&c->values,
                    "{'type':'prediction','change':%s,'recorded_per_s':%.6g,'replayed_per_s':%.6g"
                    ",'predicted_per_s':%.6g,'gain':%.4f,'least':%.4f,'most':%.4f}\n",
                    change, p->recorded, p->replayed, p->after, p->gain, p->least, p->most);
    } else {
        printf("%+7.1f %% (%+.1f to %+.1f)  %10.0f packets/s  %s\n", p->gain, p->least, p->most,
               p->after, change);
    }
}

/* Reads the changes of a text, with commas between them, into change[CHANGES]. */
static enum mkperf_status read_changes(const char *changes, const struct mkperf_flow *f,
                                       struct mkperf_flow_change *change, unsigned *n,
                                       struct mkperf_error *e)
{
    char *text = mkperf_xstrdup(changes), *rest = NULL;

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
    if (*n == 0 && e->status == MKPERF_OK) {
        mkperf_error_set(e, MKPERF_ERR_USAGE, "--what-if: no change is given");
    }
    return e->status;
}

/* A change, or several with commas between them, and what it would bring: p with queues, loads without. */
struct advice {
    char text[4 * MKPERF_MODEL_NAME];
    struct mkperf_flow_prediction p;
    struct mkperf_flow_loads loads;
};

static int compare_gain(const void *pa, const void *pb)
{
    const struct advice *a = pa, *b = pb;

    return (a->p.gain < b->p.gain) - (a->p.gain > b->p.gain);
}

static int compare_load(const void *pa, const void *pb)
{
    const struct mkperf_flow_loads *a = &((const struct advice *)pa)->loads;
    const struct mkperf_flow_loads *b = &((const struct advice *)pb)->loads;
    double of_a = a->busy[a->busiest], of_b = b->busy[b->busiest];

    return of_a != of_b
               ? (of_a > of_b) - (of_a < of_b)
               : strcmp(((const struct advice *)pa)->text, ((const struct advice *)pb)->text);
}

/* Tries a faster PD, faster calls, a higher priority, twice the budget, and each other core, for each PD. */
static void advise(struct flow_command *c, const struct mkperf_flow *f,
                   const struct mkperf_flow_limit *l)
{
    enum { CALLS = 1, BUDGET = 3, CORE = 4 };
    static const char *const kinds[] = {"%s own -20%%", "%s calls -20%%", "%s priority 254",
                                        "%s budget %" PRIu64 "/%" PRIu64, "%s core %" PRIu64};
    unsigned cores = f->analysis->ncores, n = 0;
    struct advice *all = mkperf_xcalloc((size_t)f->nstages * (CORE + cores), sizeof *all);
    struct mkperf_error e;

    for (unsigned k = 0; k < f->nstages * (CORE + cores); k++) {
        const struct mkperf_flow_stage *s = &f->stage[k / (CORE + cores)];
        unsigned kind = k % (CORE + cores), core = kind < CORE ? 0 : kind - CORE;
        struct mkperf_flow_change change;
        if (s->pd >= f->analysis->npds || mkperf_flow_packets(s) == 0) {
            continue;
        }
        const struct mkperf_sched_pd *p = &f->analysis->pd[s->pd];
        const struct mkperf_scheduling *of = &p->scheduling;
        if ((kind == CALLS && s->in_state[MKPERF_PD_CALLING] == 0) ||
            (kind == BUDGET && !mkperf_is_limited(of)) || (kind >= CORE && p->core == core)) {
            continue;
        }
        snprintf(all[n].text, sizeof all[n].text, kinds[kind < CORE ? kind : CORE], s->name,
                 kind == BUDGET ? 2 * (uint64_t)of->budget_us : core, (uint64_t)of->period_us);
        if (mkperf_flow_parse(f, all[n].text, &change, &e) == MKPERF_OK) {
            all[n].p = mkperf_flow_predict(f, l, &change, 1);
            n++;
        }
    }
    mkperf_sort(all, n, sizeof *all, compare_gain);
    if (!c->json) {
        printf("Advice: what the best of %u changes would bring\n", n);
    }
    for (unsigned i = 0; i < n && i < ADVICE && all[i].p.gain > 1; i++) {
        print_prediction(c, all[i].text, &all[i].p);
    }
    free(all);
}

static void print_loads(struct flow_command *c, const struct advice *a)
{
    for (unsigned core = 0; core < a->loads.cores; core++) {
        double busy = 100 * a->loads.busy[core];
        if (c->json) {
            mkperf_json(&c->values,
                        "{'type':'load','change':%s,'core':%u,'busy':%.4f,'calls_per_s':%.4f}\n",
                        a->text, core, busy, a->loads.calls_per_s);
        } else {
            printf("%7.1f ", busy);
        }
    }
    if (!c->json) {
        printf("%13.0f  %s\n", a->loads.calls_per_s, a->text);
    }
}

/* Prints, for a recording without queues, the loads of cores with each of the user's changes, or with each PD on each
 * other core. */
static enum mkperf_status placements(struct flow_command *c, const struct mkperf_flow *f,
                                     struct mkperf_error *e)
{
    const struct mkperf_analysis *a = f->analysis;
    char *text = mkperf_xstrdup(c->what_if != NULL ? c->what_if : ""), *rest = NULL;
    unsigned cores = a->ncores > 2 ? a->ncores : 2, n = 0;
    struct advice *all = mkperf_xcalloc(strlen(text) + (size_t)a->npds * cores + 1, sizeof *all);
    struct advice now = {.text = "as recorded", .loads = mkperf_flow_loads(f, NULL, 0)};

    for (char *one = strtok_r(text, ";", &rest); one != NULL; one = strtok_r(NULL, ";", &rest)) {
        snprintf(all[n++].text, sizeof all->text, "%s", one + strspn(one, " "));
    }
    for (uint32_t k = 0; k < a->npds * cores && c->advise; k++) {
        const struct mkperf_sched_pd *p = &a->pd[k / cores];
        if (p->name != NULL && !p->idle && p->runs != 0 && p->core != k % cores) {
            snprintf(all[n++].text, sizeof all->text, "%s core %u", p->name, k % cores);
        }
    }
    for (unsigned i = 0; i < n && e->status == MKPERF_OK; i++) {
        struct mkperf_flow_change change[CHANGES];
        unsigned changes = 0;
        if (read_changes(all[i].text, f, change, &changes, e) == MKPERF_OK) {
            all[i].loads = mkperf_flow_loads(f, change, changes);
        }
    }
    if (e->status == MKPERF_OK) {
        mkperf_sort(all, n, sizeof *all, compare_load);
        if (!c->json) {
            const struct mkperf_flow_loads *best = &all[0].loads;
            double busy = 100 * now.loads.busy[now.loads.busiest];
            printf(
                "The best of %u is %s: the busiest core is busy for %.1f %% of the time, and for "
                "%.1f %% as recorded.\n",
                n, all[0].text, 100 * best->busy[best->busiest], busy);
            if (busy > 95) {
                printf("# WARNING: a core was always busy. Its PDs may do more work on another "
                       "one.\n");
            }
            printf(
                "# Assumed: each PD works as in the recording on any core. Calls that newly cross "
                "cores take longer;\n# how much is not in the recording.\n#\n"
                "# busy in %%, for each core; such calls/s; change\n#\n");
        }
        print_loads(c, &now);
        for (unsigned i = 0; i < n; i++) {
            print_loads(c, &all[i]);
        }
    }
    free(all);
    free(text);
    return e->status;
}

/* ---- JSON ---- */

static void put_limit(struct mkperf_textout *v, const struct mkperf_flow *f,
                      const struct mkperf_flow_limit *l)
{
    const char *cause = mkperf_flow_cause_names[l->cause];

    if (l->stage < 0) {
        mkperf_json(v, "{'type':'limit','cause':%s}\n", cause);
        return;
    }
    mkperf_json(v,
                "{'type':'limit','cause':%s,'pd':%s,'by':%s,'busy':%.4f,'own':%.4f,'calls':%.4f"
                ",'ready':%.4f,'throttled':%.4f,'asleep':%.4f,'core_busy':%.4f"
                ",'packets_per_s':%.4f,'error_per_s':%.4f,'from_ns':%" PRIu64 ",'to_ns':%" PRIu64
                ",'before':%s,'behind':%s,'next':%s,'next_busy':%.4f}\n",
                cause, f->stage[l->stage].name, mkperf_analysis_name(f->analysis, l->by),
                100 * l->share, 100 * l->own, 100 * l->calls, 100 * l->ready, 100 * l->throttled,
                100 * l->asleep, 100 * l->core_busy, l->rate, l->error, l->from, l->to,
                l->full >= 0 ? f->queue[l->full].about.name : "",
                l->empty >= 0 ? f->queue[l->empty].about.name : "",
                l->next >= 0 ? f->stage[l->next].name : "", 100 * l->next_share);
}

static void put_rows(struct mkperf_textout *v, const struct mkperf_flow *f)
{
    for (unsigned i = 0; i < f->nstages; i++) {
        const struct mkperf_flow_stage *s = &f->stage[i];

        mkperf_json(v,
                    "{'type':'stage','pd':%s,'class':%s,'in':%" PRIu64 ",'out':%" PRIu64
                    ",'activations':%" PRIu64 ",'empty':%" PRIu64 ",'packets_50':%" PRIu64
                    ",'packets_99':%" PRIu64 ",'packets_most':%" PRIu64 ",'own_ns':%" PRIu64
                    ",'calls_ns':%" PRIu64 ",'busy_ns':%" PRIu64 ",'known_ns':%" PRIu64
                    ",'starved_ns':%" PRIu64 ",'blocked_ns':%" PRIu64 ",'drops':%.4f"
                    ",'cycles_own':%" PRIu64 ",'cycles_kernel':%" PRIu64 ",'cycles_calls':%" PRIu64
                    "}\n",
                    s->name, s->kind, s->in, s->out, s->activations, s->empty,
                    mkperf_log_quantile(&s->packets, 500), mkperf_log_quantile(&s->packets, 990),
                    s->packets.max, s->in_state[MKPERF_PD_RUNNING], s->in_state[MKPERF_PD_CALLING],
                    mkperf_flow_busy(s), mkperf_flow_known(s), s->waited[MKPERF_FLOW_STARVED],
                    s->waited[MKPERF_FLOW_BLOCKED] + s->running_full, mkperf_flow_drops(f, s),
                    s->cycles_own, s->cycles_kernel, s->cycles_calls);
    }
    for (unsigned i = 0; i < f->nqueues; i++) {
        const struct mkperf_flow_queue *q = &f->queue[i];

        mkperf_json(
            v,
            "{'type':'queue','queue':%s,'class':%s,'producer':%s,'consumer':%s"
            ",'size':%" PRIu64 ",'seen':%d,'mean':%.4f,'doubt':%.4f"
            ",'entries_99':%" PRIu64 ",'entries_most':%" PRIu64 ",'known_ns':%" PRIu64
            ",'empty_ns':%" PRIu64 ",'full_ns':%" PRIu64 ",'stay_ns':%.4f"
            ",'stay_99_ns':%" PRIu64 ",'stayed':%" PRIu64 ",'arrivals':%" PRIu64
            ",'departures':%" PRIu64 ",'first':%" PRIu64 ",'last':%" PRIu64 ",'readings':%" PRIu64
            ",'implausible':%" PRIu64 ",'unknown':%" PRIu64 ",'unknown_ns':%" PRIu64 "}\n",
            q->about.name, q->about.kind, q->about.producer != NULL ? q->about.producer : "",
            q->about.consumer != NULL ? q->about.consumer : "", q->about.capacity, q->about.seen,
            mkperf_per(q->area, (double)q->known_ns), mkperf_flow_doubt(f, q),
            mkperf_log_quantile(&q->filled, 990), q->most, q->known_ns, q->empty_ns, q->full_ns,
            mkperf_flow_stay(f, q), mkperf_log_quantile(&q->stay, 990), q->stay.count, q->produced,
            q->consumed, q->first, q->now, q->readings, q->implausible, q->unknown, q->unknown_ns);
    }
}

static enum mkperf_status predict_or_advise(struct flow_command *c, struct mkperf_flow *f,
                                            struct mkperf_error *e)
{
    struct mkperf_flow_limit l = mkperf_flow_limit(f);
    struct mkperf_flow_change change[CHANGES];
    unsigned n = 0;

    MKPERF_FAIL_IF((c->what_if != NULL || c->advise) && l.cause == MKPERF_FLOW_UNDECIDED, e,
                   MKPERF_ERR_INPUT,
                   "%s: predictions need scheduling events (mkperf record --sched)", c->input);
    MKPERF_TRY(c->what_if != NULL ? read_changes(c->what_if, f, change, &n, e) : MKPERF_OK);
    if (c->json) {
        c->values = report_values_begin(stdout, NULL, "flow", c->input);
        report_gap_values(f->analysis, &c->values);
        put_limit(&c->values, f, &l);
    } else {
        report_flow_answer(f, &l, stdout);
    }
    if (c->what_if != NULL || c->advise) {
        struct mkperf_flow_prediction p = mkperf_flow_predict(f, &l, change, n);
        if (c->what_if != NULL) {
            print_prediction(c, c->what_if, &p);
        }
        if (c->advise) {
            advise(c, f, &l);
        }
        if (!c->json) {
            printf(
                "# Assumed: each packet and each activation needs the work of the recording; "
                "caches and devices do not matter;\n# sources have as many packets as before, or "
                "always one. The replay without a change is %.1f %% off the recording.\n# The "
                "interval has that error, and the gains if PDs notify for each packet or only "
                "before they wait.\n\n",
                100 * mkperf_per(p.replayed - p.recorded, p.recorded));
        }
    }
    report_flow_sort(f, c->sort);
    if (c->json) {
        put_rows(&c->values, f);
    } else {
        report_flow_tables(f, stdout);
    }
    return MKPERF_OK;
}

static enum mkperf_status run_flow(void *self, const struct mkperf_args *args,
                                   struct mkperf_error *e)
{
    struct flow_command *c = self;
    struct mkperf_analysis *a = mkperf_analysis_new();
    struct mkperf_flow f;

    c->input = args->n > 0 ? args->operand[0] : c->input;
    mkperf_flow_init(&f, a);
    if (mkperf_frames_time(&c->filter, c->input, e) == MKPERF_OK) {
        f.from_ns = c->filter.has_time ? c->filter.from_ns : f.from_ns;
        f.to_ns = c->filter.has_time ? c->filter.to_ns : f.to_ns;
        (void)mkperf_flow_read(&f, c->input, e);
    }
    if (e->status == MKPERF_OK && f.nqueues == 0 && f.began && (c->what_if != NULL || c->advise)) {
        if (c->json) {
            c->values = report_values_begin(stdout, NULL, "flow", c->input);
        }
        (void)placements(c, &f, e);
    } else if (e->status == MKPERF_OK && f.nqueues == 0) {
        mkperf_error_set(e, MKPERF_ERR_INPUT,
                         "%s: the recording has no queues; docs/flow.md describes how the target "
                         "lists them, and predictions without them",
                         c->input);
    } else if (e->status == MKPERF_OK && c->filter.has_time && (!f.began || f.from_ns != 0)) {
        mkperf_error_set(e, MKPERF_ERR_USAGE, "--time: the recording has no switch in this time");
    } else if (e->status == MKPERF_OK) {
        (void)predict_or_advise(c, &f, e);
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
    .options = {{report_input_options, offsetof(struct flow_command, input)},
                {report_time_options, offsetof(struct flow_command, filter)},
                {flow_options, 0}},
    .operand = MKPERF_VALUE_FILE,
    .operands_max = 1,
    .examples = "mkperf record -t tcp:192.168.1.5 --queues --duration 10\nmkperf flow\nmkperf flow "
                "--time 40%-60% --sort own\nmkperf flow --what-if 'echo own -20%'\nmkperf flow "
                "--json | jq 'select(.type == \"limit\")'",
    .self = MKPERF_SELF(struct flow_command, .input = "perf.data", .sort = REPORT_FLOW_UNSORTED),
    .run = run_flow,
};
