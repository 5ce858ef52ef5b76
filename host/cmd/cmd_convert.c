/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf convert: any profile that can be read into any format that can be written. mkperf toperf and mkperf
 * kprof2perf: the options of two older commands of these names, which wrote perf.data.
 *
 * Owns: the options of the three commands. conversion.c does the work. convert finds out formats from names and
 * contents, unless --from and --to name them. A link to mkperf named toperf or kprof2perf behaves as that command.
 */
#include "cmd.h"
#include "conversion.h"

enum { OPTION_TO = 256, PRINT_LEVEL = 8 };

static void put_formats(mkperf_put *put, void *to)
{
    for (size_t i = 0; i < mkperf_nformats; i++) {
        put(to, mkperf_formats[i].name, mkperf_formats[i].help);
    }
}

static void put_suffixes(mkperf_put *put, void *to)
{
    for (size_t i = 0; i < mkperf_nformats; i++) {
        put(to, mkperf_formats[i].name, mkperf_formats[i].suffixes);
    }
}

static const struct mkperf_option output_options[] = {
    MKPERF_OPTION('o', "output", "the file to write; - is standard output",
                  MKPERF_TAKES(FILE, "OUT"), MKPERF_TEXT(struct mkperf_conversion, out.path)),
    MKPERF_OPTION(OPTION_TO, "to", "OUT's format, if its name does not determine it",
                  MKPERF_TAKES(WORD, "FORMAT"), .list = put_formats),
    MKPERF_OPTION('e', "event", "the event of formats that show one (the first)", .value = "NAME",
                  MKPERF_TEXT(struct mkperf_conversion, out.event)),
    MKPERF_OPTION('C', "cpu", "samples of these cores only, as in 0-2,5", .value = "LIST"),
    MKPERF_OPTION(0, "title", "of formats that have one", .value = "TEXT",
                  MKPERF_TEXT(struct mkperf_conversion, out.title)),
    MKPERF_OPTION(0, "no-inline", "inlined functions are part of the function around them",
                  MKPERF_SETS(struct mkperf_conversion, out.no_inlined)),
    MKPERF_OPTION(0, "upward", "flame graph: the root below",
                  MKPERF_SETS(struct mkperf_conversion, out.upward)),
    MKPERF_OPTION(0, "icicle", "accepted: the root is on top",
                  MKPERF_CLEARS(struct mkperf_conversion, out.upward)),
    MKPERF_OPTION(0, "idle", "flame graph: idle, too",
                  MKPERF_SETS(struct mkperf_conversion, out.idle)),
    MKPERF_OPTION(0, "diff", "flame graph, page: compare with this profile, which was before",
                  MKPERF_TAKES(FILE, "OTHER"), MKPERF_TEXT(struct mkperf_conversion, diff)),
    MKPERF_OPTION('q', "quiet", "no summary, no progress",
                  MKPERF_SETS(struct mkperf_conversion, quiet)),
    {.id = 0},
};

static const struct mkperf_option input_options[] = {
    MKPERF_OPTION(0, "from", "IN's format, if its contents do not determine it",
                  MKPERF_TAKES(WORD, "FORMAT"), .list = mkperf_input_help,
                  MKPERF_TEXT(struct mkperf_input, from)),
    MKPERF_OPTION(0, "lenient", "repair or omit invalid data, and report that",
                  MKPERF_SETS(struct mkperf_input, lenient)),
    MKPERF_OPTION(0, "system", "for raw: the .system file, names of PDs",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct mkperf_input, system)),
    MKPERF_OPTION(
        0, "elf-path",
        "directories of the PDs' ELFs; for recordings, if they are no longer at their place",
        MKPERF_TAKES(DIRS, "DIR[:DIR]"), MKPERF_TEXT(struct mkperf_input, elf_path)),
    MKPERF_OPTION(0, "kernel", "for raw and kprof: the kernel's ELF", MKPERF_TAKES(FILE, "ELF"),
                  MKPERF_TEXT(struct mkperf_input, kernel)),
    MKPERF_OPTION(0, "build-dir", "for toperf: the ELFs and sample_header.json",
                  MKPERF_TAKES(DIR, "DIR"), MKPERF_TEXT(struct mkperf_input, build_dir)),
    MKPERF_OPTION(0, "time-hz", "for toperf: time is in ticks of this clock, not nanoseconds",
                  .value = "N", MKPERF_NUMBER(struct mkperf_input, time_hz, 1, UINT64_MAX)),
    MKPERF_OPTION(0, "root-dir", "for kprof: where the target's files are",
                  MKPERF_TAKES(DIR, "DIR"), MKPERF_TEXT(struct mkperf_input, root_dir)),
    MKPERF_OPTION(0, "kprof-era", "for kprof: the layout, if it is not to be found out",
                  MKPERF_TAKES(WORD, "A|B|C"), .words = "A B C",
                  MKPERF_ENUM(struct mkperf_input, era, MKPERF_KPROF_A, MKPERF_KPROF_AUTO)),
    {.id = 0},
};

