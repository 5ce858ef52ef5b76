/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf view: a recording in a browser, served on loopback to users who have the address.
 *
 * Owns: the command's options and its life. The parts are in view/: server, answer (what is sent),
 * json and profile (the data), page (the files that make the page).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"
#include "cmd.h"
#include "view/http_server.h"

enum { OPTION_SPEEDSCOPE = 256, PATH_BYTES = 4096 };

static const struct mkperf_option options[] = {
    {.id = 'p', .name = "port", .value = "N", .help = "port (default: a free one)"},
    {.id = OPTION_SPEEDSCOPE,
     .name = "speedscope",
     .value = "DIR",
     .kind = MKPERF_VALUE_DIR,
     .help =
         "speedscope's release (dist/release of its npm package), linked from the page; default: "
         "$MKPERF_SPEEDSCOPE, or speedscope beside mkperf or in ../share/mkperf, if it is there"},
    {.id = 0},
};

struct command {
    const char *input, *speedscope;
    uint64_t port;
    volatile int *interrupts;
};

static enum mkperf_status set(void *self, const struct mkperf_given *g)
{
    struct command *c = self;

    switch (g->id) {
    case 'p':
        return mkperf_given_number(g, 0, UINT16_MAX, &c->port);
    case OPTION_SPEEDSCOPE:
        c->speedscope = g->value;
        return MKPERF_OK;
    default:
        return mkperf_given_unknown(g);
    }
}

static const struct mkperf_option_group group = {options, set};

static bool has_speedscope(const char *dir)
{
    char *path = NULL;
    bool has = asprintf(&path, "%s/index.html", dir) > 0 && access(path, R_OK) == 0;

    free(path);
    return has;
}

/* Where speedscope's release is, in `found` if it is beside the program; NULL: nowhere. */
static const char *find_speedscope(char found[PATH_BYTES + 32])
{
    static const char *const places[] = {"speedscope", "../share/mkperf/speedscope"};
    const char *set = getenv("MKPERF_SPEEDSCOPE");
    char self[PATH_BYTES];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (set) {
        return has_speedscope(set) ? set : NULL;
    }
    self[n > 0 ? n : 0] = '\0';
    if (!strrchr(self, '/')) {
        return NULL;
    }
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(found, PATH_BYTES + 32, "%s/%s", self, places[i]);
        if (has_speedscope(found)) {
            return found;
        }
    }
    return NULL;
}

static enum mkperf_status serve(const struct command *c, struct mkperf_frames *f,
                                struct mkperf_error *e)
{
    char found[PATH_BYTES + 32];
    struct view_server s = {
        .frames = f, .path = c->input, .speedscope = c->speedscope, .port = (uint16_t)c->port};

    if (!s.speedscope) { /* it needs the recording once more, which standard input is not */
        bool piped = c->input != NULL && strcmp(c->input, "-") == 0;
        s.speedscope = piped ? NULL : find_speedscope(found);
    } else if (!has_speedscope(s.speedscope)) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s: no index.html of speedscope",
                                s.speedscope);
    }
    if (view_server_start(&s, e) == MKPERF_OK) {
        printf("mkperf view: http://127.0.0.1:%u/%s/\n", s.port, s.token);
        (void)fflush(stdout);
        view_server_run(&s, c->interrupts);
    }
    view_server_stop(&s);
    return e->status;
}

static enum mkperf_status run(void *self, const struct mkperf_args *args, struct mkperf_error *e)
{
    struct command *c = self;
    struct mkperf_profile p = {.cores = true, .times = true};
    struct mkperf_frames f;
    enum mkperf_status status;

    c->input = args->n > 0 ? args->operand[0] : c->input;
    c->interrupts = mkperf_process_interrupts();
    status = mkperf_frames_read(&f, &p, c->input, false, e);
    if (status == MKPERF_OK) {
        status = mkperf_profile_order(&p, e);
    }
    if (status == MKPERF_OK) {
        mkperf_frames_warn(&f, stderr);
        status = serve(c, &f, e);
    }
    mkperf_frames_close(&f);
    mkperf_profile_free(&p);
    return status;
}

static int view_main(int argc, char **argv)
{
    struct command c = {.input = "perf.data"};

    return mkperf_command_main(&mkperf_view_command, &c, argc, argv, run);
}

const struct mkperf_command mkperf_view_command = {
    .name = "view",
    .summary = "look at a profile in a browser",
    .synopsis = "[options] [FILE]",
    .description =
        "Shows a recording (perf.data) in a browser: timeline by core and PD, flame graph, table. "
        "The address is printed; only this machine can reach it, and only who knows it gets an "
        "answer. Ends with Ctrl-C.",
    .options = {{&report_input_options, offsetof(struct command, input)}, {&group, 0}},
    .operand = MKPERF_VALUE_FILE,
    .operands_max = 1,
    .statuses = MKPERF_STATUSES_READ,
    .run = view_main,
};
