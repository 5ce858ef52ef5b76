/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf: the profiler's host command. Owns: finding the command that argv names.
 *
 * Exit status: enum mkperf_status.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "error.h"

static const struct {
    const char *name, *help;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"console", "commands for the profiler of a running system", mkperf_cmd_console},
    {"record", "sample a running system into a perf.data file", mkperf_cmd_record},
    {"list", "show the events that a target can count", mkperf_cmd_list},
    {"stat", "count events: whole system and PDs", mkperf_cmd_stat},
    {"report", "show a profile: who spent the time", mkperf_cmd_report},
    {"top", "watch a running system", mkperf_cmd_top},
    {"view", "look at a profile in a browser", mkperf_cmd_view},
    {"annotate", "show a function's instructions and what hit them", mkperf_cmd_annotate},
    {"script", "print every sample", mkperf_cmd_script},
    {"diff", "compare two profiles: what became heavier", mkperf_cmd_diff},
    {"convert", "write a profile in another format: flame graph, Firefox, pprof, ...",
     mkperf_cmd_convert},
    {"toperf", "the seL4 profiler's samples.json to perf.data", mkperf_cmd_toperf},
    {"kprof2perf", "Akaros' kpdata to perf.data", mkperf_cmd_kprof2perf},
    {"recover", "finish the file of a recorder that was killed", mkperf_cmd_recover},
};

static void usage(FILE *f)
{
    fputs("usage: mkperf COMMAND [options]\n\nA profiler for systems on seL4 and Microkit.\n\n", f);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        fprintf(f, "  %-10s %s\n", commands[i].name, commands[i].help);
    }
    fputs("\nmkperf COMMAND --help says more; mkperf --version the version.\n", f);
}

/* A link to mkperf that is named as an old command is that command. */
static int run_as_link(int argc, char **argv, int *status)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "";

    if (strcmp(name, "toperf") == 0) {
        *status = mkperf_cmd_toperf(argc, argv);
        return 1;
    }
    if (strcmp(name, "kprof2perf") == 0) {
        *status = mkperf_cmd_kprof2perf(argc, argv);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int status;

    signal(SIGPIPE, SIG_IGN); /* what fails to be written is an error with a text */
    signal(SIGXFSZ, SIG_IGN);
    if (run_as_link(argc, argv, &status)) {
        return status;
    }
    if (argc < 2) {
        usage(stderr);
        return MKPERF_ERR_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-v") == 0) {
        puts("mkperf " MKPERF_VERSION);
        return MKPERF_OK;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        usage(stdout);
        return MKPERF_OK;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    fprintf(stderr, "mkperf: no command \"%s\"\n\n", argv[1]);
    usage(stderr);
    return MKPERF_ERR_USAGE;
}