static enum mkperf_status set_output(void *self, const struct mkperf_given *g)
{
    struct mkperf_conversion *c = self;

    switch (g->id) {
    case OPTION_TO:
        c->format = mkperf_format_by_name(g->value);
        return c->format != NULL ? MKPERF_OK : mkperf_given_bad(g, "a format of the list");
    case 'C':
        return mkperf_given_cpus(g, MKPERF_CPU_LIST_MAX, &c->cores);
    default:
        return mkperf_given_unknown(g);
    }
}

static const struct mkperf_option_group input_group = {input_options, NULL};
static const struct mkperf_option_group output_group = {output_options, set_output};

static enum mkperf_status run_convert(void *self, const struct mkperf_args *args,
                                      struct mkperf_error *e)
{
    struct mkperf_conversion *c = self;

    c->input = args->operand[0];
    if (c->out.path == NULL) {
        return mkperf_usage_error(e, c->command, "-o OUT is missing");
    }
    c->format = c->format != NULL ? c->format : mkperf_format_by_path(c->out.path);
    return c->format != NULL
               ? mkperf_conversion_run(c, e)
               : mkperf_usage_error(e, c->command,
                                    "--to is needed: the name '%s' determines no format",
                                    c->out.path);
}

const struct mkperf_command mkperf_convert_command = {
    .name = "convert",
    .summary = "write a profile in another format: flame graph, pprof, ...",
    .synopsis = "[options] IN -o OUT",
    .description = "Reads IN, whatever of the formats below it is, and writes OUT. An older OUT is "
                   "replaced only by a whole new one.",
    .options = {{&output_group, 0},
                {&input_group, offsetof(struct mkperf_conversion, in)},
                {&report_symfs_options, offsetof(struct mkperf_conversion, out.elfs)}},
    .operand = MKPERF_VALUE_FILE,
    .operands_min = 1,
    .operands_max = 1,
    .sections = {{.title = "Input formats", .list = mkperf_input_help},
                 {.title = "Output formats", .list = put_formats},
                 {.title = "Names that determine the output format", .list = put_suffixes}},
    .examples = "mkperf convert perf.data -o flame.svg\n"
                "mkperf convert perf.data -o profile.html\n"
                "mkperf convert perf.data -o profile.pb.gz\n"
                "mkperf convert samples.json --build-dir build -o perf.data\n"
                "mkperf convert new.data --diff old.data -o diff.svg",
    .statuses = MKPERF_STATUSES_READ | MKPERF_STATUSES_WRITE,
    .self = MKPERF_SELF(struct mkperf_conversion, .command = "convert"),
    .init = mkperf_conversion_init,
    .run = run_convert,
    .end = mkperf_conversion_end,
};

/* The samples.json of the seL4 profiler to perf.data: the options of the older command, --lenient and --time-hz. */
static const struct mkperf_option toperf_options[] = {
    MKPERF_OPTION('s', "samples-path", "samples.json of the seL4 profiler; - is standard input",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct mkperf_conversion, input)),
    MKPERF_OPTION('b', "build-dir", "the ELFs that it names, and sample_header.json",
                  MKPERF_TAKES(DIR, "DIR"), MKPERF_TEXT(struct mkperf_conversion, in.build_dir)),
    MKPERF_OPTION('o', "output", "the file to write (perf.data)", MKPERF_TAKES(FILE, "FILE"),
                  MKPERF_TEXT(struct mkperf_conversion, out.path)),
    MKPERF_OPTION('p', "print-summary", "print the samples, one per line"),
    MKPERF_OPTION(0, "lenient", "repair or omit invalid data, and report that",
                  MKPERF_SETS(struct mkperf_conversion, in.lenient)),
    MKPERF_OPTION(0, "time-hz", "time is in ticks of this clock, not nanoseconds", .value = "N",
                  MKPERF_NUMBER(struct mkperf_conversion, in.time_hz, 1, UINT64_MAX)),
    {.id = 0},
};

