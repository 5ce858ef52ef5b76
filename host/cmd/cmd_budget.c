/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf budget: shows how much time each PD needs within its period, and advises budgets.
 *
 * Owns: the command's options, the advice, and its table. host/sched/analysis.h defines the demand, and describes what may be
 * wrong with it. The advice for a PD is the least budget with which it would not have been throttled, and the margin. A PD that was
 * throttled gets no advice: its demand is not known, because it would have used more. With --system the advice is a diff of the
 * system's description (host/system/budgets.c).
 */
#include <math.h>

#include "cmd.h"
#include "report/report.h"

struct budget_command {
    const char *input, *system;
    uint64_t period_us; /* the period that is assumed for PDs that may always run */
    double margin;      /* per cent */
    bool json;
    struct mkperf_textout values; /* the values that --json prints */
};

static const struct mkperf_option budget_options[] = {
    MKPERF_OPTION(0, "period",
                  "microseconds (10000): the period of PDs that may always run, for which the "
                  "advice is to have",
                  .value = "US", MKPERF_NUMBER(struct budget_command, period_us, 1, 3600000000)),
    MKPERF_OPTION(0, "margin", "per cent (10) that the advice is above what was used", .value = "N",
                  MKPERF_PER_CENT(struct budget_command, margin)),
    MKPERF_OPTION(0, "system",
                  "print the advice as a diff of this .system file, for `patch FILE`: budgets "
                  "that are in it and below their periods change",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct budget_command, system)),
    MKPERF_OPTION(0, "json", "rows as JSON Lines", MKPERF_SETS(struct budget_command, json)),
    {.letter = 0},
};

/* Returns a budget in microseconds that would have sufficed in a period, with the margin. */
static uint64_t advice_for(const struct budget_command *c, uint64_t enough_ns, uint64_t period_ns)
{
    double us = ceil((double)enough_ns * (1 + c->margin / 100) / 1000);

    return (uint64_t)fmin(us, (double)period_ns / 1000);
}

/* Returns the same for a PD, or 0 if none is advised, because the PD was throttled. */
static uint64_t advice_for_pd(const struct budget_command *c, const struct mkperf_demand_pd *p)
{
    return advice_for(c, p->budget_ns[0], p->period_ns);
}

static void print_pd(struct budget_command *c, const struct mkperf_analysis *a, uint32_t number,
                     const struct mkperf_demand_pd *p)
{
    const struct mkperf_sched_pd *pd = &a->pd[number];
    const struct mkperf_scheduling *s = &pd->scheduling;
    bool limited = mkperf_is_limited(s);
    double span = (double)(a->last_ns - a->first_ns);
    double mean_ns = span > 0 ? (double)p->used_ns * (double)p->period_ns / span : 0;
    uint64_t advised = advice_for_pd(c, p);
    char budget[32] = "always";

    if (c->json) {
        mkperf_json(&c->values,
                    "{'type':'budget','pd':%s,'period_us':%" PRIu64 ",'budget_us':%" PRIu64
                    ",'used_ns':%" PRIu64 ",'at_ns':%" PRIu64 ",'mean_ns':%" PRIu64
                    ",'all_ns':%" PRIu64 ",'by_others_ns':%" PRIu64 ",'throttled':%" PRIu64
                    ",'advised_us':%" PRIu64 "}\n",
                    pd->name, p->period_ns / 1000, limited ? s->budget_us : p->period_ns / 1000,
                    p->worst_ns, p->worst_from, (uint64_t)mean_ns, p->used_ns, p->for_ns,
                    p->throttled, advised);
        return;
    }
    if (limited) {
        snprintf(budget, sizeof budget, "%" PRIu64, s->budget_us);
    }
    printf("%11" PRIu64 " %10s %11.3f %6.2f %10.6f %8.0f %9.2f%% %10" PRIu64 " ",
           p->period_ns / 1000, budget, (double)p->worst_ns / 1e3,
           mkperf_percent(p->worst_ns, p->period_ns), (double)p->worst_from / 1e9, mean_ns / 1e3,
           mkperf_percent(p->for_ns, p->used_ns), p->throttled);
    if (advised != 0) {
        printf(" %10" PRIu64 "  %s%s\n", advised, pd->name,
               (double)advised * 1000 > 1.5 * (double)p->worst_ns ? " (short runs use up refills)"
                                                                  : "");
    } else {
        printf(" more-than %" PRIu64 "  %s\n", s->budget_us, pd->name);
    }
}

