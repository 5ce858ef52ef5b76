/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The seL4 profiler's samples.json into the model.
 *
 * Owns: the reading of its fields, and their errors. Called by `mkperf toperf` and
 * `mkperf convert`. Memory does not grow with the input. The format has no losses, so the totals
 * are never `complete`; its samples are all of user code and of one event, named cycles.
 *
 * Strict by default: the first invalid item is an error with its place. A lenient reading repairs
 * or drops it, counts it, and reports it at the end, one line a kind. It also reads the log of the
 * serial client: objects without commas, ip in hexadecimal, text between.
 */
#ifndef MKPERF_HOST_IMPORT_TOPERF_H
#define MKPERF_HOST_IMPORT_TOPERF_H

#include "model/model.h"
#include "options.h"

/*
 * Reads path ("-": standard input) into sink, from begin to end (abandon on error). Errors:
 * MKPERF_ERR_INPUT "path:line:col: reason", or the path of an ELF that is not there; the
 * sink's.
 */
enum mkperf_status mkperf_toperf_read(const char *path, const struct mkperf_input *in,
                                      const struct mkperf_sink *sink, struct mkperf_error *e);
enum mkperf_status mkperf_toperf_read_memory(const char *name, const void *p, size_t n,
                                             const struct mkperf_input *in,
                                             const struct mkperf_sink *sink,
                                             struct mkperf_error *e);

#endif
