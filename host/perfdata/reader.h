/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The perf.data reader: passes a recording on to a sink.
 *
 * Owns: the path from records to the sink's calls. Called by all commands that read a recording.
 * Files of perf itself are read as far as the model reaches: processes are PDs, addresses are
 * unchanged, and records of other kinds are skipped. The pipe's layout is read from a pipe or from
 * a file; the file's layout only from a file. A file whose writer was killed is read up to its last
 * whole record; its totals are incomplete then.
 *
 * Memory does not grow with the file, only with the number of its processes.
 */
#ifndef MKPERF_HOST_PERFDATA_READER_H
#define MKPERF_HOST_PERFDATA_READER_H

#include "model/model.h"

/*
 * Reads the file (standard input if it is called "-") into sink, from begin to end (abandon on
 * error). What is passed lives until end has returned. `samples` and `lost` of the totals are at
 * least what the records say, and `complete` is false if the two disagree or the file has no
 * totals. Errors: MKPERF_ERR_INPUT "path: offset N: reason"; those of the sink.
 */
enum mkperf_status mkperf_perfdata_read(const char *path, const struct mkperf_sink *sink,
                                        struct mkperf_error *e);

/* Reads a recording from n bytes of memory. name: for messages. */
enum mkperf_status mkperf_perfdata_read_memory(const char *name, const void *p, size_t n,
                                               const struct mkperf_sink *sink,
                                               struct mkperf_error *e);

#endif
