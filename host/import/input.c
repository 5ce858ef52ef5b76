/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of input formats, and their detection from the contents of a file. */
#include "import.h"

#include <sys/stat.h>

#include "base/process.h"
#include "model/relays.h"
#include "perfdata/perfdata.h"
#include "wire/wire_stream.h"

/* A raw capture, from the file through receiver and stream decoder to a sink. See import.h. */

struct capture {
    struct mkperf_receiver receiver;
    struct mkperf_symbols *symbols;
    struct mkperf_pds *pds;
    struct mkperf_stream *stream;
    uint8_t buffer[65536];
};

static void ignore_text(void *self, const char *p, size_t n)
{
    (void)self;
    (void)p;
    (void)n;
}

static const struct mkperf_receiver_ops ops = {.text = ignore_text,
                                               .message = mkperf_stream_message};

enum mkperf_status mkperf_input_name_file(const char *path, struct mkperf_error *e)
{
    const struct mkperf_error why = *e;

    return why.status == MKPERF_OK || strstr(why.text, path) != NULL
               ? why.status
               : mkperf_error_set(e, why.status, "%s: %s", path, why.text);
}

static enum mkperf_status read_whole_file(struct capture *c, const char *path, FILE *f,
                                          struct mkperf_error *e)
{
    uint64_t done = 0;
    struct stat st;
    bool is_file = fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode);
    size_t n;

    while ((n = fread(c->buffer, 1, sizeof c->buffer, f)) > 0) {
        done += n;
        mkperf_progress_bytes(done, is_file ? (uint64_t)st.st_size : 0);
        if (mkperf_receiver_push(&c->receiver, c->buffer, n, e) != MKPERF_OK) {
            return e->status == MKPERF_ERR_PROTOCOL ? mkperf_input_name_file(path, e) : e->status;
        }
    }
    if (ferror(f)) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
    }
    c->stream->totals.cut_bytes = c->receiver.n;
    mkperf_receiver_idle(&c->receiver);
    if (c->receiver.frames == 0) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: no frame of mkperf's in it", path);
    }
    if (mkperf_stream_finish(c->stream, e) != MKPERF_OK) {
        return mkperf_input_name_file(path, e);
    }
    c->stream->totals.cut = !c->stream->totals.complete;
    return MKPERF_OK;
}

enum mkperf_status mkperf_capture_read(const char *path, const struct mkperf_input *in,
                                       const struct mkperf_sink *sink, struct mkperf_error *e)
{
    const struct mkperf_pds_config pds = {.system = in->system,
                                          .elf_path = in->elf_path,
                                          .kernel = in->kernel,
                                          .later = true,
                                          .warn = in->warn,
                                          .self = in->self};
    struct capture *c = mkperf_xcalloc(1, sizeof *c);
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rbe");
    enum mkperf_status status;

    c->symbols = mkperf_symbols_new();
    if (f == NULL) {
        status = mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
    } else if ((status = mkperf_pds_new(&pds, c->symbols, &c->pds, e)) == MKPERF_OK) {
        c->stream = mkperf_stream_new(
            &(struct mkperf_stream_config){.sink = *sink, .pds = c->pds, .command = in->command});
        mkperf_receiver_init(&c->receiver, &ops, c->stream);
        status = read_whole_file(c, path, f, e);
    }
    status = mkperf_sink_finish(sink, status, c->stream != NULL ? &c->stream->totals : NULL, e);
    mkperf_stream_free(c->stream);
    mkperf_pds_free(c->pds);
    mkperf_symbols_free(c->symbols);
    free(c);
    if (f != NULL && f != stdin) {
        (void)fclose(f);
    }
    return status;
}

enum { HEAD = 4096, RECORDS = 4 };

static bool is_perf(const uint8_t *p, size_t n)
{
    return n >= 8 && memcmp(p, "PERFILE2", 8) == 0;
}

static bool is_exact(const uint8_t *p, size_t n)
{
    return n >= 12 && memcmp(p, "mkperf-exact", 12) == 0;
}

static bool is_json(const uint8_t *p, size_t n)
{
    size_t i = n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    while (i < n && (p[i] == ' ' || p[i] == '\n' || p[i] == '\r' || p[i] == '\t')) {
        i++;
    }
    return i < n && p[i] == '{';
}

/* Returns whether the first records have types that exist and sizes that a record can have. */
static bool is_kprof(const uint8_t *p, size_t n)
{
    size_t i = 0;

    for (int records = 0; i < n && records < RECORDS; records++) {
        uint64_t size = 0;
        unsigned shift = 0;
        if (p[i] < 1 || p[i] > 4) {
            return false;
        }
        while (++i < n && shift < 28) {
            size |= (uint64_t)(p[i] & 0x7f) << shift;
            shift += 7;
            if (p[i] < 0x80) {
                break;
            }
        }
        if (size < 13 || size > 65536 + 24) {
            return false;
        }
        i += 1 + (size_t)size;
    }
    return n > 0;
}

/* Returns whether there is a 0, which delimits frames and which text does not have. */
static bool is_capture(const uint8_t *p, size_t n)
{
    return memchr(p, 0, n) != NULL;
}

static enum mkperf_status read_perf(const char *path, const struct mkperf_input *in,
                                    const struct mkperf_sink *sink, struct mkperf_error *e)
{
    (void)in;
    return mkperf_perfdata_read(path, sink, e);
}

