/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers from the samples, the figures and the warnings of a recording, and from a comparison; see report.h. */
#include "comparison.h"

#include <math.h>

enum { ANSWER_PDS = 3, WARNINGS_SHOWN = 4, DIFFERENCES_SHOWN = 4 };

/* Limits of the rules, in per cent. docs/looking.md states them. */
static const double UNNAMED = 1; /* per cent of the samples that have no function's name */

/* per cent of lost samples from which shares may differ for that reason */
static const double BIASED = 1;
static const double WANTED = 5; /* a growth of the largest row that a comparison should show */

/* A list of which the beginning is printed. */
struct list {
    FILE *to;
    unsigned n, seen, first; /* the first warnings are the answers of other questions */
};

static void add_warning(void *self, enum mkperf_warning_level level, const char *text)
{
    struct list *l = self;

    if (l->seen++ >= l->first && level != MKPERF_NOTE && l->n++ < WARNINGS_SHOWN) {
        fprintf(l->to, "%s%s", l->n > 1 ? ";\n" : "", text);
    }
}

/* Adds the comparison of samples with scheduling events, if there was one, as the first line of the figures. */
static void add_agreement(void *self, bool warns, const char *title, const char *text)
{
    (void)warns;
    if (title != NULL && strcmp(title, "checked") == 0) {
        fprintf(self, "; %s", text);
    }
}

enum report_verdict report_explain_trust(struct report_question *x, FILE *to)
{
    const struct mkperf_profile *p = &x->profile;
    struct list l = {.to = to};
    char text[MKPERF_FIRST_TEXT];

    for (unsigned i = 0; i < MKPERF_FIRSTS; i++) {
        l.first += mkperf_first((enum mkperf_first)i, &p->totals, text);
    }
    mkperf_places_warnings(&p->places, &p->totals, add_warning, &l);
    if (l.n > WARNINGS_SHOWN) {
        fprintf(to, ";\nand %u more (mkperf report --header-only)", l.n - WARNINGS_SHOWN);
    }
    if (l.n != 0) {
        return REPORT_PROBLEM;
    }
    fprintf(to, "no sample and no event is known to be lost");
    mkperf_figures_texts(MKPERF_FIGURE_SUMMARY, MKPERF_SECTION_FIRST, MKPERF_SECTION_END,
                         &p->totals, add_agreement, to);
    return REPORT_RULED_OUT;
}

/* Names each place that lost samples or events, with the number. */
enum report_verdict report_explain_lost(struct report_question *x, FILE *to)
{
    const struct mkperf_totals *t = &x->profile.totals;
    uint64_t lost = mkperf_lost_sum(t->lost), events = mkperf_lost_sum(t->sched_lost);
    unsigned shown = 0;

    if (!t->complete) {
        fputs("the target's totals did not arrive; record to the end", to);
        return REPORT_UNDECIDED;
    }
    if (t->samples + lost != 0 || t->sched_events + events == 0) {
        fprintf(to, "%" PRIu64 " of %" PRIu64 " sample%s (%.2f %%)%s", lost, t->samples + lost,
                mkperf_plural(t->samples + lost), mkperf_percent(lost, t->samples + lost),
                t->sched_events + events != 0 ? " and " : "");
    }
    if (t->sched_events + events != 0) {
        fprintf(to, "%" PRIu64 " of %" PRIu64 " scheduling event%s", events,
                t->sched_events + events, mkperf_plural(t->sched_events + events));
    }
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        if (t->lost[i] + t->sched_lost[i] != 0) {
            fprintf(to, "%s %" PRIu64 ": %s", shown++ > 0 ? ";" : " were lost;",
                    t->lost[i] + t->sched_lost[i], mkperf_loss_places[i].cause);
        }
    }
    fputs(shown == 0 ? " were lost" : "; use a larger period or a faster link", to);
    return shown != 0 ? REPORT_PROBLEM : REPORT_RULED_OUT;
}

enum report_verdict report_explain_names(struct report_question *x, FILE *to)
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
    free(of);
    if (all == 0) {
        fputs("the recording has no samples; record them with mkperf record -e cycles", to);
        return REPORT_UNDECIDED;
    }
    fprintf(to, "%.2f %% of %" PRIu64 " samples are in code without a name",
            mkperf_percent(unnamed, all), all);
    if (unnamed != 0) {
        fprintf(to, ", most of them in %s", mkperf_profile_pd_name(p, worst));
    }
    return mkperf_percent(unnamed, all) > UNNAMED ? REPORT_PROBLEM : REPORT_RULED_OUT;
}

