/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf top: a running target's PDs and functions, refreshed in place.
 *
 * Owns: the command's options and the life of the session; the conversation with the target is
 * recorder.c's, as for mkperf record. The parts are in top/: counts (the sink), screen.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "recorder.h"
#include "report/browser.h"
#include "top/screen.h"

static const char usage[] =
    "usage: mkperf top -t TARGET [options]\n"
    "What a running seL4/Microkit system is doing, by protection domain and function.\n"
    "  -d, --delay S          seconds between refreshes (2)\n"
    "      --window S         show the last S seconds of the target's time (10); 0: all\n"
    "  -z, --zero             show what came since the last refresh: --window of --delay\n"
    "      --pd NAME          only functions of this protection domain\n"
    "      --rows N           with --stdio: functions of a table (20); 0: all\n"
    "      --stdio            print tables; also if there is no terminal\n"
    "  -h, --help\n"
    "and as in mkperf record --help: -t, -e, -c, -F, --max-frames, --no-jitter, --duration,\n"
    "--system, --elf-path, --kernel, --timeout. Nothing is written to a file.\n"
    "Keys: Enter shows one PD, u all; s sort; z window or all; Tab event; p pause; q quit.\n";

enum { DEFAULT_WINDOW_S = 10 };

struct command {
    struct mkperf_record_options record;
    double delay_s, window_s;
    bool zero, stdio, help;
    const char *pd;
    unsigned rows;
};

struct top {
    struct command command;
    struct mkperf_recorder recorder;
    struct top_counts counts;
    struct top_screen screen;
    struct mkperf_error error; /* of drawing */
    double drawn_s;
    char line[TOP_TEXT]; /* console text of the target, until its end of line */
    size_t n;
};

static volatile int interrupts;

static void on_signal(int number)
{
    (void)number;
    interrupts++;
}

static enum mkperf_status bad_usage(struct mkperf_error *e, const char *what, const char *value)
{
    return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s '%s'; see mkperf top --help", what, value);
}

/* The value of option `name` at argv[*i], which is moved to it; NULL: it is another option. */
static const char *value_of(char **argv, int argc, int *i, const char *name, const char *letter)
{
    const char *text = argv[*i];
    size_t n = strlen(name);

    if (!text) {
        return NULL;
    }
    if (strncmp(text, name, n) == 0 && text[n] == '=') {
        return text + n + 1;
    }
    if (letter && strncmp(text, letter, 2) == 0 && text[2]) {
        return text + 2;
    }
    if (strcmp(text, name) != 0 && !(letter && strcmp(text, letter) == 0)) {
        return NULL;
    }
    return *i + 1 < argc ? argv[++*i] : "";
}

static enum mkperf_status parse_number(const char *name, const char *text, double least,
                                       double *out, struct mkperf_error *e)
{
    char *end;

    *out = strtod(text, &end);
    if (end == text || *end || !(*out >= least && *out <= 1e6)) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s: not a number of at least %g: '%s'", name,
                                least, text);
    }
    return MKPERF_OK;
}

/* top's own options; false: it is one of record's. */
static bool parse_own(struct command *c, char **argv, int argc, int *i, struct mkperf_error *e)
{
    const char *text = argv[*i], *value;
    double number;

    if (strcmp(text, "--stdio") == 0) {
        c->stdio = true;
    } else if (strcmp(text, "-z") == 0 || strcmp(text, "--zero") == 0) {
        c->zero = true;
    } else if (strcmp(text, "-h") == 0 || strcmp(text, "--help") == 0) {
        c->help = true;
    } else if ((value = value_of(argv, argc, i, "--delay", "-d"))) {
        parse_number("--delay", value, 0.1, &c->delay_s, e);
    } else if ((value = value_of(argv, argc, i, "--window", NULL))) {
        if (parse_number("--window", value, 0, &c->window_s, e) == MKPERF_OK && c->window_s > 0 &&
            c->window_s < 0.1) {
            bad_usage(e, "--window: neither 0 nor at least 0.1:", value);
        }
    } else if ((value = value_of(argv, argc, i, "--rows", NULL))) {
        if (parse_number("--rows", value, 0, &number, e) == MKPERF_OK) {
            c->rows = (unsigned)number;
        }
    } else if ((value = value_of(argv, argc, i, "--pd", NULL))) {
        c->pd = value;
    } else if (value_of(argv, argc, i, "--output", "-o") ||
               value_of(argv, argc, i, "--raw", NULL)) {
        bad_usage(e, "top writes no file:", text);
    } else {
        return false;
    }
    return true;
}

