/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf view: a recording in a browser, served on loopback to users who have the address.
 *
 * Owns: the command's options, and the recordings. host/view is the server, and host/page makes the page and its data.
 */
#include "cmd.h"
#include "pmu/events.h"
#include "view/view.h"

enum { OTHERS = 7 };

struct view_command {
    /* The live recording of -t, which replaces the others; the first member, as mkperf_record_options_init requires. */
    struct view_live live;
    const char *input, *speedscope;
    char *found;        /* the place of speedscope that was not given; owned */
    const char *others; /* the argument of --diff: names, separated by commas */
    char *names;        /* a copy of `others`, cut at the commas */
    uint64_t port;
    struct view_shown shown[1 + OTHERS]; /* the recording, and those of --diff */
    unsigned n;                          /* how many are of --diff */
    struct mkperf_elf_search elfs;
};

static const struct mkperf_option view_options[] = {
    MKPERF_OPTION('p', "port", "port (default: a free one)", .value = "N",
                  MKPERF_NUMBER(struct view_command, port, 0, UINT16_MAX)),
    MKPERF_OPTION(0, "diff",
                  "compare with this recording, which was before; with up to 7: A,B,... (a column "
                  "for each)",
                  MKPERF_TAKES(FILE, "OTHER"), MKPERF_TEXT(struct view_command, others)),
    MKPERF_OPTION(
        0, "sched",
        "with -t: scheduling events as well: when PDs ran, were ready, or waited for a reply",
        MKPERF_SETS(struct view_command, live.recorder.options.configure.sched)),
    MKPERF_OPTION(
        0, "speedscope",
        "speedscope's release (dist/release of its npm package), linked from the page; default: "
        "$MKPERF_SPEEDSCOPE, or speedscope next to mkperf or in ../share/mkperf, if it exists",
        MKPERF_TAKES(DIR, "DIR"), MKPERF_TEXT(struct view_command, speedscope)),
    {.letter = 0},
};

static bool is_live(const struct view_command *c)
{
    return c->live.recorder.options.link.target != NULL;
}

static enum mkperf_status serve_page(struct view_command *c, struct mkperf_error *e)
{
    struct view_server s = {.shown = c->shown,
                            .nshown = c->n + 1,
                            .live = is_live(c) ? &c->live : NULL,
                            .path = c->input,
                            .speedscope = is_live(c) ? NULL : c->speedscope,
                            .elfs = c->elfs,
                            .port = (uint16_t)c->port};

    if (view_server_start(&s, e) == MKPERF_OK) {
        printf("mkperf view: http://127.0.0.1:%u/%s/\n", s.port, s.token);
        (void)fflush(stdout);
        if (is_live(c)) {
            c->live.recorder.progress = view_server_poll;
            c->live.recorder.self = &s;
            view_live_run(&c->live, e);
        } else {
            view_server_run(&s, c->live.recorder.stop);
        }
    }
    view_server_stop(&s);
    return e->status;
}

static enum mkperf_status run_view(void *self, const struct mkperf_args *args,
                                   struct mkperf_error *e)
{
    struct view_command *c = self;
    mkperf_Configure *configure = &c->live.recorder.options.configure;
    bool live = is_live(c);

