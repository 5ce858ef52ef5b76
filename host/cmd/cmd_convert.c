/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf convert: any profile that can be read into any format that can be written. mkperf toperf and mkperf
 * kprof2perf: the options of two older commands of these names, which wrote perf.data.
 *
 *     mkperf_input_read ──► only_cores ──► passing ──► the format's sink
 *
 * Owns: the options of the three commands, the order of the steps, so that invalid input never destroys an older output, the
 * messages, and the summary. convert finds out formats from names and contents, unless --from and --to name
 * them. A link to mkperf named toperf or kprof2perf behaves as that command.
 */

#include "cmd.h"
#include "export/formats.h"
#include "model/relays.h"

enum { PRINT_LEVEL = 8 };

struct conversion {
    const char *command; /* the name of the command, for messages */
    const char *input;
    const char *diff; /* another input to compare with, or NULL */
    const struct mkperf_format *format;
    bool summary;   /* toperf: each sample is printed */
    uint64_t level; /* kprof2perf: from PRINT_LEVEL on, each sample is printed */
    FILE *print;    /* where each sample is printed, one per line; NULL: nowhere */
    struct mkperf_cpu_list cores;
    bool quiet; /* prints no summary and no progress */
    struct mkperf_input in;
    struct mkperf_export out;
};

/* ---- the conversion ---- */

static void print_input_warning(void *self, const char *text)
{
    mkperf_print_line(stderr, "mkperf %s: warning: %s", ((const struct conversion *)self)->command,
                      text);
}

/* Prints a warning of the output's writer, also with --quiet. A note is printed only without --quiet, and only if the format has no
 * place for it. */
static void print_writer_warning(void *self, enum mkperf_warning_level level, const char *text)
{
    const struct conversion *c = self;

    if (level != MKPERF_NOTE || (c->format->bare && !c->quiet)) {
        mkperf_print_line(stderr, "mkperf %s: %s: %s", c->command, mkperf_warning_names[level],
                          text);
    }
}

static void begin_progress(const struct conversion *c, const char *path)
{
    if (!c->quiet && c->print == NULL) {
        mkperf_progress_begin(strcmp(path, "-") == 0 ? "standard input" : path);
    }
}

/* Reads an input, or answers from a snapshot. profile: all that the sink collects; NULL: the sink
 * collects more, so that no snapshot is used. */
static enum mkperf_status ask_input(const struct conversion *c, const char *path,
                                    struct mkperf_profile *profile, const struct mkperf_sink *sink,
                                    const struct mkperf_input *in, struct mkperf_error *e)
{
    struct mkperf_question question = {.text = NULL};

    if (profile != NULL && !c->cores.given && !profile->times) {
        profile->wide = mkperf_input_keeps(path, in->from);
        question = mkperf_profile_question(profile);
    }
    (void)mkperf_input_ask(path, in, sink, &question, e);
    free((char *)question.text);
    return e->status;
}

/* A sink in front of the output. It passes everything on, prints samples if the user wants that, and keeps the totals. */
struct passing {
    struct mkperf_sink to;
    const struct conversion *c;
    struct mkperf_places places;
    struct mkperf_totals totals;
};

static enum mkperf_status print_sample(const struct passing *p, const struct mkperf_sample *s,
                                       struct mkperf_error *e)
{
    FILE *out = p->c->print;
    bool kernel = s->flags & MKPERF_SAMPLE_KERNEL;

    fprintf(out, "%s: time %" PRIu64 " cpu %" PRIu32 " period %" PRIu64 " %s 0x%" PRIx64,
            mkperf_places_pd_name(&p->places, s->pd), s->time_ns, s->core, s->period,
            kernel ? "kernel" : "ip", kernel ? s->kernel_pc : s->pc);
    for (unsigned i = 0; i < s->callers->n; i++) {
        fprintf(out, " < 0x%" PRIx64, s->callers->caller[i].addr);
    }
    MKPERF_FAIL_IF(fputc('\n', out) == EOF || ferror(out), e, MKPERF_ERR_OUTPUT,
                   "the summary cannot be printed");
    return MKPERF_OK;
}

