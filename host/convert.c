/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf convert: any profile that can be read into any format that can be written.
 *
 * Owns: the command's options. Formats are told from names and contents unless --from and --to say.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "conversion.h"

enum {
    OPTION_FROM = 256,
    OPTION_TO,
    OPTION_LENIENT,
    OPTION_SYSTEM,
    OPTION_ELF_PATH,
    OPTION_KERNEL,
    OPTION_BUILD_DIR,
    OPTION_ROOT_DIR,
    OPTION_ERA,
    OPTION_TIME_HZ,
    OPTION_TITLE,
    OPTION_NO_INLINE,
    OPTION_ICICLE,
    OPTION_DIFF,
};

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    {"from", required_argument, NULL, OPTION_FROM},
    {"to", required_argument, NULL, OPTION_TO},
    {"lenient", no_argument, NULL, OPTION_LENIENT},
    {"system", required_argument, NULL, OPTION_SYSTEM},
    {"elf-path", required_argument, NULL, OPTION_ELF_PATH},
    {"kernel", required_argument, NULL, OPTION_KERNEL},
    {"build-dir", required_argument, NULL, OPTION_BUILD_DIR},
    {"root-dir", required_argument, NULL, OPTION_ROOT_DIR},
    {"kprof-era", required_argument, NULL, OPTION_ERA},
    {"time-hz", required_argument, NULL, OPTION_TIME_HZ},
    {"event", required_argument, NULL, 'e'},
    {"title", required_argument, NULL, OPTION_TITLE},
    {"no-inline", no_argument, NULL, OPTION_NO_INLINE},
    {"icicle", no_argument, NULL, OPTION_ICICLE},
    {"diff", required_argument, NULL, OPTION_DIFF},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static void put_format(void *self, const char *name, const char *help)
{
    (void)self;
    printf("    %-11s %s\n", name, help);
}

static void usage(void)
{
    puts("usage: mkperf convert [options] IN -o OUT\n"
         "  -o, --output OUT     the file to write; - is standard output\n"
         "      --from FORMAT    what IN is, if its contents do not tell:");
    mkperf_input_help(put_format, NULL);
    puts("      --to FORMAT      what OUT shall be, if its name does not tell:");
    for (size_t i = 0; i < mkperf_nformats; i++) {
        put_format(NULL, mkperf_formats[i].name, mkperf_formats[i].help);
        printf("                  (%s)\n", mkperf_formats[i].suffixes);
    }
    puts("      --lenient        repair or leave out what makes no sense, and say so\n"
         "  -e, --event NAME     the event of formats that show one (the first)\n"
         "      --title TEXT\n"
         "      --no-inline      inlined functions are part of the function around them\n"
         "      --icicle         flame graph: the root on top\n"
         "      --diff OTHER     flame graph: compare with this profile, which was before\n"
         "      --system FILE, --elf-path DIR[:DIR], --kernel ELF   for raw, as for record\n"
         "      --build-dir DIR  for toperf: the ELFs and sample_header.json\n"
         "      --time-hz N      for toperf: time is in ticks of this clock, not nanoseconds\n"
         "      --root-dir DIR   for kprof: where the target's files are\n"
         "      --kernel ELF     for kprof\n"
         "      --kprof-era A|B|C\n"
         "  -q, --quiet          no summary\n"
         "  -h, --help");
}

static enum mkperf_status bad_usage(struct mkperf_error *e, const char *what, const char *value)
{
    return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s '%s'; see mkperf convert --help", what, value);
}

static enum mkperf_status parse_input_option(struct mkperf_input *in, int option,
                                             struct mkperf_error *e)
{
    char *end;

