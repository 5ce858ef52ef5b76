/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The head of a report: what a reader must know to trust the numbers below it.
 *
 * Owns: the order of its lines, and what diff prints first about the environments of two recordings. A figure that can be wrong is printed with the reason and the size of the error.
 */
#include "report.h"

#include "export/formats.h"
#include "model/relays.h"

enum { MARKS_SHOWN = 4 }; /* the number of marks that are listed without --marks */

/* The per cent of lost samples above which a warning is printed. */
static const double LOUD = 1.0;

/* Prints the base of percentages. No percentage includes cores that were not sampled. */
static void print_cores(const struct mkperf_profile *p, FILE *out)
{
    char text[MKPERF_CORES_TEXT], names[MKPERF_CPU_LIST_TEXT], room[MKPERF_CORE_PROBLEM_TEXT];
    uint32_t mask = mkperf_session_cores(&p->places.session);

    for (unsigned i = 0; mkperf_cores_warning(&p->places.session, i, text); i++) {
        fprintf(out, "# WARNING: %s\n", text);
    }
    if (!mkperf_cores_missing(&p->places.session) && (mask & (mask - 1)) != 0 &&
        !p->filter.cores.given) {
        fprintf(out, "# base        100 %% are the %s of %s together\n",
                p->runs ? "time" : "samples", mkperf_cpu_mask_text(mask, names));
    }
    if (p->utilisation && !p->runs) {
        fputs("# base        Ran: 100 % are the time of one core\n", out);
    }
    mkperf_cores_print(&p->totals, "# cores       ", "#             ", out);
    for (unsigned i = 0; i < p->totals.ncores; i++) {
        const char *problem = mkperf_core_problem(&p->totals.core[i], room);
        if (problem != NULL) {
            fprintf(out, "# WARNING: core %u %s\n", i, problem);
        }
    }
}

static void print_event(const struct mkperf_profile *p, unsigned i, FILE *out)
{
    const struct mkperf_event *v = &p->places.session.event[i];
    const struct mkperf_weight *w = &p->total[i];

    fprintf(out, "# event       %s, ", v->name);
    if (v->read) {
        fprintf(out, "read in samples of its group");
    } else if (v->frequency) {
        fprintf(out, "%" PRIu32 " sample%s per second and core", v->frequency,
                mkperf_plural(v->frequency));
    } else {
        fprintf(out, "period %" PRIu64, v->period);
    }
    if (v->user != v->kernel) {
        fprintf(out, ", %s only", v->user ? "user" : "kernel");
    }
    if (v->guest || v->host) {
        fputs(v->guest ? ", in guests" : ", not in guests", out);
    }
    fprintf(out, ": %" PRIu64 " sample%s, period sum %" PRIu64, w->samples,
            mkperf_plural(w->samples), w->period);
    if (w->samples) {
        fprintf(out, ", mean %.1f", (double)w->period / (double)w->samples);
    }
    fputc('\n', out);
    if (p->totals.enabled_ns[i] != 0) {
        /* A multiplexed event was counted only for a part of the time. */
        double enabled = (double)p->totals.enabled_ns[i], running = (double)p->totals.running_ns[i];
        fprintf(out, "#             multiplexed: counted %.2f %% of the time",
                100 * running / enabled);
        if (running > 0) {
            fprintf(out, "; scaled to all of it, period sum %.0f",
                    (double)p->total[i].period * enabled / running);
        }
        fputc('\n', out);
    }
}

/* Returns whether the recording has scheduling events, and no sample was even lost. */
static bool has_only_events(const struct mkperf_profile *p)
{
    return p->places.session.sched && p->totals.samples + mkperf_lost_sum(p->lost) == 0;
}

static void print_losses(const struct mkperf_profile *p, FILE *out)
{
    const struct mkperf_totals *t = &p->totals;
    bool events = has_only_events(p);
    uint64_t lost = events ? mkperf_lost_sum(t->sched_lost) : mkperf_lost_sum(p->lost);
    uint64_t all = lost + (events ? t->sched_events : t->samples);
    double share = mkperf_percent(lost, all);

    fprintf(out, "# lost        %" PRIu64 " of %" PRIu64 " %s%s (%.2f %%)\n", lost, all,
            events ? "scheduling event" : "sample", mkperf_plural(all), share);
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        if (t->lost[i]) {
            fprintf(out, "#             %" PRIu64 " (%.2f %%): %s\n", t->lost[i],
                    mkperf_percent(t->lost[i], all), mkperf_loss_places[i].cause);
        }
    }
    if (t->fill.size != 0) {
        char text[96];

        mkperf_fill_text(&t->fill, text, sizeof text);
        fprintf(out, "# ring        %s waited for the link\n", text);
    }
    if (share > LOUD && !events) {
        fprintf(out,
                "# WARNING: %.2f %% of the samples were lost. The numbers below are biased\n"
                "# WARNING: against what ran then. Use a larger period or a faster link.\n",
                share);
    }
    if (!t->complete) {
        fprintf(out, "# WARNING: the totals are incomplete (the recording was cut off, or was not\n"
                     "# WARNING: made by mkperf): more may be lost than is shown.\n");
    }
}

