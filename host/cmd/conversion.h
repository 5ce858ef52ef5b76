/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A conversion: reads an input, writes it in a format, and prints messages.
 *
 * Owns: the order of the steps, so that invalid input never destroys an older output. Called by the commands of
 * cmd_convert.c, which own their options.
 */
#ifndef MKPERF_HOST_CMD_CONVERSION_H
#define MKPERF_HOST_CMD_CONVERSION_H

#include "base/args.h"
#include "export/formats.h"
#include "import/import.h"

struct mkperf_conversion {
    const char *command; /* the name of the command, for messages */
    char *line;          /* the whole command line, owned */
    const char *input;
    const char *diff; /* another input to compare with, or NULL */
    const struct mkperf_format *format;
    FILE *print; /* where each sample is printed, one per line; NULL: nowhere */
    struct mkperf_cpu_list cores;
    bool quiet; /* prints no summary and no progress */
    struct mkperf_input in;
    struct mkperf_export out;
};

enum mkperf_status mkperf_conversion_run(struct mkperf_conversion *c, struct mkperf_error *e);

/* The operations init and end of a command that has a struct mkperf_conversion as its state. */
void mkperf_conversion_init(void *self, int argc, char **argv);
void mkperf_conversion_end(void *self);

#endif
