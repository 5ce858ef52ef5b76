/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf explain: answers the questions that people ask about a recording, in a page of text.
 *
 * Owns: the table of questions, and the rule that leads to each answer. Every figure comes from the profile, from the
 * analysis of scheduling events, or from the list of warnings; nothing is measured here.
 *
 *      recording ─► profile (samples)    ┐    question ─► verdict and text
 *                └► analysis (events)    ├──► PROBLEM     something is wrong, or the figures cannot be trusted
 *      worst call ─► its critical path   ┘    ANSWER      what the recording shows
 *                                             RULED_OUT   what is not the reason, with the figure that shows it
 *                                             UNDECIDED   the recording that would decide it
 *
 * An answer that depends on chance has its interval at 95 %. Times by scheduling events are exact, apart from gaps.
 */
#include <math.h>

#include "base/outfile.h"
#include "cmd.h"
#include "flow/flow.h"
#include "import/import.h"
#include "model/figures.h"
#include "report/report.h"

enum { WIDTH = 100, TITLE = 14, PDS_SHOWN = 3, STEPS_SHOWN = 3, WARNINGS_SHOWN = 4 };

/* Limits of the rules, in per cent of the time. docs/looking.md states them. */
static const double BUSY = 95;     /* a core that is busy for longer limits its PDs */
static const double THROTTLED = 5; /* a PD that is throttled for longer is limited by its budget */
static const double OWN =
    33; /* mkperf's PDs use so much of a core that the system is another one */
static const double UNNAMED = 1;  /* of the samples, without the name of a function */
static const double UNKNOWN = 10; /* of the cores' time, without events: no conclusion is drawn */

enum verdict { PROBLEM, ANSWER, RULED_OUT, UNDECIDED, VERDICTS };
static const char *const verdict_names[VERDICTS] = {"problem", "answer", "ruled out", "undecided"};

struct explain {
    const char *input;
    unsigned why; /* the number of a question, from 0 on; ALL_QUESTIONS */
    bool json;
    struct mkperf_elf_search elfs;
    struct mkperf_profile profile;
    struct mkperf_frames frames;
    const struct mkperf_analysis *events; /* of scheduling events; NULL: none were recorded */
    uint64_t span;                        /* ns of them */
    struct mkperf_error *e;
};

static const char no_samples[] =
    "the recording has no samples; record them with mkperf record -e cycles";

static double percent_of_span(const struct explain *x, uint64_t ns)
{
    return mkperf_percent(ns, x->span);
}

/* Whether a PD is one of mkperf's own. Without its ELF that is not known. */
static bool is_own(const struct explain *x, uint32_t pd)
{
    return pd < x->profile.places.npds && x->profile.places.pd[pd].profiler;
}

/* Whether the scheduling events cannot answer a question. If so, prints which recording would. */
static bool lacks_events(const struct explain *x, FILE *to)
{
    uint64_t known = 0, unknown = 0;

    if (x->events == NULL) {
        fputs("the recording has no scheduling events; record them with mkperf record --sched", to);
        return true;
    }
    for (uint32_t i = 0; i < x->events->ncores; i++) {
        known += x->events->core[i].busy + x->events->core[i].idle;
        unknown += x->events->core[i].unknown;
    }
    if (mkperf_percent(unknown, known + unknown) > UNKNOWN) {
        fprintf(to,
                "for %.2f %% of the cores' time scheduling events are missing; record fewer events "
                "(--pd, a larger period), or over a faster link",
                mkperf_percent(unknown, known + unknown));
        return true;
    }
    return false;
}

static const char *pd_name(const void *self, uint32_t pd)
{
    return mkperf_profile_pd_name(self, pd);
}

struct warning_list {
    FILE *to;
    unsigned n;
};

static void add_warning(void *self, enum mkperf_warning_level level, const char *text)
{
    struct warning_list *l = self;

    /* The warning about faults is the answer of the question `faults`. */
    if (level != MKPERF_NOTE && strncmp(text, "faulted", 7) != 0 && l->n++ < WARNINGS_SHOWN) {
        fprintf(l->to, "%s%s", l->n > 1 ? ";\n" : "", text);
    }
}

/* The first line of the figures is the comparison of samples with scheduling events, if there was one. */
static void add_agreement(void *self, bool warns, const char *title, const char *text)
{
    (void)warns;
    if (title != NULL && strcmp(title, "checked") == 0) {
        fprintf(self, "; %s", text);
    }
}

