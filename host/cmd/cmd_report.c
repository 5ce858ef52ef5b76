/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf report: shows a recording as a table on standard output, or in a browser of tables on a terminal.
 *
 * Owns: the command's options, and what is printed around the tables. host/profile counts and names samples, and
 * host/report has the tables.
 */
#include "cmd.h"
#include "export/formats.h"
#include "model/relays.h"
#include "report/report.h"

struct report_command {
    struct mkperf_recording recording; /* the first member, as mkperf_recording_free requires */
    const char *input;
    bool stdio, interactions, stacks, dot, marks, charged, hierarchy, json, inverted, head_only;
    const char *output; /* the file for --interactions */
    const char *separator;
    struct mkperf_textout values; /* the form that -x or --json selects */
    uint64_t quantum_ns;          /* 0: --time-quantum is not given */
    enum mkperf_colour colour;
    struct report_options report;
    struct report_names names;
};

static const uint64_t QUANTUM_NS = 100000000; /* the default of perf */

/* Reads caller, callee or none, or the list that perf accepts. Of this list, the order and the least percentage are used. */
static enum mkperf_status take_graph(void *member, const struct mkperf_given *g)
{
    struct report_options *o = member;
    const char *at = g->value;
    bool limited = false;
    char *end;

    o->graph = REPORT_GRAPH_CALLERS;
    while (at != NULL) {
        size_t n = strcspn(at, ",");
        double limit = strtod(at, &end);
        if (n == 6 && memcmp(at, "callee", n) == 0) {
            o->graph = REPORT_GRAPH_CALLEES;
        } else if (n == 4 && memcmp(at, "none", n) == 0) {
            o->graph = REPORT_GRAPH_NONE;
        } else if (!limited && n != 0 && end == at + n && limit >= 0 && limit <= 100) {
            o->graph_limit = limit;
            limited = true;
        } else if (!(n == 6 && memcmp(at, "caller", n) == 0) &&
                   !(n == 5 && memcmp(at, "graph", n) == 0) &&
                   !(n == 7 && memcmp(at, "percent", n) == 0) &&
                   !(n == 8 && memcmp(at, "function", n) == 0)) {
            return mkperf_given_bad(g, "caller, callee or none, as in graph,0.5,caller");
        }
        at = at[n] == ',' ? at + n + 1 : NULL;
    }
    return MKPERF_OK;
}

static enum mkperf_status take_limit(void *member, const struct mkperf_given *g)
{
    struct report_options *o = member;

    MKPERF_TRY(mkperf_given_real(g, &o->limit));
    o->graph_limit = o->limit;
    return MKPERF_OK;
}

static enum mkperf_status take_quantum(void *member, const struct mkperf_given *g)
{
    uint64_t *ns = member;

    *ns = mkperf_duration_ns(g->value);
    return *ns != 0 ? MKPERF_OK
                    : mkperf_given_bad(g, "a time with its unit, as in 10ms (s, ms, us, ns)");
}

