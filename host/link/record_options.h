/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of `mkperf record`, and those of them that other commands which talk to a target
 * have too.
 *
 * Owns: their tables, parsing and defaults.
 */
#ifndef MKPERF_HOST_LINK_RECORD_OPTIONS_H
#define MKPERF_HOST_LINK_RECORD_OPTIONS_H

#include "base/args.h"
#include "connection.h"
#include "mkperf.pb.h"

struct mkperf_record_options {
    struct mkperf_peer_options link;
    const char *output;
    const char *raw; /* NULL: none */
    int compression; /* of the output's records, as mkperf_perfdata_compress has it */
    const char *system, *elf_path, *kernel;
    const char *pd, *subtree;  /* see pd_choice.h */
    const char *dump_on_fault; /* PDs, see flight_start.h */
    bool wait;                 /* for the end of the flight recording: `mkperf dump` */
    uint64_t count, frequency; /* -c, -F; 0: not given */
    mkperf_Configure configure;
    double duration_s; /* 0: until interrupted */
    bool quiet;
    bool keep_no_elfs;
    char *command; /* the whole command line */
};

enum { MKPERF_DEFAULT_FREQUENCY = 1000, MKPERF_DEFAULT_TIMEOUT_S = 5 };

/* Of a struct mkperf_peer_options: -t, --timeout, --key-file; --watch; --take-over; --reconnect. */
extern const struct mkperf_option_group mkperf_link_options, mkperf_watch_options,
    mkperf_control_options, mkperf_reconnect_options;
/* Of a struct mkperf_record_options: -e -c -F ...; --system, --elf-path; --kernel; which PDs; where
 * it goes. */
extern const struct mkperf_option_group mkperf_sampling_options, mkperf_names_options,
    mkperf_kernel_options, mkperf_choice_options, mkperf_output_options;

/* -C LIST of commands that configure the target, as a mask. */
enum mkperf_status mkperf_given_core_mask(const struct mkperf_given *g, uint32_t *mask);

/* The kinds of TARGET, for a section of help. */
void mkperf_target_help(mkperf_put *put, void *to);

/* Defaults; o->command is to be freed. */
void mkperf_record_options_init(struct mkperf_record_options *o, int argc, char **argv);
/* After parsing: options that exclude each other, missing options. USAGE. */
enum mkperf_status mkperf_record_options_finish(struct mkperf_record_options *o,
                                                const char *command, struct mkperf_error *e);

#endif
