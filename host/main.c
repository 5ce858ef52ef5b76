/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf: the profiler's host command. Owns: finding the command that argv names.
 *
 * Exit status: enum mkperf_status.
 */
#include "base/outfile.h"
#include "cmd/cmd.h"

int main(int argc, char **argv)
{
    const struct mkperf_command *c = argc > 0 ? mkperf_command_by_name(basename(argv[0])) : NULL;

    mkperf_process_init();
    /* A link to mkperf that has the name of an old command is that command. */
    if (c == &mkperf_toperf_command || c == &mkperf_kprof2perf_command) {
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
    bool version = strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-v") == 0;
    if (version || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        struct mkperf_error e = {.status = MKPERF_OK};

        if (version) {
            puts("mkperf " MKPERF_VERSION);
        } else {
            mkperf_help_overview(stdout);
        }
        if (mkperf_stdout_flush(&e) != MKPERF_OK) {
            fprintf(stderr, "mkperf: %s\n", e.text);
        }
        return (int)e.status;
    }
    c = mkperf_command_by_name(argv[1]);
    return c != NULL ? mkperf_command_main(c, argc - 1, argv + 1) : mkperf_no_command(argv[1]);
}
