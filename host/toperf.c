/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf toperf: the seL4 profiler's samples.json to perf.data, as the command of that name did it.
 *
 * Owns: its options, which are the old command's and --lenient and --time-hz. A link named toperf
 * to mkperf behaves as this.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

#include "cmd.h"
#include "conversion.h"

enum { OPTION_LENIENT = 256, OPTION_TIME_HZ };

static const struct option options[] = {
    {"samples-path", required_argument, NULL, 's'},
    {"build-dir", required_argument, NULL, 'b'},
    {"print-summary", no_argument, NULL, 'p'},
    {"output", required_argument, NULL, 'o'},
    {"lenient", no_argument, NULL, OPTION_LENIENT},
    {"time-hz", required_argument, NULL, OPTION_TIME_HZ},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static const char usage[] =
    "usage: mkperf toperf -s FILE -b DIR [options]\n"
    "  -s, --samples-path FILE  samples.json of the seL4 profiler; - is standard input\n"
    "  -b, --build-dir DIR      the ELFs that it names, and sample_header.json\n"
    "  -o, --output FILE        the file to write (perf.data)\n"
    "  -p, --print-summary      print the samples, one a line\n"
    "      --lenient            repair or leave out what makes no sense, and say so\n"
    "      --time-hz N          time is in ticks of this clock, not nanoseconds\n"
    "  -h, --help\n";

static enum mkperf_status parse_option(struct mkperf_conversion *c, int option,
                                       struct mkperf_error *e)
{
    char *end;

    switch (option) {
    case 's':
        c->input = optarg;
        return MKPERF_OK;
    case 'b':
        c->in.build_dir = optarg;
        return MKPERF_OK;
    case 'p':
        c->print = stdout;
        return MKPERF_OK;
    case 'o':
        c->out.path = optarg;
        return MKPERF_OK;
    case OPTION_LENIENT:
        c->in.lenient = true;
        return MKPERF_OK;
    case OPTION_TIME_HZ:
        errno = 0;
        c->in.time_hz = strtoull(optarg, &end, 10);
        if (errno == 0 && *optarg >= '1' && *optarg <= '9' && *end == '\0') {
            return MKPERF_OK;
        }
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "--time-hz: not a frequency: '%s'", optarg);
    default:
        return mkperf_error_set(e, MKPERF_ERR_USAGE,
                                "no such option, or its value is missing; see --help");
    }
}

static enum mkperf_status parse(struct mkperf_conversion *c, int argc, char **argv, bool *help,
                                struct mkperf_error *e)
{
    int option;

    optind = 0;
    while ((option = getopt_long(argc, argv, ":s:b:po:h", options, NULL)) != -1) {
        if (option == 'h') {
            *help = true;
            return MKPERF_OK;
        }
        if (parse_option(c, option, e) != MKPERF_OK) {
            return e->status;
        }
    }
    if (c->input == NULL || c->in.build_dir == NULL || optind != argc) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s; see --help",
                                optind != argc ? "what is the last argument for?"
                                               : "--samples-path and --build-dir are needed");
    }
    return MKPERF_OK;
}

int mkperf_cmd_toperf(int argc, char **argv)
{
    struct mkperf_conversion c = {.command = "toperf",
                                  .format = mkperf_format_by_name("perf"),
                                  .in = {.from = "toperf"},
                                  .out = {.path = "perf.data"}};
    struct mkperf_error e = {.status = MKPERF_OK};
    bool help = false;
    char *line = mkperf_conversion_line(argc, argv);

    c.in.command = line;
    enum mkperf_status status = parse(&c, argc, argv, &help, &e);
    if (status == MKPERF_OK && help) {
        fputs(usage, stdout);
    } else if (status == MKPERF_OK) {
        status = mkperf_conversion_run(&c, &e);
    }
    free(line);
    return status == MKPERF_OK ? MKPERF_OK : mkperf_conversion_exit(c.command, &e);
}