static const struct mkperf_option report_options[] = {
    MKPERF_OPTION(
        's', "sort",
        "of pd, symbol, event, core, mode, line, dso (pd,symbol); perf's comm, sym, cpu, srcline "
        "too; time: slices of time, in their order; util: the share of the time, or of the slice, "
        "in which a PD ran, by scheduling events (record --sched)",
        MKPERF_TAKES(WORDS, "KEYS"), .list = report_columns_put_keys,
        MKPERF_TAKEN(report_columns_sort, struct report_command, report.keys)),
    MKPERF_OPTION(0, "time-quantum",
                  "with -s time, the length of a slice, as in 10ms (s, ms, us, ns; 100ms)",
                  .value = "T", MKPERF_TAKEN(take_quantum, struct report_command, quantum_ns)),
    MKPERF_OPTION('F', "fields",
                  "perf's name for --sort: overhead, samples and period are always shown",
                  MKPERF_TAKES(WORDS, "KEYS"), .list = report_columns_put_keys,
                  MKPERF_TAKEN(report_columns_sort, struct report_command, report.keys)),
    MKPERF_OPTION(0, "hierarchy",
                  "a level for each key of --sort, each with the sum of what is below it",
                  MKPERF_SETS(struct report_command, hierarchy)),
    MKPERF_OPTION(
        'g', "call-graph",
        "below each row, its callers (caller, the default) or its callees (callee; useful "
        "with --children); none: neither. perf's form graph,0.5,caller also has the least "
        "percentage of a branch",
        MKPERF_TAKES(WORD, "[ORDER]"), .words = "caller callee none graph",
        MKPERF_TAKEN(take_graph, struct report_command, report)),
    MKPERF_OPTION('G', "inverted", "perf's name for -g caller",
                  MKPERF_SETS(struct report_command, inverted)),
    MKPERF_OPTION(0, "children", "add a row's callees to it",
                  MKPERF_SETS(struct report_command, report.children)),
    MKPERF_OPTION(0, "no-children", "do not (the default)",
                  MKPERF_CLEARS(struct report_command, report.children)),
    MKPERF_OPTION(0, "percent-limit",
                  "leave out rows below N per cent (0), and branches of trees (0.5)", .value = "N",
                  .store = {.take = take_limit,
                            .at = offsetof(struct report_command, report),
                            MKPERF_WITHIN(0, 100, "a percentage")}),
    MKPERF_OPTION(0, "percentage",
                  "of the whole event (absolute, the default), or of what --pd leaves (relative)",
                  MKPERF_TAKES(WORD, "HOW"), .words = "absolute relative",
                  MKPERF_ENUM(struct report_command, report.of, REPORT_OF_ALL, REPORT_OF_ALL)),
    MKPERF_OPTION(0, "no-idle", "leave idle out: percentages are of the rest",
                  MKPERF_SETS(struct report_command, report.no_idle)),
    MKPERF_OPTION(0, "ci",
                  "behind each share, half of its interval at 95 %: a smaller difference may be "
                  "chance",
                  MKPERF_SETS(struct report_command, report.interval)),
    MKPERF_OPTION('n', "show-nr-samples", "always so; perf has this option", MKPERF_IGNORED),
    MKPERF_OPTION(0, "marks", "list marks above the table (the first 32)",
                  MKPERF_SETS(struct report_command, marks)),
    MKPERF_OPTION('S', "symbol", "only rows of this function", .value = "NAME",
                  MKPERF_TEXT(struct report_command, report.symbol)),
    MKPERF_OPTION(0, "stdio", "print, even on a terminal",
                  MKPERF_SETS(struct report_command, stdio)),
    MKPERF_OPTION(0, "tui", "the default on a terminal; perf has this option", MKPERF_IGNORED),
    MKPERF_OPTION(0, "header", "always so; perf has this option", MKPERF_IGNORED),
    MKPERF_OPTION(0, "header-only", "print what was recorded, and no table",
                  MKPERF_SETS(struct report_command, head_only)),
    MKPERF_OPTION(0, "inline", "inlined functions are separate rows and callers",
                  MKPERF_SETS(struct report_command, recording.profile.places.inlined)),
    MKPERF_OPTION(0, "no-inline",
                  "inlined functions are part of the function around them (the default)",
                  MKPERF_CLEARS(struct report_command, recording.profile.places.inlined)),
    MKPERF_OPTION(
        0, "interactions",
        "instead: which PD called and notified which, and how often (record --interactions)",
        MKPERF_SETS(struct report_command, interactions)),
    MKPERF_OPTION(0, "dot", "the same as a graph in the DOT language, for graphviz",
                  MKPERF_SETS(struct report_command, dot)),
    MKPERF_OPTION(0, "stacks",
                  "instead: how deep each PD's stack has been (record --stacks, --stack-scan)",
                  MKPERF_SETS(struct report_command, stacks)),
    MKPERF_OPTION(0, "charged",
                  "instead: for each PD what it used itself, and what others used on its behalf",
                  MKPERF_SETS(struct report_command, charged)),
    MKPERF_OPTION(
        0, "off-cpu",
        "instead: the time in which threads were blocked, in ns, by their callchains (record "
        "--off-cpu); with only scheduling events, by what each PD waited for",
        MKPERF_SETS(struct report_command, recording.profile.off_cpu)),
    MKPERF_OPTION(
        0, "latency",
        "shares of the elapsed time: a sample counts 1 / N if N cores work at that time (record "
        "--sched)",
        MKPERF_SETS(struct report_command, recording.profile.latency)),
    MKPERF_OPTION(
        0, "util",
        "instead: how long each PD and idle ran, in ns, by scheduling events (record --sched); "
        "--util -s time,pd,util: over time",
        MKPERF_SETS(struct report_command, recording.profile.runs)),
    MKPERF_OPTION('x', "field-separator",
                  "the values of --json in their order, without names; see docs/json.md",
                  .value = "SEP", MKPERF_TEXT(struct report_command, separator)),
    MKPERF_OPTION(0, "json", "rows as JSON Lines; with --header-only, what was recorded",
                  MKPERF_SETS(struct report_command, json)),
    MKPERF_OPTION('o', "output",
                  "output of --interactions (default: standard output); FILE.dot implies --dot",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct report_command, output)),
    {.letter = 0},
};

