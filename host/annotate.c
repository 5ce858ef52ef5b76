/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf annotate: the instructions of functions with the shares of samples that hit them.
 *
 * Owns: the command's options and the choice of functions. The parts are in annotate/: hits, code
 * (disassembly), source, print.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "annotate/print.h"
#include "cmd.h"

static const char usage[] =
    "usage: mkperf annotate [options] [SYMBOL]\n"
    "The instructions of a function, each with its share of the function's weight, between the\n"
    "source lines that they are of. Without SYMBOL: of all functions above --percent-limit.\n"
    "  -i, --input FILE       the recording (perf.data)\n"
    "  -s, --symbol SYMBOL    the same as SYMBOL\n"
    "      --pd NAME          only samples of this protection domain\n"
    "  -e, --event NAME       only this event\n"
    "  -C, --core N           only samples of this core\n"
    "      --time START,STOP  only samples of this time, seconds of the target's clock\n"
    "      --no-source        no source lines\n"
    "      --percent-limit N  without SYMBOL: functions of at least N per cent (1)\n"
    "      --stdio            accepted: there is no other output; mkperf report has one\n"
    "  -h, --help\n"
    "The kernel's functions are counted for all PDs that entered it, unless --pd names one.\n";

enum { OPTION_PD = 256, OPTION_TIME, OPTION_NO_SOURCE, OPTION_LIMIT, OPTION_STDIO };

static const struct option options[] = {
    {"input", required_argument, NULL, 'i'},
    {"symbol", required_argument, NULL, 's'},
    {"pd", required_argument, NULL, OPTION_PD},
    {"event", required_argument, NULL, 'e'},
    {"core", required_argument, NULL, 'C'},
    {"time", required_argument, NULL, OPTION_TIME},
    {"no-source", no_argument, NULL, OPTION_NO_SOURCE},
    {"percent-limit", required_argument, NULL, OPTION_LIMIT},
    {"stdio", no_argument, NULL, OPTION_STDIO},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct command {
    const char *input, *symbol, *pd, *event;
    bool help;
    double limit;
    struct annotate_style style;
    struct report_filter filter;
};

static enum mkperf_status bad_usage(struct mkperf_error *e, const char *what, const char *value)
{
    return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s '%s'; see mkperf annotate --help", what,
                            value);
}

static enum mkperf_status parse_limit(struct command *c, struct mkperf_error *e)
{
    char *end;

    c->limit = strtod(optarg, &end);
    return end != optarg && !*end && c->limit >= 0 && c->limit <= 100
               ? MKPERF_OK
               : bad_usage(e, "--percent-limit: not a percentage:", optarg);
}

static enum mkperf_status parse_option(struct command *c, int option, char **argv,
                                       struct mkperf_error *e)
{
    switch (option) {
    case 'i':
        c->input = optarg;
        return MKPERF_OK;
    case 's':
        c->symbol = optarg;
        return MKPERF_OK;
    case OPTION_PD:
        c->pd = optarg;
        return MKPERF_OK;
    case 'e':
        c->event = optarg;
        return MKPERF_OK;
    case 'C':
        return report_filter_core(&c->filter, optarg, e);
    case OPTION_TIME:
        return report_filter_time(&c->filter, optarg, e);
    case OPTION_NO_SOURCE:
        c->style.source = false;
        return MKPERF_OK;
    case OPTION_LIMIT:
        return parse_limit(c, e);
    case OPTION_STDIO:
        return MKPERF_OK;
    case 'h':
        c->help = true;
        return MKPERF_OK;
    default:
        return bad_usage(e, "no such option, or its value is missing:", argv[optind - 1]);
    }
}

static enum mkperf_status parse(struct command *c, int argc, char **argv, struct mkperf_error *e)
{
    int option;

