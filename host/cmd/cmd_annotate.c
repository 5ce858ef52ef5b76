/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf annotate: the instructions of functions with the shares of samples that hit them.
 *
 * Owns: the command's options and the choice of functions. host/annotate counts, disassembles and prints.
 */
#include "annotate/annotate.h"
#include "cmd.h"
#include "report/report.h"

#include <strings.h>

struct annotate_command {
    struct mkperf_recording recording; /* the first member, as mkperf_recording_free requires */
    const char *input, *symbol;
    double limit;
    enum mkperf_colour colour;
    struct report_names names;
    struct annotate_style style;
};

static const struct mkperf_option annotate_options[] = {
    MKPERF_OPTION('s', "symbol", "the same as SYMBOL", .value = "SYMBOL",
                  MKPERF_TEXT(struct annotate_command, symbol)),
    MKPERF_OPTION(0, "no-source", "no source lines",
                  MKPERF_CLEARS(struct annotate_command, style.source)),
    MKPERF_OPTION(0, "percent-limit", "without SYMBOL: functions of at least N per cent (1)",
                  .value = "N", MKPERF_PER_CENT(struct annotate_command, limit)),
    MKPERF_OPTION(0, "stdio", "accepted for perf's sake: the output is always text",
                  MKPERF_IGNORED),
    {.letter = 0},
};

static enum mkperf_status run_annotate(void *self, const struct mkperf_args *args,
                                       struct mkperf_error *e)
{
    static const char *const out_of_order[] = {
        "Cortex-A57", "Cortex-A72", "Cortex-A73",  "Cortex-A75",  "Cortex-A76",
        "Cortex-A77", "Cortex-A78", "Neoverse-N1", "Neoverse-N2", "Neoverse-V1",
    };
    struct annotate_command *c = self;
    struct mkperf_profile *p = &c->recording.profile;
    struct mkperf_frames *f = &c->recording.frames;
    enum mkperf_status status = MKPERF_OK;

    if (args->n > 0) {
        c->symbol = args->operand[0];
    }
    c->style.colour = mkperf_colour_wanted(c->colour, stdout);
    MKPERF_TRY(mkperf_frames_read(f, p, c->input, false, &c->names, e));
    report_filter_print(&p->filter, stdout);
    report_first_print(&p->totals, stdout);
    mkperf_frames_warn(f, stderr);
    /* An interrupt stops a CPU that executes out of order far behind the instruction of the overflow. In-order CPUs stop within a
     * few instructions (docs/looking.md). */
    const char *cpu = p->places.session.cpu;
    for (size_t i = 0; i < sizeof out_of_order / sizeof *out_of_order; i++) {
        size_t n = strlen(out_of_order[i]); /* a revision can follow the name */
        if (strncasecmp(cpu, out_of_order[i], n) == 0 && (cpu[n] == '\0' || cpu[n] == ' ')) {
            fprintf(stderr,
                    "mkperf annotate: warning: %s executes out of order: shares of single "
                    "instructions are not reliable, those of functions and loops are\n",
                    out_of_order[i]);
        }
    }
    /* Prints the functions of all events that are wanted. */
    struct annotate_choice choice = {.symbol = c->symbol, .pd = c->names.pd};
    struct annotate_sources sources = {.n = 0};
    char near[MKPERF_GUESS_TEXT];
    uint32_t printed = 0;
    for (; choice.event < p->places.session.nevents && status == MKPERF_OK; choice.event++) {
        double least = c->limit * (double)p->total[choice.event].period / 100;
        struct annotate_hits h;

        if (c->names.event &&
            strcmp(c->names.event, p->places.session.event[choice.event].name) != 0) {
            continue;
        }
        annotate_hits_find(&h, f, &choice);
        for (uint32_t i = 0; i < h.nfunctions && status == MKPERF_OK &&
                             (c->symbol || (double)h.function[i].weight.period >= least);
             i++) {
            status = annotate_print(&h, &h.function[i], f, &choice, &c->style, &sources, stdout, e);
            printed++;
        }
        annotate_hits_free(&h);
    }
    annotate_sources_free(&sources);
    MKPERF_FAIL_IF(status == MKPERF_OK && printed == 0, e, MKPERF_ERR_USAGE,
                   "%s: no sample hit a function%s%s%s%s%s", c->input, c->symbol ? " " : "",
                   c->symbol ? c->symbol : "", c->names.pd ? " in PD " : "",
                   c->names.pd ? c->names.pd : "",
                   c->symbol ? mkperf_frames_guess(f, c->symbol, near) : "");
    return status;
}

const struct mkperf_command mkperf_annotate_command = {
    .name = "annotate",
    .summary = "show a function's instructions and their shares",
    .synopsis = "[options] [SYMBOL]",
    .description =
        "The instructions of a function, each with its share of the function's weight, between the "
        "source lines that they are of. Without SYMBOL: of all functions above --percent-limit.\n\n"
        "The kernel's functions are counted for all PDs that entered it, unless --pd names one.",
    .options = {{report_input_options, offsetof(struct annotate_command, input)},
                {annotate_options, 0},
                {report_names_options, offsetof(struct annotate_command, names)},
                {report_filter_options,
                 offsetof(struct annotate_command, recording.profile.filter)},
                {report_elf_options,
                 offsetof(struct annotate_command, recording.profile.places.search)},
                {report_objdump_options,
                 offsetof(struct annotate_command, recording.profile.places.search)},
                {mkperf_colour_options, offsetof(struct annotate_command, colour)}},
    .operands_max = 1,
    .self = MKPERF_SELF(struct annotate_command, .input = "perf.data", .limit = 1,
                        .style = {.source = true}),
    .run = run_annotate,
    .end = mkperf_recording_free,
};
