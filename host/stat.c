/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `mkperf stat`: counts of events, of the whole system and by PD.
 *
 * Owns: the order of a measurement. The target counts exactly; where its kernel cannot count by PD,
 * --per-pd samples instead and says so. Runs last for a time of the target's; readings happen when
 * the host asks, and carry the target's time.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "events.h"
#include "pmu/tables.h"
#include "progress.h"
#include "stat/stat.h"
#include "talk.h"

enum { OPT_DURATION = 256, OPT_PER_PD, OPT_PER_CORE, OPT_PD, OPT_ESTIMATE, OPT_SYSTEM };
enum { POLL_MS = 50, ESTIMATE_HZ = 1000, MAX_RUNS = 1000, MAX_INTERVAL_MS = 3600000 };

struct stat {
    struct mkperf_talk talk;
    bool per_pd, per_core, estimate;
    const char *only, *output, *separator;
    uint64_t interval_ms, runs;
    mkperf_Session session;   /* as the target runs it */
    struct stat_reading work; /* being received, or estimated */
    uint64_t first_ns, last_ns;
    struct stat_style style;
    struct stat_repeat repeat;
    struct stat_reading before, mean;
};

static volatile int interrupts;

static void on_signal(int number)
{
    (void)number;
    interrupts++;
}

/* ---- what the target says ------------------------------------------------------------------- */

static void on_control(void *self, const mkperf_ToHost *m)
{
    struct stat *s = self;

    if (m->which_msg == mkperf_ToHost_session_tag) {
        s->session = m->msg.session;
    }
}

static enum mkperf_status on_sample(void *self, const struct mkperf_sample *sample,
                                    struct mkperf_error *e)
{
    struct stat *s = self;

    (void)e;
    s->first_ns = s->first_ns != 0 ? s->first_ns : sample->time_ns;
    s->last_ns = sample->time_ns;
    stat_sample(&s->work, sample);
    mkperf_progress_seconds((double)(s->last_ns - s->first_ns) / 1e9, s->talk.options.duration_s);
    return MKPERF_OK;
}

static const struct mkperf_sink_ops sink = {.name = "stat", .sample = on_sample};

static enum mkperf_status ask_part(struct stat *s, uint32_t part, struct mkperf_error *e)
{
    struct mkperf_recorder *r = &s->talk.recorder;
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_get_counts_tag};

    m.msg.get_counts.part = part;
    if (mkperf_recorder_ask(r, &m, "GetCounts", e) != MKPERF_OK ||
        mkperf_recorder_refused(r, e) != MKPERF_OK) {
        return e->status;
    }
    const mkperf_Counts *c = &r->link.answer.msg.counts;
    if (r->link.answer.which_msg != mkperf_ToHost_counts_tag || c->part != part ||
        c->events_count > STAT_EVENTS) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: an answer that is not to GetCounts",
                                s->talk.options.link.target);
    }
    return MKPERF_OK;
}

/* A reading into s->work; with the counts by PD if `all`. *by_pd: the kernel has them. */
static enum mkperf_status read_counts(struct stat *s, bool all, bool *by_pd, struct mkperf_error *e)
{
    const mkperf_Counts *c = &s->talk.recorder.link.answer.msg.counts;

    if (ask_part(s, 0, e) != MKPERF_OK) {
        return e->status;
    }
    *by_pd = c->by_pd;
    stat_begin(&s->work, c);
    for (uint32_t part = 1, parts = all ? c->parts : 1; part < parts; part++) {
        if (ask_part(s, part, e) != MKPERF_OK) {
            return e->status;
        }
        stat_add(&s->work, c, s->talk.recorder.pds);
    }
    return MKPERF_OK;
}

/* ---- a run ---------------------------------------------------------------------------------- */

static void show(struct stat *s, const struct stat_reading *r, double time_s)
{
    s->style.time_s = time_s;
    s->style.session = &s->session;
    s->style.pds = s->talk.recorder.pds;
    stat_print(r, &s->style);
}

