/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of input formats, and their detection from contents.
 *
 * Owns: names and detection. Called by `mkperf convert` and its relatives. An input is one decoder
 * and one line in the table in input.c.
 */
#ifndef MKPERF_HOST_IMPORT_INPUT_H
#define MKPERF_HOST_IMPORT_INPUT_H

#include "model/model.h"
#include "options.h"

/* Names of the formats, for the help text: one line each. */
void mkperf_input_help(void (*put)(void *self, const char *name, const char *help), void *self);

/* Reads path into sink, from begin to end (abandon on error). USAGE: an unknown name. */
enum mkperf_status mkperf_input_read(const char *path, const struct mkperf_input *in,
                                     const struct mkperf_sink *sink, struct mkperf_error *e);

#endif
