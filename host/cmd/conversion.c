/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the steps of a conversion, its messages, and the counts for its summary; see conversion.h.
 *
 *     mkperf_input_read ──► only_cores ──► tally ──► the format's sink
 */
#include "conversion.h"

#include <unistd.h>

#include "base/process.h"
#include "model/figures.h"
#include "model/relays.h"

static void print_input_warning(void *self, const char *text)
{
    const struct mkperf_conversion *c = self;

    mkperf_progress_clear();
    mkperf_print_line(stderr, "mkperf %s: warning: %s", c->command, text);
}

/* Warnings are printed for every format, also with --quiet. Notes are printed only if the format has no place for them. */
static void print_warning(void *self, enum mkperf_warning_level level, const char *text)
{
    const struct mkperf_conversion *c = self;

    if (level != MKPERF_NOTE || (c->format->bare && !c->quiet)) {
        mkperf_progress_clear();
        mkperf_print_line(stderr, "mkperf %s: %s: %s", c->command, mkperf_warning_names[level],
                          text);
    }
}

static void begin_progress(const struct mkperf_conversion *c, const char *path)
{
    if (!c->quiet && c->print == NULL) {
        mkperf_progress_begin(strcmp(path, "-") == 0 ? "standard input" : path);
    }
}

/* Clears the progress line before a warning of a sink is printed. */
static ssize_t write_warning(void *self, const char *p, size_t n)
{
    (void)self;
    mkperf_progress_clear();
    return (ssize_t)fwrite(p, 1, n, stderr);
}

static FILE *open_warnings(void)
{
    FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_warning});

    if (f != NULL) {
        setvbuf(f, NULL, _IOLBF, 0);
    }
    return f;
}

/* Reads the profile to compare with, if there is one. */
static enum mkperf_status read_base(struct mkperf_conversion *c, struct mkperf_profile *base,
                                    struct mkperf_error *e)
{
    struct mkperf_only_cores only = {.to = {.ops = &mkperf_profile_ops, .self = base},
                                     .cores = c->cores};
    struct mkperf_sink sink = mkperf_only_cores_sink(&only);
    struct mkperf_input in = c->in;

    if (c->diff == NULL) {
        return MKPERF_OK;
    }
    bool page = strcmp(c->format->name, "html") == 0;
    if (!page && strcmp(c->format->name, "flamegraph") != 0) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "--diff is for flame graphs and pages");
    }
    in.from = NULL;
    base->places.search = c->out.elfs;
    base->places.inlined = !page && !c->out.no_inlined;
    base->cores = base->times = page;
    c->out.base = base;
    c->out.base_name = c->diff;
    begin_progress(c, c->diff);
    if (mkperf_input_read(c->diff, &in, &sink, e) == MKPERF_OK) {
        mkperf_profile_warnings(base, print_warning, c);
    }
    return e->status;
}

/* A sink in front of the output: it passes everything on, and counts and prints what passes. */
struct tally {
    struct mkperf_sink to; /* first, because this sink relays */
    const struct mkperf_conversion *c;
    struct export_kept kept;
    bool cut; /* as in struct mkperf_totals */
    uint64_t sched_events, samples, lost[MKPERF_LOST_PLACES];
};

static enum mkperf_status tally_begin(void *self, const struct mkperf_session *session,
                                      struct mkperf_error *e)
{
    struct tally *t = self;

    export_kept_session(&t->kept, session);
    return mkperf_sink_begin(&t->to, session, e);
}

static enum mkperf_status tally_events(void *self, const struct mkperf_session *session,
                                       struct mkperf_error *e)
{
    struct tally *t = self;

    export_kept_events(&t->kept, session);
    return mkperf_sink_events(&t->to, session, e);
}

static enum mkperf_status tally_pd(void *self, const struct mkperf_pd *pd, struct mkperf_error *e)
{
    struct tally *t = self;

    export_kept_pd(&t->kept, pd);
    return mkperf_sink_pd(&t->to, pd, e);
}

static enum mkperf_status tally_sample(void *self, const struct mkperf_sample *s,
                                       struct mkperf_error *e)
{
    struct tally *t = self;
    FILE *out = t->c->print;
    bool kernel = s->flags & MKPERF_SAMPLE_KERNEL;

    t->samples++;
    if (out != NULL) {
        fprintf(out, "%s: time %" PRIu64 " cpu %" PRIu32 " period %" PRIu64 " %s 0x%" PRIx64,
                export_kept_name(&t->kept, s->pd), s->time_ns, s->core, s->period,
                kernel ? "kernel" : "ip", kernel ? s->kernel_pc : s->pc);
        for (unsigned i = 0; i < s->callers->n; i++) {
            fprintf(out, " < 0x%" PRIx64, s->callers->caller[i].addr);
        }
        if (fputc('\n', out) == EOF || ferror(out)) {
            return mkperf_error_set(e, MKPERF_ERR_OUTPUT, "the summary cannot be printed");
        }
    }
    return mkperf_sink_sample(&t->to, s, e);
}

