/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf latency: shows where the time between PDs is spent, for a recording or for a running target.
 *
 * Owns: the command line, and when tables are printed. The numbers are computed by host/sched or by the target.
 */
#include "cmd.h"
#include "export/formats.h"
#include "link/recorder.h"
#include "report/report.h"

enum { MAX_INTERVAL_MS = 3600000, ROUTES_SHOWN = 20 };

struct latency_command {
    struct mkperf_recorder recorder; /* the first member, as mkperf_recorder_talk_init requires */
    const char *input, *separator, *output;
    const char *recording; /* the file of --record, or NULL */
    bool json, path, routes;
    const char *route; /* the argument of --path */
    uint64_t worst;
    struct mkperf_textout values; /* the form that -x or --json selects */
    struct mkperf_path_choice choice;
    uint64_t interval_ms;
};

static enum mkperf_status take_path(void *self, const struct mkperf_given *g)
{
    struct latency_command *c = self;

    c->path = true;
    return mkperf_path_choice_parse(&c->choice, g->value, g->e);
}

static enum mkperf_status take_at(void *member, const struct mkperf_given *g)
{
    struct mkperf_path_choice *choice = member;
    const char *end = report_filter_seconds(g->value, &choice->at_ns);

    choice->has_at = true;
    return end != NULL && *end == '\0' ? MKPERF_OK
                                       : mkperf_given_bad(g, "seconds, as in the tables: 1.113441");
}

static const struct mkperf_option latency_options[] = {
    MKPERF_OPTION('i', "input",
                  "a recording with scheduling events (record --sched; default perf.data)",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct latency_command, input)),
    MKPERF_OPTION('I', "interval-print",
                  "with -t, print every MS milliseconds what was measured so far", .value = "MS",
                  MKPERF_NUMBER(struct latency_command, interval_ms, 1, MAX_INTERVAL_MS)),
    MKPERF_OPTION(
        0, "critical-path",
        "instead: which runs and waits determined how long something took: FROM:TO, the longest "
        "call of a pair of PDs; MARK..MARK, from a mark to a later one; PHASE, a phase; without "
        "WHAT, the longest call of all",
        .value = "[WHAT]", .store.take = take_path),
    MKPERF_OPTION(0, "at",
                  "with --critical-path, not the longest but the one under way at S seconds of the "
                  "target's time",
                  .value = "S", MKPERF_TAKEN(take_at, struct latency_command, choice)),
    MKPERF_OPTION(
        0, "path",
        "instead: how long a path through PDs took and where: 'irq 33 -> driver -> client', or "
        "'user -> server -> store'",
        .value = "PATH", MKPERF_TEXT(struct latency_command, route)),
    MKPERF_OPTION(0, "paths", "instead: find such paths that repeat, the most frequent first",
                  MKPERF_SETS(struct latency_command, routes)),
    MKPERF_OPTION(0, "worst", "with --path, show the critical path of the N longest (1)",
                  .value = "N", MKPERF_NUMBER(struct latency_command, worst, 1, 1000000)),
    MKPERF_OPTION(0, "duration", "with -t, end after S seconds (default: with Ctrl-C)",
                  .value = "S",
                  MKPERF_SECONDS(struct latency_command, recorder.options.duration_s)),
    MKPERF_OPTION(
        0, "record",
        "with -t, have the events sent, too, into a recording FILE, and print what was measured "
        "at its end",
        MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct latency_command, recording)),
    MKPERF_OPTION(
        0, "system", "with -t, the .system file: names of PDs, where the image does not list them",
        MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct latency_command, recorder.options.system)),
    MKPERF_OPTION('x', "field-separator",
                  "the values of --json in their order, without names; see docs/json.md",
                  .value = "SEP", MKPERF_TEXT(struct latency_command, separator)),
    MKPERF_OPTION(0, "json", "rows as JSON Lines", MKPERF_SETS(struct latency_command, json)),
    MKPERF_OPTION('o', "output",
                  "print there (default: standard output); it is FILE.partial until all is printed",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct latency_command, output)),
    {.letter = 0},
};

/* Begins the rows for programs, before the first table. NULL: tables are for people. */
static struct mkperf_textout *values_of(struct latency_command *c, FILE *out)
{
    if (!c->json && c->separator == NULL) {
        return NULL;
    }
    if (c->values.over == NULL) {
        c->values =
            report_values_begin(out, c->json ? NULL : c->separator, "latency",
                                c->input != NULL ? c->input : c->recorder.options.link.target);
    }
    return &c->values;
}

static void print_latencies(struct latency_command *c, const struct report_latency *l, FILE *out)
{
    struct mkperf_textout *v = values_of(c, out);

    if (v != NULL) {
        report_latency_values(l, v);
    } else {
        report_latency_print(l, out);
    }
    (void)fflush(out); /* mkperf_printout_close reports an error */
}

