/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the options of `mkperf record`, see options.h. */
#include "options.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mkperf/record.h>

#include "events.h"
#include "source/source.h"

enum {
    OPT_MAX_FRAMES = 256,
    OPT_NO_JITTER,
    OPT_DURATION,
    OPT_RAW,
    OPT_SYSTEM,
    OPT_ELF_PATH,
    OPT_KERNEL,
    OPT_TIMEOUT,
    OPT_KEY_FILE,
    OPT_RECONNECT,
    OPT_NO_RECONNECT,
    OPT_WATCH,
    OPT_TAKE_OVER,
    OPT_PD,
    OPT_SUBTREE,
};

static const struct option options[] = {
    {"target", required_argument, NULL, 't'},
    {"event", required_argument, NULL, 'e'},
    {"count", required_argument, NULL, 'c'},
    {"freq", required_argument, NULL, 'F'},
    {"output", required_argument, NULL, 'o'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"max-frames", required_argument, NULL, OPT_MAX_FRAMES},
    {"no-jitter", no_argument, NULL, OPT_NO_JITTER},
    {"duration", required_argument, NULL, OPT_DURATION},
    {"raw", required_argument, NULL, OPT_RAW},
    {"system", required_argument, NULL, OPT_SYSTEM},
    {"elf-path", required_argument, NULL, OPT_ELF_PATH},
    {"kernel", required_argument, NULL, OPT_KERNEL},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"key-file", required_argument, NULL, OPT_KEY_FILE},
    {"reconnect", required_argument, NULL, OPT_RECONNECT},
    {"no-reconnect", no_argument, NULL, OPT_NO_RECONNECT},
    {"watch", no_argument, NULL, OPT_WATCH},
    {"take-over", no_argument, NULL, OPT_TAKE_OVER},
    {"pd", required_argument, NULL, OPT_PD},
    {"subtree", required_argument, NULL, OPT_SUBTREE},
    {NULL, 0, NULL, 0},
};

static void print_help(void)
{
    printf(
        "usage: mkperf record -t TARGET [options]\n\n"
        "Samples a running seL4/Microkit system into a perf.data file. Ends after --duration or\n"
        "with Ctrl-C.\n\nTARGET is one of\n");
    for (size_t i = 0; mkperf_source_kinds[i] != NULL; i++) {
        printf("  %s:%-14s %s\n", mkperf_source_kinds[i]->scheme, mkperf_source_kinds[i]->where,
               mkperf_source_kinds[i]->help);
    }
    printf("\n  -e EVENTS          events, as perf: cycles, instructions:u, r1b:k, ...\n"
           "                     NAME/period=N/ or NAME/freq=N/ for one event; default cycles\n"
           "  -c N               events between samples\n"
           "  -F N               samples per second and core (default %d)\n"
           "  -g                 callchains (on by default)\n"
           "  --max-frames N     depth of callchains, 0 to %d, 0 = none (default %d)\n"
           "  --no-jitter        exact periods: samples may run in step with the program\n"
           "  --duration S       seconds of the target's time; in host time at most 10 times that\n"
           "                     and 10 s, or less if its time stands still\n"
           "  -o FILE            output (default perf.data); - is standard output, for perf report "
           "-i -\n"
           "  --raw FILE         keep the line's bytes too, for -t file:FILE\n"
           "  --system FILE      the .system file: names of PDs\n"
           "  --elf-path D[:D]   directories of the PDs' ELFs (default: that of the .system file)\n"
           "  --kernel ELF       the kernel's ELF (default: kernel.elf or sel4.elf in --elf-path)\n"
           "  --timeout S        patience with a silent target (default %d)\n"
           "  --key-file FILE    the target's key, 32 bytes or 64 hexadecimal digits\n"
           "  --reconnect S      try a broken connection again for S seconds (default %d)\n"
           "  --no-reconnect     a broken connection ends the recording\n"
           "  --watch            record what runs anyway: change nothing, stop nothing\n"
           "  --take-over        control the target although another host does\n"
           "  --pd NAME[,NAME]   sample these PDs only (at most 16 in all)\n"
           "  --subtree NAME     and this one with its children\n"
           "  -q                 no progress, no summary\n",
           MKPERF_DEFAULT_FREQUENCY, MKPERF_MAX_FRAMES, MKPERF_DEFAULT_FRAMES,
           MKPERF_DEFAULT_TIMEOUT_S, MKPERF_RECONNECT_S);
}

static bool seconds(const char *text, double *out)
{
    char *end;

    *out = strtod(text, &end);
    return *text != '\0' && *end == '\0' && isfinite(*out) && *out > 0 && *out < 1e9;
}

static enum mkperf_status bad(const char *option, const char *value, const char *want,
                              struct mkperf_error *e)
{
    return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s %s: want %s", option, value, want);
}

struct pacing {
    uint64_t count, frequency; /* 0: not given */
};

static enum mkperf_status numeric(int option, const char *value, struct mkperf_record_options *o,
                                  struct pacing *pacing, struct mkperf_error *e)
{
    uint64_t frames = 0;