    switch (option) {
    case OPTION_FROM:
        in->from = optarg;
        return MKPERF_OK;
    case OPTION_LENIENT:
        in->lenient = true;
        return MKPERF_OK;
    case OPTION_SYSTEM:
        in->system = optarg;
        return MKPERF_OK;
    case OPTION_ELF_PATH:
        in->elf_path = optarg;
        return MKPERF_OK;
    case OPTION_KERNEL:
        in->kernel = optarg;
        return MKPERF_OK;
    case OPTION_BUILD_DIR:
        in->build_dir = optarg;
        return MKPERF_OK;
    case OPTION_ROOT_DIR:
        in->root_dir = optarg;
        return MKPERF_OK;
    case OPTION_ERA:
        if (optarg[0] < 'A' || optarg[0] > 'C' || optarg[1] != '\0') {
            return bad_usage(e, "--kprof-era: neither A nor B nor C:", optarg);
        }
        in->era = (enum mkperf_kprof_era)(MKPERF_KPROF_A + (optarg[0] - 'A'));
        return MKPERF_OK;
    case OPTION_TIME_HZ:
        errno = 0;
        in->time_hz = strtoull(optarg, &end, 10);
        return errno == 0 && *optarg >= '1' && *optarg <= '9' && *end == '\0'
                   ? MKPERF_OK
                   : bad_usage(e, "--time-hz: not a frequency:", optarg);
    default:
        return bad_usage(e, "no such option, or its value is missing:", "");
    }
}

static enum mkperf_status parse_option(struct mkperf_conversion *c, int option, char **argv,
                                       struct mkperf_error *e)
{
    switch (option) {
    case 'o':
        c->out.path = optarg;
        return MKPERF_OK;
    case OPTION_TO:
        c->format = mkperf_format_by_name(optarg);
        return c->format != NULL ? MKPERF_OK : bad_usage(e, "--to: no format", optarg);
    case 'e':
        c->out.event = optarg;
        return MKPERF_OK;
    case OPTION_TITLE:
        c->out.title = optarg;
        return MKPERF_OK;
    case OPTION_NO_INLINE:
        c->out.no_inlined = true;
        return MKPERF_OK;
    case OPTION_ICICLE:
        c->out.icicle = true;
        return MKPERF_OK;
    case OPTION_DIFF:
        c->diff = optarg;
        return MKPERF_OK;
    case 'q':
        c->quiet = true;
        return MKPERF_OK;
    case '?':
    case ':':
        return bad_usage(e, "no such option, or its value is missing:", argv[optind - 1]);
    default:
        return parse_input_option(&c->in, option, e);
    }
}

static enum mkperf_status parse(struct mkperf_conversion *c, int argc, char **argv, bool *help,
                                struct mkperf_error *e)
{
    int option;

    optind = 0;
    while ((option = getopt_long(argc, argv, ":o:e:qh", options, NULL)) != -1) {
        if (option == 'h') {
            *help = true;
            return MKPERF_OK;
        }
        if (parse_option(c, option, argv, e) != MKPERF_OK) {
            return e->status;
        }
    }
    if (optind + 1 != argc) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s; see mkperf convert --help",
                                optind == argc ? "which file?" : "more than one file to read");
    }
    c->input = argv[optind];
    if (c->out.path == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE,
                                "-o OUT is missing; see mkperf convert --help");
    }
    c->format = c->format != NULL ? c->format : mkperf_format_by_path(c->out.path);
    return c->format != NULL
               ? MKPERF_OK
               : bad_usage(e, "--to is needed, this name tells no format:", c->out.path);
}

int mkperf_cmd_convert(int argc, char **argv)
{
    struct mkperf_conversion c = {.command = "convert"};
    struct mkperf_error e = {.status = MKPERF_OK};
    bool help = false;
    char *line = mkperf_conversion_line(argc, argv);

    c.in.command = line;
    enum mkperf_status status = parse(&c, argc, argv, &help, &e);
    if (status == MKPERF_OK && help) {
        usage();
    } else if (status == MKPERF_OK) {
        status = mkperf_conversion_run(&c, &e);
    }
    free(line);
    return status == MKPERF_OK ? MKPERF_OK : mkperf_conversion_exit(c.command, &e);
}