enum report_verdict report_explain_cost(struct report_question *x, FILE *to)
{
    struct mkperf_profile *p = &x->profile;
    const struct mkperf_totals *t = &p->totals;
    double own = mkperf_percent(t->own_ns, t->known_ns);
    char text[MKPERF_FIRST_TEXT];

    if (mkperf_first(MKPERF_FIRST_COST, t, text)) {
        fputs(text, to);
        return REPORT_PROBLEM;
    }

    if (p->total[0].samples != 0) {
        mkperf_profile_cost(p);
        mkperf_cost_text(&p->cost, &p->places, 0, p->total[0].period, text, sizeof text);
        fprintf(to, "%s%s", text, t->own_ns != 0 ? "; " : "");
    } else if (t->own_ns == 0) {
        fputs("which PDs are mkperf's own is not known: none of their ELFs was found; use mkperf "
              "record --elf-path",
              to);
        return REPORT_UNDECIDED;
    }
    if (t->own_ns != 0) {
        fprintf(to, "mkperf's PDs ran %.2f %% of one core's time by scheduling events", own);
    }
    return REPORT_ANSWER;
}

/* Answers with a line that each report begins with, or else with a text. */
static enum report_verdict explain_first(const struct report_question *x, enum mkperf_first first,
                                         const char *otherwise, FILE *to)
{
    char text[MKPERF_FIRST_TEXT];
    bool applies = mkperf_first(first, &x->profile.totals, text);

    fputs(applies ? text : otherwise, to);
    return applies ? REPORT_PROBLEM : REPORT_RULED_OUT;
}

enum report_verdict report_explain_faults(struct report_question *x, FILE *to)
{
    return explain_first(x, MKPERF_FIRST_FAULTED, "no PD stopped with a fault", to);
}

enum report_verdict report_explain_ran(struct report_question *x, FILE *to)
{
    return explain_first(x, MKPERF_FIRST_NONE_RAN, "PDs of the system ran", to);
}

enum report_verdict report_explain_time(struct report_question *x, FILE *to)
{
    const struct mkperf_profile *p = &x->profile;
    struct report_options by_pd = {.keys = {{REPORT_SORT_PD}, 1}};
    struct report_options by_function = {.keys = {{REPORT_SORT_PD, REPORT_SORT_SYMBOL}, 2}};
    struct report_rows pds, functions;
    unsigned shown = 0;

