/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf stat: counts of events, of the whole system and by PD.
 *
 * Owns: the command line and the output. host/stat measures.
 */
#include "cmd.h"
#include "pmu/events.h"
#include "stat/stat.h"

enum { MAX_RUNS = 1000, LONGEST_INTERVAL_MS = 3600000 };

struct stat_command {
    struct stat_measure measure; /* the first member, as mkperf_recorder_talk_init requires */
    const char *output;
    bool json;
    struct mkperf_textout values; /* the values that --json prints */
    struct mkperf_printout printout;
};

static const struct mkperf_option stat_options[] = {
    MKPERF_OPTION(
        'e', "event",
        "as for record; {A,B} counts A and B at the same times; default cycles,instructions. "
        "More events than counters are multiplexed: counts are scaled then, and the share of the "
        "time is printed",
        MKPERF_TAKES(WORDS, "EVENTS"), .list = mkperf_pmu_events,
        MKPERF_TAKEN(mkperf_take_events, struct stat_command, measure.recorder.options.configure)),
    MKPERF_OPTION('M', "metrics",
                  "events of these figures, in turns if counters are few: ipc, cache, branch, "
                  "stall, bus; what the CPU has no events for is named",
                  .value = "GROUP[,GROUP]",
                  MKPERF_TEXT(struct stat_command, measure.style.metrics)),
    MKPERF_OPTION(
        0, "per-pd",
        "also by protection domain: exactly if the target's kernel can, else estimated from "
        "samples, with the standard error",
        MKPERF_SETS(struct stat_command, measure.per_pd)),
    MKPERF_OPTION(0, "per-core", "the system by core, for the cores that the target counts on",
                  MKPERF_SETS(struct stat_command, measure.style.per_core)),
    MKPERF_OPTION('C', "cpu", "count on these cores only, as in 0-2", .value = "LIST",
                  MKPERF_TAKEN(mkperf_take_core_mask, struct stat_command,
                               measure.recorder.options.configure.cores)),
    MKPERF_OPTION(0, "pd", "only these PDs (implies --per-pd)", .value = "NAME[,NAME]",
                  MKPERF_TEXT(struct stat_command, measure.style.only)),
    MKPERF_OPTION(0, "estimate", "by PD from samples, whatever the kernel can",
                  MKPERF_SETS(struct stat_command, measure.estimate)),
    MKPERF_OPTION(0, "util",
                  "also how long each PD and idle ran, in ns (" MKPERF_RUN_TIME_EVENT
                  "), by the target's scheduling events; implies --per-pd",
                  MKPERF_SETS(struct stat_command, measure.util)),
    MKPERF_OPTION(0, "system", "the .system file: names of PDs", MKPERF_TAKES(FILE, "FILE"),
                  MKPERF_TEXT(struct stat_command, measure.recorder.options.system)),
    MKPERF_OPTION(0, "duration", "seconds of the target's time", .value = "S",
                  MKPERF_SECONDS(struct stat_command, measure.recorder.options.duration_s)),
    MKPERF_OPTION('I', "interval-print", "a reading every MS milliseconds", .value = "MS",
                  MKPERF_NUMBER(struct stat_command, measure.interval_ms, 1, LONGEST_INTERVAL_MS)),
    MKPERF_OPTION('r', "repeat", "N runs of --duration: mean and its standard error", .value = "N",
                  MKPERF_NUMBER(struct stat_command, measure.runs, 1, MAX_RUNS)),
    MKPERF_OPTION(
        'x', "field-separator",
        "fields for programs: count, unit, event, time counted in ns, share of the time in per "
        "cent, derived figure, its unit, user, kernel (<not counted>: a counter of both modes, "
        "without their shares), standard error; before them with -I the "
        "time, with --per-core the core and how many cores it is of, with --per-pd the PD. A text "
        "that contains SEP is in double quotes",
        .value = "SEP", MKPERF_TEXT(struct stat_command, measure.style.separator)),
    MKPERF_OPTION('j', "json", "rows as JSON Lines, on standard output",
                  MKPERF_SETS(struct stat_command, json)),
    MKPERF_OPTION('o', "output",
                  "print there (default: standard error); it is FILE.partial until all is printed",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct stat_command, output)),
    {.letter = 0},
};

static enum mkperf_status run_stat(void *self, const struct mkperf_args *args,
                                   struct mkperf_error *e)
{
    struct stat_command *s = self;
    mkperf_Configure *c = &s->measure.recorder.options.configure;

    (void)args;
    const struct mkperf_record_options *o = &s->measure.recorder.options;
    MKPERF_TRY(
        MKPERF_RULES(e, "stat", {o->link.target == NULL, "no target: give -t TARGET"},
                     {s->measure.runs > 1 && (o->duration_s <= 0 || s->measure.interval_ms != 0),
                      "-r needs --duration, and excludes -I"}));
    s->measure.runs = s->measure.runs != 0 ? s->measure.runs : 1;
    s->measure.per_pd |= s->measure.style.only != NULL || s->measure.estimate || s->measure.util;
    if (c->events_count == 0 && s->measure.style.metrics == NULL) {
        MKPERF_TRY(mkperf_events_parse("cycles,instructions", c, e));
    }
    /* Without -o the output is standard error, as of perf stat. */
    MKPERF_TRY(s->output != NULL ? mkperf_printout_open(&s->printout, s->output, e) : MKPERF_OK);
    FILE *out = s->output != NULL ? s->printout.to : s->json ? stdout : stderr;
    if (s->json) {
        s->values = report_values_begin(out, NULL, "stat", s->measure.recorder.options.link.target);
    }
    s->measure.style.out = out;
    s->measure.style.values = s->json ? &s->values : NULL;
    s->measure.style.interval = s->measure.interval_ms != 0;
    s->measure.style.title = s->measure.recorder.options.link.target;
    s->measure.recorder.stop = mkperf_process_interrupts();
    stat_measure(&s->measure, e);
    mkperf_checks_free(s->measure.checks);
    MKPERF_FAIL_IF(e->status == MKPERF_OK && s->output == NULL && ferror(s->measure.style.out), e,
                   MKPERF_ERR_OUTPUT, "standard %s cannot be written",
                   s->json ? "output" : "error");
    return mkperf_printout_close(&s->printout, e);
}

static const struct mkperf_refusal stat_refused[] = {
    {"-p", "a target has PDs and no processes; --pd NAME selects them"},
    {"--exact", "mkperf exact counts each function's instructions, of a system in QEMU"},
    {"--pid", "a target has PDs and no processes; --pd NAME selects them"},
    {NULL, NULL},
};

const struct mkperf_command mkperf_stat_command = {
    .refused = stat_refused,
    .name = "stat",
    .summary = "count events: whole system and PDs",
    .synopsis = "-t TARGET [options]",
    .description =
        "Counts events on a running system, exactly, until --duration is over or Ctrl-C.",
    .options = {{mkperf_link_options, offsetof(struct stat_command, measure.recorder.options.link)},
                {stat_options, 0}},
    .sections = {{.title = "TARGET is one of", .list = mkperf_target_help}},
    .examples = "mkperf stat -t tcp:192.168.1.5 -e cycles,instructions --per-pd --duration 5",
    .no_operands = "mkperf profiles the whole target, which runs already: --pd and --duration "
                   "choose what and how long",
    .statuses = MKPERF_STATUSES_FILES | MKPERF_STATUSES_TARGET,
    .self = {.bytes = sizeof(struct stat_command)},
    .init = mkperf_recorder_talk_init,
    .run = run_stat,
    .end = mkperf_recorder_free,
};
