/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A conversion: an input, a format, an output, and its messages.
 *
 * Owns: the order of steps, so that bad input never destroys an older output. Called by `mkperf
 * convert`, `mkperf toperf` and `mkperf kprof2perf`, which own their options.
 */
#ifndef MKPERF_HOST_CMD_CONVERSION_H
#define MKPERF_HOST_CMD_CONVERSION_H

#include "base/cpu_list.h"
#include "export/formats.h"
#include "import/import.h"

struct mkperf_conversion {
    const char *command; /* the command's name, before messages */
    char *line;          /* all of what was typed */
    const char *input;
    const char *diff; /* another input, to compare with; NULL */
    const struct mkperf_format *format;
    FILE *print; /* samples, one line each; NULL */
    struct mkperf_cpu_list cores;
    bool quiet; /* no summary */
    struct mkperf_input in;
    struct mkperf_export out;
};

enum mkperf_status mkperf_conversion_run(struct mkperf_conversion *c, struct mkperf_error *e);

/* For a command whose state this is: its command line. */
void mkperf_conversion_init(void *self, int argc, char **argv);
void mkperf_conversion_end(void *self);

#endif
