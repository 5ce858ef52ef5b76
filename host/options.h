/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line of `mkperf record`.
 *
 * Owns: parsing and defaults. Prints the help text, nothing else.
 */
#ifndef MKPERF_HOST_OPTIONS_H
#define MKPERF_HOST_OPTIONS_H

#include "error.h"
#include "mkperf.pb.h"
#include "peer.h"

struct mkperf_record_options {
    struct mkperf_peer_options link;
    const char *output;
    const char *raw; /* NULL: none */
    const char *system, *elf_path, *kernel;
    const char *pd, *subtree; /* see filter.h */
    mkperf_Configure configure;
    double duration_s; /* 0: until interrupted */
    bool quiet;
    char *command; /* the whole command line */
};

enum { MKPERF_DEFAULT_FREQUENCY = 1000, MKPERF_DEFAULT_TIMEOUT_S = 5 };

/* On success *out holds the options and *help whether the help text was printed instead. */
enum mkperf_status mkperf_record_options(int argc, char **argv, struct mkperf_record_options *out,
                                         bool *help, struct mkperf_error *e);
void mkperf_record_options_free(struct mkperf_record_options *o);

#endif