    *c = (struct command){
        .input = "perf.data",
        .limit = 1,
        .style = {.colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR"), .source = true}};
    optind = 0;
    while ((option = getopt_long(argc, argv, ":i:s:e:C:h", options, NULL)) != -1) {
        if (parse_option(c, option, argv, e) != MKPERF_OK) {
            return e->status;
        }
    }
    if (optind < argc && !c->symbol) {
        c->symbol = argv[optind++];
    }
    return optind < argc ? bad_usage(e, "what is", argv[optind]) : MKPERF_OK;
}

static enum mkperf_status print_functions(const struct command *c, const struct report_frames *f,
                                          const struct annotate_hits *h,
                                          const struct annotate_choice *choice,
                                          struct annotate_sources *sources, uint32_t *printed,
                                          struct mkperf_error *e)
{
    double least = c->limit * (double)f->profile->total[choice->event].period / 100;

    for (uint32_t i = 0; i < h->nfunctions; i++) {
        if (!c->symbol && (double)h->function[i].weight.period < least) {
            break;
        }
        if (annotate_print(h, &h->function[i], f, choice, &c->style, sources, stdout, e) !=
            MKPERF_OK) {
            return e->status;
        }
        (*printed)++;
    }
    return MKPERF_OK;
}

static enum mkperf_status print_events(const struct command *c, const struct report_frames *f,
                                       struct annotate_sources *sources, uint32_t *printed,
                                       struct mkperf_error *e)
{
    const struct mkperf_session *s = &f->profile->session;
    struct annotate_choice choice = {.symbol = c->symbol, .pd = c->pd};

    for (choice.event = 0; choice.event < s->nevents; choice.event++) {
        struct annotate_hits h;
        enum mkperf_status status;

        if (c->event && strcmp(c->event, s->event[choice.event].name) != 0) {
            continue;
        }
        status = annotate_hits_find(&h, f, &choice, e);
        if (status == MKPERF_OK) {
            status = print_functions(c, f, &h, &choice, sources, printed, e);
        }
        annotate_hits_free(&h);
        if (status != MKPERF_OK) {
            return status;
        }
    }
    return MKPERF_OK;
}

static enum mkperf_status print_all(const struct command *c, const struct report_frames *f,
                                    struct mkperf_error *e)
{
    struct annotate_sources sources = {.n = 0};
    uint32_t printed = 0;
    enum mkperf_status status = print_events(c, f, &sources, &printed, e);

    annotate_sources_free(&sources);
    if (status == MKPERF_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        return mkperf_error_set(e, MKPERF_ERR_OUTPUT, "standard output: %s", strerror(errno));
    }
    if (status == MKPERF_OK && printed == 0) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s: no sample hit a function%s%s%s%s",
                                c->input, c->symbol ? " " : "", c->symbol ? c->symbol : "",
                                c->pd ? " in PD " : "", c->pd ? c->pd : "");
    }
    return status;
}

static enum mkperf_status run(const struct command *c, struct mkperf_error *e)
{
    struct report_profile p = {.filter = c->filter};
    struct report_frames f;
    enum mkperf_status status = report_frames_read(&f, &p, c->input, false, e);

    if (status == MKPERF_OK) {
        status = report_check_names(&p, c->input, c->pd, c->event, e);
    }
    if (status == MKPERF_OK) {
        report_filter_print(&p.filter, stdout);
        report_frames_warn(&f, stderr);
        status = print_all(c, &f, e);
    }
    report_frames_close(&f);
    report_profile_free(&p);
    return status;
}

int mkperf_cmd_annotate(int argc, char **argv)
{
    struct mkperf_error e;
    struct command c;
    enum mkperf_status status = parse(&c, argc, argv, &e);

    if (status == MKPERF_OK && c.help) {
        fputs(usage, stdout);
        return MKPERF_OK;
    }
    if (status == MKPERF_OK) {
        status = run(&c, &e);
    }
    if (status != MKPERF_OK) {
        fprintf(stderr, "mkperf annotate: %s\n", e.text);
    }
    return status;
}
