/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf top: a running target's PDs and functions, refreshed in place.
 *
 * Owns: the command's options, and the begin and end of the session. host/link talks with the target, as for mkperf
 * record. host/top counts and draws.
 */
#include "cmd.h"
#include "link/recorder.h"
#include "report/report.h"
#include "top/top.h"

enum { TOP_WINDOW_S = 10 };

struct top {
    struct mkperf_recorder recorder; /* the first member, as mkperf_record_options_init requires */
    double delay_s, window_s;
    bool zero, util, flow, stdio, json;
    enum mkperf_colour colour;
    struct top_counts counts;
    struct top_screen screen;
    struct mkperf_textout values; /* the values that --json prints */
    struct mkperf_flow flows;     /* the queues of --flow; they use the analysis of the counts */
    char *flow_text;
    double drawn_s, flow_s;
    uint64_t session; /* the id of the session that is shown, and the number of restarts << 32 */
    volatile int *interrupts;
};

static enum mkperf_status take_window(void *member, const struct mkperf_given *g)
{
    double *seconds = member;

    MKPERF_TRY(mkperf_given_real(g, seconds));
    return *seconds == 0 || *seconds >= 0.1 ? MKPERF_OK : mkperf_given_bad(g, "0 or at least 0.1");
}

static const struct mkperf_option top_options[] = {
    MKPERF_OPTION('d', "delay", "seconds between refreshes (2)", .value = "S",
                  MKPERF_REAL(struct top, delay_s, 0.1, 1e6, "a number of at least 0.1")),
    MKPERF_OPTION(0, "window", "show the last S seconds of the target's time (%d); 0: all",
                  .value = "S", .number = TOP_WINDOW_S,
                  .store = {.take = take_window,
                            .at = offsetof(struct top, window_s),
                            MKPERF_WITHIN(0, 1e6, "a number of at least 0")}),
    MKPERF_OPTION('z', "zero", "show the samples since the last refresh: --window of --delay",
                  MKPERF_SETS(struct top, zero)),
    MKPERF_OPTION(0, "pd", "only functions of this protection domain", .value = "NAME",
                  MKPERF_TEXT(struct top, screen.pd)),
    MKPERF_OPTION(0, "rows", "with --stdio and --json: functions of a table (20); 0: all",
                  .value = "N", MKPERF_NUMBER(struct top, screen.rows, 0, 1000000)),
    MKPERF_OPTION(0, "charged", "what each PD used itself, and what others used on its behalf",
                  MKPERF_SETS(struct top, screen.charged)),
    MKPERF_OPTION(0, "no-idle",
                  "leave idle out: percentages are of the rest, except those of cores",
                  MKPERF_SETS(struct top, counts.no_idle)),
    MKPERF_OPTION(0, "util", "how long each PD ran, by scheduling events (as record --sched)",
                  MKPERF_SETS(struct top, util)),
    MKPERF_OPTION(0, "flow", "what limits since the last refresh, and the queues, as mkperf flow",
                  MKPERF_SETS(struct top, flow)),
    MKPERF_OPTION(0, "stdio", "print tables; the default without a terminal",
                  MKPERF_SETS(struct top, stdio)),
    MKPERF_OPTION(0, "json", "print a line of JSON each time instead of tables",
                  MKPERF_SETS(struct top, json)),
    {.letter = 0},
};

/* Shows a text in the screen's line for messages. Without a screen it is printed behind `who`. */
static void show_text(struct top *t, const char *who, const char *text)
{
    if (t->screen.curses) {
        snprintf(t->screen.message, sizeof t->screen.message, "%.400s", text);
        mkperf_printable(t->screen.message);
    } else {
        mkperf_print_line(stderr, "%s%s", who, text);
    }
}

static void show_target_text(void *self, const char *line)
{
    char text[TOP_TEXT];

    snprintf(text, sizeof text, "target: %s", line);
    show_text(self, "", text);
}

static void show_notice(void *self, const char *text)
{
    show_text(self, "mkperf: ", text);
}

/* Draws a picture, or prints it. A paused display stays unchanged. */
static void draw_screen(struct top *t)
{
    const struct mkperf_stream *s = t->recorder.stream;
    struct mkperf_flow *f = &t->flows;
    uint64_t session = s->totals.restarts << 32 | s->session_id;
    double now = mkperf_now_s();
    size_t size;

    if (s->running && session != t->session && !t->screen.paused) {
        /* Selects an event that the current session has, because a new session may have other events. */
        t->session = session;
        unsigned sampled = mkperf_stream_sampled_event(s, t->screen.event);
        if (sampled != t->screen.event && sampled < s->session.nevents) {
            char text[128];

            t->screen.event = sampled;
            snprintf(text, sizeof text, "another session began: %s from here on",
                     s->session.event[sampled].name);
            show_notice(t, text);
        }
    }
    if (t->flow && !t->screen.paused && f->began && f->from_ns == 0 &&
        (t->flow_text == NULL || !s->running || now - t->flow_s >= t->delay_s)) {
        /* Makes the text of what limits since the last time, or since the begin with --window 0. Before the next switch there is
         * none. */
        free(t->flow_text);
        FILE *to = mkperf_memstream_open(&t->flow_text, &size);
        mkperf_flow_settle(f);
        const struct mkperf_flow_limit l = mkperf_flow_limit(f);
        report_flow_answer(f, &l, to);
        report_flow_tables(f, to);
        mkperf_memstream_close(to);
        t->screen.flow = t->flow_text;
        t->flow_s = now;
        f->from_ns = !t->counts.all;
    }
    t->drawn_s = now;
    top_screen_refresh(&t->screen);
    if (t->screen.curses) {
        top_screen_draw(&t->screen);
    } else if (s->began) {
        if (t->json) {
            top_screen_values(&t->screen, &t->values);
        } else {
            top_screen_print(&t->screen, stdout);
        }
        t->screen.quit |= fflush(stdout) != 0; /* main reports the error at the end */
    }
}

