/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf: the profiler's host command. Owns: finding the command that argv names.
 *
 * Exit status: enum mkperf_status.
 */
#include "base/outfile.h"
#include "base/process.h"
#include "cmd/cmd.h"

/* Returns the command of a link to mkperf that has the name of an old command, or NULL for any
 * other name. */
static const struct mkperf_command *command_of_link(const char *path)
{
    const struct mkperf_command *c = mkperf_command_by_name(basename(path));

    return c == &mkperf_toperf_command || c == &mkperf_kprof2perf_command ? c : NULL;
}

/* Returns the status after something was printed to standard output. */
static int printed(void)
{
    struct mkperf_error e = {.status = MKPERF_OK};

    if (mkperf_stdout_flush(&e) != MKPERF_OK) {
        fprintf(stderr, "mkperf: %s\n", e.text);
    }
    return (int)e.status;
}

int main(int argc, char **argv)
{
    const struct mkperf_command *c = argc > 0 ? command_of_link(argv[0]) : NULL;

    mkperf_process_init();
    if (c != NULL) {
        return mkperf_command_main(c, argc, argv);
    }
    /* Perf has this option before the command, too. */
    if (argc > 2 && strcmp(argv[1], "--buildid-dir") == 0) {
        setenv("PERF_BUILDID_DIR", argv[2], 1);
        argc -= 2;
        argv += 2;
    }
    if (argc < 2) {
        mkperf_help_overview(stderr);
        return MKPERF_ERR_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-v") == 0) {
        puts("mkperf " MKPERF_VERSION);
        return printed();
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        mkperf_help_overview(stdout);
        return printed();
    }
    c = mkperf_command_by_name(argv[1]);
    if (c != NULL) {
        return mkperf_command_main(c, argc - 1, argv + 1);
    }
    return mkperf_no_command(argv[1]);
}