    switch (option) {
    case 'c':
        return mkperf_parse_number(value, UINT32_MAX, &pacing->count)
                   ? MKPERF_OK
                   : bad("-c", value, "a number of events", e);
    case 'F':
        return mkperf_parse_number(value, UINT32_MAX, &pacing->frequency)
                   ? MKPERF_OK
                   : bad("-F", value, "samples per second", e);
    case OPT_MAX_FRAMES:
        if (strcmp(value, "0") != 0 && !mkperf_parse_number(value, MKPERF_MAX_FRAMES, &frames)) {
            return bad("--max-frames", value, "a number up to 64", e);
        }
        o->configure.max_frames = (uint32_t)frames;
        return MKPERF_OK;
    case OPT_DURATION:
        return seconds(value, &o->duration_s) ? MKPERF_OK : bad("--duration", value, "seconds", e);
    case OPT_RECONNECT:
        return seconds(value, &o->link.reconnect_s) ? MKPERF_OK
                                                    : bad("--reconnect", value, "seconds", e);
    default:
        return seconds(value, &o->link.timeout_s) ? MKPERF_OK
                                                  : bad("--timeout", value, "seconds", e);
    }
}

static enum mkperf_status set_option(int option, const char *value, struct mkperf_record_options *o,
                                     struct pacing *pacing, struct mkperf_error *e)
{
    switch (option) {
    case 't':
        o->link.target = value;
        return MKPERF_OK;
    case 'e':
        return mkperf_events_parse(value, &o->configure, e);
    case 'o':
        o->output = value;
        return MKPERF_OK;
    case 'q':
        o->quiet = true;
        return MKPERF_OK;
    case 'g':
        return MKPERF_OK;
    case OPT_NO_JITTER:
        o->configure.no_jitter = true;
        return MKPERF_OK;
    case OPT_NO_RECONNECT:
        o->link.reconnect_s = 0;
        return MKPERF_OK;
    case OPT_WATCH:
        o->link.watch = true;
        return MKPERF_OK;
    case OPT_TAKE_OVER:
        o->link.take_over = true;
        return MKPERF_OK;
    case OPT_KEY_FILE:
        o->link.key_file = value;
        return MKPERF_OK;
    case OPT_RAW:
        o->raw = value;
        return MKPERF_OK;
    case OPT_SYSTEM:
        o->system = value;
        return MKPERF_OK;
    case OPT_ELF_PATH:
        o->elf_path = value;
        return MKPERF_OK;
    case OPT_KERNEL:
        o->kernel = value;
        return MKPERF_OK;
    case OPT_PD:
        o->pd = value;
        return MKPERF_OK;
    case OPT_SUBTREE:
        o->subtree = value;
        return MKPERF_OK;
    case '?':
    case ':':
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "record: see mkperf record --help");
    default:
        return numeric(option, value, o, pacing, e);
    }
}

static enum mkperf_status finish(struct mkperf_record_options *o, const struct pacing *pacing,
                                 struct mkperf_error *e)
{
    if (o->link.target == NULL) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "record: no target, see -t in --help");
    }
    if (o->link.watch && o->link.take_over) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "--watch and --take-over exclude each other");
    }
    if (pacing->count != 0 && pacing->frequency != 0) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "-c and -F exclude each other");
    }
    if (o->configure.events_count == 0 &&
        mkperf_events_parse("cycles", &o->configure, e) != MKPERF_OK) {
        return e->status;
    }
    for (unsigned i = 0; i < o->configure.events_count; i++) {
        mkperf_EventSpec *spec = &o->configure.events[i];
        if (spec->period == 0 && spec->frequency == 0) {
            spec->period = pacing->count;
            spec->frequency = pacing->count != 0       ? 0
                              : pacing->frequency != 0 ? (uint32_t)pacing->frequency
                                                       : MKPERF_DEFAULT_FREQUENCY;
        }
    }
    return MKPERF_OK;
}

static char *join(int argc, char **argv)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    if (f != NULL) {
        fputs("mkperf", f);
        for (int i = 0; i < argc; i++) {
            fprintf(f, " %s", argv[i]);
        }
        if (fclose(f) != 0) {
            free(text);
            text = NULL;
        }
    }
    return text;
}

enum mkperf_status mkperf_record_options(int argc, char **argv, struct mkperf_record_options *out,
                                         bool *help, struct mkperf_error *e)
{
    struct pacing pacing = {0, 0};
    int option;

    *out = (struct mkperf_record_options){
        .output = "perf.data",
        .link = {.timeout_s = MKPERF_DEFAULT_TIMEOUT_S, .reconnect_s = MKPERF_RECONNECT_S},
        .command = join(argc, argv)};
    out->configure.max_frames = MKPERF_DEFAULT_FRAMES;
    *help = false;
    optind = 0; /* begin anew, should it be called twice */
    while ((option = getopt_long(argc, argv, "+t:e:c:F:o:gqh", options, NULL)) != -1) {
        if (option == 'h') {
            print_help();
            *help = true;
            return MKPERF_OK;
        }
        if (set_option(option, optarg, out, &pacing, e) != MKPERF_OK) {
            return e->status;
        }
    }
    if (optind < argc) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "record: what is \"%s\"?", argv[optind]);
    }
    return finish(out, &pacing, e);
}

void mkperf_record_options_free(struct mkperf_record_options *o)
{
    free(o->command);
}
