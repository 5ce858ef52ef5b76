/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers from the scheduling events of a recording, and from its queues; see report.h. */
#include "comparison.h"

#include <math.h>

enum { SCHED_ANSWER_PDS = 3, STEPS_SHOWN = 3 };

/* Limits of the rules, in per cent of the time. docs/looking.md states them. */
static const double BUSY = 95;     /* a core that is busy for longer limits its PDs */
static const double THROTTLED = 5; /* a PD that is throttled for longer is limited by its budget */
/* per cent of the cores' time without events from which no conclusion is drawn */
static const double UNKNOWN = 10;

static double percent_of_span(const struct report_question *x, uint64_t ns)
{
    return mkperf_percent(ns, x->span);
}

/* Returns whether a PD is one of mkperf's own. Without its ELF that is not known. */
static bool is_own(const struct report_question *x, uint32_t pd)
{
    return pd < x->profile.places.npds && x->profile.places.pd[pd].profiler;
}

bool report_lacks_events(const struct report_question *x, FILE *to)
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

/*
 * Returns the PD that was longest in `state` of those that ran on `core` last (UINT32_MAX: of all), or the next one after
 * `before` in that order, if that is not NULL. It has a name. Returns NULL if there is none.
 */
static const struct mkperf_sched_pd *greatest_pd(const struct report_question *x, uint32_t core,
                                                 enum mkperf_pd_state state,
                                                 const struct mkperf_sched_pd *before)
{
    const struct mkperf_sched_pd *found = NULL;

    for (uint32_t i = 0; i < x->events->npds; i++) {
        const struct mkperf_sched_pd *p = &x->events->pd[i];

        if (!p->idle && p->name != NULL && (state == MKPERF_PD_RUNNING || !is_own(x, i)) &&
            p->in[state] > (found != NULL ? found->in[state] : 0) &&
            (before == NULL || p->in[state] < before->in[state] ||
             (p->in[state] == before->in[state] && p > before)) &&
            (core == UINT32_MAX || (p->has_core && p->core == core))) {
            found = p;
        }
    }
    return found;
}

/* Answers, without samples, with the PDs that ran longest by scheduling events. */
enum report_verdict report_explain_run_times(struct report_question *x, FILE *to)
{
    const struct mkperf_sched_pd *p = NULL;

    if (report_lacks_events(x, to)) {
        return REPORT_UNDECIDED;
    }
    for (unsigned shown = 0;
         shown < SCHED_ANSWER_PDS && (p = greatest_pd(x, UINT32_MAX, MKPERF_PD_RUNNING, p)) != NULL;
         shown++) {
        fprintf(to, "%s%s %.2f %%", shown > 0 ? "; " : "of one core's time: ", p->name,
                percent_of_span(x, p->in[MKPERF_PD_RUNNING]));
    }
    return REPORT_ANSWER;
}

static double busy_of(const struct mkperf_sched_core *c)
{
    return mkperf_percent(c->busy, c->busy + c->idle);
}

/* Returns the answer for a recording with queues, which is read again for them. */
static enum report_verdict explain_flow(struct report_question *x, FILE *to)
{
    struct mkperf_analysis *a = mkperf_analysis_new();
    struct mkperf_flow f;

    mkperf_flow_init(&f, a);
    if (mkperf_flow_read(&f, x->input, x->e) == MKPERF_OK) {
        struct mkperf_flow_limit l = mkperf_flow_limit(&f);

        mkperf_flow_sentence(&f, &l, to);
        if (l.stage >= 0) {
            fprintf(to, "; %s has %.0f packets/s", f.stage[l.stage].name, l.rate);
        }
        fputs("; mkperf flow shows the figures, and predicts changes", to);
    }
    mkperf_flow_free(&f);
    mkperf_analysis_free(a);
    return REPORT_ANSWER;
}

/*
 * Answers by the first of these rules that applies: a queue, a core, a budget, a PD that never waits for work, the
 * load.
 */
enum report_verdict report_explain_throughput(struct report_question *x, FILE *to)
{
    const struct mkperf_analysis *a = x->events;
    const struct mkperf_sched_pd *chain = NULL;
    uint64_t most_active = 0;
    uint32_t core = 0;

