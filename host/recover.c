/* SPDX-License-Identifier: BSD-2-Clause */
/* `mkperf recover`: finishes the perf.data file of a recorder that was killed. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "cmd.h"
#include "sink/perfdata.h"

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static const char help[] = "usage: mkperf recover FILE [-o OUTPUT]\n\n"
                           "Finishes FILE (OUT.partial), which `mkperf record -o OUT` left when it "
                           "was killed. Without -o\n"
                           "the file is finished in place and loses its \".partial\".\n";

static int finish(const char *path, const char *output)
{
    struct mkperf_error e = {.status = MKPERF_OK};
    struct mkperf_totals totals;
    uint64_t lost = 0;

    if (mkperf_perfdata_recover(path, output, &totals, &e) != MKPERF_OK) {
        fprintf(stderr, "mkperf: %s\n", e.text);
        return (int)e.status;
    }
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        lost += totals.lost[i];
    }
    fprintf(stderr, "mkperf: %s: %" PRIu64 " samples over %.3f s, %" PRIu64 " known to be lost\n",
            path, totals.samples, (double)(totals.last_ns - totals.first_ns) / 1e9, lost);
    return MKPERF_OK;
}

int mkperf_cmd_recover(int argc, char **argv)
{
    const char *output = NULL;
    int option;

    optind = 0;
    while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            return MKPERF_OK;
        }
        if (option != 'o') {
            fputs(help, stderr);
            return MKPERF_ERR_USAGE;
        }
        output = optarg;
    }
    if (optind + 1 != argc) {
        fputs(help, stderr);
        return MKPERF_ERR_USAGE;
    }
    return finish(argv[optind], output);
}