static enum mkperf_status set_print(void *self, const struct mkperf_given *g)
{
    struct mkperf_conversion *c = self;

    (void)g; /* -p is the only option without a `store` */
    c->print = stdout;
    return MKPERF_OK;
}

static const struct mkperf_option_group toperf_group = {toperf_options, set_print};

static enum mkperf_status run_toperf(void *self, const struct mkperf_args *args,
                                     struct mkperf_error *e)
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
    .options = {{&toperf_group, 0}},
    .statuses = MKPERF_STATUSES_READ | MKPERF_STATUSES_WRITE,
    .self = MKPERF_SELF(struct mkperf_conversion, .command = "toperf", .in = {.from = "toperf"},
                        .out = {.path = "perf.data"}),
    .init = mkperf_conversion_init,
    .run = run_toperf,
    .end = mkperf_conversion_end,
};

/* The kpdata of Akaros to perf.data: the options of the older command, and more. */
static const struct mkperf_option kprof2perf_options[] = {
    MKPERF_OPTION('i', "input", "kpdata (standard input)", MKPERF_TAKES(FILE, "FILE"),
                  MKPERF_TEXT(struct mkperf_conversion, input)),
    MKPERF_OPTION('o', "output", "perf.data (standard output)", MKPERF_TAKES(FILE, "FILE"),
                  MKPERF_TEXT(struct mkperf_conversion, out.path)),
    MKPERF_OPTION('k', "kernel", "the kernel", MKPERF_TAKES(FILE, "ELF"),
                  MKPERF_TEXT(struct mkperf_conversion, in.kernel)),
    MKPERF_OPTION(0, "root-dir", "where the target's files are: programs get names",
                  MKPERF_TAKES(DIR, "DIR"), MKPERF_TEXT(struct mkperf_conversion, in.root_dir)),
    MKPERF_OPTION(0, "kprof-era", "the layout, if it is not to be found out",
                  MKPERF_TAKES(WORD, "A|B|C"), .words = "A B C",
                  MKPERF_ENUM(struct mkperf_conversion, in.era, MKPERF_KPROF_A, MKPERF_KPROF_AUTO)),
    MKPERF_OPTION(0, "lenient", "omit invalid data, and report that",
                  MKPERF_SETS(struct mkperf_conversion, in.lenient)),
    MKPERF_OPTION('D', NULL, "from %d on: print each sample, to standard error", .value = "LEVEL",
                  .number = PRINT_LEVEL),
    MKPERF_OPTION('s', NULL, "accepted: there are no memory blocks", .value = "SIZE",
                  MKPERF_IGNORED),
    {.id = 0},
};

static enum mkperf_status set_print_level(void *self, const struct mkperf_given *g)
{
    struct mkperf_conversion *c = self;
    uint64_t level; /* of -D, the only option without a `store` */

    if (mkperf_given_number(g, 0, INT32_MAX, &level) != MKPERF_OK) {
        return g->e->status;
    }
    c->print = level >= PRINT_LEVEL ? stderr : NULL;
    return MKPERF_OK;
}

static const struct mkperf_option_group kprof2perf_group = {kprof2perf_options, set_print_level};

static enum mkperf_status run_kprof2perf(void *self, const struct mkperf_args *args,
                                         struct mkperf_error *e)
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
    .options = {{&kprof2perf_group, 0}},
    .statuses = MKPERF_STATUSES_READ | MKPERF_STATUSES_WRITE,
    .self = MKPERF_SELF(struct mkperf_conversion, .command = "kprof2perf", .input = "-",
                        .in = {.from = "kprof"}, .out = {.path = "-"}),
    .init = mkperf_conversion_init,
    .run = run_kprof2perf,
    .end = mkperf_conversion_end,
};
