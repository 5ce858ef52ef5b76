/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf kprof2perf: Akaros' kpdata to perf.data, as the command of that name did it.
 *
 * Owns: its options, which are the old command's and more. A link named kprof2perf to mkperf
 * behaves as this.
 */
#include <getopt.h>
#include <stdlib.h>

#include "cmd.h"
#include "conversion.h"

enum { OPTION_ROOT_DIR = 256, OPTION_ERA, OPTION_LENIENT, PRINT_LEVEL = 8 };

static const struct option options[] = {
    {"root-dir", required_argument, NULL, OPTION_ROOT_DIR},
    {"kprof-era", required_argument, NULL, OPTION_ERA},
    {"lenient", no_argument, NULL, OPTION_LENIENT},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static const char usage[] =
    "usage: mkperf kprof2perf [options]\n"
    "  -i FILE          kpdata (standard input)\n"
    "  -o FILE          perf.data (standard output)\n"
    "  -k ELF           the kernel\n"
    "      --root-dir DIR   where the target's files are: programs get names\n"
    "      --kprof-era A|B|C  the layout, if it is not to be found out\n"
    "      --lenient    leave out what makes no sense, and say so\n"
    "  -D LEVEL         from 8 on: print each sample, to standard error\n"
    "  -s SIZE          accepted: there are no memory blocks\n"
    "  -h, --help\n";

static enum mkperf_status parse_option(struct mkperf_conversion *c, int option,
                                       struct mkperf_error *e)
{
    switch (option) {
    case 'i':
        c->input = optarg;
        return MKPERF_OK;
    case 'o':
        c->out.path = optarg;
        return MKPERF_OK;
    case 'k':
        c->in.kernel = optarg;
        return MKPERF_OK;
    case 's':
        return MKPERF_OK;
    case 'D':
        c->print = strtol(optarg, NULL, 10) >= PRINT_LEVEL ? stderr : NULL;
        return MKPERF_OK;
    case OPTION_ROOT_DIR:
        c->in.root_dir = optarg;
        return MKPERF_OK;
    case OPTION_LENIENT:
        c->in.lenient = true;
        return MKPERF_OK;
    case OPTION_ERA:
        if (optarg[0] >= 'A' && optarg[0] <= 'C' && optarg[1] == '\0') {
            c->in.era = (enum mkperf_kprof_era)(MKPERF_KPROF_A + (optarg[0] - 'A'));
            return MKPERF_OK;
        }
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "--kprof-era: neither A nor B nor C");
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
    while ((option = getopt_long(argc, argv, ":i:o:k:s:D:h", options, NULL)) != -1) {
        if (option == 'h') {
            *help = true;
            return MKPERF_OK;
        }
        if (parse_option(c, option, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return optind == argc ? MKPERF_OK
                          : mkperf_error_set(e, MKPERF_ERR_USAGE, "what is '%s' for? see --help",
                                             argv[optind]);
}

int mkperf_cmd_kprof2perf(int argc, char **argv)
{
    struct mkperf_conversion c = {.command = "kprof2perf",
                                  .input = "-",
                                  .format = mkperf_format_by_name("perf"),
                                  .in = {.from = "kprof"},
                                  .out = {.path = "-"}};
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