    if (x->profile.places.session.nqueues != 0) {
        return explain_flow(x, to);
    }
    for (uint32_t i = 1; i < a->ncores; i++) {
        core = a->core[i].seen && busy_of(&a->core[i]) > busy_of(&a->core[core]) ? i : core;
    }
    double busy = a->ncores != 0 ? busy_of(&a->core[core]) : 0;
    const struct mkperf_sched_pd *runs = greatest_pd(x, core, MKPERF_PD_RUNNING, NULL);
    const struct mkperf_sched_pd *held = greatest_pd(x, UINT32_MAX, MKPERF_PD_THROTTLED, NULL);
    double throttled = held != NULL ? percent_of_span(x, held->in[MKPERF_PD_THROTTLED]) : 0;
    for (uint32_t i = 0; i < a->npds; i++) {
        const struct mkperf_sched_pd *p = &a->pd[i];
        uint64_t active = p->in[MKPERF_PD_RUNNING] + p->in[MKPERF_PD_CALLING] +
                          p->in[MKPERF_PD_READY];

        if (!p->idle && p->name != NULL && active > most_active) {
            chain = p;
            most_active = active;
        }
    }
    if (busy > BUSY && runs != NULL) {
        fprintf(to, "core %u limits: it was busy for %.2f %% of the time, with %s for %.2f %%",
                core, busy, runs->name, percent_of_span(x, runs->in[MKPERF_PD_RUNNING]));
    } else if (held != NULL && throttled > THROTTLED) {
        fprintf(to, "the budget of %s limits: the PD was throttled for %.2f %% of the time",
                held->name, throttled);
    } else if (chain != NULL && percent_of_span(x, most_active) > BUSY) {
        const struct mkperf_by *callee = mkperf_bys_most(&chain->blocked_on);

        fprintf(
            to,
            "%s never waits for work: it ran for %.2f %% of the time, was ready for %.2f %% and "
            "in calls for %.2f %%",
            chain->name, percent_of_span(x, chain->in[MKPERF_PD_RUNNING]),
            percent_of_span(x, chain->in[MKPERF_PD_READY]),
            percent_of_span(x, chain->in[MKPERF_PD_CALLING]));
        if (callee != NULL) {
            fprintf(to, ", most of it of %s", mkperf_analysis_name(a, callee->pd));
        }
    } else {
        fputs("the load limits: every PD waits for work", to);
    }
    if (busy <= BUSY && a->ncores != 0) {
        fprintf(to, "; no core limits: the busiest is core %u with %.2f %%", core, busy);
    }
    return REPORT_ANSWER;
}

enum report_verdict report_explain_idle(struct report_question *x, FILE *to)
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
            const struct mkperf_sched_pd *p = greatest_pd(x, i, why[k], NULL);

            if (p != NULL) {
                fprintf(to, "%s %s was %s for %.2f %%", k == 0 ? ":" : ",", p->name,
                        why[k] == MKPERF_PD_CALLING ? "in calls" : mkperf_pd_state_names[why[k]],
                        percent_of_span(x, p->in[why[k]]));
            }
        }
    }
    if (shown == 0) {
        fputs("no core was idle", to);
    }
    return shown == 0 ? REPORT_RULED_OUT : REPORT_ANSWER;
}

/* Answers, for each core, how busy it was, and which PD ran longest there. */
enum report_verdict report_explain_cores(struct report_question *x, FILE *to)
{
    const struct mkperf_analysis *a = x->events;
    double least = 100, most = 0;
    unsigned shown = 0;

    for (uint32_t i = 0; i < a->ncores; i++) {
        const struct mkperf_sched_pd *p = greatest_pd(x, i, MKPERF_PD_RUNNING, NULL);
        double busy = busy_of(&a->core[i]);

        if (!a->core[i].seen) {
            continue;
        }
        least = fmin(least, busy);
        most = fmax(most, busy);
        fprintf(to, "%score %u was busy for %.2f %% of the time", shown++ > 0 ? ";\n" : "", i,
                busy);
        if (p != NULL) {
            fprintf(to, ", longest with %s (%.2f %%)", p->name,
                    percent_of_span(x, p->in[MKPERF_PD_RUNNING]));
        }
    }
    if (shown > 1 && most > BUSY && least < BUSY / 2) {
        fputs(";\nwork of the busiest core could move: a PD's core is its attribute cpu", to);
        return REPORT_PROBLEM;
    }
    return shown > 1 ? REPORT_ANSWER : REPORT_RULED_OUT;
}

