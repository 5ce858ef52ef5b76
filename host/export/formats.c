/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the table of formats, and the sink of formats that are written at the end; see formats.h. */
#include "formats.h"

#include "model/relays.h"
#include "perfdata/perfdata.h"

static void perfdata_free(void *writer)
{
    mkperf_perfdata_free(writer);
}

static enum mkperf_status perfdata_open(const struct mkperf_export *x, struct mkperf_output *out,
                                        struct mkperf_error *e)
{
    struct mkperf_symbols *symbols = mkperf_symbols_new();
    struct mkperf_perfdata *writer;

    mkperf_symbols_search(symbols, &x->elfs);
    if (mkperf_perfdata_new(x->path, symbols, &writer, e) != MKPERF_OK) {
        mkperf_symbols_free(symbols);
        return e->status;
    }
    *out = (struct mkperf_output){.sink = mkperf_perfdata_sink(writer),
                                  .free = perfdata_free,
                                  .self = writer,
                                  .symbols = symbols};
    return MKPERF_OK;
}

/* clang-format off */
const struct mkperf_format mkperf_formats[] = {
    {"perf", "perf.data .data .perf", "perf.data: perf, hotspot, samply; mkperf report",
     .open = perfdata_open},
    {"flamegraph", ".svg", "flame graph, one interactive page", .write = mkperf_flamegraph_write},
    {"html", ".html .htm", "the page of mkperf view with this profile, one file",
     .write = mkperf_html_write,
     .keep = MKPERF_KEEP_CORES | MKPERF_KEEP_TIMES | MKPERF_KEEP_SCHEDULE},
    {"folded", ".folded .collapsed .txt", "folded stacks: one line for each distinct stack",
     .write = mkperf_folded_write, .bare = true},
    {"firefox", ".firefox.json .profile.json", "Firefox Profiler (profiler.firefox.com)",
     .write = mkperf_firefox_write,
     .keep = MKPERF_KEEP_CORES | MKPERF_KEEP_TIMES | MKPERF_KEEP_SCHEDULE | MKPERF_KEEP_EDGES},
    {"speedscope", ".speedscope.json .speedscope", "speedscope (speedscope.app)",
     .write = mkperf_speedscope_write, .keep = MKPERF_KEEP_TIMES},
    {"cpuprofile", ".cpuprofile", "Chrome's DevTools, VS Code",
     .write = mkperf_cpuprofile_write, .keep = MKPERF_KEEP_TIMES, .bare = true},
    {"pprof", ".pb.gz .pprof", "pprof (go tool pprof)",
     .write = mkperf_pprof_write, .keep = MKPERF_KEEP_CORES | MKPERF_KEEP_EDGES},
    {"otlp", ".otlp.gz .otlp", "OTLP profiles (OpenTelemetry), schema 1.10, as a gzipped request",
     .write = mkperf_otlp_write, .keep = MKPERF_KEEP_CORES | MKPERF_KEEP_EDGES, .bare = true},
    {"callgrind", "callgrind.out .callgrind", "callgrind_annotate, KCachegrind",
     .write = mkperf_callgrind_write},
    {"jsonl", ".jsonl .ndjson", "JSON Lines: one object for each sample and loss",
     .open = mkperf_jsonl_open},
    {"chrome", ".trace.json .perfetto.json",
     "scheduling events for Perfetto (ui.perfetto.dev), chrome://tracing",
     .open = mkperf_chrome_open, .sched = true},
    {"ctf", ".ctf", "scheduling events as a CTF trace, a directory: babeltrace2, Trace Compass",
     .open = mkperf_ctf_open, .sched = true},
};
/* clang-format on */
const size_t mkperf_nformats = sizeof mkperf_formats / sizeof *mkperf_formats;

const struct mkperf_format *mkperf_format_by_name(const char *name)
{
    size_t i = mkperf_named(mkperf_formats, mkperf_nformats, sizeof *mkperf_formats, name);

    return i < mkperf_nformats ? &mkperf_formats[i] : NULL;
}

const struct mkperf_format *mkperf_format_by_path(const char *path)
{
    size_t length = strlen(path);

    for (size_t i = 0; i < mkperf_nformats; i++) {
        const char *at = mkperf_formats[i].suffixes;
        while (*at != '\0') {
            size_t n = strcspn(at, " ");
            if (length >= n && strncmp(path + length - n, at, n) == 0) {
                return &mkperf_formats[i];
            }
            at += n + (at[n] == ' ');
        }
    }
    return NULL;
}

struct profiled_output {
    struct mkperf_profile profile;
    struct mkperf_export export;
    struct mkperf_textout text;
    mkperf_write_profile *write;
};

static enum mkperf_status profiled_whole(void *self, struct mkperf_error *e)
{
    struct profiled_output *o = self;

    mkperf_profile_cost(&o->profile);
    MKPERF_TRY(o->write(&o->export, &o->profile, &o->text, e));
    if (o->export.warnings != NULL) {
        mkperf_places_warn(&o->profile.places, o->export.warnings);
    }
    return o->text.over != NULL ? MKPERF_OK : mkperf_outfile_finish(&o->text.out, e);
}

static void profiled_free(void *self)
{
    struct profiled_output *o = self;

    mkperf_outfile_close(&o->text.out);
    mkperf_profile_free(&o->profile);
    free(o);
}

enum mkperf_status mkperf_format_open(const struct mkperf_format *f, const struct mkperf_export *x,
                                      struct mkperf_output *out, struct mkperf_error *e)
{
    struct profiled_output *o;

    assert((f->open != NULL) != (f->write != NULL));
    if (f->open != NULL) {
        return f->open(x, out, e);
    }
    o = mkperf_xcalloc(1, sizeof *o);
    o->profile.cores = f->keep & MKPERF_KEEP_CORES;
    o->profile.times = f->keep & MKPERF_KEEP_TIMES;
    o->profile.edges = f->keep & MKPERF_KEEP_EDGES;
    o->profile.keep_schedule = f->keep & MKPERF_KEEP_SCHEDULE;
    o->profile.off_cpu = x->event != NULL && strcmp(x->event, MKPERF_OFF_CPU_EVENT) == 0;
    o->profile.places.search = x->elfs;
    o->profile.places.inlined = !x->no_inlined;
    o->profile.whole = profiled_whole;
    o->profile.self = o;
    o->export = *x;
    o->write = f->write;
    o->text = (struct mkperf_textout){.out = {.fd = -1}, .over = x->to};
    if (x->to == NULL && mkperf_outfile_open(&o->text.out, x->path, false, e) != MKPERF_OK) {
        free(o);
        return e->status;
    }
    *out = (struct mkperf_output){.sink = mkperf_profile_sink(&o->profile),
                                  .free = profiled_free,
                                  .self = o,
                                  .profile = &o->profile};
    return MKPERF_OK;
}

enum mkperf_status mkperf_format_convert(const char *format, const struct mkperf_export *x,
                                         struct mkperf_error *e)
{
    const struct mkperf_input in = {.from = "perf"};
    struct mkperf_output out;
    enum mkperf_status status = mkperf_format_open(mkperf_format_by_name(format), x, &out, e);

    if (status == MKPERF_OK) {
        status = mkperf_input_read(x->input, &in, &out.sink, e);
        mkperf_output_free(&out);
    }
    return status;
}