static enum verdict explain_trust(struct explain *x, FILE *to)
{
    const struct mkperf_profile *p = &x->profile;
    const struct mkperf_warnings w = {
        .session = &p->places.session, .totals = &p->totals, .pd_name = pd_name, .names = p};
    struct warning_list l = {.to = to};

    mkperf_warnings_each(&w, add_warning, &l);
    if (l.n > WARNINGS_SHOWN) {
        fprintf(to, ";\nand %u more (mkperf report --header-only)", l.n - WARNINGS_SHOWN);
    }
    if (l.n != 0) {
        return PROBLEM;
    }
    fprintf(to, "no sample and no event is known to be lost");
    mkperf_figures_texts(MKPERF_FIGURE_SUMMARY, MKPERF_SECTION_FIRST, MKPERF_SECTION_END,
                         &p->totals, add_agreement, to);
    return RULED_OUT;
}

/* Names each place that lost samples or events, with the number. */
static enum verdict explain_lost(struct explain *x, FILE *to)
{
    const struct mkperf_totals *t = &x->profile.totals;
    uint64_t lost = mkperf_lost_sum(t->lost), events = mkperf_lost_sum(t->sched_lost);
    unsigned shown = 0;

    if (!t->complete) {
        fputs("the target's totals did not arrive; record to the end", to);
        return UNDECIDED;
    }
    fprintf(to, "%" PRIu64 " of %" PRIu64 " samples (%.2f %%) and %" PRIu64 " scheduling events",
            lost, t->samples + lost, mkperf_percent(lost, t->samples + lost), events);
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        if (t->lost[i] + t->sched_lost[i] != 0) {
            fprintf(to, "%s %" PRIu64 ": %s", shown++ > 0 ? ";" : " were lost;",
                    t->lost[i] + t->sched_lost[i], mkperf_loss_places[i].cause);
        }
    }
    fputs(shown == 0 ? " were lost" : "; use a larger period or a faster link", to);
    return shown != 0 ? PROBLEM : RULED_OUT;
}

static enum verdict explain_names(struct explain *x, FILE *to)
{
    struct mkperf_profile *p = &x->profile;
    uint64_t unnamed = 0, all = 0, *of = mkperf_xcalloc(p->places.npds + 1, sizeof *of);
    uint32_t worst = 0;

    for (uint32_t i = 0; i < p->chains.count; i++) {
        struct mkperf_profile_chain c;
        uint32_t n;

        mkperf_profile_chain(p, i, &c);
        const struct mkperf_frame *frame = mkperf_places_frames(&p->places, c.place[0], &n);
        bool idle = p->places.pd[c.pd].thread == MKPERF_THREAD_IDLE;
        all += c.weight.samples;
        if (!p->places.function[frame->function].known && !idle) {
            unnamed += c.weight.samples;
            of[c.pd] += c.weight.samples;
            worst = of[c.pd] > of[worst] ? c.pd : worst;
        }
    }
    if (all == 0) {
        fputs(no_samples, to);
        free(of);
        return UNDECIDED;
    }
    fprintf(to, "%.2f %% of %" PRIu64 " samples are in code without a name",
            mkperf_percent(unnamed, all), all);
    if (unnamed != 0) {
        fprintf(to, ", most of them in %s", mkperf_profile_pd_name(p, worst));
    }
    free(of);
    return mkperf_percent(unnamed, all) > UNNAMED ? PROBLEM : RULED_OUT;
}

static enum verdict explain_cost(struct explain *x, FILE *to)
{
    struct mkperf_profile *p = &x->profile;
    const struct mkperf_totals *t = &p->totals;
    double own = mkperf_percent(t->own_ns, t->known_ns);
    char text[256];

    if (p->total[0].samples != 0) {
        mkperf_profile_cost(p);
        mkperf_cost_text(&p->cost, &p->places, 0, p->total[0].period, text, sizeof text);
        fprintf(to, "%s%s", text, t->own_ns != 0 ? "; " : "");
    } else if (t->own_ns == 0) {
        fputs("which PDs are mkperf's own is not known: none of their ELFs was found; use mkperf "
              "record --elf-path",
              to);
        return UNDECIDED;
    }
    if (t->own_ns != 0) {
        fprintf(to, "mkperf's PDs ran %.2f %% of one core's time by scheduling events", own);
    }
    return own > OWN ? PROBLEM : ANSWER;
}

