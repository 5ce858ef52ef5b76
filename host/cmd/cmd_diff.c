/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf diff: shows what changed between two recordings, and whether chance explains the change.
 *
 * Owns: the command's options, the order of its output, and the verdict of --fail-above. report/comparison.h has the rule.
 */
#include "cmd.h"
#include "report/comparison.h"

static const char timer_event[] = "timer"; /* the event without kernel time, see docs/stock.md */

struct diff_command {
    const char *junit;
    struct report_names names;
    struct report_comparison d;
    bool json, markdown;
    struct mkperf_textout values; /* the values that --json prints */
    bool differs;                 /* the environment differs */
    bool unequal;                 /* exact counts of one side differ */
    unsigned failed;              /* rows that grew by more than fail_above allows */
    enum { BY_GROWTH, BY_CHANGE } order;
    enum mkperf_colour colour;
    struct mkperf_textout cases; /* the test cases of --junit, as text in case_text */
    char *case_text;
    size_t case_bytes;
    unsigned ncases;
};

static enum mkperf_status take_keys(void *keys, const struct mkperf_given *g)
{
    MKPERF_TRY(report_columns_sort(keys, g));
    return report_columns_have(keys, REPORT_SORT_TIME) ||
                   report_columns_have(keys, REPORT_SORT_UTIL)
               ? mkperf_given_bad(g, "keys that two recordings share, not time and util")
               : MKPERF_OK;
}

/* Stores a growth, behind which a sign of per cent may follow. */
static enum mkperf_status take_growth(void *member, const struct mkperf_given *g)
{
    double *growth = member;
    char *end;

    *growth = strtod(g->value, &end);
    end += *end == '%';
    return end != g->value && *end == '\0' && *growth >= 0 && *growth <= 1e6
               ? MKPERF_OK
               : mkperf_given_bad(g, "a number of per cent, at least 0, as in 5 or 5%");
}

static const struct mkperf_option diff_options[] = {
    MKPERF_OPTION(
        'c', "compute",
        "order of rows: delta-abs (largest change first, the default), or delta (what grew first)",
        MKPERF_TAKES(WORD, "HOW"), .words = "delta delta-abs",
        MKPERF_ENUM(struct diff_command, order, BY_GROWTH, BY_CHANGE)),
    MKPERF_OPTION(
        's', "sort",
        "what rows are, as for report: functions of PDs (pd,sym, the default), PDs (pd), ...",
        MKPERF_TAKES(WORDS, "KEYS"), .list = report_columns_put_keys,
        MKPERF_TAKEN(take_keys, struct diff_command, d.keys)),
    MKPERF_OPTION(
        0, "confidence",
        "per cent (95): in 100 - N of 100 comparisons of equal systems, some row is called "
        "significant",
        .value = "N", MKPERF_PER_CENT(struct diff_command, d.confidence)),
    MKPERF_OPTION(0, "percent-limit", "leave out rows below N per cent in both (0)", .value = "N",
                  MKPERF_PER_CENT(struct diff_command, d.limit)),
    MKPERF_OPTION(0, "fail-above",
                  "exit with status 1 if a row grew by more than N per cent of what it was, and "
                  "chance does not explain it: for continuous integration",
                  .value = "N", MKPERF_TAKEN(take_growth, struct diff_command, d.fail_above)),
    MKPERF_OPTION(0, "exact",
                  "compare counts of instructions, which mkperf exact records: each difference is "
                  "one (the default if both sides have them)",
                  MKPERF_SETS(struct diff_command, d.exact)),
    MKPERF_OPTION(0, "latency",
                  "instead: the mean latencies of calls, notifications and interrupts (record "
                  "--sched)",
                  MKPERF_SETS(struct diff_command, d.latency)),
    MKPERF_OPTION(0, "json", "rows as JSON Lines", MKPERF_SETS(struct diff_command, json)),
    MKPERF_OPTION(0, "markdown", "the rows that differ significantly as a table in Markdown",
                  MKPERF_SETS(struct diff_command, markdown)),
    MKPERF_OPTION(0, "junit",
                  "also write the rows into FILE, each as a test case that --fail-above judges",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct diff_command, junit)),
    {.letter = 0},
};

