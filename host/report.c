/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf report: a recording as a table on standard output, or to walk through on a terminal.
 *
 * Owns: the command's options and what is printed around the tables. The parts are in report/:
 * profile (counting), filter, frames (naming), rows (the table), tree (-g), head, browser.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "report/browser.h"
#include "report/head.h"
#include "report/rows.h"

static const char usage[] =
    "usage: mkperf report [options]\n"
    "  -i, --input FILE       the recording (perf.data)\n"
    "  -s, --sort KEYS        of pd, symbol, event, core, mode, line (pd,symbol)\n"
    "  -g [caller|callee]     below each row, who called it (caller, the default) or what it\n"
    "                         called (callee; useful with --children); --call-graph\n"
    "      --children         add a row's callees to it; --no-children is the default\n"
    "      --percent-limit N  leave out rows below N per cent (0), and branches of trees (0.5)\n"
    "      --pd NAME          only samples of this protection domain\n"
    "  -S, --symbol NAME      only rows of this function\n"
    "  -C, --core N           only samples of this core\n"
    "      --time START,STOP  only samples of this time, seconds of the target's clock\n"
    "  -e, --event NAME       only this event\n"
    "      --stdio            print, even on a terminal\n"
    "  -h, --help\n"
    "On a terminal the rows can be walked through; its key h shows the keys. Percentages are of\n"
    "the event's period sum over all PDs, in the samples that --core and --time select.\n";

enum {
    OPTION_CHILDREN = 256,
    OPTION_NO_CHILDREN,
    OPTION_LIMIT,
    OPTION_PD,
    OPTION_STDIO,
    OPTION_TIME,
};

static const struct option options[] = {
    {"input", required_argument, NULL, 'i'},
    {"sort", required_argument, NULL, 's'},
    {"call-graph", optional_argument, NULL, 'g'},
    {"children", no_argument, NULL, OPTION_CHILDREN},
    {"no-children", no_argument, NULL, OPTION_NO_CHILDREN},
    {"percent-limit", required_argument, NULL, OPTION_LIMIT},
    {"pd", required_argument, NULL, OPTION_PD},
    {"symbol", required_argument, NULL, 'S'},
    {"core", required_argument, NULL, 'C'},
    {"time", required_argument, NULL, OPTION_TIME},
    {"event", required_argument, NULL, 'e'},
    {"stdio", no_argument, NULL, OPTION_STDIO},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct command {
    const char *input;
    bool help, stdio;
    struct report_options report;
    struct report_filter filter;
};

static enum mkperf_status bad_usage(struct mkperf_error *e, const char *what, const char *value)
{
    return mkperf_error_set(e, MKPERF_ERR_USAGE, "%s '%s'; see mkperf report --help", what, value);
}

static enum mkperf_status parse_sort(struct report_options *o, const char *text,
                                     struct mkperf_error *e)
{
    char name[16];
    size_t n;

    for (o->nkeys = 0;; text += n + 1) {
        unsigned key = 0;

        n = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : 0, text);
        if (strcmp(name, "sym") == 0) {
            snprintf(name, sizeof name, "symbol");
        }
        while (key < REPORT_SORT_KEYS && strcmp(name, report_sort_names[key]) != 0) {
            key++;
        }
        if (key == REPORT_SORT_KEYS) {
            return bad_usage(e, "--sort: no such key in", text);
        }
        if (!report_sorts_by(o, (enum report_sort_key)key)) {
            o->key[o->nkeys++] = (enum report_sort_key)key;
        }
        if (text[n] == '\0') {
            return MKPERF_OK;
        }
    }
}

static enum mkperf_status parse_limit(struct report_options *o, const char *text,
                                      struct mkperf_error *e)
{
    char *end;

    o->limit = strtod(text, &end);
    if (end == text || *end || !(o->limit >= 0 && o->limit <= 100)) {
        return bad_usage(e, "--percent-limit: not a percentage:", text);
    }
    o->graph_limit = o->limit;
    return MKPERF_OK;
}

/* -g's argument may be a word of its own, as perf's may. */
static enum mkperf_status parse_graph(struct report_options *o, int argc, char **argv,
                                      struct mkperf_error *e)
{
    const char *order = optarg;