static void show_interval(struct stat *s)
{
    static struct stat_reading step;

    stat_difference(&step, &s->work, &s->before);
    show(s, &step, s->work.seconds);
    s->before = s->work;
}

/* Asks again and again until the duration is over, in the target's time if that is known. */
static enum mkperf_status count(struct stat *s, struct mkperf_error *e)
{
    double began = mkperf_now_s(), wanted = s->talk.options.duration_s;
    double next = (double)s->interval_ms / 1000, time = 0;
    bool by_pd;

    memset(&s->before, 0, sizeof s->before);
    while (interrupts == 0 && (wanted <= 0 || time < wanted)) {
        double until = mkperf_now_s() + POLL_MS / 1000.0;
        while (mkperf_now_s() < until && interrupts == 0) {
            if (mkperf_peer_pump(&s->talk.recorder.link, 10, e) != MKPERF_OK) {
                return e->status;
            }
        }
        if (read_counts(s, s->per_pd && s->interval_ms != 0, &by_pd, e) != MKPERF_OK) {
            return e->status;
        }
        time = s->work.seconds > 0 ? s->work.seconds : mkperf_now_s() - began;
        if (s->interval_ms == 0) {
            mkperf_progress_seconds(time, wanted > 0 ? wanted : 0);
        }
        if (s->interval_ms != 0 && time >= next) {
            show_interval(s);
            next = time + (double)s->interval_ms / 1000;
        }
    }
    return MKPERF_OK;
}

/* The session of an estimate runs: samples come by themselves. */
static enum mkperf_status sample(struct stat *s, struct mkperf_error *e)
{
    struct mkperf_recorder *r = &s->talk.recorder;

    if (s->interval_ms != 0 || s->runs > 1) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "stat: -I and -r want counts: no estimate");
    }

    memset(&s->work, 0, sizeof s->work);
    s->first_ns = s->last_ns = 0;
    if (mkperf_recorder_begin(r, e) != MKPERF_OK || mkperf_recorder_run(r, e) != MKPERF_OK ||
        mkperf_recorder_stop(r, e) != MKPERF_OK) {
        return e->status;
    }
    stat_estimate(&s->work, s->session.events_count, (double)(s->last_ns - s->first_ns) / 1e9);
    return MKPERF_OK;
}

/* Events as they are configured: to be counted, or for an estimate to be sampled. */
static void set_events(struct stat *s, bool estimate)
{
    mkperf_Configure *c = &s->talk.options.configure;

    s->estimate = estimate;
    c->per_pd = s->per_pd && !estimate;
    for (unsigned i = 0; i < c->events_count; i++) {
        c->events[i].count = !estimate;
        c->events[i].read = false; /* all is counted as it is */
        if (estimate) {
            c->events[i].group = 0;
            if (c->events[i].period == 0 && c->events[i].frequency == 0) {
                c->events[i].frequency = ESTIMATE_HZ;
            }
        }
    }
}

/* The kernel does not count by PD: samples instead. */
static enum mkperf_status fall_back(struct stat *s, struct mkperf_error *e)
{
    fprintf(stderr, "mkperf: this kernel does not count by PD: estimating from samples\n");
    if (mkperf_recorder_stop(&s->talk.recorder, e) != MKPERF_OK) {
        return e->status;
    }
    mkperf_talk_close(&s->talk); /* a session of other events is another conversation */
    memset(&s->talk.recorder, 0, sizeof s->talk.recorder);
    set_events(s, true);
    return mkperf_talk_open(&s->talk, e) == MKPERF_OK ? sample(s, e) : e->status;
}

static enum mkperf_status run_once(struct stat *s, struct mkperf_error *e)
{
    struct mkperf_recorder *r = &s->talk.recorder;
    bool by_pd = true;

    if (s->interval_ms == 0) {
        mkperf_progress_begin("counting");
    }
    if (s->estimate) {
        return sample(s, e);
    }
    if (mkperf_recorder_begin(r, e) != MKPERF_OK ||
        (s->per_pd && read_counts(s, false, &by_pd, e) != MKPERF_OK)) {
        return e->status;
    }
    if (!by_pd) {
        return fall_back(s, e);
    }
    if (count(s, e) != MKPERF_OK || mkperf_recorder_stop(r, e) != MKPERF_OK) {
        return e->status;
    }
    return read_counts(s, s->per_pd, &by_pd, e);
}