static enum verdict explain_faults(struct explain *x, FILE *to)
{
    const struct mkperf_totals *t = &x->profile.totals;

    if (t->faulted == 0) {
        fputs("no PD stopped with a fault", to);
        return RULED_OUT;
    }
    fprintf(to, "a PD stopped with a fault %" PRIu64 " times, the last time %s", t->faulted,
            t->faulted_pd);
    return PROBLEM;
}

/*
 * The PD that was longest in `state`, for less than `below` ns, of PDs that ran on `core` last (UINT32_MAX: of all).
 * NOBODY: there is none.
 */
static uint32_t greatest_pd(const struct explain *x, uint32_t core, enum mkperf_pd_state state,
                            uint64_t below)
{
    const struct mkperf_analysis *a = x->events;
    uint32_t found = MKPERF_SCHED_NOBODY;
    uint64_t most = 0;

    for (uint32_t i = 0; i < a->npds; i++) {
        const struct mkperf_sched_pd *p = &a->pd[i];

        if (!p->idle && p->name != NULL && (state == MKPERF_PD_RUNNING || !is_own(x, i)) &&
            p->in[state] > most && p->in[state] < below &&
            (core == UINT32_MAX || (p->has_core && p->core == core))) {
            found = i;
            most = p->in[state];
        }
    }
    return found;
}

/* Without samples: the PDs that ran longest, by scheduling events. */
static enum verdict put_run_times(const struct explain *x, FILE *to)
{
    const struct mkperf_analysis *a = x->events;
    uint64_t less_than = UINT64_MAX;

    if (lacks_events(x, to)) {
        return UNDECIDED;
    }
    for (unsigned shown = 0; shown < PDS_SHOWN; shown++) {
        uint32_t pd = greatest_pd(x, UINT32_MAX, MKPERF_PD_RUNNING, less_than);

        if (pd == MKPERF_SCHED_NOBODY) {
            break;
        }
        less_than = a->pd[pd].in[MKPERF_PD_RUNNING];
        fprintf(to, "%s%s %.2f %%", shown > 0 ? "; " : "of one core's time: ", a->pd[pd].name,
                percent_of_span(x, less_than));
    }
    return ANSWER;
}

static enum verdict explain_time(struct explain *x, FILE *to)
{
    const struct mkperf_profile *p = &x->profile;
    struct report_options by_pd = {.keys = {{REPORT_SORT_PD}, 1}};
    struct report_options by_function = {.keys = {{REPORT_SORT_PD, REPORT_SORT_SYMBOL}, 2}};
    struct report_rows pds, functions;
    unsigned shown = 0;

    if (p->total[0].samples == 0) {
        return put_run_times(x, to);
    }
    report_rows_build(&pds, &x->frames, &by_pd, 0);
    report_rows_build(&functions, &x->frames, &by_function, 0);
    for (uint32_t i = 0; i < pds.n && shown < PDS_SHOWN; i++) {
        uint32_t pd = pds.row[i].key.pd, f = 0;
        double share = report_row_share(&pds, i);

        if (p->places.pd[pd].thread == MKPERF_THREAD_IDLE) {
            continue;
        }
        fprintf(to, shown++ > 0 ? "; " : "of %s: ", p->places.session.event[0].name);
        fprintf(to, "%s %.2f ± %.2f %%", mkperf_profile_pd_name(p, pd), share,
                mkperf_profile_interval(p, 0, share));
        while (f < functions.n && functions.row[f].key.pd != pd) {
            f++;
        }
        if (f < functions.n) {
            fprintf(to, " (%s%s %.2f %%)", functions.row[f].key.mode == 'k' ? "kernel: " : "",
                    mkperf_frames_text(&x->frames, functions.row[f].key.name),
                    report_row_share(&functions, f));
        }
    }
    if (shown == 0) {
        fputs("only idle was sampled", to);
    }
    report_rows_free(&pds);
    report_rows_free(&functions);
    return shown == 0 ? PROBLEM : ANSWER;
}

static double busy_of(const struct mkperf_sched_core *c)
{
    return mkperf_percent(c->busy, c->busy + c->idle);
}

/* The answer for a recording with queues, which is read again for them. */
static enum verdict explain_flow(struct explain *x, FILE *to)
{
    const struct mkperf_input in = {.from = NULL};
    struct mkperf_analysis *a = mkperf_analysis_new();
    struct mkperf_flow f;

