/* SPDX-License-Identifier: BSD-2-Clause */
/* A raw capture, from the file through receiver and stream decoder to a sink. See import.h. */
#include "import.h"

#include <sys/stat.h>

#include "base/process.h"
#include "wire/receiver.h"
#include "wire/wire_stream.h"

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

static enum mkperf_status set_up(struct capture *c, const struct mkperf_input *in,
                                 const struct mkperf_sink *sink, struct mkperf_error *e)
{
    struct mkperf_pds_config pds = {.system = in->system,
                                    .elf_path = in->elf_path,
                                    .kernel = in->kernel,
                                    .later = true,
                                    .warn = in->warn,
                                    .self = in->self};

    c->symbols = mkperf_symbols_new();
    if (mkperf_pds_new(&pds, c->symbols, &c->pds, e) != MKPERF_OK) {
        return e->status;
    }
    struct mkperf_stream_config stream = {
        .sink = *sink, .pds = c->pds, .command = in->command, .decide = mkperf_lr_is_caller};
    c->stream = mkperf_stream_new(&stream);
    mkperf_receiver_init(&c->receiver, &ops, c->stream);
    return MKPERF_OK;
}

/* Puts the name of the file before the error. */
static enum mkperf_status name_file(const char *path, struct mkperf_error *e)
{
    char reason[sizeof e->text];

    memcpy(reason, e->text, sizeof reason);
    return mkperf_error_set(e, e->status, "%s: %s", path, reason);
}

static enum mkperf_status read_all(struct capture *c, const char *path, FILE *f,
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
            return e->status == MKPERF_ERR_PROTOCOL ? name_file(path, e) : e->status;
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
        return name_file(path, e);
    }
    c->stream->totals.cut = !c->stream->totals.complete;
    return MKPERF_OK;
}

enum mkperf_status mkperf_capture_read(const char *path, const struct mkperf_input *in,
                                       const struct mkperf_sink *sink, struct mkperf_error *e)
{
    struct capture *c = mkperf_xcalloc(1, sizeof *c);
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rbe");
    enum mkperf_status status;

    if (f == NULL) {
        status = mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", path, strerror(errno));
    } else if ((status = set_up(c, in, sink, e)) == MKPERF_OK) {
        status = read_all(c, path, f, e);
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
