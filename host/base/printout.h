/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a command prints into the file of its option -o.
 *
 * Owns: a stream into an output file (outfile.h). The file gets its name when everything is printed;
 * until then it has a temporary name, and what is flushed is in it. If the command or writing fails,
 * the file keeps the temporary name, and the error's text has that name; an empty file is removed.
 */
#ifndef MKPERF_HOST_BASE_PRINTOUT_H
#define MKPERF_HOST_BASE_PRINTOUT_H

#include <stdio.h>

#include "outfile.h"

struct mkperf_printout {
    FILE *to; /* NULL: not open */
    struct mkperf_outfile file;
    struct mkperf_error error; /* the first one of writing */
};

/* "-": standard output. OUTPUT: it cannot be written. p stays where it is in memory. */
enum mkperf_status mkperf_printout_open(struct mkperf_printout *p, const char *path,
                                        struct mkperf_error *e);

/* For a command that prints to stdout itself, at its end: OUTPUT if not all of it could be written. */
enum mkperf_status mkperf_stdout_flush(struct mkperf_error *e);

/* Closes what is open. The file gets its name if e->status is OK and writing succeeded; an error of
 * writing is put into *e if it has no error yet. Returns e->status. */
enum mkperf_status mkperf_printout_close(struct mkperf_printout *p, struct mkperf_error *e);

#endif