    mkperf_flow_init(&f, a);
    const struct mkperf_sink sink = mkperf_flow_sink(&f);
    if (mkperf_input_read(x->input, &in, &sink, x->e) == MKPERF_OK) {
        struct mkperf_flow_limit l = mkperf_flow_limit(&f);

        mkperf_flow_sentence(&f, &l, to);
        if (l.stage >= 0) {
            fprintf(to, "; %s has %.0f packets/s", f.stage[l.stage].name, l.rate);
        }
        fputs("; mkperf flow shows the figures, and predicts changes", to);
    }
    mkperf_flow_free(&f);
    mkperf_analysis_free(a);
    return ANSWER;
}

/*
 * The first of these rules that applies gives the answer: a queue, a core, a budget, a PD that never waits for work, the
 * load.
 */
static enum verdict explain_throughput(struct explain *x, FILE *to)
{
    const struct mkperf_analysis *a = x->events;
    uint32_t core = 0, chain = MKPERF_SCHED_NOBODY;
    uint64_t most_active = 0;

    if (x->profile.places.session.nqueues != 0) {
        return explain_flow(x, to);
    }
    for (uint32_t i = 1; i < a->ncores; i++) {
        core = a->core[i].seen && busy_of(&a->core[i]) > busy_of(&a->core[core]) ? i : core;
    }
    double busy = a->ncores != 0 ? busy_of(&a->core[core]) : 0;
    uint32_t runs = greatest_pd(x, core, MKPERF_PD_RUNNING, UINT64_MAX);
    uint32_t held = greatest_pd(x, UINT32_MAX, MKPERF_PD_THROTTLED, UINT64_MAX);
    for (uint32_t i = 0; i < a->npds; i++) {
        const struct mkperf_sched_pd *p = &a->pd[i];
        uint64_t active = p->in[MKPERF_PD_RUNNING] + p->in[MKPERF_PD_CALLING] +
                          p->in[MKPERF_PD_READY];

        if (!p->idle && p->name != NULL && active > most_active) {
            chain = i;
            most_active = active;
        }
    }
    if (busy > BUSY && runs != MKPERF_SCHED_NOBODY) {
        fprintf(to, "core %u limits: it was busy for %.2f %% of the time, with %s for %.2f %%",
                core, busy, mkperf_analysis_name(a, runs),
                percent_of_span(x, a->pd[runs].in[MKPERF_PD_RUNNING]));
    } else if (held != MKPERF_SCHED_NOBODY &&
               percent_of_span(x, a->pd[held].in[MKPERF_PD_THROTTLED]) > THROTTLED) {
        fprintf(to, "the budget of %s limits: the PD was throttled for %.2f %% of the time",
                mkperf_analysis_name(a, held),
                percent_of_span(x, a->pd[held].in[MKPERF_PD_THROTTLED]));
    } else if (percent_of_span(x, most_active) > BUSY) {
        const struct mkperf_sched_pd *p = &a->pd[chain];
        const struct mkperf_by *callee = mkperf_bys_most(&p->blocked_on);

        fprintf(to,
                "%s never waits for work: it ran for %.2f %% of the time, was ready for %.2f %%",
                p->name, percent_of_span(x, p->in[MKPERF_PD_RUNNING]),
                percent_of_span(x, p->in[MKPERF_PD_READY]));
        fprintf(to, " and in calls for %.2f %%", percent_of_span(x, p->in[MKPERF_PD_CALLING]));
        if (callee != NULL) {
            fprintf(to, ", most of it of %s", mkperf_analysis_name(a, callee->pd));
        }
    } else {
        fputs("the load limits: every PD waits for work", to);
    }
    if (busy <= BUSY && a->ncores != 0) {
        fprintf(to, "; no core limits: the busiest is core %u with %.2f %%", core, busy);
    }
    return ANSWER;
}

static enum verdict explain_idle(struct explain *x, FILE *to)
{
    const struct mkperf_analysis *a = x->events;
    unsigned shown = 0;