    MKPERF_TRY(MKPERF_RULES(
        e, "view", {live && (args->n > 0 || c->others != NULL), "-t shows a target, not a file"},
        {!live && configure->sched, "--sched is for a target, -t; a file has them or not"}));
    if (configure->sched && configure->events_count == 0) {
        /* mkperf record without an event records only scheduling events. */
        MKPERF_TRY(mkperf_events_parse("cycles", configure, e));
    }
    if (live) {
        MKPERF_TRY(mkperf_record_options_finish(&c->live.recorder.options, "view", e));
    }
    c->input = args->n > 0 ? args->operand[0] : c->input != NULL ? c->input : "perf.data";
    c->live.profile.places.search.objdump = c->elfs.objdump;
    c->elfs.elf_path = c->live.recorder.options.elf_path;
    c->live.recorder.stop = mkperf_process_interrupts();
    if (live) {
        return serve_page(c, e);
    }
    /* The directory of speedscope's release that the page links to. speedscope would have to read a pipe a second time. */
    bool given = c->speedscope != NULL;
    const char *set = given ? c->speedscope : getenv("MKPERF_SPEEDSCOPE");
    if (given || strcmp(c->input, "-") != 0) {
        c->found = set != NULL ? mkperf_xprintf("%s/index.html", set)
                               : mkperf_beside("speedscope/index.html",
                                               "../share/mkperf/speedscope/index.html");
        bool found = c->found != NULL && access(c->found, R_OK) == 0;
        MKPERF_FAIL_IF(given && !found, e, MKPERF_ERR_USAGE, "%s: no index.html of speedscope",
                       set);
        if (found) {
            *strrchr(c->found, '/') = '\0';
        }
        c->speedscope = found ? c->found : NULL;
    }
    MKPERF_TRY(view_shown_read(&c->shown[0], c->input, &c->elfs, c->speedscope != NULL, e));
    mkperf_frames_warn(&c->shown[0].frames, stderr);
    char *rest = NULL;
    c->names = mkperf_xprintf("%s", c->others != NULL ? c->others : "");
    for (char *other = strtok_r(c->names, ",", &rest); other != NULL;
         other = strtok_r(NULL, ",", &rest)) {
        if (++c->n > OTHERS) {
            return mkperf_usage_error(e, "view", "--diff: more than 7 recordings");
        }
        MKPERF_TRY(view_shown_read(&c->shown[c->n], other, &c->elfs, false, e));
    }
    return serve_page(c, e);
}

static void end_view(void *self)
{
    struct view_command *c = self;

    view_live_free(&c->live);
    for (unsigned i = 0; i <= OTHERS; i++) {
        view_shown_free(&c->shown[i]);
    }
    free(c->names);
    free(c->found);
}

const struct mkperf_command mkperf_view_command = {
    .name = "view",
    .summary = "look at a profile in a browser",
    .synopsis = "[options] [FILE | -t TARGET]",
    .description =
        "Shows a recording (perf.data) in a browser: PDs, their time line (with scheduling events: "
        "running, ready, waiting for a reply, calls), flame graph, call trees, stack chart, "
        "functions with source and instructions, latencies. What is selected in one part filters "
        "the others. "
        "The address is printed; only this machine can reach it, and only who knows it gets an "
        "answer. Ends with Ctrl-C.\n\n"
        "With -t it samples a running system, and the page follows: it shows the newest 200000 "
        "samples, and intervals of --sched.",
    .options = {{report_input_options, offsetof(struct view_command, input)},
                {view_options, 0},
                {mkperf_link_options, offsetof(struct view_command, live.recorder.options.link)},
                {mkperf_sampling_options, offsetof(struct view_command, live.recorder.options)},
                {mkperf_names_options, offsetof(struct view_command, live.recorder.options)},
                {mkperf_kernel_options, offsetof(struct view_command, live.recorder.options)},
                {mkperf_watch_options, offsetof(struct view_command, live.recorder.options.link)},
                {mkperf_control_options, offsetof(struct view_command, live.recorder.options.link)},
                {mkperf_reconnect_options,
                 offsetof(struct view_command, live.recorder.options.link)},
                {report_symfs_options, offsetof(struct view_command, elfs)},
                {report_objdump_options, offsetof(struct view_command, elfs)}},
    .sections = {{.title = "TARGET is one of", .list = mkperf_target_help}},
    .operand = MKPERF_VALUE_FILE,
    .operands_max = 1,
    .statuses = MKPERF_STATUSES_READ | MKPERF_STATUSES_TARGET,
    .self = {.bytes = sizeof(struct view_command)},
    .init = mkperf_record_options_init,
    .run = run_view,
    .end = end_view,
};
