/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The perf.data writer: a sink that writes a file for perf, hotspot and samply.
 *
 * Owns: the file while it is written; its layout is that of abi.h. Called by `mkperf record`;
 * `mkperf recover` finishes a file whose writer died. Nothing is lost unless the disk is full, which
 * is an error. A killed writer leaves PATH.partial, which is whole up to the last buffer written.
 */
#ifndef MKPERF_HOST_PERFDATA_WRITER_H
#define MKPERF_HOST_PERFDATA_WRITER_H

#include "abi.h"
#include "model/model.h"
#include "symbols/symbols.h"

struct mkperf_perfdata;

/*
 * A writer for PATH, "-": standard output. Until `end` it is called PATH.partial; something that is
 * not a regular file (/dev/null) is written in place. symbols: for segments and build ids of the
 * PDs' ELFs, must outlive the sink. Errors: MKPERF_ERR_OUTPUT.
 */
enum mkperf_status mkperf_perfdata_new(const char *path, struct mkperf_symbols *symbols,
                                       struct mkperf_perfdata **out, struct mkperf_error *e);
/*
 * Records are compressed at this level of zstd, 1 to MKPERF_COMPRESSED_LEVELS; 0: not at all.
 * MKPERF_COMPRESS_FILES: at MKPERF_COMPRESSED_LEVEL, unless the output is a stream. To be called before the
 * sink's first call. Without it: not at all.
 */
enum { MKPERF_COMPRESS_FILES = -1, MKPERF_COMPRESSED_LEVEL = 1, MKPERF_COMPRESSED_LEVELS = 22 };
void mkperf_perfdata_compress(struct mkperf_perfdata *w, int level);
struct mkperf_sink mkperf_perfdata_sink(struct mkperf_perfdata *w);
uint64_t mkperf_perfdata_bytes(const struct mkperf_perfdata *w); /* written so far */
/* Writes the buffer to the kernel, so that a killed writer's file has it. Cheap once a second. */
enum mkperf_status mkperf_perfdata_sync(struct mkperf_perfdata *w, struct mkperf_error *e);
void mkperf_perfdata_free(struct mkperf_perfdata *w); /* after end or abandon; or without either */

/*
 * Finishes the file at `path` that a killed writer left, into `out` (or in place, renamed without
 * ".partial", if NULL). *totals are the file's.
 */
enum mkperf_status mkperf_perfdata_recover(const char *path, const char *out,
                                           struct mkperf_totals *totals, struct mkperf_error *e);

#endif