/* Returns whether the row of this PD is shown: it ran, and pays for its own time. */
static bool is_shown(const struct mkperf_analysis *a, const struct mkperf_demand *d, uint32_t pd)
{
    return d->pd[pd].used_ns != 0 && a->pd[pd].name != NULL && !a->pd[pd].scheduling.passive;
}

/* Prints what PDs of the same and of higher priority leave to each PD: with the budgets of the recording, and with the
 * advice. */
static void print_below(struct budget_command *c, const struct mkperf_analysis *a,
                        const struct mkperf_demand *d)
{
    uint64_t *budget = mkperf_xcalloc(2 * (size_t)d->npds + 1, sizeof *budget);
    uint64_t *advised = budget + d->npds;
    bool titled = c->json;

    for (uint32_t i = 0; i < d->npds; i++) {
        const struct mkperf_scheduling *s = &a->pd[i].scheduling;
        uint64_t advice = advice_for_pd(c, &d->pd[i]) * 1000;

        budget[i] = mkperf_is_limited(s) ? s->budget_us * 1000 : d->pd[i].period_ns;
        advised[i] = advice != 0 ? advice : budget[i];
    }
    for (uint32_t i = 0; i < d->npds; i++) {
        if (!is_shown(a, d, i) || !a->pd[i].scheduling.known || a->pd[i].profiler) {
            continue;
        }
        uint64_t left[] = {mkperf_demand_left(d, i, budget), mkperf_demand_left(d, i, advised)};
        uint64_t wait[] = {mkperf_demand_wait(d, i, budget), mkperf_demand_wait(d, i, advised)};

        if (c->json) {
            static const char *const keys[2] = {"wait_ns", "wait_advised_ns"};

            mkperf_json(&c->values,
                        "{'type':'budget-below','pd':%s,'left_ns':%" PRIu64
                        ",'left_advised_ns':%" PRIu64,
                        a->pd[i].name, left[0], left[1]);
            for (unsigned k = 0; k < 2; k++) {
                if (wait[k] != UINT64_MAX) {
                    mkperf_json(&c->values, ",%s:%" PRIu64, keys[k], wait[k]);
                }
            }
            mkperf_json(&c->values, "}\n");
            continue;
        }
        if (!titled) {
            printf(
                "\n# those below: what PDs of the same priority and above leave to a PD of its "
                "period if they use all\n# of their budgets, and how long it waits at most; with "
                "the budgets now, and as advised\n# priority   left now us  left then us   wait "
                "now us  wait then us  PD\n");
            titled = true;
        }
        printf("%10" PRIu32 " %13.3f %13.3f", a->pd[i].scheduling.priority, (double)left[0] / 1e3,
               (double)left[1] / 1e3);
        for (unsigned k = 0; k < 2; k++) { /* UINT64_MAX: it can wait for any time */
            if (wait[k] == UINT64_MAX) {
                printf(" %13s", "no bound");
            } else {
                printf(" %13.3f", (double)wait[k] / 1e3);
            }
        }
        printf("  %s\n", a->pd[i].name);
    }
    free(budget);
}