static void print_marks(const struct mkperf_profile *p, unsigned most, FILE *out)
{
    static const char *const kinds[] = {
        [MKPERF_MARK_POINT] = "", [MKPERF_MARK_BEGIN] = "begin ", [MKPERF_MARK_END] = "end "};
    const struct mkperf_totals *t = &p->totals;

    if (t->marks == 0 && t->marks_lost == 0) {
        return;
    }
    uint64_t marks = p->filter.has_time ? p->nmarks_passed : t->marks;
    fprintf(out, "# marks       %" PRIu64, marks);
    fprintf(out, t->marks_lost ? ", and %" PRIu64 " lost\n" : "\n", t->marks_lost);
    for (unsigned i = 0; i < p->nmarks && i < most; i++) {
        const struct mkperf_profile_mark *m = &p->mark[i];
        double at = ((double)m->time_ns - (double)t->first_ns) / 1e9;
        fprintf(out, "#             %+10.6f s  %s: %s%s (%" PRIu32 ")\n", at,
                mkperf_profile_pd_name(p, m->pd), kinds[m->kind],
                mkperf_places_text(&p->places, m->name), m->id);
    }
    uint64_t listed = p->nmarks < most ? p->nmarks : most;
    if (marks > listed) {
        fprintf(out, "#             and %" PRIu64 " more%s\n", marks - listed,
                listed < p->nmarks ? " (--marks lists them)" : "");
    }
}

void report_first_print(const struct mkperf_totals *t, FILE *out)
{
    char text[MKPERF_FIRST_TEXT];

    for (unsigned i = 0; i < MKPERF_FIRSTS; i++) {
        if (mkperf_first((enum mkperf_first)i, t, text)) {
            fprintf(out, "# ERROR: %s\n", text);
        }
    }
}

void report_head_print(const struct mkperf_profile *p, const char *path, bool marks, FILE *out)
{
    const struct mkperf_session *s = &p->places.session;
    const struct mkperf_totals *t = &p->totals;
    char text[MKPERF_PRINTABLE_PATH], aggregate[MKPERF_CORES_TEXT];

    report_first_print(t, out);
    fprintf(out, "# file        %s\n", mkperf_printable_copy(path, text, sizeof text));
    if (s->command) {
        fprintf(out, "# command     %s\n", s->command);
    }
    fprintf(out, "# target      %s, cpu %s, %u core%s (samples from %u)\n",
            s->platform[0] ? s->platform : "unknown", s->cpu[0] ? s->cpu : "unknown", s->cores,
            s->cores == 1 ? "" : "s", p->cores_seen);
    if (s->image) {
        fprintf(out, "# image       %s, which lists its programs\n", s->image);
    } else if (s->unverified) {
        fprintf(out, "# image       unverified: %s\n", s->unverified);
    }
    for (unsigned i = 0; i < t->nsuspects; i++) {
        const struct mkperf_suspect *x = &t->suspect[i];
        const char *name = x->pd == MKPERF_SUSPECT_KERNEL ? "kernel"
                                                          : mkperf_profile_pd_name(p, x->pd);
        fprintf(out, "# ERROR: %s\n", mkperf_suspect_text(x, name, text, sizeof text));
    }
    print_cores(p, out);
    for (unsigned i = 0; i < s->nevents; i++) {
        /* An off-CPU profile does not count the samples of other events. */
        if (!p->off_cpu || p->made || i == p->off_cpu_event) {
            print_event(p, i, out);
        }
    }
    double seconds = t->last_ns > t->first_ns ? (double)(t->last_ns - t->first_ns) / 1e9 : 0;
    fprintf(out, "# duration    %.3f s from the first %s to the last\n", seconds,
            has_only_events(p) ? "event" : "sample");
    if (mkperf_aggregate_text(s, aggregate)) {
        fprintf(out, "# windows     %s\n", aggregate);
    }
    mkperf_figures_print(MKPERF_FIGURE_HEAD, MKPERF_SECTION_FIRST, MKPERF_SECTION_SECOND, t, out);
    fprintf(out, "# jitter      %s\n", s->jitter ? "on" : "off or unknown");
    print_losses(p, out);
    mkperf_figures_print(MKPERF_FIGURE_HEAD, MKPERF_SECTION_SECOND, MKPERF_SECTION_END, t, out);
    print_marks(p, marks ? MKPERF_PROFILE_MARKS : MARKS_SHOWN, out);
}