/* Handles keys after every read, and draws when --delay has passed. */
static void on_progress(void *self)
{
    struct top *t = self;
    bool typed = top_screen_keys(&t->screen);

    if (t->screen.quit) {
        t->screen.quit = false;
        ++*t->interrupts;
        return;
    }
    if (typed || mkperf_now_s() - t->drawn_s >= t->delay_s) {
        draw_screen(t);
    }
}

static void tear_down(void *self)
{
    struct top *t = self;

    top_screen_stop(&t->screen);
    top_screen_free(&t->screen);
    mkperf_flow_free(&t->flows);
    free(t->flow_text);
    top_counts_free(&t->counts);
    mkperf_recorder_free(&t->recorder);
}

static enum mkperf_status run_top(void *self, const struct mkperf_args *args,
                                  struct mkperf_error *e)
{
    struct top *t = self;

    (void)args;
    MKPERF_TRY(MKPERF_RULES(
        e, "top",
        {t->json && t->screen.charged, "--json has no charged time; report --charged --json has"},
        {t->json && t->flow, "--json has no queues; flow --json has"}));
    t->recorder.options.queues = t->flow;
    MKPERF_TRY(mkperf_record_options_finish(&t->recorder.options, "top", e));
    t->recorder.options.configure.sched = t->util || t->flow;
    t->window_s = t->zero ? t->delay_s : t->window_s;
    t->interrupts = mkperf_process_interrupts();
    struct mkperf_recorder *r = &t->recorder;
    r->text.print = show_target_text;
    r->notice = show_notice;
    r->warn = mkperf_print_warning;
    r->progress = on_progress;
    r->stop = t->interrupts;
    r->self = t;
    MKPERF_TRY(mkperf_recorder_init(r, false, e));
    struct mkperf_sink sink = top_counts_sink(&t->counts);
    if (t->flow) {
        t->counts.sched = mkperf_analysis_new();
        mkperf_flow_init(&t->flows, t->counts.sched);
        t->flows.to = sink;
        sink = mkperf_flow_sink(&t->flows);
        t->screen.flow = "no reading of a queue yet\n";
    }
    mkperf_recorder_decode(r, sink, NULL);
    t->counts.pds = r->pds;
    t->counts.symbols = r->symbols;
    t->counts.window_ns = (uint64_t)((t->window_s > 0 ? t->window_s : TOP_WINDOW_S) * 1e9);
    t->counts.all = t->window_s == 0;
    t->screen.target = r->options.link.target;
    t->screen.colour = mkperf_colour_wanted(t->colour, stdout);
    t->screen.counts = &t->counts;
    t->screen.totals = &r->stream->totals;
    t->stdio |= t->json || !report_browser_usable();
    if (t->json) {
        t->values = report_values_begin(stdout, NULL, "top", t->screen.target);
    }
    bool live = r->link.source.ops->interactive;
    MKPERF_TRY(live ? mkperf_recorder_start(r, e) : MKPERF_OK);
    t->drawn_s = mkperf_now_s();
    if (!t->stdio) {
        top_screen_start(&t->screen);
    }
    enum mkperf_status status = live ? mkperf_recorder_run(r, e) : mkperf_recorder_replay(r, e);
    top_screen_stop(&t->screen);
    MKPERF_TRY(status);
    MKPERF_TRY(live ? mkperf_recorder_stop(r, e) : MKPERF_OK);
    MKPERF_TRY(mkperf_stream_finish(r->stream, e));
    MKPERF_FAIL_IF(t->flow && t->flows.nqueues == 0, e, MKPERF_ERR_INPUT,
                   "%s: the session has no queues (--flow)", t->screen.target);
    t->screen.paused = false; /* the last picture shows the end of the session */
    draw_screen(t);
    return MKPERF_OK;
}

const struct mkperf_command mkperf_top_command = {
    .name = "top",
    .summary = "watch a running system",
    .synopsis = "-t TARGET [options]",
    .description =
        "Shows the work of a running seL4/Microkit system, by protection domain and function. "
        "Nothing is written to a file.\n\n"
        "Keys: Enter shows one PD, u all; i with or without idle; c charged time; s sort; z window "
        "or all; Tab event; p pause; q quit.",
    .options = {{mkperf_link_options, offsetof(struct top, recorder.options.link)},
                {top_options, 0},
                {mkperf_sampling_options, offsetof(struct top, recorder.options)},
                {mkperf_names_options, offsetof(struct top, recorder.options)},
                {mkperf_kernel_options, offsetof(struct top, recorder.options)},
                {mkperf_watch_options, offsetof(struct top, recorder.options.link)},
                {mkperf_control_options, offsetof(struct top, recorder.options.link)},
                {mkperf_reconnect_options, offsetof(struct top, recorder.options.link)},
                {mkperf_colour_options, offsetof(struct top, colour)}},
    .sections = {{.title = "TARGET is one of", .list = mkperf_target_help}},
    .statuses = MKPERF_STATUSES_FILES | MKPERF_STATUSES_TARGET,
    .self = MKPERF_SELF(struct top, .delay_s = 2, .window_s = TOP_WINDOW_S, .screen = {.rows = 20}),
    .init = mkperf_record_options_init,
    .run = run_top,
    .end = tear_down,
};