static const char default_input[] = "perf.data";

static bool for_programs(const struct report_command *c)
{
    return c->json || c->separator != NULL;
}

static void print_profile(struct mkperf_frames *f, struct report_command *c, uint32_t i)
{
    const struct mkperf_profile *p = f->profile;
    struct report_rows rows;

    if (c->charged && c->json) {
        report_charged_values(p, i, &c->values);
        return;
    }
    if (c->charged) {
        report_charged_print(p, i, c->report.limit);
        return;
    }
    mkperf_progress_begin("names of functions");
    report_rows_build(&rows, f, &c->report, i);
    mkperf_progress_end();
    if (for_programs(c)) {
        report_rows_values(&rows, &c->values);
    } else if (rows.n != 0 || !c->report.symbol) {
        /* Prints which samples the table shows, and the sum that is 100 per cent. */
        const struct mkperf_event *v = &p->places.session.event[i];

        printf("#\n# Samples: %" PRIu64 " of event '%s%s', period sum %" PRIu64 "\n",
               p->total[i].samples, v->name, mkperf_event_modes(v), p->total[i].period);
        if (c->report.pd) {
            printf("# of these, in PD %s: %" PRIu64 " sample%s, period sum %" PRIu64 "\n",
                   c->report.pd, rows.shown.samples, mkperf_plural(rows.shown.samples),
                   rows.shown.period);
        } else if (c->report.no_idle) {
            printf("# without idle: %" PRIu64 " sample%s, period sum %" PRIu64 "\n",
                   rows.shown.samples, mkperf_plural(rows.shown.samples), rows.shown.period);
        }
        if (c->report.of == REPORT_OF_SHOWN || c->report.no_idle) {
            printf("# percentages are of these\n");
        }
        printf("#\n");
        if (c->hierarchy) {
            report_hierarchy_print(&rows);
        } else {
            report_rows_print(&rows);
        }
    }
    report_rows_free(&rows);
}

static enum mkperf_status print_report(struct report_command *c, struct mkperf_frames *f,
                                       struct mkperf_error *e)
{
    struct mkperf_profile *p = f->profile;