static enum mkperf_status pass(void *self, const struct mkperf_item *item, struct mkperf_error *e)
{
    struct passing *p = self;

    MKPERF_FAIL_IF(item->kind == MKPERF_ITEM_BEGIN && p->c->format->sched && !item->session->sched,
                   e, MKPERF_ERR_INPUT,
                   "this format shows scheduling events, and none were recorded "
                   "(mkperf record --sched)");
    MKPERF_TRY(mkperf_places_take(&p->places, item, e));
    if (item->kind == MKPERF_ITEM_SAMPLE && p->c->print != NULL) {
        MKPERF_TRY(print_sample(p, item->sample, e));
    } else if (item->kind == MKPERF_ITEM_END) {
        p->totals = *item->totals;
        mkperf_places_warnings(&p->places, item->totals, print_writer_warning,
                               (void *)(uintptr_t)p->c);
    }
    return mkperf_sink_put(&p->to, item, e);
}

static enum mkperf_status write_output(struct conversion *c, struct mkperf_error *e)
{
    struct mkperf_output output;

    MKPERF_TRY(mkperf_format_open(c->format, &c->out, &output, e));
    struct passing p = {.to = output.sink, .c = c, .places = {.no_elfs = true}};
    const struct mkperf_totals *t = &p.totals;
    struct mkperf_only_cores only = {.to = {.take = pass, .self = &p, .every_pd = p.to.every_pd},
                                     .cores = c->cores};
    struct mkperf_sink sink = mkperf_only_cores_sink(&only);
    begin_progress(c, c->input);
    enum mkperf_status status =
        ask_input(c, c->input, c->print == NULL ? output.profile : NULL, &sink, &c->in, e);
    mkperf_progress_end();
    mkperf_output_free(&output);
    if (status == MKPERF_OK && !c->quiet) {
        char path[MKPERF_PRINTABLE_PATH];

        fprintf(stderr, "mkperf %s: %s: %" PRIu64 " sample%s", c->command,
                mkperf_printable_copy(c->out.path, path, sizeof path), t->samples,
                mkperf_plural(t->samples));
        if (t->sched_events != 0) {
            fprintf(stderr, ", %" PRIu64 " scheduling event%s", t->sched_events,
                    mkperf_plural(t->sched_events));
        }
        for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
            if (t->lost[i] > 0) {
                fprintf(stderr, ", lost %s %" PRIu64, mkperf_loss_places[i].key, t->lost[i]);
            }
        }
        fputs(mkperf_lost_sum(t->lost) == 0 && !t->cut ? ", none known to be lost\n" : "\n",
              stderr);
    } else if (status != MKPERF_OK && strcmp(c->out.path, "-") != 0) {
        char *partial = mkperf_xprintf("%s.partial", c->out.path);
        unlink(partial); /* the writer of perf.data leaves this file for mkperf recover */
        free(partial);
    }
    mkperf_places_free(&p.places);
    return status;
}

static enum mkperf_status run_conversion(struct conversion *c, const struct mkperf_args *args,
                                         struct mkperf_error *e)
{
    struct mkperf_profile base = {.cores = false};
    bool page = strcmp(c->format->name, "html") == 0;

    MKPERF_FAIL_IF(c->diff != NULL && !page && strcmp(c->format->name, "flamegraph") != 0, e,
                   MKPERF_ERR_USAGE, "--diff is for flame graphs and pages");
    c->out.input = strcmp(c->input, "-") == 0 ? "standard input" : c->input;
    c->out.elfs.elf_path = c->in.pds.elf_path;
    c->in.command = args->line;
    c->in.pds.warn = print_input_warning;
    c->in.pds.self = c;
    c->out.warnings = stderr;
    enum mkperf_status status = MKPERF_OK;
    if (c->diff != NULL) {
        /* Reads the profile to compare with. */
        struct mkperf_only_cores only = {.to = mkperf_profile_sink(&base), .cores = c->cores};
        struct mkperf_sink sink = mkperf_only_cores_sink(&only);
        struct mkperf_input in = c->in;
        in.from = NULL;
        base.places.search = c->out.elfs;
        base.places.inlined = !c->out.no_inlined;
        base.cores = base.times = page;
        c->out.base = &base;
        c->out.base_name = c->diff;
        begin_progress(c, c->diff);
        status = ask_input(c, c->diff, &base, &sink, &in, e);
        if (status == MKPERF_OK) {
            mkperf_profile_warnings(&base, print_writer_warning, c);
        }
    }
    if (status == MKPERF_OK) {
        status = write_output(c, e);
    }
    mkperf_progress_end();
    mkperf_profile_free(&base);
    return status;
}