static enum mkperf_status parse(struct command *c, int argc, char **argv, struct mkperf_error *e)
{
    char **rest = calloc((size_t)argc + 1, sizeof *rest);
    int n = 0;
    bool help;
    enum mkperf_status status;

    *c = (struct command){.delay_s = 2, .window_s = DEFAULT_WINDOW_S, .rows = 20};
    e->status = MKPERF_OK;
    if (!rest) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
    }
    for (int i = 0; i < argc && e->status == MKPERF_OK; i++) {
        if (i == 0 || !parse_own(c, argv, argc, &i, e)) {
            rest[n++] = argv[i];
        }
    }
    c->window_s = c->zero ? c->delay_s : c->window_s;
    status = e->status == MKPERF_OK && !c->help
                 ? mkperf_record_options(n, rest, &c->record, &help, e)
                 : e->status;
    free(rest);
    return status;
}

/* Console text: whole lines, without what would move the cursor. */
static void show_text(void *self, const char *p, size_t n)
{
    struct top *t = self;

    for (size_t i = 0; i < n; i++) {
        if ((p[i] == '\n' || t->n == sizeof t->line - 1) && t->n > 0) {
            t->line[t->n] = '\0';
            t->n = 0;
            if (t->screen.curses) {
                snprintf(t->screen.message, sizeof t->screen.message, "target: %.400s", t->line);
            } else {
                fprintf(stderr, "target: %s\n", t->line);
            }
        }
        if ((unsigned char)p[i] >= 0x20) {
            t->line[t->n++] = p[i];
        }
    }
}

static void show_notice(void *self, const char *text)
{
    struct top *t = self;

    if (t->screen.curses) {
        snprintf(t->screen.message, sizeof t->screen.message, "%.400s", text);
    } else {
        fprintf(stderr, "mkperf: %s\n", text);
    }
}

static void warn(void *self, const char *text)
{
    (void)self;
    fprintf(stderr, "mkperf: warning: %s\n", text);
}

static void show(struct top *t)
{
    t->drawn_s = mkperf_now_s();
    if (top_screen_refresh(&t->screen, &t->error) != MKPERF_OK) {
        interrupts++;
    } else if (t->screen.curses) {
        top_screen_draw(&t->screen);
    } else if (t->recorder.stream->began) {
        top_screen_print(&t->screen, stdout);
        (void)fflush(stdout);
    }
}

/* After every read: keys, and a new picture when it is due. */
static void on_progress(void *self)
{
    struct top *t = self;
    bool typed = top_screen_keys(&t->screen);

    if (t->screen.quit) {
        t->screen.quit = false;
        interrupts++;
        return;
    }
    if (typed || mkperf_now_s() - t->drawn_s >= t->command.delay_s) {
        show(t);
    }
}

static enum mkperf_status set_up_inputs(struct top *t, struct mkperf_error *e)
{
    struct mkperf_recorder *r = &t->recorder;
    const struct mkperf_record_options *o = &t->command.record;
    struct mkperf_pds_config pds = {
        .system = o->system, .elf_path = o->elf_path, .kernel = o->kernel, .warn = warn, .self = t};
    const char *kernel;

    r->symbols = mkperf_symbols_new();
    if (!r->symbols) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
    }
    if (mkperf_pds_new(&pds, r->symbols, &r->pds, e) != MKPERF_OK) {
        return e->status;
    }
    kernel = mkperf_pds_kernel(r->pds);
    if (kernel && mkperf_symbols_module(r->symbols, kernel, &t->counts.kernel, e) != MKPERF_OK) {
        warn(t, e->text);
    }
    return mkperf_recorder_init(r, e);
}

