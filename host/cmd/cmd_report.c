/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf report: a recording as a table on standard output, or to walk through on a terminal.
 *
 * Owns: the command's options and what is printed around the tables. The parts are in report/:
 * profile (counting), filter, frames (naming), rows (the table), tree (-g), head, browser.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/colour.h"
#include "base/progress.h"
#include "cmd.h"
#include "report/browser.h"
#include "report/charged.h"
#include "report/head.h"
#include "report/interactions_table.h"
#include "report/rows_print.h"

enum {
    OPTION_CHILDREN = 256,
    OPTION_NO_CHILDREN,
    OPTION_LIMIT,
    OPTION_STDIO,
    OPTION_INTERACTIONS,
    OPTION_DOT,
    OPTION_CHARGED,
};

static void put_keys(mkperf_put *put, void *to)
{
    for (unsigned i = 0; i < REPORT_SORT_KEYS; i++) {
        put(to, report_sort_names[i], "");
    }
}

static const struct mkperf_option options[] = {
    {.id = 's',
     .name = "sort",
     .value = "KEYS",
     .kind = MKPERF_VALUE_WORDS,
     .list = put_keys,
     .help = "of pd, symbol, event, core, mode, line (pd,symbol)"},
    {.id = 'g',
     .name = "call-graph",
     .value = "[ORDER]",
     .kind = MKPERF_VALUE_WORD,
     .words = "caller callee",
     .help =
         "below each row, who called it (caller, the default) or what it called (callee; useful "
         "with --children)"},
    {.id = OPTION_CHILDREN, .name = "children", .help = "add a row's callees to it"},
    {.id = OPTION_NO_CHILDREN, .name = "no-children", .help = "do not (the default)"},
    {.id = OPTION_LIMIT,
     .name = "percent-limit",
     .value = "N",
     .help = "leave out rows below N per cent (0), and branches of trees (0.5)"},
    {.id = 'S', .name = "symbol", .value = "NAME", .help = "only rows of this function"},
    {.id = OPTION_STDIO, .name = "stdio", .help = "print, even on a terminal"},
    {.id = OPTION_INTERACTIONS,
     .name = "interactions",
     .help = "instead: which PD called and notified which, and how often (record --interactions)"},
    {.id = OPTION_DOT,
     .name = "dot",
     .help = "the same as a graph in the DOT language, for graphviz"},
    {.id = OPTION_CHARGED,
     .name = "charged",
     .help = "instead: for each PD what it used itself, and what others used on its behalf"},
    {.id = 'o',
     .name = "output",
     .value = "FILE",
     .kind = MKPERF_VALUE_FILE,
     .help = "where --interactions goes (default: standard output); FILE.dot implies --dot"},
    {.id = 0},
};

struct command {
    const char *input;
    bool stdio, interactions, dot, charged;
    const char *output; /* of interactions */
    enum mkperf_colour colour;
    struct report_options report;
    struct report_names names;
    struct report_filter filter;
};

static enum mkperf_status set_sort(struct report_options *o, const struct mkperf_given *g)
{
    const char *text = g->value;
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
            return mkperf_usage_error(g->e, g->command, "%s: no such key in '%s'", g->name, text);
        }
        if (!report_sorts_by(o, (enum report_sort_key)key)) {
            o->key[o->nkeys++] = (enum report_sort_key)key;
        }
        if (text[n] == '\0') {
            return MKPERF_OK;
        }
    }
}

static enum mkperf_status set_graph(struct report_options *o, const struct mkperf_given *g)
{
    if (!g->value || strcmp(g->value, "caller") == 0) {
        o->graph = REPORT_GRAPH_CALLERS;
    } else if (strcmp(g->value, "callee") == 0) {
        o->graph = REPORT_GRAPH_CALLEES;
    } else {
        return mkperf_given_bad(g, "caller or callee");
    }
    return MKPERF_OK;
}

static enum mkperf_status set(void *self, const struct mkperf_given *g)
{
    struct command *c = self;

    switch (g->id) {
    case 's':
        return set_sort(&c->report, g);
    case 'g':
        return set_graph(&c->report, g);
    case OPTION_CHILDREN:
    case OPTION_NO_CHILDREN:
        c->report.children = g->id == OPTION_CHILDREN;
        return MKPERF_OK;
    case OPTION_LIMIT:
        if (mkperf_given_percent(g, &c->report.limit) != MKPERF_OK) {
            return g->e->status;
        }
        c->report.graph_limit = c->report.limit;
        return MKPERF_OK;
    case 'S':
        c->report.symbol = g->value;
        return MKPERF_OK;
    case OPTION_STDIO:
        c->stdio = true;
        return MKPERF_OK;
    case OPTION_INTERACTIONS:
        c->interactions = true;
        return MKPERF_OK;
    case OPTION_DOT:
        c->interactions = c->dot = true;
        return MKPERF_OK;
    case OPTION_CHARGED:
        c->charged = true;
        return MKPERF_OK;
    case 'o':
        c->output = g->value;
        return MKPERF_OK;
    default:
        return mkperf_given_unknown(g);
    }
}

static const struct mkperf_option_group group = {options, set};