/* ---- options ---- */

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

/* Returns what a message adds for CSV, a format that mkperf does not write. `name` is a format or a
 * file. */
static const char *instead_of(const char *name)
{
    size_t n = strlen(name);

    return n >= 3 && strcmp(name + n - 3, "csv") == 0
               ? " (jsonl has all that csv had; docs/formats.md makes a table of it)"
               : "";
}

static enum mkperf_status take_format(void *member, const struct mkperf_given *g)
{
    const struct mkperf_format **format = member;

    char *list = mkperf_xstrdup("");

    *format = mkperf_format_by_name(g->value);
    for (size_t i = 0; *format == NULL && i < mkperf_nformats; i++) {
        char *longer = mkperf_xprintf("%s%s%s", list, i > 0 ? ", " : "", mkperf_formats[i].name);
        free(list);
        list = longer;
    }
    if (*format == NULL) {
        mkperf_usage_error(g->e, g->command, "%s: no format '%s'%s, there are %s", g->name,
                           g->value, instead_of(g->value), list);
    }
    free(list);
    return *format != NULL ? MKPERF_OK : MKPERF_ERR_USAGE;
}

static const struct mkperf_option output_options[] = {
    MKPERF_OPTION('o', "output", "the file to write; - is standard output",
                  MKPERF_TAKES(FILE, "OUT"), MKPERF_TEXT(struct conversion, out.path)),
    MKPERF_OPTION(0, "to", "OUT's format, if its name does not determine it",
                  MKPERF_TAKES(WORD, "FORMAT"), .list = put_formats,
                  MKPERF_TAKEN(take_format, struct conversion, format)),
    MKPERF_OPTION('e', "event", "the event of formats that show one (the first)", .value = "NAME",
                  MKPERF_TEXT(struct conversion, out.event)),
    MKPERF_OPTION('C', "cpu", "samples of these cores only, as in 0-2,5", .value = "LIST",
                  MKPERF_TAKEN(mkperf_take_cpus, struct conversion, cores)),
    MKPERF_OPTION(0, "title", "of formats that have one", .value = "TEXT",
                  MKPERF_TEXT(struct conversion, out.title)),
    MKPERF_OPTION(0, "no-inline", "inlined functions are part of the function around them",
                  MKPERF_SETS(struct conversion, out.no_inlined)),
    MKPERF_OPTION(0, "upward", "flame graph: the root below",
                  MKPERF_SETS(struct conversion, out.upward)),
    MKPERF_OPTION(0, "icicle", "accepted: the root is on top",
                  MKPERF_CLEARS(struct conversion, out.upward)),
    MKPERF_OPTION(0, "idle", "flame graph: idle, too", MKPERF_SETS(struct conversion, out.idle)),
    MKPERF_OPTION(0, "diff", "flame graph, page: compare with this profile, which was before",
                  MKPERF_TAKES(FILE, "OTHER"), MKPERF_TEXT(struct conversion, diff)),
    MKPERF_OPTION('q', "quiet", "no summary, no progress", MKPERF_SETS(struct conversion, quiet)),
    {.letter = 0},
};

