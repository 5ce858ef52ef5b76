/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of `mkperf record`. Other commands that talk to a target have some of them too.
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
    const char *raw; /* file for the line's bytes; NULL: none */
    int compression; /* level, as of mkperf_perfdata_compress */
    const char *system, *elf_path, *kernel;
    const char *pd, *subtree;  /* names of PDs, see mkperf_filter */
    const char *dump_on_fault; /* names of PDs, see mkperf_filter_faults */
    bool wait;                 /* `mkperf dump` waits until the flight recording has ended */
    uint64_t count, frequency; /* -c, -F; 0: not given */
    mkperf_Configure configure;
    double duration_s; /* 0: until interrupted */
    bool quiet;
    bool keep_no_elfs;
    char *command; /* the whole command line */
};

enum { MKPERF_DEFAULT_FREQUENCY = 1000, MKPERF_DEFAULT_TIMEOUT_S = 5 };

/* Groups for a struct mkperf_peer_options: -t, --timeout, --key-file; --watch; --take-over; --reconnect. */
extern const struct mkperf_option_group mkperf_link_options, mkperf_watch_options,
    mkperf_control_options, mkperf_reconnect_options;
/* Groups for a struct mkperf_record_options: -e -c -F ...; --system, --elf-path; --kernel; which PDs are
 * sampled; the output; flight recordings, software and scheduling events. */
extern const struct mkperf_option_group mkperf_sampling_options, mkperf_names_options,
    mkperf_kernel_options, mkperf_choice_options, mkperf_output_options, mkperf_flight_options;

/* The mask of -C LIST, for commands that configure the target. */
enum mkperf_status mkperf_given_core_mask(const struct mkperf_given *g, uint32_t *mask);

/* Puts the kinds of TARGET, a section of help. */
void mkperf_target_help(mkperf_put *put, void *to);

/* Sets defaults. o->command is to be freed. */
void mkperf_record_options_init(struct mkperf_record_options *o, int argc, char **argv);
/* To be called after parsing. USAGE: an option is missing, or options exclude each other. */
enum mkperf_status mkperf_record_options_finish(struct mkperf_record_options *o,
                                                const char *command, struct mkperf_error *e);
/* The same check for --overwrite and its options. */
enum mkperf_status mkperf_flight_check(const struct mkperf_record_options *o,
                                       struct mkperf_error *e);

#endif