static enum mkperf_status tally_sched(void *self, const struct mkperf_sched *s,
                                      struct mkperf_error *e)
{
    struct tally *t = self;

    t->sched_events += s->kind != MKPERF_SCHED_GAP;
    return mkperf_sink_sched(&t->to, s, e);
}

static enum mkperf_status tally_lost(void *self, const struct mkperf_lost *l,
                                     struct mkperf_error *e)
{
    struct tally *t = self;

    if (l->where < MKPERF_LOST_PLACES) {
        t->lost[l->where] += l->samples;
    }
    return mkperf_sink_lost(&t->to, l, e);
}

/* The totals and the reports of losses count the same samples, and either may be incomplete: the larger one is used. */
static enum mkperf_status tally_end(void *self, const struct mkperf_totals *totals,
                                    struct mkperf_error *e)
{
    struct tally *t = self;
    struct mkperf_totals all = *totals;

    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        t->lost[i] = t->lost[i] > totals->lost[i] ? t->lost[i] : totals->lost[i];
        all.lost[i] = t->lost[i];
    }
    t->cut = totals->cut;
    export_kept_warnings(&t->kept, &all, print_warning, (void *)(uintptr_t)t->c);
    return mkperf_sink_end(&t->to, totals, e);
}

static struct mkperf_sink tally_sink(struct tally *t)
{
    static const struct mkperf_sink_ops ops = {
        .name = "tally",
        .reads = true,
        .relays = true,
        .begin = tally_begin,
        .pd = tally_pd,
        .events = tally_events,
        .sample = tally_sample,
        .sched = tally_sched,
        .lost = tally_lost,
        .end = tally_end,
    };

    return (struct mkperf_sink){.ops = &ops, .self = t, .every_pd = t->to.every_pd};
}

static void print_summary(const struct tally *t)
{
    const struct mkperf_conversion *c = t->c;
    char path[MKPERF_PRINTABLE_PATH];

    fprintf(stderr, "mkperf %s: %s: %" PRIu64 " samples", c->command,
            mkperf_printable_copy(c->out.path, path, sizeof path), t->samples);
    if (t->sched_events != 0) {
        fprintf(stderr, ", %" PRIu64 " scheduling events", t->sched_events);
    }
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        if (t->lost[i] > 0) {
            fprintf(stderr, ", lost %s %" PRIu64, mkperf_loss_places[i].key, t->lost[i]);
        }
    }
    fprintf(stderr, mkperf_lost_sum(t->lost) == 0 && !t->cut ? ", none known to be lost\n" : "\n");
}

static enum mkperf_status write_output(struct mkperf_conversion *c, struct mkperf_error *e)
{
    struct mkperf_output output;

    if (mkperf_format_open(c->format, &c->out, &output, e) != MKPERF_OK) {
        return e->status;
    }
    struct tally tally = {.to = output.sink, .c = c};
    struct mkperf_only_cores only = {.to = tally_sink(&tally), .cores = c->cores};
    struct mkperf_sink sink = mkperf_only_cores_sink(&only);
    begin_progress(c, c->input);
    enum mkperf_status status = mkperf_input_read(c->input, &c->in, &sink, e);
    mkperf_progress_end();
    mkperf_output_free(&output);
    if (status == MKPERF_OK && !c->quiet) {
        print_summary(&tally);
    } else if (status != MKPERF_OK && strcmp(c->out.path, "-") != 0) {
        char *partial = mkperf_xprintf("%s.partial", c->out.path);
        unlink(partial); /* the writer of perf.data leaves this file for mkperf recover */
        free(partial);
    }
    export_kept_free(&tally.kept);
    return status;
}

enum mkperf_status mkperf_conversion_run(struct mkperf_conversion *c, struct mkperf_error *e)
{
    struct mkperf_profile base = {.cores = false};

    c->out.input = strcmp(c->input, "-") == 0 ? "standard input" : c->input;
    c->out.elfs.elf_path = c->in.elf_path;
    c->in.warn = print_input_warning;
    c->in.self = c;
    c->out.warnings = open_warnings();
    enum mkperf_status status = read_base(c, &base, e);
    if (status == MKPERF_OK) {
        status = write_output(c, e);
    }
    mkperf_progress_end();
    if (c->out.warnings != NULL) {
        (void)fclose(c->out.warnings);
    }
    mkperf_profile_free(&base);
    return status;
}

void mkperf_conversion_init(void *self, int argc, char **argv)
{
    struct mkperf_conversion *c = self;

    c->in.command = c->line = mkperf_command_line(argc, argv);
}

void mkperf_conversion_end(void *self)
{
    struct mkperf_conversion *c = self;

    free(c->line);
}