/* Compares event a of side A with event b of side B, and prints the result. */
static void compare_event(struct diff_command *c, const char *a, const char *b)
{
    struct report_comparison *d = &c->d;

    if (!report_compare_event(d, a, b)) {
        c->unequal = true;
        return;
    }
    /* Names the rows that --fail-above does not allow. */
    for (size_t i = 0; i < d->n; i++) {
        const struct report_change *r = &d->row[i];
        char before[REPORT_VALUE_TEXT], after[REPORT_VALUE_TEXT];

        if (!report_change_fails(d, r)) {
            continue;
        }
        c->failed++;
        fprintf(stderr, "mkperf diff: from %s to %s",
                report_change_value(d, r->value[REPORT_A], before),
                report_change_value(d, r->value[REPORT_B], after));
        if (r->value[REPORT_A] > 0) {
            fprintf(stderr, " (%.1f %% more)", r->growth);
        }
        for (unsigned k = 0; k < d->keys.n; k++) {
            fprintf(stderr, "%s %s", k == 0 ? ":" : "", r->text[k]);
        }
        fputc('\n', stderr);
    }
    if (c->junit != NULL) {
        c->ncases += report_changes_cases(d, &c->cases);
    }
    if (c->json) {
        report_changes_values(d, c->failed, &c->values);
        return;
    }
    if (c->markdown) {
        report_changes_markdown(d);
        return;
    }
    if (d->exact) {
        printf("#\n# Counts of executed instructions\n#\n");
        report_changes_print(d);
        return;
    }
    if (d->latency) {
        printf("#\n# Mean latencies, in us\n");
    } else {
        printf("#\n# Event '%s': %" PRIu64 " samples in A (worth %.0f equal ones), %" PRIu64
               " in B (%.0f)\n",
               a, d->counted[REPORT_A], d->samples[REPORT_A], d->counted[REPORT_B],
               d->samples[REPORT_B]);
    }
    if (d->per != NULL) {
        printf("# Costs: %s per %s, of which there are %.0f in A and %.0f in B\n", a, d->per,
               d->units[REPORT_A], d->units[REPORT_B]);
    }
    if (d->runs[REPORT_A] + d->runs[REPORT_B] > REPORT_SIDES) {
        printf("# %s are means of %u recordings in A and %u in B; their differences count\n",
               d->latency       ? "Latencies"
               : d->per != NULL ? "Costs"
                                : "Shares",
               d->runs[REPORT_A], d->runs[REPORT_B]);
    }
    printf("# Chance: of such a change in any of %zu rows if nothing changed\n#\n", d->family);
    report_changes_print(d);
}

static void print_heads(struct diff_command *c)
{
    const struct report_comparison *d = &c->d;

    for (unsigned n = 0; n < d->runs[REPORT_A] + d->runs[REPORT_B]; n++) {
        unsigned side = n < d->runs[REPORT_A] ? REPORT_A : REPORT_B;
        struct report_run *r = &d->run[side][side == REPORT_A ? n : n - d->runs[REPORT_A]];

        if (c->json) {
            mkperf_json(&c->values,
                        "{'type':'side','side':%s,'input':%s,'samples':%" PRIu64 ",'lost':%" PRIu64
                        "}\n",
                        side == REPORT_A ? "A" : "B", r->path, r->profile.totals.samples,
                        mkperf_lost_sum(r->profile.lost));
            report_warning_values(&r->frames, &c->values);
        } else if (!c->markdown) {
            printf("# %c:\n", "AB"[side]);
            report_head_print(&r->profile, r->path, false, stdout);
        }
        mkperf_frames_warn(&r->frames, c->json || c->markdown ? stderr : stdout);
    }
}

static void put_difference(void *self, const char *what, const char *a, const char *b)
{
    struct diff_command *c = self;

    if (c->json) {
        mkperf_json(&c->values, "{'type':'difference','what':%s,'before':%s,'after':%s}\n", what, a,
                    b);
    } else if (c->markdown) {
        printf("%s* ", c->differs ? "" : "The environments differ:\n\n");
        report_markdown_cell(what);
        fputs(": ", stdout);
        report_markdown_cell(a);
        fputs(", then ", stdout);
        report_markdown_cell(b);
        putchar('\n');
    } else {
        printf("%s %s: %s, then %s\n", c->differs ? "#            " : "# differs    ", what, a, b);
    }
    c->differs = true;
}

/* Prints what differs in the environments, the heads, and the events that both sides have. */
static void compare_all(struct diff_command *c, char *const path[REPORT_SIDES],
                        struct mkperf_error *e)
{
    struct report_comparison *d = &c->d;
    const struct mkperf_session *a = &d->run[REPORT_A][0].profile.places.session,
                                *b = &d->run[REPORT_B][0].profile.places.session;
    bool single = d->runs[REPORT_A] == 1 && d->runs[REPORT_B] == 1;
    unsigned compared = 0;

