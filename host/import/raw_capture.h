/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A raw capture, the bytes of a line as `mkperf record --raw` keeps them, into the model.
 *
 * Owns: the path from the file through receiver and stream decoder to a sink. Called by `mkperf
 * convert`. Frames that are damaged are losses, and counted as such; console text is skipped.
 */
#ifndef MKPERF_HOST_IMPORT_RAW_CAPTURE_H
#define MKPERF_HOST_IMPORT_RAW_CAPTURE_H

#include "model/model.h"
#include "options.h"

/* From begin to end (abandon on error). MKPERF_ERR_INPUT: no session in it. */
enum mkperf_status mkperf_capture_read(const char *path, const struct mkperf_input *in,
                                       const struct mkperf_sink *sink, struct mkperf_error *e);

#endif
