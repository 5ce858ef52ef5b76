/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compressed records of perf.data (PERF_RECORD_COMPRESSED), in both directions.
 *
 * A compressed record holds a part of one zstd stream. Its contents are ordinary records:
 *
 *     file   | head | COMPRESSED | COMPRESSED | COMPRESSED | tail |
 *     stream        [ part 1     |  part 2    |  part 3     ...     (it is never ended)
 *     records       SAMPLE SAMPLE|SAMPLE SAMPLE ...
 *
 * Each part is flushed, so a file whose writer was killed can be read up to its last part. perf ends with
 * an error if a part yields no bytes; therefore a part holds at most PART_BYTES of records, which always
 * fit into one compressed record. A part of ours begins and ends with a whole record where records are
 * smaller than that. A record of perf's may continue in the next part.
 *
 * Owns: the two zstd contexts and their buffers. The writer and recovery use the compressor's counts; the
 * reader and recovery use the other direction. Nothing that is read is trusted: memory is bounded by
 * INFLATE_BYTES and by zstd's window of at most 128 MiB (that of its highest level), time by
 * MKPERF_INFLATE_RATIO.
 */
#ifndef MKPERF_HOST_PERFDATA_COMPRESSED_H
#define MKPERF_HOST_PERFDATA_COMPRESSED_H

#include "base/outfile.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

enum {
    MKPERF_COMPRESSED_PART =
        64000, /* most bytes of records in a compressed record that mkperf writes */
    /* A stream that yields more than RATIO times its size, and FREE bytes, is refused. */
    MKPERF_INFLATE_RATIO = 1024,
    MKPERF_INFLATE_FREE = 16 << 20,
};

/* ---- writing ---- */

/* Bytes of records, and bytes of the compressed records that contain them. */
struct perfdata_compressed {
    uint64_t bytes, written;
};

struct perfdata_compressor {
    struct ZSTD_CCtx_s *stream;
    struct mkperf_outfile *out;
    uint8_t *record; /* room for one compressed record */
    struct perfdata_compressed counts;
};

/* Makes *out compress all records that leave its buffer from now on. level: 1 to 22. */
void perfdata_compress_begin(struct perfdata_compressor *c, struct mkperf_outfile *out, int level);
/* Flushes *out, and ends its compression. */
void perfdata_compress_end(struct perfdata_compressor *c);
void perfdata_compress_free(struct perfdata_compressor *c);

/* ---- reading ---- */

struct perfin_inflate {
    struct ZSTD_DCtx_s *stream; /* NULL: the file has had no compressed record */
    uint8_t *part;              /* the compressed bytes of the last record */
    size_t part_bytes, part_used;
    uint8_t *buffer; /* records; the bytes from `at` to `filled` have not been taken */
    size_t at, filled;
    uint64_t in, out; /* bytes so far */
};

/* Takes the contents of one compressed record, n bytes below 64 KiB. perfin_inflate_next has returned NULL for
 * the record before. */
void perfin_inflate_feed(struct perfin_inflate *f, const uint8_t *p, size_t n);
/*
 * Returns the next whole record, at least 8 bytes in *size; valid until the next call. NULL: there is none before the
 * next part, or the contents are damaged: then *problem is the reason, else NULL.
 */
const uint8_t *perfin_inflate_next(struct perfin_inflate *f, size_t *size, const char **problem);
/* Returns whether the last part ended within a record. */
bool perfin_inflate_is_cut(const struct perfin_inflate *f);
void perfin_inflate_free(struct perfin_inflate *f);

#endif