    for (uint32_t i = 0; i < a->ncores; i++) {
        static const enum mkperf_pd_state why[] = {MKPERF_PD_WAITING, MKPERF_PD_CALLING,
                                                   MKPERF_PD_THROTTLED, MKPERF_PD_STOPPED};
        const struct mkperf_sched_core *c = &a->core[i];

        if (!c->seen || c->idle == 0) {
            continue;
        }
        fprintf(to, "%score %u was idle for %.2f %% of the time", shown++ > 0 ? ";\n" : "", i,
                percent_of_span(x, c->idle));
        for (unsigned k = 0; k < sizeof why / sizeof *why; k++) {
            uint32_t pd = greatest_pd(x, i, why[k], UINT64_MAX);

            if (pd != MKPERF_SCHED_NOBODY) {
                fprintf(to, "%s %s was %s%s for %.2f %%", k == 0 ? ":" : ",",
                        mkperf_analysis_name(a, pd), why[k] == MKPERF_PD_CALLING ? "in calls" : "",
                        why[k] == MKPERF_PD_CALLING ? "" : mkperf_pd_state_names[why[k]],
                        percent_of_span(x, a->pd[pd].in[why[k]]));
            }
        }
    }
    if (shown == 0) {
        fputs("no core was idle", to);
    }
    return shown == 0 ? RULED_OUT : ANSWER;
}

/* For each core, how busy it was, and the PD that ran longest there. */
static enum verdict explain_cores(struct explain *x, FILE *to)
{
    const struct mkperf_analysis *a = x->events;
    double least = 100, most = 0;
    unsigned shown = 0;

    for (uint32_t i = 0; i < a->ncores; i++) {
        uint32_t pd = greatest_pd(x, i, MKPERF_PD_RUNNING, UINT64_MAX);

        if (!a->core[i].seen) {
            continue;
        }
        least = fmin(least, busy_of(&a->core[i]));
        most = fmax(most, busy_of(&a->core[i]));
        fprintf(to, "%score %u was busy for %.2f %% of the time", shown++ > 0 ? ";\n" : "", i,
                busy_of(&a->core[i]));
        if (pd != MKPERF_SCHED_NOBODY) {
            fprintf(to, ", longest with %s (%.2f %%)", mkperf_analysis_name(a, pd),
                    percent_of_span(x, a->pd[pd].in[MKPERF_PD_RUNNING]));
        }
    }
    if (shown > 1 && most > BUSY && least < BUSY / 2) {
        fputs(";\nwork of the busiest core could move: a PD's core is its attribute cpu", to);
        return PROBLEM;
    }
    return shown > 1 ? ANSWER : RULED_OUT;
}

/* Prints the longest steps of the path of a call. The recording is read again, for the events of that time. */
static void put_path(struct explain *x, const struct mkperf_call_edge *edge, FILE *to)
{
    const struct mkperf_input in = {.from = NULL};
    struct mkperf_analysis *a = mkperf_analysis_new();
    struct mkperf_sink sink = mkperf_analysis_sink(a);
    struct mkperf_timeline timeline;
    uint64_t from = edge->worst_at - edge->worst.wall;

    sink.leaves_only = true;
    mkperf_timeline_attach(&timeline, a, from, edge->worst_at);
    if (mkperf_input_read(x->input, &in, &sink, x->e) == MKPERF_OK) {
        struct report_path_sum *sum;
        struct mkperf_path path;
        char text[256];

        mkperf_path_find(&path, &timeline, edge->from, from, edge->worst_at);
        size_t n = report_path_sums(&path, &sum);
        for (size_t i = 0; i < n && i < STEPS_SHOWN; i++) {
            report_path_text(a, sum[i].step, text, sizeof text);
            fprintf(to, "%s%.3f us: %s", i == 0 ? "; of these, " : "; ", (double)sum[i].ns / 1e3,
                    text);
        }
        free(sum);
        mkperf_path_free(&path);
    }
    mkperf_timeline_free(&timeline);
    mkperf_analysis_free(a);
}

static enum verdict explain_call(struct explain *x, FILE *to)
{
    const struct mkperf_analysis *a = x->events;
    const struct mkperf_call_edge *worst = NULL;

    for (unsigned i = 0; i < a->nedges; i++) {
        const struct mkperf_call_edge *edge = &a->edge[i];

        if (!is_own(x, edge->to) && (worst == NULL || edge->worst.wall > worst->worst.wall)) {
            worst = edge;
        }
    }
    if (worst == NULL || worst->wall.count == 0) {
        fputs("no protected call of the system was recorded from its begin to its reply", to);
        return RULED_OUT;
    }
    fprintf(to,
            "%s called %s for %.3f us until %.6f s; half of these %" PRIu64
            " calls took at most %.3f us",
            mkperf_analysis_name(a, worst->from), mkperf_analysis_name(a, worst->to),
            (double)worst->worst.wall / 1e3, (double)worst->worst_at / 1e9, worst->wall.count,
            (double)mkperf_log_quantile(&worst->wall, 500) / 1e3);
    put_path(x, worst, to);
    return ANSWER;
}