static enum mkperf_status print_recording(struct latency_command *c, FILE *out,
                                          struct mkperf_error *e)
{
    struct mkperf_analysis *a = mkperf_analysis_new();
    const struct mkperf_question question = {.text = mkperf_xstrdup("latency")};
    struct mkperf_latency_rows rows = {0};

    if (mkperf_analysis_read(a, mkperf_analysis_sink(a), c->input, &question, e) == MKPERF_OK) {
        mkperf_latency_rows_of(a, &rows);
        print_latencies(c, &(struct report_latency){c->input, &rows, a}, out);
    }
    mkperf_latency_rows_free(&rows);
    mkperf_analysis_free(a);
    return e->status;
}

/* Prints a critical path. The recording is read twice: to choose the time, and for the events in it. */
static enum mkperf_status show_path(struct latency_command *c, FILE *out, struct mkperf_error *e)
{
    struct mkperf_path_choice *found = &c->choice;
    struct mkperf_analysis *first = mkperf_analysis_new(), *a = mkperf_analysis_new();
    struct mkperf_path path;
    char title[256];

    found->analysis = first;
    if (mkperf_path_choice_read(found, c->input, e) == MKPERF_OK &&
        mkperf_path_choice_check(found, e) == MKPERF_OK &&
        mkperf_path_read(&path, a, found->pd, found->from_ns, found->to_ns, c->input, e) ==
            MKPERF_OK) {
        mkperf_path_choice_title(found, title, sizeof title);
        struct mkperf_textout *v = values_of(c, out);
        if (v != NULL) {
            report_gap_values(a, v);
            report_path_values(a, &path, v);
        } else {
            report_first_print(&a->totals, out);
            report_path_print(a, &path, title, out);
        }
        mkperf_path_free(&path);
    }
    mkperf_marks_free(&found->phases);
    mkperf_analysis_free(first);
    mkperf_analysis_free(a);
    return e->status;
}

/* Prints the times of a path, or finds paths. */
static enum mkperf_status show_routes(struct latency_command *c, FILE *out, struct mkperf_error *e)
{
    struct mkperf_analysis *a = mkperf_analysis_new();
    struct mkperf_routes routes;
    struct mkperf_flow flow;
    struct mkperf_route found[ROUTES_SHOWN];
    size_t n = 1;

    mkperf_routes_attach(&routes, a);
    mkperf_flow_init(&flow, a);
    if (mkperf_analysis_read(a, mkperf_flow_sink(&flow), c->input, NULL, e) == MKPERF_OK) {
        mkperf_routes_sort(&routes);
        if (c->routes) {
            n = mkperf_routes_find(&routes, found, ROUTES_SHOWN);
        } else if (mkperf_route_parse(a, c->route, found, e) != MKPERF_OK) {
            n = 0;
        }
        if (routes.not_counted != 0) {
            /* Some instances have no row: the table of paths was full when theirs began. */
            char text[80];

            snprintf(text, sizeof text, "%" PRIu64 " instances of further paths are not counted",
                     routes.not_counted);
            fprintf(stderr, "mkperf latency: warning: %s\n", text);
            if (c->json) {
                mkperf_jsonl_warning(values_of(c, out), MKPERF_WARNING, text);
            }
        }
        struct mkperf_textout *v = values_of(c, out);
        if (v != NULL) {
            report_gap_values(a, v);
        } else {
            report_first_print(&a->totals, out);
            if (c->routes) {
                report_route_line(NULL, out);
            }
        }
        for (size_t i = 0; i < n; i++) {
            struct mkperf_route_times times;
            size_t worst = c->worst != 0 ? (size_t)c->worst : 1;
            const struct report_route r = {
                .routes = &routes, .times = &times, .flow = &flow, .worst = c->routes ? 0 : worst};

            mkperf_route_measure(&routes, &found[i], &times);
            if (v != NULL) {
                report_route_values(&r, v);
            } else if (c->routes) {
                report_route_line(&r, out);
            } else {
                report_route_print(&r, out);
            }
            mkperf_route_times_free(&times);
        }
    }
    mkperf_flow_free(&flow);
    mkperf_routes_free(&routes);
    mkperf_analysis_free(a);
    return e->status;
}

/* Prints what the target has measured so far. */
static enum mkperf_status print_now(struct latency_command *c, FILE *out,
                                    struct mkperf_latency_rows *rows, struct mkperf_error *e)
{
    MKPERF_TRY(mkperf_latency_query(&c->recorder, rows, e));
    print_latencies(c, &(struct report_latency){c->recorder.options.link.target, rows, NULL}, out);
    return MKPERF_OK;
}

/* Measures until the duration is over in the target's time, which each query returns. */
static enum mkperf_status measure_target(struct latency_command *c, FILE *out,
                                         struct mkperf_latency_rows *rows, struct mkperf_error *e)
{
    struct mkperf_peer *link = &c->recorder.link;
    double step = c->interval_ms != 0 ? (double)c->interval_ms / 1000 : 0, next = step;
    double wanted = c->recorder.options.duration_s;