static const struct {
    const char *name, *help;
    bool (*is)(const uint8_t *p, size_t n);
    enum mkperf_status (*read)(const char *path, const struct mkperf_input *in,
                               const struct mkperf_sink *sink, struct mkperf_error *e);
    bool
        checked; /* its samples are compared with the ELFs; perf.data contains the result already */
} inputs[] = {
    {"perf", "perf.data, as mkperf record writes it", is_perf, read_perf, false},
    {"toperf", "samples.json of the seL4 profiler", is_json, mkperf_toperf_read, true},
    {"kprof", "kpdata of Akaros", is_kprof, mkperf_kprof_read, true},
    {"exact", "counts of mkperf's plugin for QEMU", is_exact, mkperf_exact_read, false},
    {"raw", "a raw capture (mkperf record --raw)", is_capture, mkperf_capture_read, true},
};
enum { INPUTS = sizeof inputs / sizeof *inputs };

void mkperf_input_help(void (*put)(void *self, const char *name, const char *help), void *self)
{
    for (unsigned i = 0; i < INPUTS; i++) {
        put(self, inputs[i].name, inputs[i].help);
    }
}

/* Returns the row of the format that the contents have, INPUTS if they have none; -1 with *e set. */
static int detect_format(const char *path, struct mkperf_error *e)
{
    uint8_t head[HEAD];
    FILE *f = strcmp(path, "-") != 0 ? fopen(path, "rbe") : NULL;
    size_t n = f != NULL ? fread(head, 1, sizeof head, f) : 0;
    int i = 0;

    if (strcmp(path, "-") == 0) {
        mkperf_error_set(e, MKPERF_ERR_USAGE, "standard input: --from must give its format");
        return -1;
    }
    if (f == NULL || ferror(f)) {
        mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
        i = -1;
    } else if (n == 0) {
        mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: the file is empty", path);
        i = -1;
    }
    while (i >= 0 && i < INPUTS && !inputs[i].is(head, n)) {
        i++;
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    return i;
}

bool mkperf_input_keeps(const char *path, const char *from)
{
    struct mkperf_error e;

    return (from == NULL || strcmp(from, inputs[0].name) == 0) && mkperf_snapshot_possible(path) &&
           detect_format(path, &e) == 0;
}

/* Reads perf.data into a sink, and keeps in a snapshot what the question lists. */
static enum mkperf_status read_asked(const char *path, struct mkperf_asked *a,
                                     const struct mkperf_sink *sink, struct mkperf_error *e)
{
    struct mkperf_checks *checks = mkperf_checks_new(mkperf_asked_inner(a, *sink), NULL, false);
    struct mkperf_sink outer = mkperf_asked_outer(a, mkperf_checks_sink(checks));
    enum mkperf_status status = mkperf_perfdata_read(path, &outer, e);

    mkperf_checks_free(checks);
    return status == MKPERF_ERR_INPUT ? mkperf_input_name_file(path, e) : status;
}

enum mkperf_status mkperf_input_ask(const char *path, const struct mkperf_input *in,
                                    const struct mkperf_sink *sink,
                                    const struct mkperf_question *question, struct mkperf_error *e)
{
    struct mkperf_asked a = {.question = question};
    struct mkperf_snapshot snapshot;
    size_t n;

    if (question->text == NULL || !mkperf_input_keeps(path, in->from) ||
        !mkperf_snapshot_begin(&snapshot, path, question->text)) {
        return mkperf_input_read(path, in, sink, e);
    }
    const uint8_t *p = mkperf_snapshot_read(&snapshot, &n);
    e->status = MKPERF_OK;
    if (p == NULL || !mkperf_asked_replay(&a, sink, p, n, e)) {
        mkperf_asked_free(&a);
        a.question = question;
        if (read_asked(path, &a, sink, e) == MKPERF_OK) {
            mkperf_snapshot_write(&snapshot, a.bytes.p, a.bytes.n);
        }
    }
    mkperf_asked_free(&a);
    mkperf_snapshot_end(&snapshot);
    return e->status;
}

enum mkperf_status mkperf_input_read(const char *path, const struct mkperf_input *in,
                                     const struct mkperf_sink *sink, struct mkperf_error *e)
{
    int i = in->from != NULL ? (int)mkperf_named(inputs, INPUTS, sizeof *inputs, in->from)
                             : detect_format(path, e);

    if (i == INPUTS && in->from != NULL) {
        mkperf_error_set(e, MKPERF_ERR_USAGE, "--from: no input format '%s'", in->from);
        i = -1;
    }
    if (i == INPUTS) {
        mkperf_error_set(e, MKPERF_ERR_INPUT,
                         "%s: neither perf.data nor samples.json nor kpdata nor a raw capture; "
                         "--from names the format",
                         path);
    }
    if (i < 0 || i == INPUTS) {
        return mkperf_sink_finish(sink, e->status, NULL, e);
    }
    struct mkperf_checks *checks = mkperf_checks_new(*sink, NULL, inputs[i].checked);
    struct mkperf_sink checked = mkperf_checks_sink(checks);
    enum mkperf_status status = inputs[i].read(path, in, &checked, e);

    mkperf_checks_free(checks);
    /* Errors of an output name it already; those of what was read may be a sink's, which does not know the file. */
    return status == MKPERF_ERR_INPUT ? mkperf_input_name_file(path, e) : status;
}
