/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: compressed records, see perfdata_internal.h. */
#include "perfdata_internal.h"

#include <zstd.h>
#include <zstd_errors.h>

#include "perfdata.h"

enum {
    HEADER = 8,
    RECORD_MAX = 65535,
    INFLATE_BYTES = 256 * 1024, /* room for a part of a record, and the whole record behind it */
    WINDOW_LOG_MAX = 27,
};
_Static_assert(ZSTD_COMPRESSBOUND(MKPERF_COMPRESSED_PART) <= RECORD_MAX - HEADER,
               "a part fits into one compressed record");

static void compress(void *self, const uint8_t *p, size_t n)
{
    struct perfdata_compressor *c = self;

    while (n > 0) {
        size_t bytes = 0; /* of the part, which is whole records */
        do {
            bytes += mkperf_get16(p + bytes + PERF_RECORD_SIZE_AT);
        } while (bytes < n &&
                 bytes + mkperf_get16(p + bytes + PERF_RECORD_SIZE_AT) <= MKPERF_COMPRESSED_PART);
        ZSTD_inBuffer in = {.src = p, .size = bytes};
        ZSTD_outBuffer out = {.dst = c->record + HEADER, .size = RECORD_MAX - HEADER};
        size_t left = ZSTD_compressStream2(c->stream, &out, &in, ZSTD_e_flush);
        if (left != 0) {
            mkperf_error_set(&c->out->error, MKPERF_ERR_FAILED, "%s: zstd: %s", c->out->path,
                             ZSTD_isError(left) ? ZSTD_getErrorName(left) : "a part is too large");
            return;
        }
        struct mkperf_put head = {c->record};
        mkperf_put32(&head, PERF_RECORD_COMPRESSED);
        mkperf_put16(&head, 0);
        mkperf_put16(&head, (uint16_t)(HEADER + out.pos));
        mkperf_outfile_write_through(c->out, c->record, HEADER + out.pos);
        p += bytes;
        n -= bytes;
    }
}

void perfdata_compress_begin(struct perfdata_compressor *c, struct mkperf_outfile *out, int level)
{
    mkperf_outfile_flush(out);
    c->stream = ZSTD_createCCtx();
    /* The fastest level leaves literals as they are. To code them takes a sixth of its time and saves a tenth of its bytes. */
    int target_length = level == MKPERF_COMPRESSED_LEVEL ? 1 : 0;
    if (c->stream == NULL ||
        ZSTD_isError(ZSTD_CCtx_setParameter(c->stream, ZSTD_c_compressionLevel, level)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(c->stream, ZSTD_c_targetLength, target_length))) {
        mkperf_error_set(&out->error, MKPERF_ERR_FAILED, "zstd: no memory for level %d", level);
        return;
    }
    c->record = mkperf_xcalloc(1, RECORD_MAX);
    c->out = out;
    out->filter = compress;
    out->filter_self = c;
}

void perfdata_compress_end(struct perfdata_compressor *c)
{
    if (c->out != NULL) {
        mkperf_outfile_flush(c->out);
        c->out->filter = NULL;
    }
}

void perfdata_compress_free(struct perfdata_compressor *c)
{
    ZSTD_freeCCtx(c->stream);
    free(c->record);
}

void perfin_inflate_feed(struct perfin_inflate *f, const uint8_t *p, size_t n)
{
    if (f->stream == NULL) {
        f->stream = ZSTD_createDCtx();
        if (f->stream == NULL) {
            mkperf_die();
        }
        (void)ZSTD_DCtx_setParameter(f->stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
        f->buffer = mkperf_xcalloc(1, INFLATE_BYTES);
    }
    assert(f->part_used == f->part_bytes);
    f->part = p;
    f->part_bytes = n;
    f->part_used = 0;
    f->in += n;
}

/* Moves the rest of a record to the start of the buffer, and decompresses more behind it. False: the part has
 * no more, or *problem is set. */
static bool inflate(struct perfin_inflate *f, const char **problem)
{
    memmove(f->buffer, f->buffer + f->at, f->filled - f->at);
    f->filled -= f->at;
    f->at = 0;
    ZSTD_inBuffer in = {.src = f->part, .size = f->part_bytes, .pos = f->part_used};
    ZSTD_outBuffer out = {.dst = f->buffer, .size = INFLATE_BYTES, .pos = f->filled};
    size_t result = 0;
    do {
        result = ZSTD_decompressStream(f->stream, &out, &in);
    } while (!ZSTD_isError(result) && in.pos < in.size && out.pos < out.size);
    f->part_used = in.pos;
    f->out += out.pos - f->filled;
    bool more = out.pos > f->filled;
    f->filled = out.pos;
    if (ZSTD_isError(result)) {
        *problem = ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge
                       ? "compressed records that need more than 128 MiB of memory"
                       : "damaged compressed records";
    } else if (f->out > f->in * MKPERF_INFLATE_RATIO + MKPERF_INFLATE_FREE) {
        *problem = "compressed records that yield more than 1024 times their size";
    }
    return more && *problem == NULL;
}

const uint8_t *perfin_inflate_next(struct perfin_inflate *f, size_t *size, const char **problem)
{
    *problem = NULL;
    for (;;) {
        size_t n = f->filled - f->at;
        const uint8_t *p = f->buffer + f->at;

        *size = n >= HEADER ? mkperf_get16(p + 6) : 0;
        if (n >= HEADER && *size < HEADER) {
            *problem = "a compressed record of impossible size";
            return NULL;
        }
        if (n >= HEADER && *size <= n) {
            f->at += *size;
            return p;
        }
        if (!inflate(f, problem)) {
            return NULL;
        }
    }
}

void perfin_inflate_free(struct perfin_inflate *f)
{
    ZSTD_freeDCtx(f->stream);
    free(f->buffer);
}