static const struct mkperf_option input_options[] = {
    MKPERF_OPTION(0, "from", "IN's format, if its contents do not determine it",
                  MKPERF_TAKES(WORD, "FORMAT"), .list = mkperf_input_help,
                  MKPERF_TEXT(struct mkperf_input, from)),
    MKPERF_OPTION(0, "lenient", "repair or omit invalid data, and report that",
                  MKPERF_SETS(struct mkperf_input, lenient)),
    MKPERF_OPTION(0, "system", "for raw: the .system file, names of PDs",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct mkperf_input, pds.system)),
    MKPERF_OPTION(
        0, "elf-path",
        "directories of the PDs' ELFs; for recordings, if they are no longer at their place",
        MKPERF_TAKES(DIRS, "DIR[:DIR]"), MKPERF_TEXT(struct mkperf_input, pds.elf_path)),
    MKPERF_OPTION(0, "kernel", "for raw and kprof: the kernel's ELF", MKPERF_TAKES(FILE, "ELF"),
                  MKPERF_TEXT(struct mkperf_input, pds.kernel)),
    MKPERF_OPTION(0, "build-dir", "for toperf: the ELFs and sample_header.json",
                  MKPERF_TAKES(DIR, "DIR"), MKPERF_TEXT(struct mkperf_input, build_dir)),
    MKPERF_OPTION(0, "time-hz", "for toperf: time is in ticks of this clock, not nanoseconds",
                  .value = "N", MKPERF_NUMBER(struct mkperf_input, time_hz, 1, UINT64_MAX)),
    MKPERF_OPTION(0, "root-dir", "for kprof: where the target's files are",
                  MKPERF_TAKES(DIR, "DIR"), MKPERF_TEXT(struct mkperf_input, root_dir)),
    MKPERF_OPTION(0, "kprof-era", "for kprof: the layout, if it is not to be found out",
                  MKPERF_TAKES(WORD, "A|B|C"), .words = "A B C",
                  MKPERF_ENUM(struct mkperf_input, era, MKPERF_KPROF_A, MKPERF_KPROF_AUTO)),
    {.letter = 0},
};

static enum mkperf_status run_convert(void *self, const struct mkperf_args *args,
                                      struct mkperf_error *e)
{
    struct conversion *c = self;

    c->input = args->operand[0];
    MKPERF_TRY(MKPERF_RULES(e, c->command, {c->out.path == NULL, "-o OUT is missing"}));
    c->format = c->format != NULL ? c->format : mkperf_format_by_path(c->out.path);
    return c->format != NULL
               ? run_conversion(c, args, e)
               : mkperf_usage_error(e, c->command,
                                    "--to is needed: the name '%s' determines no format%s",
                                    c->out.path, instead_of(c->out.path));
}

const struct mkperf_command mkperf_convert_command = {
    .name = "convert",
    .summary = "write a profile in another format: flame graph, pprof, ...",
    .synopsis = "[options] IN -o OUT",
    .description = "Reads IN, whatever of the formats below it is, and writes OUT. An older OUT is "
                   "replaced only by a whole new one.",
    .options = {{output_options, 0},
                {input_options, offsetof(struct conversion, in)},
                {report_symfs_options, offsetof(struct conversion, out.elfs)}},
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
    .self = MKPERF_SELF(struct conversion, .command = "convert"),
    .run = run_convert,
};

/* The samples.json of the seL4 profiler to perf.data: the options of the older command, --lenient and --time-hz. */
static const struct mkperf_option toperf_options[] = {
    MKPERF_OPTION('s', "samples-path", "samples.json of the seL4 profiler; - is standard input",
                  MKPERF_TAKES(FILE, "FILE"), MKPERF_TEXT(struct conversion, input)),
    MKPERF_OPTION('b', "build-dir", "the ELFs that it names, and sample_header.json",
                  MKPERF_TAKES(DIR, "DIR"), MKPERF_TEXT(struct conversion, in.build_dir)),
    MKPERF_OPTION('o', "output", "the file to write (perf.data)", MKPERF_TAKES(FILE, "FILE"),
                  MKPERF_TEXT(struct conversion, out.path)),
    MKPERF_OPTION('p', "print-summary", "print the samples, one per line",
                  MKPERF_SETS(struct conversion, summary)),
    MKPERF_OPTION(0, "lenient", "repair or omit invalid data, and report that",
                  MKPERF_SETS(struct conversion, in.lenient)),
    MKPERF_OPTION(0, "time-hz", "time is in ticks of this clock, not nanoseconds", .value = "N",
                  MKPERF_NUMBER(struct conversion, in.time_hz, 1, UINT64_MAX)),
    {.letter = 0},
};