static enum mkperf_status print_event(struct mkperf_frames *f, const struct command *c, uint32_t i,
                                      uint64_t *shown, struct mkperf_error *e)
{
    const struct mkperf_profile *p = f->profile;
    struct report_rows rows;
    enum mkperf_status status;

    if (c->charged) {
        *shown += 1;
        report_charged_print(p, i, c->report.limit, stdout);
        return MKPERF_OK;
    }
    mkperf_progress_begin("names of functions");
    status = report_rows_build(&rows, f, &c->report, i, e);
    mkperf_progress_end();
    *shown += rows.n;
    if (status == MKPERF_OK && (rows.n != 0 || !c->report.symbol)) {
        printf("#\n# Samples: %" PRIu64 " of event '%s', period sum %" PRIu64 "\n",
               p->total[i].samples, p->places.session.event[i].name, p->total[i].period);
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

static enum mkperf_status print_report(const struct command *c, struct mkperf_frames *f,
                                       struct mkperf_error *e)
{
    const struct mkperf_profile *p = f->profile;
    enum mkperf_status status = MKPERF_OK;
    uint64_t shown = 0;

    report_head_print(p, c->input, stdout);
    report_filter_print(&p->filter, stdout);
    mkperf_frames_cost(f, stdout);
    mkperf_frames_warn(f, stdout);
    for (uint32_t i = 0; status == MKPERF_OK && i < p->places.session.nevents; i++) {
        if (!c->report.event || strcmp(c->report.event, p->places.session.event[i].name) == 0) {
            status = print_event(f, c, i, &shown, e);
        }
    }
    if (status == MKPERF_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        status = mkperf_error_set(e, MKPERF_ERR_OUTPUT, "standard output: %s", strerror(errno));
    }
    if (status == MKPERF_OK && c->report.symbol && shown == 0) {
        status = mkperf_error_set(e, MKPERF_ERR_USAGE, "%s: no sample hit a function %s%s%s",
                                  c->input, c->report.symbol, c->report.pd ? " in PD " : "",
                                  c->report.pd ? c->report.pd : "");
    }
    return status;
}

static enum mkperf_status run_profile(void *self, const struct mkperf_args *args,
                                      struct mkperf_error *e)
{
    struct command *c = self;
    bool browse = !c->stdio && !c->charged && report_browser_usable();
    struct mkperf_profile p = {.cores = report_sorts_by(&c->report, REPORT_SORT_CORE),
                               .leaves_only = !browse && !c->charged && !c->report.children &&
                                              c->report.graph == REPORT_GRAPH_NONE,
                               .filter = c->filter};
    struct mkperf_frames f;
    bool with_line = report_sorts_by(&c->report, REPORT_SORT_LINE);
    enum mkperf_status status = mkperf_frames_read(&f, &p, c->input, with_line, e);

    (void)args;
    c->report.pd = c->names.pd;
    c->report.event = c->names.event;
    c->report.colour = mkperf_colour_wanted(c->colour, stdout);
    if (status == MKPERF_OK) {
        status = report_check_names(&p, c->input, c->report.pd, c->report.event, e);
    }
    if (status == MKPERF_OK && browse) {
        status = report_browse(&f, &c->report, c->input, e);
    } else if (status == MKPERF_OK) {
        status = print_report(c, &f, e);
    }
    mkperf_frames_close(&f);
    mkperf_profile_free(&p);
    return status;
}

static bool ends_in_dot(const char *name)
{
    size_t n = name != NULL ? strlen(name) : 0;

    return n > 4 && strcmp(name + n - 4, ".dot") == 0;
}

static enum mkperf_status run(void *self, const struct mkperf_args *args, struct mkperf_error *e)
{
    struct command *c = self;

    if (c->output != NULL && !c->interactions) {
        return mkperf_usage_error(e, "report", "-o is for --interactions");
    }
    return c->interactions
               ? report_interactions(c->input, c->dot || ends_in_dot(c->output), c->output, e)
               : run_profile(self, args, e);
}

int mkperf_cmd_report(int argc, char **argv)
{
    struct command c = {
        .input = "perf.data",
        .report = {.key = {REPORT_SORT_PD, REPORT_SORT_SYMBOL}, .nkeys = 2, .graph_limit = 0.5}};

    return mkperf_command_main(&mkperf_report_command, &c, argc, argv, run);
}

const struct mkperf_command mkperf_report_command = {
    .name = "report",
    .summary = "show a profile: who spent the time",
    .synopsis = "[options]",
    .description =
        "A recording as a table. On a terminal the rows can be walked through; its key h shows the "
        "keys. Percentages are of the event's period sum over all PDs, in the samples that --core "
        "and --time select.",
    .options = {{&report_input_options, offsetof(struct command, input)},
                {&group, 0},
                {&report_names_options, offsetof(struct command, names)},
                {&report_filter_options, offsetof(struct command, filter)},
                {&mkperf_colour_options, offsetof(struct command, colour)}},
    .statuses = MKPERF_STATUSES_READ | MKPERF_STATUSES_WRITE,
    .run = mkperf_cmd_report,
};