static enum verdict explain_wakeups(struct explain *x, FILE *to)
{
    const struct mkperf_analysis *a = x->events;
    const struct mkperf_wakeup *worst = NULL;

    for (unsigned i = 0; i < a->nwakes; i++) {
        const struct mkperf_wakeup *wake = &a->wake[i];

        if (!is_own(x, wake->to) && (worst == NULL || wake->delay.max > worst->delay.max)) {
            worst = wake;
        }
    }
    if (worst == NULL || worst->delay.count == 0) {
        fputs("no notification and no interrupt woke a PD of the system", to);
        return RULED_OUT;
    }
    const struct mkperf_by *behind = mkperf_bys_most(&a->pd[worst->to].ready_by);
    if (worst->kind == MKPERF_SCHED_IRQ) {
        fprintf(to, "interrupt %u", worst->irq);
    } else {
        fprintf(to, "a notification of %s", mkperf_analysis_name(a, worst->from));
    }
    fprintf(to,
            " waited for %.3f us until %s ran, at %.6f s; 99 %% of these %" PRIu64
            " took at most %.3f us",
            (double)worst->delay.max / 1e3, mkperf_analysis_name(a, worst->to),
            (double)worst->worst_at / 1e9, worst->delay.count,
            (double)mkperf_log_quantile(&worst->delay, 990) / 1e3);
    if (behind != NULL) {
        fprintf(to, "; when %s was ready, mostly %s ran", mkperf_analysis_name(a, worst->to),
                mkperf_analysis_name(a, behind->pd));
    }
    return ANSWER;
}

/* The slowest call, and the longest wait of a wake-up. */
static enum verdict explain_latency(struct explain *x, FILE *to)
{
    enum verdict call = explain_call(x, to);

    fputs(";\n", to);
    enum verdict wakeup = explain_wakeups(x, to);
    return call == ANSWER || wakeup == ANSWER ? ANSWER : RULED_OUT;
}

static enum verdict explain_budget(struct explain *x, FILE *to)
{
    const struct mkperf_analysis *a = x->events;
    unsigned shown = 0;

    for (uint32_t i = 0; i < a->npds; i++) {
        const struct mkperf_sched_pd *p = &a->pd[i];

        if (!p->idle && p->name != NULL && p->exhausted != 0 && shown++ < PDS_SHOWN) {
            fprintf(to, "%s%s used up its budget %" PRIu64 " times and was throttled for %.2f %%",
                    shown > 1 ? "; " : "", p->name, p->exhausted,
                    percent_of_span(x, p->in[MKPERF_PD_THROTTLED]));
        }
    }
    if (shown == 0) {
        fputs("no PD used up its budget", to);
    }
    return shown == 0 ? RULED_OUT : PROBLEM;
}

static enum verdict explain_inversion(struct explain *x, FILE *to)
{
    const struct mkperf_analysis *a = x->events;

    if (a->ninversions == 0) {
        fputs("no PD waited for one of a lower priority that another PD kept from running", to);
        return RULED_OUT;
    }
    const struct mkperf_inversion *v = &a->inversion[0];
    fprintf(to, "%s waited for %s while %s ran, which has a lower priority: %" PRIu64 " times, ",
            mkperf_analysis_name(a, v->high), mkperf_analysis_name(a, v->holder),
            mkperf_analysis_name(a, v->runner), v->count);
    fprintf(to, "%.3f us together, the longest from %.6f s for %.3f us", (double)v->total / 1e3,
            (double)v->worst_from / 1e9, (double)v->worst / 1e3);
    return PROBLEM;
}

