/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of input formats, and their detection from the contents of a file. */
#include "import.h"

#include "base/outfile.h"
#include "perfdata/perfdata.h"
#include "wire/wire_stream.h"

/*
 * A raw capture, the bytes of a line as `mkperf record --raw` stores them, through receiver and stream decoder to a sink. A
 * damaged frame is a loss and is counted. Console text is skipped. INPUT: it has no session.
 */

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

static enum mkperf_status read_whole_file(struct capture *c, const char *path, int fd,
                                          struct mkperf_error *e)
{
    uint64_t done = 0;
    struct stat st;
    bool is_file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    ssize_t n;

    while ((n = read(fd, c->buffer, sizeof c->buffer)) > 0) {
        done += (size_t)n;
        mkperf_progress(MKPERF_BYTES, (double)done, is_file ? (double)st.st_size : 0);
        if (mkperf_receiver_push(&c->receiver, c->buffer, (size_t)n, e) != MKPERF_OK) {
            return e->status == MKPERF_ERR_PROTOCOL ? mkperf_input_name_file(path, e) : e->status;
        }
    }
    MKPERF_FAIL_IF(n < 0, e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
    c->stream->totals.cut_bytes = c->receiver.n;
    mkperf_receiver_idle(&c->receiver);
    MKPERF_FAIL_IF(c->receiver.frames == 0, e, MKPERF_ERR_INPUT, "%s: no frame of mkperf's in it",
                   path);
    if (mkperf_stream_finish(c->stream, e) != MKPERF_OK) {
        return mkperf_input_name_file(path, e);
    }
    c->stream->totals.cut = !c->stream->totals.complete;
    return MKPERF_OK;
}

static enum mkperf_status read_capture(const char *path, int fd, const struct mkperf_input *in,
                                       const struct mkperf_sink *sink, struct mkperf_error *e)
{
    struct mkperf_pds_config pds = in->pds;
    struct capture *c = mkperf_xcalloc(1, sizeof *c);

    pds.later = true;
    c->symbols = mkperf_symbols_new();
    enum mkperf_status status = mkperf_pds_new(&pds, c->symbols, &c->pds, e);
    if (status == MKPERF_OK) {
        c->stream = mkperf_stream_new(
            &(struct mkperf_stream_config){.sink = *sink, .pds = c->pds, .command = in->command});
        c->receiver = (struct mkperf_receiver){.ops = &ops, .self = c->stream};
        status = read_whole_file(c, path, fd, e);
    }
    status = mkperf_sink_finish(sink, status, c->stream != NULL ? &c->stream->totals : NULL, e);
    mkperf_stream_free(c->stream);
    mkperf_pds_free(c->pds);
    mkperf_symbols_free(c->symbols);
    free(c);
    close(fd);
    return status;
}

enum { HEAD = 4096 };

static bool is_json(const uint8_t *p, size_t n)
{
    size_t i = n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    while (i < n && (p[i] == ' ' || p[i] == '\n' || p[i] == '\r' || p[i] == '\t')) {
        i++;
    }
    return i < n && p[i] == '{';
}

/* Returns whether there is a 0, which delimits frames and which text does not have. */
static bool is_capture(const uint8_t *p, size_t n)
{
    return memchr(p, 0, n) != NULL;
}

static enum mkperf_status read_perf(const char *path, int fd, const struct mkperf_input *in,
                                    const struct mkperf_sink *sink, struct mkperf_error *e)
{
    (void)in;
    return mkperf_perfdata_read(path, fd, sink, e);
}

static const struct {
    const char *name, *help;
    const char *magic; /* the first bytes of such files; NULL: `is` recognises them */
    bool (*is)(const uint8_t *p, size_t n);
    mkperf_read_input *read;
    /* Its samples are compared with the ELFs; perf.data contains the result already */
    bool checked;
} inputs[] = {
    {"perf", "perf.data, as mkperf record writes it", "PERFILE2", NULL, read_perf, false},
    {"toperf", "samples.json of the seL4 profiler", NULL, is_json, mkperf_toperf_read, true},
    {"kprof", "kpdata of Akaros", NULL, mkperf_kprof_is, mkperf_kprof_read, true},
    {"exact", "counts of mkperf's plugin for QEMU", "mkperf-exact", NULL, mkperf_exact_read, false},
    {"raw", "a raw capture (mkperf record --raw)", NULL, is_capture, read_capture, true},
};
enum { INPUTS = sizeof inputs / sizeof *inputs };

void mkperf_input_help(void (*put)(void *self, const char *name, const char *help), void *self)
{
    for (unsigned i = 0; i < INPUTS; i++) {
        put(self, inputs[i].name, inputs[i].help);
    }
}

/* Opens a file, and stores the row of its format: the one that `from` names, or that its contents have. -1: *e is set. */
static int open_input(const char *path, const char *from, unsigned *format, struct mkperf_error *e)
{
    bool is_stdin = strcmp(path, "-") == 0;
    uint8_t head[HEAD];

    *format = from != NULL ? (unsigned)mkperf_named(inputs, INPUTS, sizeof *inputs, from) : 0;
    if (*format == INPUTS) {
        mkperf_error_set(e, MKPERF_ERR_USAGE, "--from: no input format '%s'", from);
        return -1;
    }
    if (is_stdin && from == NULL) {
        mkperf_error_set(
            e, MKPERF_ERR_USAGE,
            "standard input is read only once: mkperf convert --from gives its format");
        return -1;
    }
    int fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && from != NULL) {
        return fd;
    }
    if (fd >= 0 && lseek(fd, 0, SEEK_SET) != 0) {
        close(fd);
        mkperf_error_set(e, MKPERF_ERR_USAGE,
                         "%s: a pipe is read only once: mkperf convert --from gives its format",
                         path);
        return -1;
    }
    if (fd < 0) {
        (void)mkperf_outfile_missing(path, e);
        return -1;
    }
    struct stat st;
    bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    ssize_t n = regular ? read(fd, head, sizeof head) : -1;
    const char *why = !regular ? "not a regular file"
                      : n < 0  ? strerror(errno)
                      : n == 0 ? "the file is empty"
                               : "neither perf.data nor samples.json nor kpdata nor a raw "
                                 "capture; --from names the format";
    for (; n > 0 && *format < INPUTS; ++*format) {
        const char *magic = inputs[*format].magic;
        if (magic == NULL ? inputs[*format].is(head, (size_t)n)
                          : (size_t)n >= strlen(magic) && memcmp(head, magic, strlen(magic)) == 0) {
            break;
        }
    }
    if (n > 0 && *format < INPUTS) {
        (void)lseek(fd, 0, SEEK_SET);
        return fd;
    }
    close(fd);
    mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, why);
    return -1;
}