static void set_up_screen(struct top *t)
{
    struct command *c = &t->command;

    t->counts.pds = t->recorder.pds;
    t->counts.window_ns = (uint64_t)((c->window_s > 0 ? c->window_s : DEFAULT_WINDOW_S) * 1e9);
    t->counts.all = c->window_s == 0;
    t->screen.target = c->record.link.target;
    t->screen.rows = c->rows;
    t->screen.counts = &t->counts;
    t->screen.totals = &t->recorder.stream->totals;
    t->screen.pd = c->pd;
    c->stdio |= !report_browser_usable();
}

static enum mkperf_status set_up(struct top *t, struct mkperf_error *e)
{
    struct mkperf_recorder *r = &t->recorder;
    struct mkperf_stream_config config = {.sink = top_counts_sink(&t->counts),
                                          .decide = mkperf_lr_is_caller,
                                          .control = mkperf_recorder_control,
                                          .self = r};

    r->options = &t->command.record;
    r->text = show_text;
    r->notice = show_notice;
    r->progress = on_progress;
    r->stop = &interrupts;
    r->self = t;
    if (set_up_inputs(t, e) != MKPERF_OK) {
        return e->status;
    }
    config.pds = r->pds;
    r->stream = mkperf_stream_new(&config);
    if (!r->stream) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
    }
    set_up_screen(t);
    return MKPERF_OK;
}

static enum mkperf_status watch(struct top *t, struct mkperf_error *e)
{
    struct mkperf_recorder *r = &t->recorder;
    bool live = r->link.source.ops->interactive;
    enum mkperf_status status = live ? mkperf_recorder_start(r, e) : MKPERF_OK;

    if (status != MKPERF_OK) {
        return status;
    }
    t->drawn_s = mkperf_now_s();
    if (!t->command.stdio) {
        top_screen_start(&t->screen);
    }
    status = live ? mkperf_recorder_run(r, e) : mkperf_recorder_replay(r, e);
    top_screen_stop(&t->screen);
    if (status == MKPERF_OK && live) {
        status = mkperf_recorder_stop(r, e);
    }
    return status;
}

static enum mkperf_status top(struct top *t, struct mkperf_error *e)
{
    enum mkperf_status status = set_up(t, e);

    if (status == MKPERF_OK) {
        status = watch(t, e);
    }
    if (status == MKPERF_OK && t->error.status != MKPERF_OK) {
        *e = t->error;
        status = e->status;
    }
    if (status == MKPERF_OK) {
        status = mkperf_stream_finish(t->recorder.stream, e);
    }
    if (status == MKPERF_OK) { /* the last picture stays */
        t->screen.paused = false;
        show(t);
    }
    return status;
}

static void tear_down(struct top *t)
{
    struct mkperf_recorder *r = &t->recorder;

    top_screen_stop(&t->screen);
    top_list_free(&t->screen.list);
    top_counts_free(&t->counts);
    mkperf_peer_end(&r->link);
    mkperf_stream_free(r->stream);
    mkperf_pds_free(r->pds);
    mkperf_symbols_free(r->symbols);
    mkperf_record_options_free(&t->command.record);
}

int mkperf_cmd_top(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct top *t = calloc(1, sizeof *t);
    struct mkperf_error e = {.status = MKPERF_OK};
    enum mkperf_status status;

    if (!t) {
        return MKPERF_ERR_FAILED;
    }
    status = parse(&t->command, argc, argv, &e);
    if (status == MKPERF_OK && t->command.help) {
        fputs(usage, stdout);
    } else if (status == MKPERF_OK) {
        interrupts = 0;
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        status = top(t, &e);
    }
    tear_down(t);
    if (status != MKPERF_OK) {
        fprintf(stderr, "mkperf top: %s\n", e.text);
    }
    free(t);
    return (int)status;
}