/* The questions, in the order of a page. `next` is a command that shows more; the recording follows it. */
static const struct question {
    const char *name;
    enum verdict (*explain)(struct explain *x, FILE *to);
    const char *next;
    bool of_events; /* only scheduling events can answer it */
    bool on_demand; /* other answers of the page contain it: it is given to --why only */
} questions[] = {
    {"faults", explain_faults, "latency", true, false},
    {"trust", explain_trust, "report --header-only", false, false},
    {"lost", explain_lost, "report --header-only", false, false},
    {"names", explain_names, "report --stdio -s pd,dso", false, false},
    {"profiler-cost", explain_cost, "report --header-only", false, false},
    {"time", explain_time, "report", false, false},
    {"throughput", explain_throughput, "latency", true, false},
    {"idle", explain_idle, "latency", true, false},
    {"cores", explain_cores, "latency", true, false},
    {"slow-call", explain_call, "latency --critical-path", true, false},
    {"wakeups", explain_wakeups, "latency", true, false},
    {"budget", explain_budget, "budget", true, false},
    {"inversion", explain_inversion, "latency", true, false},
    {"latency", explain_latency, "latency", true, true},
    {"throttled", explain_budget, "budget", true, true},
};
enum { QUESTIONS = sizeof questions / sizeof *questions, ALL_QUESTIONS = QUESTIONS };
/* Their names, in the same order: the number of a word is that of its question. */
static const char question_words[] =
    "faults trust lost names profiler-cost time throughput idle cores slow-call wakeups budget "
    "inversion latency throttled";

static const struct mkperf_option options[] = {
    MKPERF_OPTION(0, "why", "answer only this question", MKPERF_TAKES(WORD, "QUESTION"),
                  .words = question_words, MKPERF_ENUM(struct explain, why, 0, ALL_QUESTIONS)),
    MKPERF_OPTION(0, "json", "as JSON Lines: one object for each question",
                  MKPERF_SETS(struct explain, json)),
    {.id = 0},
};
static const struct mkperf_option_group group = {options, NULL};

/* Prints a title and a text in lines of at most WIDTH columns. A character of UTF-8 counts as one column. */
static void put_wrapped(const char *title, const char *text)
{
    int column = printf("  %-*s", TITLE, title);

    while (*text != '\0') {
        size_t n = strcspn(text, " \n");
        int wide = 0;

        if (text[n] == ' ' && text[n + 1] == '%') { /* a number and its unit stay in one line */
            n += 2 + strcspn(text + n + 2, " \n");
        }

        for (size_t i = 0; i < n; i++) {
            wide += ((unsigned char)text[i] & 0xc0) != 0x80;
        }
        if (column + 1 + wide > WIDTH && column > TITLE + 2) {
            column = printf("\n  %-*s", TITLE, "") - 1;
        }
        column += printf(" %.*s", (int)n, text) >= 0 ? 1 + wide : 0;
        text += n;
        if (*text == '\n') {
            column = printf("\n  %-*s", TITLE, "") - 1;
        }
        text += *text != '\0';
    }
    putchar('\n');
}

static void print_head(const struct explain *x)
{
    const struct mkperf_profile *p = &x->profile;
    const struct mkperf_totals *t = &p->totals;

    printf("%s: %.3f s, %u core%s, %" PRIu64 " samples, %" PRIu64 " scheduling events\n", x->input,
           (double)(t->last_ns > t->first_ns ? t->last_ns - t->first_ns : x->span) / 1e9,
           p->places.session.cores, p->places.session.cores == 1 ? "" : "s", t->samples,
           t->sched_events);
    if (t->stopped[0] != '\0') {
        printf("Ended %s\n", t->stopped);
    }
}

/* The command that shows more about the question. NULL: the recording lacks what such a command needs. */
static const char *next_of(const struct explain *x, const struct question *q)
{
    const char *of_events = x->events != NULL ? "latency" : NULL;

    if (strncmp(q->next, "report", strlen("report")) == 0) {
        return x->profile.total[0].samples != 0 ? q->next : of_events;
    }
    return of_events != NULL ? q->next : NULL;
}

static enum mkperf_status print_answers(struct explain *x)
{
    static const char *const titles[VERDICTS] = {"Problems", "Answers", "Ruled out", "Not decided"};
    struct report_values v = {.separator = ""};
    enum verdict verdict[QUESTIONS];
    char *text[QUESTIONS];

