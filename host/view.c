/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf view: a recording in a browser, served on loopback to who has the address.
 *
 * Owns: the command's options and its life. The parts are in view/: server, answer (what is sent),
 * json and profile (the data), page (the files that make the page).
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "view/server.h"

static const char usage[] =
    "usage: mkperf view [options] [FILE]\n"
    "Shows a recording (perf.data) in a browser: timeline by core and PD, flame graph, table. The\n"
    "address is printed; only this machine can reach it, and only who knows it gets an answer.\n"
    "  -i, --input FILE       the same as FILE\n"
    "  -p, --port N           port (default: a free one)\n"
    "      --speedscope DIR   speedscope's release (dist/release of its npm package), linked from\n"
    "                         the page; default: $MKPERF_SPEEDSCOPE, or speedscope beside mkperf\n"
    "                         or in ../share/mkperf, if it is there\n"
    "  -h, --help\n"
    "Ends with Ctrl-C.\n";

enum { OPTION_SPEEDSCOPE = 256, PATH_BYTES = 4096 };

static const struct option options[] = {
    {"input", required_argument, NULL, 'i'},
    {"port", required_argument, NULL, 'p'},
    {"speedscope", required_argument, NULL, OPTION_SPEEDSCOPE},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct command {
    const char *input, *speedscope;
    uint16_t port;
    bool help;
};

static volatile int interrupts;

static void on_signal(int number)
{
    (void)number;
    interrupts++;
}

static enum mkperf_status bad_usage(struct mkperf_error *e, const char *what, const char *value)
{
    return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s '%s'; see mkperf view --help", what, value);
}

static enum mkperf_status parse_port(struct command *c, struct mkperf_error *e)
{
    char *end;
    unsigned long port = strtoul(optarg, &end, 10);

    if (end == optarg || *end || port > UINT16_MAX) {
        return bad_usage(e, "--port: not a port:", optarg);
    }
    c->port = (uint16_t)port;
    return MKPERF_OK;
}

static enum mkperf_status parse(struct command *c, int argc, char **argv, struct mkperf_error *e)
{
    int option;

    *c = (struct command){.input = NULL};
    optind = 0;
    while ((option = getopt_long(argc, argv, ":i:p:h", options, NULL)) != -1) {
        if (option == 'i') {
            c->input = optarg;
        } else if (option == OPTION_SPEEDSCOPE) {
            c->speedscope = optarg;
        } else if (option == 'h') {
            c->help = true;
        } else if (option != 'p') {
            return bad_usage(e, "no such option, or its value is missing:", argv[optind - 1]);
        } else if (parse_port(c, e) != MKPERF_OK) {
            return e->status;
        }
    }
    if (optind < argc && !c->input) {
        c->input = argv[optind++];
    }
    if (!c->input) {
        c->input = "perf.data";
    }
    return optind < argc ? bad_usage(e, "what is", argv[optind]) : MKPERF_OK;
}

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

static enum mkperf_status serve(const struct command *c, struct report_frames *f,
                                struct mkperf_error *e)
{
    char found[PATH_BYTES + 32];
    struct view_server s = {
        .frames = f, .path = c->input, .speedscope = c->speedscope, .port = c->port};

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
        view_server_run(&s, &interrupts);
    }
    view_server_stop(&s);
    return e->status;
}

static enum mkperf_status run(const struct command *c, struct mkperf_error *e)
{
    struct report_profile p = {.with_core = true, .keep_samples = true};
    struct report_frames f;
    enum mkperf_status status = report_frames_read(&f, &p, c->input, false, e);

    if (status == MKPERF_OK) {
        report_profile_sort(&p);
        report_frames_warn(&f, stderr);
        status = serve(c, &f, e);
    }
    report_frames_close(&f);
    report_profile_free(&p);
    return status;
}

int mkperf_cmd_view(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct mkperf_error e = {.status = MKPERF_OK};
    struct command c;
    enum mkperf_status status = parse(&c, argc, argv, &e);

    if (status == MKPERF_OK && c.help) {
        fputs(usage, stdout);
        return MKPERF_OK;
    }
    if (status == MKPERF_OK) {
        interrupts = 0;
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        status = run(&c, &e);
    }
    if (status != MKPERF_OK) {
        fprintf(stderr, "mkperf view: %s\n", e.text);
    }
    return status;
}