enum report_verdict report_explain_call(struct report_question *x, FILE *to)
{
    const struct mkperf_analysis *a = x->events;
    const struct mkperf_call_edge *worst = NULL;

    for (unsigned i = 0; i < a->nedges; i++) {
        const struct mkperf_call_edge *edge = &a->edge[i];

        if (edge->exit == 0 && !is_own(x, edge->to) &&
            (worst == NULL || edge->worst.wall > worst->worst.wall)) {
            worst = edge;
        }
    }
    if (worst == NULL || worst->wall.count == 0) {
        fputs("no protected call of the system was recorded from its begin to its reply", to);
        return REPORT_RULED_OUT;
    }
    fprintf(to,
            "%s called %s for %.3f us until %.6f s; half of these %" PRIu64
            " calls took at most %.3f us",
            mkperf_analysis_name(a, worst->from), mkperf_analysis_name(a, worst->to),
            (double)worst->worst.wall / 1e3, (double)worst->worst_at / 1e9, worst->wall.count,
            (double)mkperf_log_quantile(&worst->wall, 500) / 1e3);
    /* The longest steps of its path. The recording is read again, for the events of that time. */
    struct mkperf_analysis *again = mkperf_analysis_new();
    struct mkperf_path path;
    if (mkperf_path_read(&path, again, worst->from, worst->worst_at - worst->worst.wall,
                         worst->worst_at, x->input, x->e) == MKPERF_OK) {
        struct report_path_sum *sum;
        char text[256];

        size_t n = report_path_sums(&path, &sum);
        for (size_t i = 0; i < n && i < STEPS_SHOWN; i++) {
            report_path_text(again, &path.step[sum[i].first], text, sizeof text);
            fprintf(to, "%s%.3f us: %s", i == 0 ? "; of these, " : "; ", (double)sum[i].ns / 1e3,
                    text);
        }
        free(sum);
        mkperf_path_free(&path);
    }
    mkperf_analysis_free(again);
    return REPORT_ANSWER;
}

enum report_verdict report_explain_wakeups(struct report_question *x, FILE *to)
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
        return REPORT_RULED_OUT;
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
    return REPORT_ANSWER;
}

/* Returns the slowest call, and the longest wait of a wake-up. */
enum report_verdict report_explain_latency(struct report_question *x, FILE *to)
{
    enum report_verdict call = report_explain_call(x, to);

    fputs(";\n", to);
    enum report_verdict wakeup = report_explain_wakeups(x, to);
    return call == REPORT_ANSWER || wakeup == REPORT_ANSWER ? REPORT_ANSWER : REPORT_RULED_OUT;
}

enum report_verdict report_explain_budget(struct report_question *x, FILE *to)
{
    const struct mkperf_analysis *a = x->events;
    unsigned shown = 0;

    for (uint32_t i = 0; i < a->npds; i++) {
        const struct mkperf_sched_pd *p = &a->pd[i];

        if (!p->idle && p->name != NULL && p->exhausted != 0 && shown++ < SCHED_ANSWER_PDS) {
            fprintf(to, "%s%s used up its budget %" PRIu64 " time%s and was throttled for %.2f %%",
                    shown > 1 ? "; " : "", p->name, p->exhausted, mkperf_plural(p->exhausted),
                    percent_of_span(x, p->in[MKPERF_PD_THROTTLED]));
        }
    }
    if (shown == 0) {
        fputs("no PD used up its budget", to);
    }
    return shown == 0 ? REPORT_RULED_OUT : REPORT_PROBLEM;
}

enum report_verdict report_explain_inversion(struct report_question *x, FILE *to)
{
    const struct mkperf_analysis *a = x->events;

    if (a->ninversions == 0) {
        fputs("no PD waited for one of a lower priority that another PD kept from running", to);
        return REPORT_RULED_OUT;
    }
    const struct mkperf_inversion *v = &a->inversion[0];
    fprintf(to,
            "%s waited for %s while %s ran, which has a lower priority: %" PRIu64
            " times, %.3f us together, the longest from %.6f s for %.3f us",
            mkperf_analysis_name(a, v->high), mkperf_analysis_name(a, v->holder),
            mkperf_analysis_name(a, v->runner), v->count, (double)v->total / 1e3,
            (double)v->worst_from / 1e9, (double)v->worst / 1e3);
    return REPORT_PROBLEM;
}