/* Prints which PDs lost time because budgets were used up: PDs that were throttled, and callers that waited for them. */
static void print_cost(struct budget_command *c, const struct mkperf_analysis *a)
{
    bool titled = c->json;

    for (uint32_t i = 0; i < a->npds + a->nedges; i++) {
        const struct mkperf_call_edge *edge = i >= a->npds ? &a->edge[i - a->npds] : NULL;
        uint32_t pd = edge != NULL ? edge->to : i;
        uint64_t ns = edge != NULL ? edge->sum.budget : a->pd[i].in[MKPERF_PD_THROTTLED];
        const char *who = mkperf_analysis_name(a, edge != NULL ? edge->from : i);

        if (ns == 0) {
            continue;
        }
        if (c->json) {
            mkperf_json(&c->values, "{'type':'budget-cost','pd':%s,'who':%s,'ns':%" PRIu64 "}\n",
                        mkperf_analysis_name(a, pd), who, ns);
            continue;
        }
        printf("%s%14.3f  %s%s%s\n", titled ? "" : "\n# lost because a budget was used up, us\n",
               (double)ns / 1e3, who, edge != NULL ? ", which called " : "",
               edge != NULL ? mkperf_analysis_name(a, pd) : "");
        titled = true;
    }
}

/* Prints the budgets that would suffice with other periods, for each PD with a budget that was
 * never throttled. */
static void print_periods(struct budget_command *c, const struct mkperf_analysis *a,
                          const struct mkperf_demand *d)
{
    bool titled = c->json;

    for (uint32_t k = 0; k < d->npds; k++) {
        const struct mkperf_demand_pd *p = &d->pd[k];

        if (!is_shown(a, d, k) || !mkperf_is_limited(&a->pd[k].scheduling) || p->throttled != 0) {
            continue;
        }
        if (!titled) {
            printf("\n# other periods: the budget that would have sufficed, and %g %%\n"
                   "# period us  budget us  %% of time  PD\n",
                   c->margin);
            titled = true;
        }
        for (unsigned i = 0; i < MKPERF_DEMAND_PERIODS; i++) {
            uint64_t period = mkperf_demand_period(p, i);
            uint64_t budget = advice_for(c, p->budget_ns[i + 1], period);

            if (c->json) {
                mkperf_json(&c->values,
                            "{'type':'budget-period','pd':%s,'period_us':%" PRIu64
                            ",'budget_us':%" PRIu64 "}\n",
                            a->pd[k].name, period / 1000, budget);
            } else {
                printf("%11" PRIu64 " %10" PRIu64 " %10.2f  %s\n", period / 1000, budget,
                       mkperf_percent(budget * 1000, period), a->pd[k].name);
            }
        }
    }
}

/* A window that is too long by more than one of so many parts is shown. */
enum { OVER_SHOWN = 1000 };

static double us_of(uint64_t ns)
{
    return (double)ns / 1e3;
}

/* Returns by how many ns a window began late, or early (negative): the time since its last begin, less the length of a frame.
 * If that length is not known, the mean interval stands for it. */
static int64_t against_frame(const struct mkperf_domains *d, const struct mkperf_domain_window *w,
                             uint64_t interval_ns)
{
    if (w->intervals == 0) {
        return 0;
    }
    return (int64_t)(interval_ns -
                     (d->frame_ns != 0 ? d->frame_ns : w->interval_ns / w->intervals));
}

static void put_window(struct budget_command *c, const struct mkperf_analysis *a,
                       const struct mkperf_domains *d, const struct mkperf_domain_window *w)
{
    mkperf_json(&c->values,
                "{'type':'window','window':%u,'domain':%s,'duration_ns':%" PRIu64
                ",'count':%" PRIu64 ",'length_ns':%" PRIu64 ",'min_ns':%" PRIu64
                ",'max_ns':%" PRIu64 ",'used_ns':%" PRIu64 ",'slack_ns':%" PRIu64
                ",'slack_min_ns':%" PRIu64 ",'frame_ns':%" PRIu64 ",'frame_min_ns':%" PRIu64
                ",'frame_max_ns':%" PRIu64 ",'over_ns':%" PRIu64 ",'over_at_ns':%" PRIu64
                ",'over_by':%s}\n",
                w->number, w->domain, w->duration_ns, w->count, w->length_ns, w->least_ns,
                w->most_ns, w->length_ns - w->slack_ns, w->slack_ns, w->least_slack_ns, d->frame_ns,
                w->intervals != 0 ? w->least_interval_ns : 0, w->most_interval_ns, w->over_ns,
                w->over_at, w->over_ns != 0 ? mkperf_analysis_name(a, w->over_pd) : "");
    for (unsigned i = 0; i < w->npds; i++) {
        const struct mkperf_domain_pd *p = &w->pd[i];
        mkperf_json(&c->values,
                    "{'type':'window-pd','window':%u,'pd':%s,'used_ns':%" PRIu64
                    ",'max_ns':%" PRIu64 ",'cut':%" PRIu64 "}\n",
                    w->number, mkperf_analysis_name(a, p->pd), p->used_ns, p->most_ns, p->cut);
    }
}