/* Runs toperf or kprof2perf, which take the options of the commands that they replace, and write
 * perf.data. */
static enum mkperf_status run_replacement(void *self, const struct mkperf_args *args,
                                          struct mkperf_error *e)
{
    struct conversion *c = self;

    bool toperf = strcmp(c->in.from, "toperf") == 0;
    MKPERF_TRY(MKPERF_RULES(e, c->command,
                            {toperf && (c->input == NULL || c->in.build_dir == NULL),
                             "--samples-path and --build-dir are needed"}));
    c->format = mkperf_format_by_name("perf");
    c->print = c->summary ? stdout : c->level >= PRINT_LEVEL ? stderr : NULL;
    return run_conversion(c, args, e);
}

const struct mkperf_command mkperf_toperf_command = {
    .name = "toperf",
    .summary = "the seL4 profiler's samples.json to perf.data",
    .synopsis = "-s FILE -b DIR [options]",
    .description = "Writes perf.data from what the seL4 profiler's tools left, as the command of "
                   "that name did. A link named toperf to mkperf behaves as this.",
    .options = {{toperf_options, 0}},
    .self = MKPERF_SELF(struct conversion, .command = "toperf", .in = {.from = "toperf"},
                        .out = {.path = "perf.data"}),
    .run = run_replacement,
};

/* The kpdata of Akaros to perf.data: the options of the older command, and more. */
static const struct mkperf_option kprof2perf_options[] = {
    MKPERF_OPTION('i', "input", "kpdata (standard input)", MKPERF_TAKES(FILE, "FILE"),
                  MKPERF_TEXT(struct conversion, input)),
    MKPERF_OPTION('o', "output", "perf.data (standard output)", MKPERF_TAKES(FILE, "FILE"),
                  MKPERF_TEXT(struct conversion, out.path)),
    MKPERF_OPTION('k', "kernel", "the kernel", MKPERF_TAKES(FILE, "ELF"),
                  MKPERF_TEXT(struct conversion, in.pds.kernel)),
    MKPERF_OPTION(0, "root-dir", "where the target's files are: programs get names",
                  MKPERF_TAKES(DIR, "DIR"), MKPERF_TEXT(struct conversion, in.root_dir)),
    MKPERF_OPTION(0, "kprof-era", "the layout, if it is not to be found out",
                  MKPERF_TAKES(WORD, "A|B|C"), .words = "A B C",
                  MKPERF_ENUM(struct conversion, in.era, MKPERF_KPROF_A, MKPERF_KPROF_AUTO)),
    MKPERF_OPTION(0, "lenient", "omit invalid data, and report that",
                  MKPERF_SETS(struct conversion, in.lenient)),
    MKPERF_OPTION('D', NULL, "from %d on: print each sample, to standard error", .value = "LEVEL",
                  .number = PRINT_LEVEL, MKPERF_NUMBER(struct conversion, level, 0, INT32_MAX)),
    MKPERF_OPTION('s', NULL, "accepted: there are no memory blocks", .value = "SIZE",
                  MKPERF_IGNORED),
    {.letter = 0},
};

const struct mkperf_command mkperf_kprof2perf_command = {
    .name = "kprof2perf",
    .summary = "Akaros' kpdata to perf.data",
    .synopsis = "[options]",
    .description =
        "Writes perf.data from what Akaros' kernel profiler left, as the command of that "
        "name did. A link named kprof2perf to mkperf behaves as this.",
    .options = {{kprof2perf_options, 0}},
    .self = MKPERF_SELF(struct conversion, .command = "kprof2perf", .input = "-",
                        .in = {.from = "kprof"}, .out = {.path = "-"}),
    .run = run_replacement,
};