    if (p->total[0].samples == 0) {
        return report_explain_run_times(x, to);
    }
    report_rows_build(&pds, &x->frames, &by_pd, 0);
    report_rows_build(&functions, &x->frames, &by_function, 0);
    for (uint32_t i = 0; i < pds.n && shown < ANSWER_PDS; i++) {
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
    return shown == 0 ? REPORT_PROBLEM : REPORT_ANSWER;
}

/* ---- regression: a comparison of two recordings ---- */

static void add_difference(void *self, const char *what, const char *a, const char *b)
{
    struct list *l = self;

    if (l->n++ < DIFFERENCES_SHOWN) {
        fprintf(l->to, "%s%s: %s, then %s", l->n > 1 ? "; " : ";\nthe environment differs: ", what,
                a, b);
    }
}

/* Writes a row with its values: "server [.] beta from 40.00 % to 50.00 % (interval 4.34 %, chance 7e-06)". */
static void put_change(const struct report_comparison *d, const struct report_change *r, FILE *to)
{
    char a[REPORT_VALUE_TEXT], b[REPORT_VALUE_TEXT];

    for (unsigned k = 0; k < d->keys.n; k++) {
        fprintf(to, "%s ", r->text[k]);
    }
    fprintf(to, "from %s to %s", report_change_value(d, r->value[REPORT_A], a),
            report_change_value(d, r->value[REPORT_B], b));
    if (isfinite(r->growth)) {
        fprintf(to, ", %+.1f", r->growth);
        if (!d->exact) {
            fprintf(to, " ± %.1f", 100 * r->interval / r->value[REPORT_A]);
        }
        fputs(" %", to);
    }
    if (!d->exact) {
        fprintf(to, " (p %.2g)", r->chance);
    }
}

/* Prints what differs in addition to samples, and what is not the reason. differ: the number of rows that chance does
 * not explain. */
static void put_ruled_out(const struct report_comparison *d, size_t differ, FILE *to)
{
    struct list l = {.to = to};
    double lost = 0; /* the per cent of samples that the worst recording of any side lost */

    for (unsigned side = REPORT_A; side < REPORT_SIDES; side++) {
        for (unsigned i = 0; i < d->runs[side]; i++) {
            const struct mkperf_profile *p = &d->run[side][i].profile;
            uint64_t missing = mkperf_lost_sum(p->lost);
            lost = fmax(lost, mkperf_percent(missing, missing + p->totals.samples));
        }
    }
    report_differences(&d->run[REPORT_A][0].profile.places, &d->run[REPORT_B][0].profile.places,
                       add_difference, &l);
    if (l.n > DIFFERENCES_SHOWN) {
        fprintf(to, "; and %u more (mkperf diff)", l.n - DIFFERENCES_SHOWN);
    }
    if (lost > BIASED) {
        fprintf(to, ";\nmay be the reason: a recording lost %.2f %% of its samples", lost);
    }
    fputs(";\nruled out:", to);
    if (d->n > differ) {
        fprintf(to, " %zu other rows, which %s;", d->n - differ,
                d->exact ? "are equal" : "chance explains");
    }
    if (l.n == 0) {
        fputs(" machine, session and programs, which are equal;", to);
    }
    fprintf(to, lost > BIASED ? " nothing else" : " losses, of at most %.2f %%", lost);
}

enum report_verdict report_explain_regression(struct report_question *x, FILE *to)
{
    struct report_comparison *d = x->comparison;
    const struct mkperf_session *s = &d->run[REPORT_A][0].profile.places.session;
    const struct report_change *fell = NULL;
    size_t grew = 0, differ = 0;
    unsigned event = 0;

    while (event < s->nevents && !report_comparison_has(d, s->event[event].name)) {
        event++;
    }
    if (event == s->nevents) {
        fputs("the recordings have no event in common; record both with one option -e", to);
        return REPORT_UNDECIDED;
    }
    const char *name = s->event[event].name;
    if (!report_compare_event(d, name, name)) {
        fputs("exact counts of one side differ; record with -icount and without a network", to);
        return REPORT_UNDECIDED;
    }
    for (size_t i = 0; i < d->n; i++) {
        const struct report_change *r = &d->row[i];

        differ += r->sure;
        if (r->sure && r->delta > 0 && !r->idle && grew++ < ANSWER_PDS) {
            if (grew > 1) {
                fputs(";\n", to);
            } else {
                fprintf(to, "of %s%s%s: ", name, d->per != NULL ? " per " : "",
                        d->per != NULL ? d->per : "");
            }
            put_change(d, r, to);
        }
        fell = r->sure && r->delta < 0 && (fell == NULL || r->delta < fell->delta) ? r : fell;
    }
    const struct report_change *largest = d->n != 0 ? &d->row[d->largest] : NULL;
    if (grew > ANSWER_PDS) {
        fprintf(to, ";\nand %zu more rows (mkperf diff)", grew - ANSWER_PDS);
    } else if (grew == 0 && d->exact) {
        fputs("no row has a greater count", to);
    } else if (grew == 0 && (largest == NULL || !(largest->visible > 0))) {
        fputs("the samples are too few for any claim; record for longer, mkperf record --duration",
              to);
        return REPORT_UNDECIDED;
    } else if (grew == 0) {
        fprintf(to,
                "no row of %s grew by more than chance explains; a growth of %s %s by %.2g %% "
                "would have been seen",
                name, largest->text[0], d->keys.n > 1 ? largest->text[1] : "", largest->visible);
        if (largest->visible > WANTED) {
            fprintf(to,
                    ";\na growth by %g %% needs %.2g times as many samples: mkperf "
                    "record --duration, or --repeat for several recordings of a side",
                    WANTED, pow(largest->visible / WANTED, 2));
            return REPORT_UNDECIDED;
        }
    }
    if (fell != NULL) {
        fputs(";\nless: ", to);
        put_change(d, fell, to);
    }
    put_ruled_out(d, differ, to);
    return grew != 0 ? REPORT_PROBLEM : REPORT_RULED_OUT;
}