bool mkperf_input_keeps(const char *path, const char *from)
{
    struct mkperf_error e;
    unsigned format;
    int fd = (from == NULL || strcmp(from, inputs[0].name) == 0) && mkperf_snapshot_possible(path)
                 ? open_input(path, NULL, &format, &e)
                 : -1;

    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0 && format == 0;
}

/* Reads a file into a sink. asked: keeps what the question lists for a snapshot; or NULL. */
static enum mkperf_status read_input(const char *path, const struct mkperf_input *in,
                                     struct mkperf_asked *asked, const struct mkperf_sink *sink,
                                     struct mkperf_error *e)
{
    unsigned format;
    int fd = open_input(path, in->from, &format, e);

    if (fd < 0) {
        return mkperf_sink_finish(sink, e->status, NULL, e);
    }
    struct mkperf_checks *checks = mkperf_checks_new(
        asked != NULL ? mkperf_asked_sink(asked, *sink) : *sink, NULL, inputs[format].checked);
    const struct mkperf_sink checked = mkperf_checks_sink(checks);
    enum mkperf_status status = inputs[format].read(path, fd, in, &checked, e);

    mkperf_checks_free(checks);
    /* Errors of an output name it already; those of what was read may be a sink's, which does not know the file. */
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
        if (read_input(path, in, &a, sink, e) == MKPERF_OK) {
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
    return read_input(path, in, NULL, sink, e);
}
