/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A user's options for an input. Each reader takes those of its format.
 *
 * Owns: nothing. Filled by `mkperf convert` and its relatives.
 */
#ifndef MKPERF_HOST_IMPORT_OPTIONS_H
#define MKPERF_HOST_IMPORT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum mkperf_kprof_era {
    MKPERF_KPROF_AUTO,
    MKPERF_KPROF_A, /* October to December 2015: no info field */
    MKPERF_KPROF_B, /* to June 2016: info */
    MKPERF_KPROF_C, /* since: info, and the pid of kernel samples */
    MKPERF_KPROF_ERAS,
};

struct mkperf_input {              /* NULL and 0: none */
    const char *from;              /* a format's name */
    bool lenient;                  /* toperf, kprof: repair or omit invalid data, and report that */
    const char *system, *elf_path; /* raw, as for mkperf record */
    const char *kernel;            /* raw, kprof: ELF */
    const char *build_dir;         /* toperf: the ELFs, and sample_header.json */
    uint64_t time_hz;              /* toperf: of the file's clock; 0: nanoseconds */
    const char *root_dir;          /* kprof: where the target's files are */
    enum mkperf_kprof_era era;     /* kprof */
    const char *command;           /* for the session */
    void (*warn)(void *self, const char *text); /* may be NULL */
    void *self;
};

#endif
