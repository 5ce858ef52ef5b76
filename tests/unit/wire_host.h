/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host's end of the wire for tests: bytes of fake_target.h's target through the receiver and the stream
 * decoder into a test's sink.
 *
 * Owns: receiver, decoder, the registry of PDs, the text between frames.
 */
#ifndef MKPERF_TESTS_WIRE_HOST_H
#define MKPERF_TESTS_WIRE_HOST_H

#include "fake_target.h"

#include <stdlib.h>

#include "wire/receiver.h"
#include "wire/wire_stream.h"

struct wire_host {
    struct mkperf_receiver receiver;
    struct mkperf_stream *stream;
    struct mkperf_pds *pds;
    struct mkperf_symbols *symbols;
    char text[4096];
    size_t ntext;
};

static void wire_host_text(void *self, const char *p, size_t n)
{
    struct wire_host *w = self;

    assert_true(w->ntext + n < sizeof w->text);
    memcpy(w->text + w->ntext, p, n);
    w->ntext += n;
}

static enum mkperf_status wire_host_message(void *self, const uint8_t *p, size_t n, unsigned gap,
                                            struct mkperf_error *e)
{
    return mkperf_stream_message(((struct wire_host *)self)->stream, p, n, gap, e);
}

/* w is all zeros. asks: the PDs' names are settled when the test calls mkperf_stream_settle. */
static void wire_host_begin(struct wire_host *w, struct mkperf_sink sink,
                            const struct mkperf_pds_config *pds, bool asks)
{
    static const struct mkperf_receiver_ops ops = {.text = wire_host_text,
                                                   .message = wire_host_message};
    struct mkperf_error e;

    w->symbols = mkperf_symbols_new();
    assert_int_equal(mkperf_pds_new(pds, w->symbols, &w->pds, &e), MKPERF_OK);
    struct mkperf_stream_config config = {
        .sink = sink, .pds = w->pds, .decide = mkperf_lr_is_caller, .asks = asks};
    w->stream = mkperf_stream_new(&config);
    assert_non_null(w->stream);
    mkperf_receiver_init(&w->receiver, &ops, w);
}

static void wire_host_end(struct wire_host *w)
{
    mkperf_stream_free(w->stream);
    mkperf_pds_free(w->pds);
    mkperf_symbols_free(w->symbols);
}

/* What the target has sent, in pieces of that many bytes. */
static enum mkperf_status wire_host_push(struct wire_host *w, struct fake *f, size_t piece,
                                         struct mkperf_error *e)
{
    enum mkperf_status status = MKPERF_OK;

    *e = (struct mkperf_error){.status = MKPERF_OK};
    for (size_t at = 0; at < f->n && status == MKPERF_OK; at += piece) {
        size_t n = f->n - at < piece ? f->n - at : piece;
        status = mkperf_receiver_push(&w->receiver, f->bytes + at, n, e);
    }
    mkperf_receiver_idle(&w->receiver);
    f->n = 0;
    return status;
}

/* A target that has sent nothing; the caller frees it. */
static struct fake *wire_host_fake(void)
{
    struct fake *f = calloc(1, sizeof *f);

    assert_non_null(f);
    return f;
}

#endif