static enum mkperf_status measure(struct stat *s, struct mkperf_error *e)
{
    set_events(s, s->estimate);
    if (mkperf_talk_open(&s->talk, e) != MKPERF_OK) {
        return e->status;
    }
    for (uint64_t i = 0; i < s->runs && interrupts == 0; i++) {
        enum mkperf_status status = run_once(s, e);

        mkperf_progress_end();
        if (status != MKPERF_OK) {
            return status;
        }
        stat_repeat_add(&s->repeat, &s->work);
    }
    if (s->interval_ms != 0) {
        return MKPERF_OK;
    }
    if (s->repeat.runs > 1) {
        stat_repeat_mean(&s->repeat, &s->mean);
        s->style.runs = s->repeat.runs;
        show(s, &s->mean, s->mean.seconds);
    } else {
        show(s, &s->work, s->work.seconds);
    }
    return MKPERF_OK;
}

/* ---- the command line ----------------------------------------------------------------------- */

static const struct mkperf_option options[] = {
    {.id = 'e',
     .name = "event",
     .value = "EVENTS",
     .kind = MKPERF_VALUE_WORDS,
     .list = mkperf_pmu_events,
     .help = "as for record; {A,B} counts A and B at the same times; default cycles,instructions. "
             "More events than counters take turns: counts are scaled then, and the share of the "
             "time is printed"},
    {.id = OPT_PER_PD,
     .name = "per-pd",
     .help = "also by protection domain: exactly if the target's kernel can, else estimated from "
             "samples, with the standard error"},
    {.id = OPT_PER_CORE,
     .name = "per-core",
     .help =
         "with the core that was counted on: the one that the profiler PD runs on, as the target "
         "counts on no other"},
    {.id = OPT_PD,
     .name = "pd",
     .value = "NAME[,NAME]",
     .help = "only these PDs (implies --per-pd)"},
    {.id = OPT_ESTIMATE, .name = "estimate", .help = "by PD from samples, whatever the kernel can"},
    {.id = OPT_SYSTEM,
     .name = "system",
     .value = "FILE",
     .kind = MKPERF_VALUE_FILE,
     .help = "the .system file: names of PDs"},
    {.id = OPT_DURATION, .name = "duration", .value = "S", .help = "seconds of the target's time"},
    {.id = 'I', .name = "interval-print", .value = "MS", .help = "a reading every MS milliseconds"},
    {.id = 'r',
     .name = "repeat",
     .value = "N",
     .help = "N runs of --duration: mean and its standard error"},
    {.id = 'x',
     .name = "field-separator",
     .value = "SEP",
     .help =
         "fields for programs: count, unit, event, time counted in ns, share of the time in per "
         "cent, derived figure, its unit, user, kernel, standard error; before them with -I the "
         "time, with --per-core the core and a 1, with --per-pd the PD"},
    {.id = 'o',
     .name = "output",
     .value = "FILE",
     .kind = MKPERF_VALUE_FILE,
     .help = "print there (default: standard error)"},
    {.id = 0},
};

static enum mkperf_status set(void *self, const struct mkperf_given *g)
{
    struct stat *s = self;
    struct mkperf_record_options *o = &s->talk.options;

    switch (g->id) {
    case 'e':
        return mkperf_events_parse(g->value, &o->configure, g->e);
    case 'I':
        return mkperf_given_number(g, 1, MAX_INTERVAL_MS, &s->interval_ms);
    case 'r':
        return mkperf_given_number(g, 1, MAX_RUNS, &s->runs);
    case 'x':
        s->separator = g->value;
        return MKPERF_OK;
    case 'o':
        s->output = g->value;
        return MKPERF_OK;
    case OPT_DURATION:
        return mkperf_given_seconds(g, &o->duration_s);
    case OPT_PER_PD:
        s->per_pd = true;
        return MKPERF_OK;
    case OPT_PER_CORE:
        s->per_core = true;
        return MKPERF_OK;
    case OPT_PD:
        s->only = g->value;
        s->per_pd = true;
        return MKPERF_OK;
    case OPT_ESTIMATE:
        s->estimate = true;
        s->per_pd = true;
        return MKPERF_OK;
    case OPT_SYSTEM:
        o->system = g->value;
        return MKPERF_OK;
    default:
        return mkperf_given_unknown(g);
    }
}