    if (x->json) {
        v = report_values_begin(stdout, NULL, "explain", x->input);
    }
    for (unsigned i = 0; i < QUESTIONS; i++) {
        size_t bytes;
        FILE *to = mkperf_memstream_open(&text[i], &bytes);
        bool asked = x->why == ALL_QUESTIONS ? !questions[i].on_demand : x->why == i;

        verdict[i] = !asked                                          ? VERDICTS
                     : questions[i].of_events && lacks_events(x, to) ? UNDECIDED
                                                                     : questions[i].explain(x, to);
        mkperf_memstream_close(to);
        if (x->json && asked) {
            for (char *end = strchr(text[i], '\n'); end != NULL; end = strchr(end, '\n')) {
                *end = ' ';
            }
            const char *next = next_of(x, &questions[i]);
            REPORT_ROW(&v, "answer", REPORT_TEXT("question", questions[i].name),
                       REPORT_TEXT("verdict", verdict_names[verdict[i]]),
                       REPORT_TEXT("text", text[i]), REPORT_TEXT("next", next != NULL ? next : ""));
        }
    }
    for (unsigned k = 0; k < VERDICTS && !x->json; k++) {
        bool any = false;

        for (unsigned i = 0; i < QUESTIONS; i++) {
            if (verdict[i] == k) {
                printf("%s%s%s", any ? "" : "\n", any ? "" : titles[k], any ? "" : "\n");
                /* Questions without an answer for the same reason share a line. */
                for (unsigned j = i + 1; k == UNDECIDED && j < QUESTIONS; j++) {
                    if (verdict[j] == k && strcmp(text[i], text[j]) == 0) {
                        printf("  %s\n", questions[j].name);
                        verdict[j] = VERDICTS;
                    }
                }
                put_wrapped(questions[i].name, text[i]);
                any = true;
            }
        }
    }
    for (unsigned i = 0; i < QUESTIONS; i++) {
        free(text[i]);
    }
    return mkperf_stdout_flush(x->e);
}

/* Prints commands that show more: of the question, or of samples and of the slowest call, as far as there are any. */
static void print_next(const struct explain *x)
{
    bool any = false;

    for (unsigned i = 0; i < QUESTIONS; i++) {
        const struct question *q = &questions[i];
        const char *next = next_of(x, q);
        bool useful = (q->explain == explain_time && x->profile.total[0].samples != 0) ||
                      (q->explain == explain_call && x->events != NULL && x->events->nedges != 0);

        if (next != NULL && (x->why != ALL_QUESTIONS ? x->why == i : useful)) {
            printf("%s  mkperf %s %s\n", any ? "" : "\nNext\n", next, x->input);
            any = true;
        }
    }
}

static enum mkperf_status run_explain(void *self, const struct mkperf_args *args,
                                      struct mkperf_error *e)
{
    struct explain *x = self;

    x->e = e;
    x->input = args->n > 0 ? args->operand[0] : x->input;
    if (strcmp(x->input, "-") == 0) {
        return mkperf_usage_error(e, "explain", "it reads the recording twice: give a file");
    }
    x->profile.leaves_only = true;
    x->profile.events_suffice = true;
    x->profile.places.search = x->elfs;
    if (mkperf_frames_read(&x->frames, &x->profile, x->input, false, NULL, e) == MKPERF_OK) {
        const struct mkperf_analysis *a = x->profile.sched;

        x->events = a != NULL && a->events != 0 ? a : NULL;
        x->span = x->events != NULL ? a->last_ns - a->first_ns : 0;
        if (!x->json) {
            print_head(x);
        }
        if (print_answers(x) == MKPERF_OK && !x->json) {
            print_next(x);
            (void)mkperf_stdout_flush(e);
        }
    }
    mkperf_frames_close(&x->frames);
    mkperf_profile_free(&x->profile);
    return e->status;
}

const struct mkperf_command mkperf_explain_command = {
    .name = "explain",
    .summary = "answer questions about a recording in a page of text",
    .synopsis = "[options] [FILE]",
    .description =
        "Shows whether a recording can be trusted, where the time passes, what limits, the slowest "
        "call and why, and what was ruled out, each with its figures. Most questions need "
        "scheduling events (mkperf record --sched).",
    .options = {{&report_input_options, offsetof(struct explain, input)},
                {&group, 0},
                {&report_elf_options, offsetof(struct explain, elfs)}},
    .operand = MKPERF_VALUE_FILE,
    .operands_max = 1,
    .examples = "mkperf record -t tcp:192.168.1.5 -e cycles --sched --duration 5\n"
                "mkperf explain\n"
                "mkperf explain --why slow-call",
    .statuses = MKPERF_STATUSES_READ | MKPERF_STATUSES_WRITE,
    .self = MKPERF_SELF(struct explain, .input = "perf.data", .why = ALL_QUESTIONS),
    .run = run_explain,
};
