/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see conversion.h. */
#include "conversion.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/progress.h"
#include "base/xalloc.h"
#include "export/tap.h"
#include "model/figures.h"
#include "model/only_cores.h"

static void warn(void *self, const char *text)
{
    const struct mkperf_conversion *c = self;

    mkperf_progress_clear();
    mkperf_print_line(stderr, "mkperf %s: warning: %s", c->command, text);
}

/* Warnings are printed for every format, also with --quiet; notes only if the format has no place for them. */
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

/* Warnings of sinks replace the progress line. */
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

/* Reads the profile to compare with. */
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

static void say_summary(const struct mkperf_conversion *c, const struct mkperf_tap *tap)
{
    uint64_t lost = mkperf_tap_lost(tap);
    char path[MKPERF_PRINTABLE_PATH];

    if (c->quiet) {
        return;
    }
    fprintf(stderr, "mkperf %s: %s: %" PRIu64 " samples", c->command,
            mkperf_printable_copy(c->out.path, path, sizeof path), tap->samples);
    if (tap->events != 0) {
        fprintf(stderr, ", %" PRIu64 " scheduling events", tap->events);
    }
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        if (tap->lost[i] > 0) {
            fprintf(stderr, ", lost %s %" PRIu64, mkperf_loss_places[i].key, tap->lost[i]);
        }
    }
    fprintf(stderr, lost == 0 && !tap->cut ? ", none known to be lost\n" : "\n");
}

static enum mkperf_status write_output(struct mkperf_conversion *c, struct mkperf_error *e)
{
    struct mkperf_output output;
    char *partial;

    if (mkperf_format_open(c->format, &c->out, &output, e) != MKPERF_OK) {
        return e->status;
    }
    struct mkperf_tap tap = {
        .to = output.sink, .print = c->print, .warn = print_warning, .self = c};
    struct mkperf_only_cores only = {.to = mkperf_tap_sink(&tap), .cores = c->cores};
    struct mkperf_sink sink = mkperf_only_cores_sink(&only);
    begin_progress(c, c->input);
    enum mkperf_status status = mkperf_input_read(c->input, &c->in, &sink, e);
    mkperf_progress_end();
    mkperf_output_free(&output);
    if (status == MKPERF_OK) {
        say_summary(c, &tap);
    } else if (strcmp(c->out.path, "-") != 0) {
        partial = mkperf_xprintf("%s.partial", c->out.path);
        unlink(partial); /* perf.data's writer leaves it, for recordings */
        free(partial);
    }
    mkperf_tap_free(&tap);
    return status;
}

enum mkperf_status mkperf_conversion_run(struct mkperf_conversion *c, struct mkperf_error *e)
{
    struct mkperf_profile base = {.cores = false};

    c->out.input = strcmp(c->input, "-") == 0 ? "standard input" : c->input;
    c->out.elfs.elf_path = c->in.elf_path;
    c->in.warn = warn;
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