static void print_window(const struct mkperf_analysis *a, const struct mkperf_domains *d,
                         const struct mkperf_domain_window *w)
{
    double n = (double)w->count;

    printf("%8u %9.0f %7" PRIu64 " %10.3f %10.3f %10.3f %10.3f %10.3f %10.3f %8.3f %8.3f  %s\n",
           w->number, us_of(w->duration_ns), w->count, us_of(w->least_ns), us_of(w->length_ns) / n,
           us_of(w->most_ns), us_of(w->length_ns - w->slack_ns) / n, us_of(w->slack_ns) / n,
           us_of(w->least_slack_ns), (double)against_frame(d, w, w->least_interval_ns) / 1e3,
           (double)against_frame(d, w, w->most_interval_ns) / 1e3, w->domain);
    for (unsigned i = 0; i < w->npds; i++) {
        const struct mkperf_domain_pd *p = &w->pd[i];
        if (p->used_ns != 0) {
            printf("%70.3f %10.3f most, cut %" PRIu64 " times  %s\n", us_of(p->used_ns) / n,
                   us_of(p->most_ns), p->cut, mkperf_analysis_name(a, p->pd));
        }
    }
    if (w->over_ns > w->duration_ns / OVER_SHOWN) {
        printf("%70.3f too long until %.6f s, while %s ran\n", us_of(w->over_ns),
               (double)w->over_at / 1e9, mkperf_analysis_name(a, w->over_pd));
    }
}

static enum mkperf_status print_patch(const struct budget_command *c,
                                      const struct mkperf_analysis *a,
                                      const struct mkperf_demand *d, struct mkperf_error *e)
{
    uint64_t budget_us[MKPERF_SYSTEM_MAX_PDS] = {0}; /* that the file shall give to each PD */
    struct mkperf_system *s = NULL;
    unsigned changes = 0;

    e->status = mkperf_system_load(c->system, &s, e);
    for (uint32_t k = 0; k < d->npds && e->status == MKPERF_OK; k++) {
        const char *name = a->pd[k].name;
        const struct mkperf_scheduling *had = &a->pd[k].scheduling;
        if (!is_shown(a, d, k) || !mkperf_is_limited(had)) {
            continue;
        }
        int i = mkperf_system_pd_named(s, name);
        if (i < 0) {
            mkperf_error_set(e, MKPERF_ERR_INPUT,
                             "%s: there is no protection_domain '%s', which was recorded in %s: "
                             "use the file of the recorded system",
                             c->system, name, c->input);
        } else if (s->pd[i].scheduling.period_us != had->period_us || s->pd[i].budget_at.n == 0) {
            mkperf_error_set(e, MKPERF_ERR_INPUT,
                             "%s:%d: '%s' was recorded with a budget in a period of %" PRIu64
                             " us, which is not in this file: use the file of the recorded system",
                             c->system, s->pd[i].line, name, had->period_us);
        } else if ((budget_us[i] = advice_for_pd(c, &d->pd[k])) == 0) {
            fprintf(stderr,
                    "mkperf: %s:%d: '%s' was throttled, so its need is not known; its budget is "
                    "left. Record it with a larger one\n",
                    c->system, s->pd[i].line, name);
        } else {
            changes++;
        }
    }
    if (e->status == MKPERF_OK && a->gaps != 0) {
        fprintf(stderr, "mkperf: warning: events are missing for %.6f s: PDs may need more\n",
                (double)a->gap_ns / 1e9);
    }
    if (e->status == MKPERF_OK && changes == 0) {
        fprintf(stderr,
                "mkperf budget: %s: no budget changes. A budget changes if it is below its period "
                "and was not used up\n",
                c->system);
    } else if (e->status == MKPERF_OK) {
        mkperf_system_print_budgets(stdout, s, c->system, budget_us);
    }
    mkperf_system_free(s);
    return e->status;
}