void report_head_values(struct mkperf_profile *p, struct mkperf_textout *v)
{
    mkperf_profile_cost(p);
    mkperf_jsonl_session(v, &p->places.session);
    for (uint32_t i = 0; i < p->places.npds; i++) {
        const struct mkperf_places_pd *pd = &p->places.pd[i];

        if (pd->name != NULL) {
            mkperf_jsonl_pd(v, &(struct mkperf_pd){.id = i,
                                                   .name = pd->name,
                                                   .elf = pd->elf,
                                                   .parent = pd->parent,
                                                   .thread = pd->thread});
        }
    }
    mkperf_jsonl_totals(v, &p->places, &p->cost, &p->totals);
}

void report_warning_values(const struct mkperf_frames *f, struct mkperf_textout *v)
{
    mkperf_profile_warnings(f->profile, mkperf_jsonl_warning, v);
    mkperf_frames_warnings(f, mkperf_jsonl_warning, v);
}

/*
 * What differs between two recordings apart from their samples: the machine, the session, the programs and their compilers.
 *
 * diff prints it first, because a difference here can explain each row below it. A PD that only one side has is no
 * difference here: it is a row.
 */

enum { SHOWN = 100 }; /* characters of a text */

static void put_if_different(report_put_difference *put, void *self, const char *what,
                             const char *a, const char *b)
{
    if (strcmp(a, b) != 0) {
        put(self, what, *a != '\0' ? a : "unknown", *b != '\0' ? b : "unknown");
    }
}

/* Compares the build ids of two programs, and if these differ, the compilers by the section .comment. */
static void compare_programs(const struct mkperf_module *a, const struct mkperf_module *b,
                             const char *name, report_put_difference *put, void *self)
{
    const struct mkperf_module *module[2] = {a, b};
    char build[2][SHOWN], compiler[2][SHOWN] = {"", ""}, what[MKPERF_MODEL_NAME + 32];

    if (a == NULL || b == NULL) {
        return;
    }
    for (unsigned side = 0; side < 2; side++) {
        struct mkperf_build_id id;
        uint64_t n;
        const uint8_t *comment = mkperf_module_section(module[side], ".comment", &n);

        if (comment != NULL) {
            snprintf(compiler[side], SHOWN, "%.*s", (int)(n < SHOWN ? n : SHOWN),
                     (const char *)comment);
            mkperf_printable(compiler[side]);
        }
        mkperf_module_identity(module[side], &id);
        mkperf_build_id_text(&id, build[side]);
    }
    if (strcmp(build[0], build[1]) != 0) {
        snprintf(what, sizeof what, "build of %s", name);
        put_if_different(put, self, what, build[0], build[1]);
        snprintf(what, sizeof what, "compiler of %s", name);
        put_if_different(put, self, what, compiler[0], compiler[1]);
    }
}

void report_differences(const struct mkperf_places *a, const struct mkperf_places *b,
                        report_put_difference *put, void *self)
{
    const struct mkperf_session *s[2] = {&a->session, &b->session};
    char text[2][SHOWN], cores[2][SHOWN];

    put_if_different(put, self, "platform", a->session.platform, b->session.platform);
    put_if_different(put, self, "cpu", a->session.cpu, b->session.cpu);
    for (unsigned side = 0; side < 2; side++) {
        snprintf(cores[side], SHOWN, "%u", s[side]->cores);
        snprintf(text[side], SHOWN, "%sjitter%s%s%s, %u frames", s[side]->jitter ? "" : "no ",
                 s[side]->sched ? ", scheduling events" : "",
                 s[side]->selected ? ", some PDs only" : "", s[side]->exact ? ", exact" : "",
                 s[side]->max_frames);
    }
    put_if_different(put, self, "cores", cores[0], cores[1]);
    put_if_different(put, self, "session", text[0], text[1]);
    for (unsigned i = 0; i < s[0]->nevents * s[1]->nevents; i++) {
        const struct mkperf_event *v[2] = {&s[0]->event[i / s[1]->nevents],
                                           &s[1]->event[i % s[1]->nevents]};

        for (unsigned side = 0; side < 2; side++) {
            snprintf(text[side], SHOWN, "%s%s, %s %" PRIu64, v[side]->name,
                     mkperf_event_modes(v[side]), v[side]->frequency ? "frequency" : "period",
                     v[side]->frequency ? v[side]->frequency : v[side]->period);
        }
        if (strcmp(v[0]->name, v[1]->name) == 0) {
            put_if_different(put, self, "event", text[0], text[1]);
        }
    }
    compare_programs(a->kernel, b->kernel, "the kernel", put, self);
    for (uint32_t i = 0; i < a->npds; i++) {
        for (uint32_t k = 0; k < b->npds; k++) {
            if (a->pd[i].name != NULL && b->pd[k].name != NULL &&
                strcmp(a->pd[i].name, b->pd[k].name) == 0) {
                compare_programs(a->pd[i].module, b->pd[k].module, a->pd[i].name, put, self);
            }
        }
    }
}
