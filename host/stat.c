/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `mkperf stat`: counts of events, of the whole system and by PD.
 *
 * Owns: the order of a measurement. The target counts exactly; where its kernel cannot count by PD,
 * --per-pd samples instead and says so. Runs last for a time of the target's; readings happen when
 * the host asks, and carry the target's time.
 */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "events.h"
#include "stat/stat.h"
#include "talk.h"

enum {
    OPT_DURATION = 256,
    OPT_PER_PD,
    OPT_PD,
    OPT_ESTIMATE,
    OPT_SYSTEM,
    OPT_TIMEOUT,
    OPT_KEY_FILE
};
enum { POLL_MS = 50, ESTIMATE_HZ = 1000, MAX_RUNS = 1000, MAX_INTERVAL_MS = 3600000 };

struct stat {
    struct mkperf_talk talk;
    bool per_pd, estimate;
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

static const struct option options[] = {
    {"target", required_argument, NULL, 't'},
    {"event", required_argument, NULL, 'e'},
    {"interval-print", required_argument, NULL, 'I'},
    {"repeat", required_argument, NULL, 'r'},
    {"field-separator", required_argument, NULL, 'x'},
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {"duration", required_argument, NULL, OPT_DURATION},
    {"per-pd", no_argument, NULL, OPT_PER_PD},
    {"pd", required_argument, NULL, OPT_PD},
    {"estimate", no_argument, NULL, OPT_ESTIMATE},
    {"system", required_argument, NULL, OPT_SYSTEM},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"key-file", required_argument, NULL, OPT_KEY_FILE},
    {NULL, 0, NULL, 0},
};

static void print_help(void)
{
    printf(
        "usage: mkperf stat -t TARGET [options]\n\n"
        "Counts events on a running system, exactly, until --duration is over or Ctrl-C.\n\n"
        "  -e EVENTS       as for record; {A,B} counts A and B at the same times; default\n"
        "                  cycles,instructions. More events than counters take turns: counts are\n"
        "                  scaled then, and the share of the time is printed\n"
        "  --per-pd        also by protection domain: exactly if the target's kernel can, else\n"
        "                  estimated from samples, with the standard error\n"
        "  --pd NAME[,..]  only these PDs (implies --per-pd)\n"
        "  --estimate      by PD from samples, whatever the kernel can\n"
        "  --system FILE   the .system file: names of PDs\n"
        "  --duration S    seconds of the target's time\n"
        "  -I MS           a reading every MS milliseconds\n"
        "  -r N            N runs of --duration: mean and its standard error\n"
        "  -x SEP          fields for programs: count, unit, event, time counted in ns, share of\n"
        "                  the time in %%, derived figure, its unit, user, kernel, standard "
        "error;\n"
        "                  before them with -I the time, with --per-pd the PD\n"
        "  -o FILE         print there (default: standard error)\n"
        "  --key-file FILE the target's key\n"
        "  --timeout S     patience with a silent target (default %d)\n",
        MKPERF_DEFAULT_TIMEOUT_S);
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

static enum mkperf_status run(struct stat *s, struct mkperf_error *e)
{
    set_events(s, s->estimate);
    if (mkperf_talk_open(&s->talk, e) != MKPERF_OK) {
        return e->status;
    }
    for (uint64_t i = 0; i < s->runs && interrupts == 0; i++) {
        if (run_once(s, e) != MKPERF_OK) {
            return e->status;
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

static bool seconds(const char *text, double *out)
{
    char *end;

    *out = strtod(text, &end);
    return *text != '\0' && *end == '\0' && isfinite(*out) && *out > 0 && *out < 1e9;
}

static bool set_option(int option, const char *value, struct stat *s, struct mkperf_error *e)
{
    struct mkperf_record_options *o = &s->talk.options;

    switch (option) {
    case 't':
        o->link.target = value;
        return true;
    case 'e':
        return mkperf_events_parse(value, &o->configure, e) == MKPERF_OK;
    case 'I':
        return mkperf_parse_number(value, MAX_INTERVAL_MS, &s->interval_ms);
    case 'r':
        return mkperf_parse_number(value, MAX_RUNS, &s->runs);
    case 'x':
        s->separator = value;
        return true;
    case 'o':
        s->output = value;
        return true;
    case OPT_DURATION:
        return seconds(value, &o->duration_s);
    case OPT_PER_PD:
        return s->per_pd = true;
    case OPT_PD:
        s->only = value;
        return s->per_pd = true;
    case OPT_ESTIMATE:
        s->estimate = true;
        return s->per_pd = true;
    case OPT_SYSTEM:
        o->system = value;
        return true;
    case OPT_KEY_FILE:
        o->link.key_file = value;
        return true;
    case OPT_TIMEOUT:
        return seconds(value, &o->link.timeout_s);
    default:
        return false;
    }
}

static enum mkperf_status parse(int argc, char **argv, struct stat *s, bool *help,
                                struct mkperf_error *e)
{
    int option;

    optind = 0;
    while ((option = getopt_long(argc, argv, "+t:e:I:r:x:o:h", options, NULL)) != -1) {
        if (option == 'h') {
            *help = true;
            return MKPERF_OK;
        }
        if (!set_option(option, optarg, s, e)) {
            return e->status != MKPERF_OK
                       ? e->status
                       : mkperf_error_set(e, MKPERF_ERR_USAGE, "stat: see mkperf stat --help");
        }
    }
    if (optind < argc || s->talk.options.link.target == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE,
                                optind < argc ? "stat: what is \"%s\"?" : "stat: no target, see -t",
                                optind < argc ? argv[optind] : "");
    }
    if (s->runs > 1 && (s->talk.options.duration_s <= 0 || s->interval_ms != 0)) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "stat: -r wants --duration, and no -I");
    }
    mkperf_Configure *c = &s->talk.options.configure;
    return c->events_count != 0 ? MKPERF_OK : mkperf_events_parse("cycles,instructions", c, e);
}

static enum mkperf_status open_output(struct stat *s, struct mkperf_error *e)
{
    s->style = (struct stat_style){.out = stderr,
                                   .separator = s->separator,
                                   .interval = s->interval_ms != 0,
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

int mkperf_cmd_stat(int argc, char **argv)
{
    struct stat *s = calloc(1, sizeof *s);
    struct mkperf_error e = {.status = MKPERF_OK};
    struct sigaction a = {.sa_handler = on_signal};
    bool help = false;

    if (s == NULL) {
        return MKPERF_ERR_FAILED;
    }
    s->runs = 1;
    s->talk.sink = (struct mkperf_sink){&sink, s};
    s->talk.control = on_control;
    s->talk.self = s;
    s->talk.stop = &interrupts;
    s->talk.options.link.timeout_s = MKPERF_DEFAULT_TIMEOUT_S;
    if (parse(argc, argv, s, &help, &e) == MKPERF_OK && help) {
        print_help();
    } else if (e.status == MKPERF_OK && open_output(s, &e) == MKPERF_OK) {
        sigaction(SIGINT, &a, NULL);
        sigaction(SIGTERM, &a, NULL);
        run(s, &e);
        close_output(s, &e);
    }
    if (e.status != MKPERF_OK) {
        fprintf(stderr, "mkperf: %s\n", e.text);
    }
    mkperf_talk_close(&s->talk);
    free(s);
    return (int)e.status;
}