static void print_budgets(struct budget_command *c, const struct mkperf_analysis *a,
                          const struct mkperf_demand *d, const struct mkperf_domains *domains)
{
    if (c->json) {
        c->values = report_values_begin(stdout, NULL, "budget", c->input);
        report_gap_values(a, &c->values);
    } else {
        report_first_print(&a->totals, stdout);
        printf("# %s: %.6f s of scheduling events. Used: the most in any period, passive PDs' work "
               "for the PD\n# included. Advised: what would have sufficed, and %g %%; more-than: "
               "the PD was throttled, so its need is\n# not known.\n",
               c->input, (double)(a->last_ns - a->first_ns) / 1e9, c->margin);
        if (a->gaps != 0) {
            printf("# WARNING: events are missing for %.6f s. PDs may have used more time.\n",
                   (double)a->gap_ns / 1e9);
        }
        printf("#\n# period us  budget us     used us      %%       at s  mean us  by others  "
               "throttled  advised us  PD\n#\n");
    }
    for (uint32_t i = 0; i < d->npds; i++) {
        if (is_shown(a, d, i)) {
            print_pd(c, a, i, &d->pd[i]);
        }
    }
    print_below(c, a, d);
    print_cost(c, a);
    print_periods(c, a, d);
    /* Prints the windows of the domain schedule, if it has any. */
    if (domains->n != 0 && !c->json) {
        printf("\n# windows of the domain schedule, us; a frame has %.0f. Early, late: its begin, "
               "against one frame\n# after its begin before. Cut: the PD was ready when the window "
               "ended\n"
               "# window  duration   count      least       mean    longest       used      slack "
               "least slack  early     late  domain\n",
               us_of(domains->frame_ns));
    }
    for (unsigned i = 0; i < domains->n; i++) {
        if (domains->window[i].count == 0) {
            continue;
        }
        if (c->json) {
            put_window(c, a, domains, &domains->window[i]);
        } else {
            print_window(a, domains, &domains->window[i]);
        }
    }
}

static enum mkperf_status run_budget(void *self, const struct mkperf_args *args,
                                     struct mkperf_error *e)
{
    struct budget_command *c = self;
    struct mkperf_analysis *a = mkperf_analysis_new();
    struct mkperf_demand d = {.default_ns = c->period_us * 1000};
    struct mkperf_domains domains = {.n = 0};

    c->input = args->n > 0 ? args->operand[0] : c->input;
    mkperf_demand_attach(&d, a);
    mkperf_domains_attach(&domains, a);
    if (mkperf_demand_read(&d, &domains, a, c->input, e) == MKPERF_OK) {
        if (c->system == NULL) {
            print_budgets(c, a, &d, &domains);
        } else {
            (void)print_patch(c, a, &d, e);
        }
    }
    mkperf_analysis_free(a);
    mkperf_demand_free(&d);
    mkperf_domains_free(&domains);
    return e->status;
}

const struct mkperf_command mkperf_budget_command = {
    .name = "budget",
    .summary = "show how much time PDs need in a period, and advise budgets",
    .synopsis = "[options] [FILE]",
    .description =
        "Of a recording with scheduling events: the most time that each PD used within one of its "
        "periods, passive PDs' work for it included. A budget of that much would never have been "
        "used up. Record with budgets that are large enough: a PD that is throttled would use "
        "more than it shows.",
    .options = {{report_input_options, offsetof(struct budget_command, input)},
                {budget_options, 0}},
    .operand = MKPERF_VALUE_FILE,
    .operands_max = 1,
    .examples = "mkperf record -t tcp:192.168.1.5 --sched --duration 60\n"
                "mkperf budget --margin 20\n"
                "mkperf budget --system my.system | patch my.system",
    .self =
        MKPERF_SELF(struct budget_command, .input = "perf.data", .period_us = 10000, .margin = 10),
    .run = run_budget,
};