    while (!mkperf_peer_stopped(link) && (wanted <= 0 || rows->seconds < wanted)) {
        double until = mkperf_now_s() + 0.1;

        while (mkperf_now_s() < until && !mkperf_peer_stopped(link)) {
            MKPERF_TRY(mkperf_peer_pump(link, 10, e));
        }
        MKPERF_TRY(mkperf_latency_query(&c->recorder, rows, e));
        if (step > 0 && rows->seconds >= next) {
            MKPERF_TRY(print_now(c, out, rows, e));
            while (next <= rows->seconds) {
                next += step;
            }
        }
    }
    return step > 0 || c->recording != NULL ? MKPERF_OK : print_now(c, out, rows, e);
}

static enum mkperf_status show_target(struct latency_command *c, FILE *out, struct mkperf_error *e)
{
    struct mkperf_latency_rows rows = {0};
    struct mkperf_error late = {.status = MKPERF_OK};

    c->recorder.stop = mkperf_process_interrupts();
    c->recorder.options.configure.sched = c->recording != NULL;
    c->recorder.options.configure.latency = true;
    if (mkperf_recorder_talk(&c->recorder, NULL, c->recording, e) == MKPERF_OK &&
        mkperf_recorder_begin(&c->recorder, e) == MKPERF_OK) {
        measure_target(c, out, &rows, e);
        /* With --record the table is printed now, because it and the recording then have the same events. */
        if (mkperf_recorder_stop(&c->recorder, &late) == MKPERF_OK && c->recording != NULL) {
            print_now(c, out, &rows, &late);
        }
        *e = e->status == MKPERF_OK ? late : *e;
        if (c->recording != NULL) {
            mkperf_recorder_talk_keep(&c->recorder, &late);
        }
        *e = e->status == MKPERF_OK ? late : *e;
    }
    mkperf_latency_rows_free(&rows);
    return e->status;
}

static enum mkperf_status run_latency(void *self, const struct mkperf_args *args,
                                      struct mkperf_error *e)
{
    struct latency_command *c = self;
    bool live = c->recorder.options.link.target != NULL;
    bool routes = c->routes || c->route != NULL;
    struct mkperf_printout out;

    MKPERF_TRY(MKPERF_RULES(e, "latency",
                            {live && (c->input != NULL || args->n > 0),
                             "a recording and a target (-t) exclude each other"},
                            {!live && (c->interval_ms != 0 || c->recorder.options.duration_s > 0 ||
                                       c->recording != NULL),
                             "-I, --duration and --record are for a target (-t)"},
                            {live && (c->path || routes || c->choice.has_at),
                             "--critical-path, --path and --paths are for a recording"},
                            {c->choice.has_at && !c->path, "--at is for --critical-path"},
                            {c->path + c->routes + (c->route != NULL) > 1,
                             "--critical-path, --path and --paths exclude each other"}));
    c->input = args->n > 0 ? args->operand[0] : c->input != NULL || live ? c->input : "perf.data";
    MKPERF_TRY(mkperf_printout_open(&out, c->output != NULL ? c->output : "-", e));
    (void)(live      ? show_target(c, out.to, e)
           : c->path ? show_path(c, out.to, e)
           : routes  ? show_routes(c, out.to, e)
                     : print_recording(c, out.to, e));
    return mkperf_printout_close(&out, e);
}

const struct mkperf_command mkperf_latency_command = {
    .name = "latency",
    .summary = "show latencies: calls, wake-ups, PDs, budgets",
    .synopsis = "[-i FILE | -t TARGET] [options]",
    .description =
        "Of a recording with scheduling events: for each pair of PDs how long protected calls took "
        "and why; how long notified PDs and interrupt handlers waited until they ran; priority "
        "inversions; the time of each PD by its states. With --critical-path: why one call, or "
        "the time between two marks, took as long as it did. With --path: how long it took from "
        "an interrupt through a chain of PDs.\n\n"
        "Of a target (-t): only the latencies, which the target counts itself: nothing is sent "
        "but the table. They are those since the command began.",
    .options = {{mkperf_link_options, offsetof(struct latency_command, recorder.options.link)},
                {latency_options, 0}},
    .operand = MKPERF_VALUE_FILE,
    .operands_max = 1,
    .sections = {{.title = "TARGET is one of", .list = mkperf_target_help}},
    .examples = "mkperf record -t tcp:192.168.1.5 --sched --duration 5\n"
                "mkperf latency\n"
                "mkperf latency -t tcp:192.168.1.5 -I 1000",
    .statuses = MKPERF_STATUSES_FILES | MKPERF_STATUSES_TARGET,
    .self = {.bytes = sizeof(struct latency_command)},
    .init = mkperf_recorder_talk_init,
    .run = run_latency,
    .end = mkperf_recorder_free,
};
