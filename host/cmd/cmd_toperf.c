/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf toperf: the seL4 profiler's samples.json to perf.data, as the command of that name did it.
 *
 * Owns: its options, which are the old command's and --lenient and --time-hz. A link named toperf
 * to mkperf behaves as this.
 */
#include "cmd.h"
#include "conversion.h"

static const struct mkperf_option options[] = {
    {.id = 's',
     .name = "samples-path",
     MKPERF_TAKES(FILE, "FILE"),
     .help = "samples.json of the seL4 profiler; - is standard input",
     .store = MKPERF_TEXT(struct mkperf_conversion, input)},
    {.id = 'b',
     .name = "build-dir",
     MKPERF_TAKES(DIR, "DIR"),
     .help = "the ELFs that it names, and sample_header.json",
     .store = MKPERF_TEXT(struct mkperf_conversion, in.build_dir)},
    {.id = 'o',
     .name = "output",
     MKPERF_TAKES(FILE, "FILE"),
     .help = "the file to write (perf.data)",
     .store = MKPERF_TEXT(struct mkperf_conversion, out.path)},
    {.id = 'p', .name = "print-summary", .help = "print the samples, one a line"},
    {.name = "lenient",
     .help = "repair or omit invalid data, and report that",
     .store = MKPERF_SETS(struct mkperf_conversion, in.lenient)},
    {.name = "time-hz",
     .value = "N",
     .help = "time is in ticks of this clock, not nanoseconds",
     .store = MKPERF_NUMBER(struct mkperf_conversion, in.time_hz, 1, UINT64_MAX)},
    {.id = 0},
};

static enum mkperf_status set(void *self, const struct mkperf_given *g)
{
    struct mkperf_conversion *c = self;

    (void)g; /* -p */
    c->print = stdout;
    return MKPERF_OK;
}

static const struct mkperf_option_group group = {options, set};

static enum mkperf_status run(void *self, const struct mkperf_args *args, struct mkperf_error *e)
{
    struct mkperf_conversion *c = self;

    (void)args;
    if (c->input == NULL || c->in.build_dir == NULL) {
        return mkperf_usage_error(e, c->command, "--samples-path and --build-dir are needed");
    }
    c->format = mkperf_format_by_name("perf");
    return mkperf_conversion_run(c, e);
}

const struct mkperf_command mkperf_toperf_command = {
    .name = "toperf",
    .summary = "the seL4 profiler's samples.json to perf.data",
    .synopsis = "-s FILE -b DIR [options]",
    .description = "Writes perf.data from what the seL4 profiler's tools left, as the command of "
                   "that name did. A link named toperf to mkperf behaves as this.",
    .options = {{&group, 0}},
    .statuses = MKPERF_STATUSES_READ | MKPERF_STATUSES_WRITE,
    .self = MKPERF_SELF(struct mkperf_conversion, .command = "toperf", .in = {.from = "toperf"},
                        .out = {.path = "perf.data"}),
    .init = mkperf_conversion_init,
    .run = run,
    .end = mkperf_conversion_end,
};