    if (for_programs(c)) {
        mkperf_frames_warn(f, stderr);
        c->values = report_values_begin(stdout, c->json ? NULL : c->separator, "report", c->input);
        if (c->head_only) {
            report_head_values(p, &c->values);
            mkperf_frames_warnings(f, mkperf_jsonl_warning, &c->values);
        } else if (c->json) {
            report_warning_values(f, &c->values);
        }
    } else {
        report_head_print(p, c->input, c->marks, stdout);
        report_filter_print(&p->filter, stdout);
        if (p->utilisation && p->sched != NULL && p->sched->gaps != 0) {
            printf("# gaps        %" PRIu64
                   " in the scheduling events, %.6f s: how long PDs ran is a share of the rest\n",
                   p->sched->gaps, (double)p->sched->gap_ns / 1e9);
        }
        if (p->latency) {
            printf(
                "# latency     100 %% are the elapsed time: weights are divided by the number of "
                "cores that worked\n#             %" PRIu64 " samples with a core of which no "
                "event is known\n",
                p->unsure);
        }
        if (p->off_cpu && p->made) {
            printf(
                "# blocked     by what each PD waited for: no callchains of blocked threads were "
                "recorded (record --off-cpu)\n");
        }
        mkperf_frames_cost(f, stdout);
        mkperf_frames_warn(f, stdout);
    }
    if (c->head_only) {
        return mkperf_stdout_flush(e);
    }
    if (p->places.session.nevents == 0) { /* the head has the marks, and there is no table */
        MKPERF_TRY(mkperf_stdout_flush(e));
        (void)mkperf_no_samples(e);
        return mkperf_input_name_file(c->input, e);
    }
    for (uint32_t i = 0; i < p->places.session.nevents; i++) {
        if (!c->report.event || strcmp(c->report.event, p->places.session.event[i].name) == 0) {
            print_profile(f, c, i);
        }
    }
    if (for_programs(c)) {
        report_total_values(p, &c->values);
    }
    return mkperf_stdout_flush(e);
}

static enum mkperf_status run_profile(struct report_command *c, struct mkperf_error *e)
{
    const struct report_column_list *keys = &c->report.keys;
    bool browse = !c->stdio && !c->charged && !c->hierarchy && !for_programs(c) &&
                  report_browser_usable();
    struct mkperf_profile *p = &c->recording.profile;
    struct mkperf_frames *f = &c->recording.frames;
    bool with_line = report_columns_have(keys, REPORT_SORT_LINE);

    p->cores = report_columns_have(keys, REPORT_SORT_CORE);
    p->leaves_only = !browse && !c->charged && !c->report.children &&
                     c->report.graph == REPORT_GRAPH_NONE;
    p->events_suffice = c->head_only || c->marks;
    p->utilisation = p->runs || report_columns_have(keys, REPORT_SORT_UTIL);
    if (report_columns_have(keys, REPORT_SORT_TIME)) {
        p->slices.quantum_ns = c->quantum_ns != 0 ? c->quantum_ns : QUANTUM_NS;
    }
    c->names.event = p->off_cpu ? MKPERF_OFF_CPU_EVENT : c->names.event;
    c->report.pd = c->names.pd;
    c->report.event = c->names.event;
    c->report.colour = mkperf_colour_wanted(c->colour, stdout);
    MKPERF_TRY(mkperf_frames_read(f, p, c->input, with_line, &c->names, e));
    if (c->report.symbol && !c->charged) {
        /* Checks that the function of --symbol exists. The error precedes the head of a report. */
        uint32_t shown = 0;
        char near[MKPERF_GUESS_TEXT];

        for (uint32_t i = 0; i < p->places.session.nevents; i++) {
            struct report_rows rows;
            report_rows_build(&rows, f, &c->report, i);
            shown += rows.n;
            report_rows_free(&rows);
        }
        MKPERF_FAIL_IF(shown == 0, e, MKPERF_ERR_USAGE, "%s: no sample hit a function %s%s%s%s",
                       c->input, c->report.symbol, c->report.pd ? " in PD " : "",
                       c->report.pd ? c->report.pd : "",
                       mkperf_frames_guess(f, c->report.symbol, near));
    }
    if (!browse || p->places.session.nevents == 0) {
        return print_report(c, f, e);
    }
    report_browse(f, &c->report, c->input);
    return MKPERF_OK;
}

static enum mkperf_status run_report(void *self, const struct mkperf_args *args,
                                     struct mkperf_error *e)
{
    struct report_command *c = self;
    const struct mkperf_profile *p = &c->recording.profile;