    if (!order && optind < argc &&
        (strcmp(argv[optind], "caller") == 0 || strcmp(argv[optind], "callee") == 0)) {
        order = argv[optind++];
    }
    if (!order || strcmp(order, "caller") == 0) {
        o->graph = REPORT_GRAPH_CALLERS;
    } else if (strcmp(order, "callee") == 0) {
        o->graph = REPORT_GRAPH_CALLEES;
    } else {
        return bad_usage(e, "-g: neither caller nor callee:", order);
    }
    return MKPERF_OK;
}

static enum mkperf_status parse_option(struct command *c, int option, int argc, char **argv,
                                       struct mkperf_error *e)
{
    switch (option) {
    case 'i':
        c->input = optarg;
        return MKPERF_OK;
    case 's':
        return parse_sort(&c->report, optarg, e);
    case 'g':
        return parse_graph(&c->report, argc, argv, e);
    case OPTION_CHILDREN:
    case OPTION_NO_CHILDREN:
        c->report.children = option == OPTION_CHILDREN;
        return MKPERF_OK;
    case OPTION_LIMIT:
        return parse_limit(&c->report, optarg, e);
    case OPTION_PD:
        c->report.pd = optarg;
        return MKPERF_OK;
    case 'e':
        c->report.event = optarg;
        return MKPERF_OK;
    case 'S':
        c->report.symbol = optarg;
        return MKPERF_OK;
    case 'C':
        return report_filter_core(&c->filter, optarg, e);
    case OPTION_TIME:
        return report_filter_time(&c->filter, optarg, e);
    case OPTION_STDIO:
        c->stdio = true;
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
        .report = {.key = {REPORT_SORT_PD, REPORT_SORT_SYMBOL}, .nkeys = 2, .graph_limit = 0.5}};
    optind = 0;
    while ((option = getopt_long(argc, argv, ":i:s:g::e:S:C:h", options, NULL)) != -1) {
        if (parse_option(c, option, argc, argv, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return optind < argc ? bad_usage(e, "what is", argv[optind]) : MKPERF_OK;
}

static enum mkperf_status print_event(struct report_frames *f, const struct command *c, uint32_t i,
                                      struct mkperf_error *e)
{
    const struct report_profile *p = f->profile;
    struct report_rows rows;
    enum mkperf_status status = report_rows_build(&rows, f, &c->report, i, e);

    if (status == MKPERF_OK) {
        printf("#\n# Samples: %" PRIu64 " of event '%s', period sum %" PRIu64 "\n",
               p->total[i].samples, p->session.event[i].name, p->total[i].period);
        if (c->report.pd) {
            printf("# of these, in PD %s: %" PRIu64 " samples, period sum %" PRIu64 "\n",
                   c->report.pd, rows.shown.samples, rows.shown.period);
        }
        printf("#\n");
        status = report_rows_print(&rows, f, &c->report, i, stdout, e);
    }
    report_rows_free(&rows);
    return status;
}

static enum mkperf_status print_report(const struct command *c, struct report_frames *f,
                                       struct mkperf_error *e)
{
    const struct report_profile *p = f->profile;
    enum mkperf_status status = MKPERF_OK;

    report_head_print(p, c->input, stdout);
    report_filter_print(&p->filter, stdout);
    report_frames_warn(f, stdout);
    for (uint32_t i = 0; status == MKPERF_OK && i < p->session.nevents; i++) {
        if (!c->report.event || strcmp(c->report.event, p->session.event[i].name) == 0) {
            status = print_event(f, c, i, e);
        }
    }
    if (status == MKPERF_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        status = mkperf_error_set(e, MKPERF_ERR_OUTPUT, "standard output: %s", strerror(errno));
    }
    return status;
}

static enum mkperf_status run(const struct command *c, struct mkperf_error *e)
{
    struct report_profile p = {.with_core = report_sorts_by(&c->report, REPORT_SORT_CORE),
                               .filter = c->filter};
    struct report_frames f;
    bool with_line = report_sorts_by(&c->report, REPORT_SORT_LINE);
    enum mkperf_status status = report_frames_read(&f, &p, c->input, with_line, e);

    if (status == MKPERF_OK) {
        status = report_check_names(&p, c->input, c->report.pd, c->report.event, e);
    }
    if (status == MKPERF_OK && !c->stdio && report_browser_usable()) {
        status = report_browse(&f, &c->report, c->input, e);
    } else if (status == MKPERF_OK) {
        status = print_report(c, &f, e);
    }
    report_frames_close(&f);
    report_profile_free(&p);
    return status;
}

int mkperf_cmd_report(int argc, char **argv)
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
        fprintf(stderr, "mkperf report: %s\n", e.text);
    }
    return status;
}
