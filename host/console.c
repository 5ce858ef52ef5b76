/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `mkperf console`: commands for the profiler of a running system, typed or from a script.
 *
 * Owns: the command's options, commands that the host itself understands, and what is printed.
 * Everything else travels as text and is understood by the target (docs/protocol.md, "Commands").
 */
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "console/console.h"

enum { OPT_KEY_FILE = 256, OPT_TIMEOUT, OPT_SYSTEM, OPT_ELF_PATH, OPT_WATCH, OPT_TAKE_OVER };

static const struct option options[] = {
    {"target", required_argument, NULL, 't'},
    {"command", required_argument, NULL, 'c'},
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {"key-file", required_argument, NULL, OPT_KEY_FILE},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"system", required_argument, NULL, OPT_SYSTEM},
    {"elf-path", required_argument, NULL, OPT_ELF_PATH},
    {"watch", no_argument, NULL, OPT_WATCH},
    {"take-over", no_argument, NULL, OPT_TAKE_OVER},
    {NULL, 0, NULL, 0},
};

static volatile int interrupts;

static void on_signal(int number)
{
    (void)number;
    interrupts++;
}

static void print_help(void)
{
    puts("usage: mkperf console -t TARGET [options]\n\n"
         "Commands for the profiler of a running system: typed at a prompt, from standard input, "
         "or\n"
         "from -c. `help` at the prompt lists them.\n\n"
         "  -t TARGET        as for record\n"
         "  -c \"CMD; CMD\"    these commands, and no prompt; status 8 if one was refused\n"
         "  -o FILE          samples that arrive go into this perf.data file\n"
         "  --system FILE    the .system file: names of PDs, for -o\n"
         "  --elf-path D[:D] directories of the PDs' ELFs, for -o\n"
         "  --key-file FILE  the target's key\n"
         "  --watch          do not control\n"
         "  --take-over      control the target although another host does\n"
         "  --timeout S      patience with a silent target");
}

static enum mkperf_status parse(int argc, char **argv, struct console *c, bool *help,
                                struct mkperf_error *e)
{
    struct mkperf_record_options *o = &c->talk.options;
    int option;

    optind = 0;
    while ((option = getopt_long(argc, argv, "t:c:o:h", options, NULL)) != -1) {
        switch (option) {
        case 't':
            o->link.target = optarg;
            break;
        case 'c':
            c->commands = optarg;
            break;
        case 'o':
            o->output = optarg;
            break;
        case 'h':
            *help = true;
            return MKPERF_OK;
        case OPT_KEY_FILE:
            o->link.key_file = optarg;
            break;
        case OPT_SYSTEM:
            o->system = optarg;
            break;
        case OPT_ELF_PATH:
            o->elf_path = optarg;
            break;
        case OPT_WATCH:
            o->link.watch = true;
            break;
        case OPT_TAKE_OVER:
            o->link.take_over = true;
            break;
        default:
            if (option != OPT_TIMEOUT || (o->link.timeout_s = atof(optarg)) <= 0) {
                return mkperf_error_set(e, MKPERF_ERR_USAGE, "console: see mkperf console --help");
            }
        }
    }
    if (optind < argc || o->link.target == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "console: want -t TARGET, see --help");
    }
    return MKPERF_OK;
}

static enum mkperf_status from_text(struct console *c, struct mkperf_error *e)
{
    char *copy = strdup(c->commands), *rest = NULL;
    enum mkperf_status status = MKPERF_OK;

    if (copy == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_FAILED, "out of memory");
    }
    for (char *line = strtok_r(copy, ";\n", &rest);
         line != NULL && status == MKPERF_OK && !c->done && !mkperf_peer_stopped(console_peer(c));
         line = strtok_r(NULL, ";\n", &rest)) {
        status = console_line(c, line, e);
    }
    free(copy);
    return status;
}

static enum mkperf_status run(struct console *c, struct mkperf_error *e)
{
    enum mkperf_status status = console_open(c, e);

    if (status == MKPERF_OK && c->commands != NULL) {
        status = from_text(c, e);
    } else if (status == MKPERF_OK && isatty(STDIN_FILENO)) {
        status = console_prompt(c, e);
    } else if (status == MKPERF_OK) {
        status = console_stream(c, e);
    }
    return console_close(c, status, e);
}

int mkperf_cmd_console(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct console *c = calloc(1, sizeof *c);
    struct mkperf_error e = {.status = MKPERF_OK};
    bool help = false;
    enum mkperf_status status;

    if (c == NULL) {
        return MKPERF_ERR_FAILED;
    }
    interrupts = 0;
    c->talk.stop = &interrupts;
    c->talk.options.link.timeout_s = MKPERF_DEFAULT_TIMEOUT_S;
    c->talk.options.link.reconnect_s = MKPERF_RECONNECT_S;
    status = parse(argc, argv, c, &help, &e);
    if (help) {
        print_help();
    } else if (status == MKPERF_OK) {
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        status = run(c, &e);
    }
    if (status != MKPERF_OK) {
        fprintf(stderr, "mkperf: %s\n", e.text);
    }
    status = status == MKPERF_OK && c->refused ? MKPERF_ERR_REFUSED : status;
    free(c);
    return (int)status;
}