    if (args->n > 0 && strcmp(c->input, default_input) != 0) {
        return mkperf_usage_error(e, "report", "want one recording, not %s and %s", c->input,
                                  args->operand[0]);
    }
    c->input = args->n > 0 ? args->operand[0] : c->input;
    if (c->report.keys.n == 0) { /* without --sort */
        c->report.keys =
            (struct report_column_list){{REPORT_SORT_PD, REPORT_SORT_SYMBOL}, p->runs ? 1 : 2};
    }
    bool stacks_too = c->stacks && (c->interactions || c->dot);
    c->interactions |= c->dot || c->stacks;
    c->stdio |= c->head_only;
    c->report.graph = c->inverted ? REPORT_GRAPH_CALLERS : c->report.graph;
    bool graph = c->report.graph != REPORT_GRAPH_NONE;
    MKPERF_TRY(MKPERF_RULES(
        e, "report", {stacks_too, "--stacks and --interactions exclude each other"},
        {c->separator != NULL && !c->json && (c->head_only || c->interactions || c->charged),
         "-x prints only the table of rows: use --json with --header-only, --interactions, "
         "--stacks and --charged"},
        {p->off_cpu + p->runs + c->interactions + c->charged + p->latency > 1,
         "--interactions, --stacks, --charged, --off-cpu, --util and --latency exclude each other"},
        {p->runs && c->names.event != NULL, "--util excludes --event"},
        {p->off_cpu && c->names.event != NULL, "--off-cpu excludes --event"},
        {c->quantum_ns != 0 && !report_columns_have(&c->report.keys, REPORT_SORT_TIME),
         "--time-quantum is for -s time"},
        {for_programs(c) && (c->dot || c->hierarchy || graph),
         "-x and --json print tables: omit --dot, --hierarchy and -g"},
        {c->report.interval &&
             (p->off_cpu || p->runs || c->interactions || c->charged || c->hierarchy ||
              c->report.of == REPORT_OF_SHOWN || c->report.no_idle),
         "--ci is for shares of all samples: omit --off-cpu, --util, --interactions, --charged, "
         "--hierarchy, --no-idle and --percentage relative"},
        {c->hierarchy && (c->report.children || graph),
         "--hierarchy adds the functions' own samples: omit --children and -g"},
        {c->output != NULL && !c->interactions, "-o is for --interactions"}));
    const char *dot = c->output != NULL ? strrchr(c->output, '.') : NULL;
    bool named_dot = dot != NULL && dot != c->output && strcmp(dot, ".dot") == 0;
    return c->interactions ? report_interactions(c->input,
                                                 c->stacks && c->json  ? REPORT_STACKS_JSON
                                                 : c->stacks           ? REPORT_STACKS
                                                 : c->json             ? REPORT_JSON
                                                 : c->dot || named_dot ? REPORT_DOT
                                                                       : REPORT_TABLE,
                                                 c->output, e)
                           : run_profile(c, e);
}

static const struct mkperf_refusal report_refused[] = {
    {"--dso", "a PD has one program; --pd NAME selects a PD"},
    {"--max-stack", "callchains are limited when they are recorded, with record --max-frames N"},
    {NULL, NULL},
};

const struct mkperf_command mkperf_report_command = {
    .name = "report",
    .summary = "show a profile: where the time was spent",
    .synopsis = "[options] [FILE]",
    .description =
        "A recording as a table. On a terminal the rows can be walked through; its key h shows the "
        "keys. Percentages are of the event's period sum over all PDs, in the samples that --cpu "
        "and --time select.",
    .options = {{report_input_options, offsetof(struct report_command, input)},
                {report_options, 0},
                {report_names_options, offsetof(struct report_command, names)},
                {report_filter_options, offsetof(struct report_command, recording.profile.filter)},
                {report_elf_options,
                 offsetof(struct report_command, recording.profile.places.search)},
                {report_objdump_options,
                 offsetof(struct report_command, recording.profile.places.search)},
                {mkperf_colour_options, offsetof(struct report_command, colour)}},
    .operand = MKPERF_VALUE_FILE,
    .operands_max = 1,
    .refused = report_refused,
    .self =
        MKPERF_SELF(struct report_command, .input = default_input, .report = {.graph_limit = 0.5}),
    .run = run_report,
    .end = mkperf_recording_free,
};