    if (c->json) {
        c->values = report_values_begin(stdout, NULL, "diff", NULL);
    }
    if (c->junit != NULL) {
        c->cases.over = mkperf_memstream_open(&c->case_text, &c->case_bytes);
    }
    report_differences(&d->run[REPORT_A][0].profile.places, &d->run[REPORT_B][0].profile.places,
                       put_difference, c);
    if (c->differs && c->markdown) {
        putchar('\n');
    }
    print_heads(c);
    if (d->latency) {
        compare_event(c, "latency", "latency");
        compared++;
    }
    for (unsigned i = 0; i < a->nevents && !d->latency; i++) {
        const char *event = a->event[i].name;

        if (report_comparison_has(d, event) &&
            (!c->names.event || strcmp(c->names.event, event) == 0)) {
            compare_event(c, event, event);
            compared++;
        }
    }
    if (compared == 0 && !c->names.event && single && a->nevents == 1 && b->nevents == 1 &&
        (strcmp(a->event[0].name, timer_event) == 0 ||
         strcmp(b->event[0].name, timer_event) == 0)) {
        /* Compares the samples of the timer with those of another event. Both show where time is spent. Functions are not compared,
         * because the timer attributes kernel time to the code that the kernel returned to. */
        c->d.keys = (struct report_column_list){{REPORT_SORT_PD}, 1};
        fprintf(c->json || c->markdown ? stderr : stdout,
                "#\n# '%s' against '%s': shares by PD, each with its part of the kernel. The timer "
                "gives the\n# kernel's time to whom it returned to.\n",
                a->event[0].name, b->event[0].name);
        compare_event(c, a->event[0].name, b->event[0].name);
    } else if (compared == 0) {
        mkperf_error_set(e, c->names.event ? MKPERF_ERR_USAGE : MKPERF_ERR_INPUT,
                         "%s and %s have no event%s%s in common", path[REPORT_A], path[REPORT_B],
                         c->names.event ? " " : "", c->names.event ? c->names.event : "");
    }
}

static enum mkperf_status run_diff(void *self, const struct mkperf_args *args,
                                   struct mkperf_error *e)
{
    struct diff_command *c = self;

    MKPERF_TRY(
        MKPERF_RULES(e, "diff",
                     {c->d.latency && (c->d.per != NULL || c->d.exact || c->names.pd != NULL ||
                                       c->names.event != NULL || c->d.limit > 0),
                      "--latency excludes --per, --exact, --pd, --event and --percent-limit"}));
    if (c->d.latency) {
        c->d.keys = (struct report_column_list){{REPORT_SORT_PD, REPORT_SORT_SYMBOL}, 2};
    }
    c->d.pd = c->names.pd;
    c->d.by_growth = c->order == BY_GROWTH;
    c->d.colour = mkperf_colour_wanted(c->colour, stdout);
    if (report_comparison_read(&c->d, args->operand, e) == MKPERF_OK) {
        compare_all(c, args->operand, e);
        if (c->unequal) {
            mkperf_error_set(
                e, MKPERF_ERR_INPUT,
                "recordings of one side count differently: the machine is not "
                "deterministic (-icount is missing, or something arrives from outside)");
        } else if (c->d.exact && !c->differs && c->d.changed != 0) {
            fprintf(
                stderr, "mkperf diff: the programs are equal, %s\n",
                c->d.whole[REPORT_A] == c->d.whole[REPORT_B]
                    ? "and so is the sum of all counts: one side lacks names that the other one "
                      "has (--kernel, --elf-path)"
                    : "and the counts are not: the machine is not deterministic, or its data "
                      "differ");
        }
        if (c->junit != NULL) {
            mkperf_memstream_close(c->cases.over);
        }
        struct mkperf_textout t = {.over = NULL};
        if (c->junit != NULL && e->status == MKPERF_OK &&
            mkperf_outfile_open(&t.out, c->junit, false, e) == MKPERF_OK) {
            mkperf_textout_printf(
                &t,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                "  <testsuite name=\"mkperf diff\" tests=\"%u\" failures=\"%u\">\n",
                c->ncases, c->failed);
            mkperf_textout_puts(&t, c->case_text);
            mkperf_textout_puts(&t, "  </testsuite>\n</testsuites>\n");
            (void)mkperf_outfile_finish(&t.out, e);
        }
        if (e->status == MKPERF_OK && mkperf_stdout_flush(e) == MKPERF_OK && c->failed != 0) {
            mkperf_error_set(e, MKPERF_ERR_FAILED, "%u row%s grew by more than %g %%", c->failed,
                             c->failed == 1 ? "" : "s", c->d.fail_above);
        }
    }
    report_comparison_free(&c->d);
    free(c->case_text);
    return e->status;
}

const struct mkperf_command mkperf_diff_command = {
    .name = "diff",
    .summary = "compare two profiles: which shares grew",
    .synopsis = "[options] A[,A] B[,B]",
    .description =
        "Each function's share in the recordings A (before) and B (after), and the difference. A "
        "side "
        "may be several recordings (record --repeat): then the shares are means, and what differs "
        "between recordings of one side counts against significance.\n\n"
        "Rows marked ~ may be chance. Percentages are of the event's period sum over all PDs.",
    .options = {{diff_options, 0},
                {report_per_options, offsetof(struct diff_command, d.per)},
                {report_names_options, offsetof(struct diff_command, names)},
                {mkperf_colour_options, offsetof(struct diff_command, colour)},
                {report_elf_options, offsetof(struct diff_command, d.elfs)}},
    .operand = MKPERF_VALUE_FILE,
    .operands_min = REPORT_SIDES,
    .operands_max = REPORT_SIDES,
    .self = MKPERF_SELF(struct diff_command, .order = BY_CHANGE,
                        .d = {.confidence = 95,
                              .fail_above = -1,
                              .keys = {{REPORT_SORT_PD, REPORT_SORT_SYMBOL}, 2}}),
    .run = run_diff,
};
