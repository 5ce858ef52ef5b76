/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf kprof2perf: Akaros' kpdata to perf.data, as the command of that name did it.
 *
 * Owns: its options, which are the old command's and more. A link named kprof2perf to mkperf
 * behaves as this.
 */
#include "cmd.h"
#include "conversion.h"

enum { PRINT_LEVEL = 8 };

static const struct mkperf_option options[] = {
    {.id = 'i',
     .name = "input",
     MKPERF_TAKES(FILE, "FILE"),
     .help = "kpdata (standard input)",
     .store = MKPERF_TEXT(struct mkperf_conversion, input)},
    {.id = 'o',
     .name = "output",
     MKPERF_TAKES(FILE, "FILE"),
     .help = "perf.data (standard output)",
     .store = MKPERF_TEXT(struct mkperf_conversion, out.path)},
    {.id = 'k',
     .name = "kernel",
     MKPERF_TAKES(FILE, "ELF"),
     .help = "the kernel",
     .store = MKPERF_TEXT(struct mkperf_conversion, in.kernel)},
    {.name = "root-dir",
     MKPERF_TAKES(DIR, "DIR"),
     .help = "where the target's files are: programs get names",
     .store = MKPERF_TEXT(struct mkperf_conversion, in.root_dir)},
    {.name = "kprof-era",
     MKPERF_TAKES(WORD, "A|B|C"),
     .words = "A B C",
     .help = "the layout, if it is not to be found out",
     .store = MKPERF_ENUM(struct mkperf_conversion, in.era, MKPERF_KPROF_A, MKPERF_KPROF_AUTO)},
    {.name = "lenient",
     .help = "omit invalid data, and report that",
     .store = MKPERF_SETS(struct mkperf_conversion, in.lenient)},
    {.id = 'D',
     .value = "LEVEL",
     .help = "from %d on: print each sample, to standard error",
     .number = PRINT_LEVEL},
    {.id = 's',
     .value = "SIZE",
     .help = "accepted: there are no memory blocks",
     .store = MKPERF_IGNORED},
    {.id = 0},
};

static enum mkperf_status set(void *self, const struct mkperf_given *g)
{
    struct mkperf_conversion *c = self;
    uint64_t level;

    /* -D */
    if (mkperf_given_number(g, 0, INT32_MAX, &level) != MKPERF_OK) {
        return g->e->status;
    }
    c->print = level >= PRINT_LEVEL ? stderr : NULL;
    return MKPERF_OK;
}

static const struct mkperf_option_group group = {options, set};

static enum mkperf_status run(void *self, const struct mkperf_args *args, struct mkperf_error *e)
{
    struct mkperf_conversion *c = self;

    (void)args;
    c->format = mkperf_format_by_name("perf");
    return mkperf_conversion_run(c, e);
}

const struct mkperf_command mkperf_kprof2perf_command = {
    .name = "kprof2perf",
    .summary = "Akaros' kpdata to perf.data",
    .synopsis = "[options]",
    .description =
        "Writes perf.data from what Akaros' kernel profiler left, as the command of that "
        "name did. A link named kprof2perf to mkperf behaves as this.",
    .options = {{&group, 0}},
    .statuses = MKPERF_STATUSES_READ | MKPERF_STATUSES_WRITE,
    .self = MKPERF_SELF(struct mkperf_conversion, .command = "kprof2perf", .input = "-",
                        .in = {.from = "kprof"}, .out = {.path = "-"}),
    .init = mkperf_conversion_init,
    .run = run,
    .end = mkperf_conversion_end,
};
