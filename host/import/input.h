/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of input formats, and their detection from contents.
 *
 * Owns: names and detection. Called by `mkperf convert` and its relatives. An input is one decoder
 * and one line in the table in input.c.
 */
#ifndef MKPERF_HOST_IMPORT_INPUT_H
#define MKPERF_HOST_IMPORT_INPUT_H

#include "kprof.h"

struct mkperf_input { /* a user's options for an input; NULL and 0: none */
    const char *from; /* a format's name */
    bool lenient;
    const char *system, *elf_path, *kernel; /* raw; kernel: kprof as well */
    const char *build_dir;                  /* toperf */
    uint64_t time_hz;                       /* toperf */
    const char *root_dir;                   /* kprof */
    enum mkperf_kprof_era era;              /* kprof */
    const char *command;
    void (*warn)(void *self, const char *text);
    void *self;
};

/* Names of the formats, for the help text: one line each. */
void mkperf_input_help(void (*put)(void *self, const char *name, const char *help), void *self);

/* Reads path into sink, from begin to end (abandon on error). USAGE: an unknown name. */
enum mkperf_status mkperf_input_read(const char *path, const struct mkperf_input *in,
                                     const struct mkperf_sink *sink, struct mkperf_error *e);

#endif