static const struct mkperf_option_group group = {options, set};

static enum mkperf_status check_options(struct stat *s, struct mkperf_error *e)
{
    mkperf_Configure *c = &s->talk.options.configure;

    if (s->talk.options.link.target == NULL) {
        return mkperf_usage_error(e, "stat", "no target (-t)");
    }
    if (s->runs > 1 && (s->talk.options.duration_s <= 0 || s->interval_ms != 0)) {
        return mkperf_usage_error(e, "stat", "-r wants --duration, and no -I");
    }
    return c->events_count != 0 ? MKPERF_OK : mkperf_events_parse("cycles,instructions", c, e);
}

static enum mkperf_status open_output(struct stat *s, struct mkperf_error *e)
{
    s->style = (struct stat_style){.out = stderr,
                                   .separator = s->separator,
                                   .interval = s->interval_ms != 0,
                                   .per_core = s->per_core,
                                   .runs = 1,
                                   .only = s->only,
                                   .title = s->talk.options.link.target};
    if (s->output != NULL && (s->style.out = fopen(s->output, "w")) == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_OUTPUT, "%s: cannot be written", s->output);
    }
    return MKPERF_OK;
}

static enum mkperf_status close_output(struct stat *s, struct mkperf_error *e)
{
    if (s->style.out != NULL && s->style.out != stderr &&
        (ferror(s->style.out) | fclose(s->style.out)) != 0) {
        return mkperf_error_set(e, MKPERF_ERR_OUTPUT, "%s: writing failed", s->output);
    }
    return MKPERF_OK;
}

static enum mkperf_status run(void *self, const struct mkperf_args *args, struct mkperf_error *e)
{
    struct sigaction a = {.sa_handler = on_signal};
    struct stat *s = self;
    struct mkperf_error late = {.status = MKPERF_OK};

    (void)args;
    if (check_options(s, e) != MKPERF_OK || open_output(s, e) != MKPERF_OK) {
        return e->status;
    }
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
    measure(s, e);
    if (close_output(s, &late) != MKPERF_OK && e->status == MKPERF_OK) {
        *e = late;
    }
    return e->status;
}

int mkperf_cmd_stat(int argc, char **argv)
{
    struct stat *s = calloc(1, sizeof *s);
    int status;

    if (s == NULL) {
        return MKPERF_ERR_FAILED;
    }
    s->runs = 1;
    s->talk.sink = (struct mkperf_sink){.ops = &sink, .self = s};
    s->talk.control = on_control;
    s->talk.self = s;
    s->talk.stop = &interrupts;
    s->talk.options.link.timeout_s = MKPERF_DEFAULT_TIMEOUT_S;
    status = mkperf_command_main(&mkperf_stat_command, s, argc, argv, run);
    mkperf_talk_close(&s->talk);
    free(s);
    return status;
}

const struct mkperf_command mkperf_stat_command = {
    .name = "stat",
    .summary = "count events: whole system and PDs",
    .synopsis = "-t TARGET [options]",
    .description =
        "Counts events on a running system, exactly, until --duration is over or Ctrl-C.",
    .options = {{&mkperf_link_options, offsetof(struct stat, talk.options.link)}, {&group, 0}},
    .sections = {{.title = "TARGET is one of", .list = mkperf_target_help}},
    .examples = "mkperf stat -t tcp:192.168.1.5 -e cycles,instructions --per-pd --duration 5",
    .statuses = MKPERF_STATUSES_READ | MKPERF_STATUSES_WRITE | MKPERF_STATUSES_TARGET,
    .run = mkperf_cmd_stat,
};
