/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which samples of a recording are shown.
 *
 * Owns: the filters that the looking commands share, and the texts of their options. What is left
 * out counts nowhere: percentages are of what passes.
 */
#ifndef MKPERF_HOST_PROFILE_FILTER_H
#define MKPERF_HOST_PROFILE_FILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cpu_list.h"
#include "symbols/symbols.h"

struct report_filter {
    struct mkperf_cpu_list cores;
    bool has_time;
    uint64_t from_ns, to_ns; /* both included, as in perf */
    bool percent;            /* the times are known when the recording is read, from these */
    double from_percent, to_percent;
};

static inline bool report_filter_has_time(const struct report_filter *f, uint64_t time_ns)
{
    return !f->has_time || (time_ns >= f->from_ns && time_ns <= f->to_ns);
}

static inline bool report_filter_passes(const struct report_filter *f, uint64_t time_ns,
                                        uint32_t core)
{
    return mkperf_cpu_list_has(&f->cores, core) && report_filter_has_time(f, time_ns);
}

/*
 * Options that the looking commands share. -i: of a const char *, the path; --pd and -e: of a
 * struct report_names; --cpu and --time: of a struct report_filter.
 */
struct report_names {
    const char *pd, *event; /* NULL: all */
};
extern const struct mkperf_option_group report_input_options, report_names_options,
    report_filter_options;
/* --elf-path and --symfs: of a struct mkperf_elf_search. The second is without
 * --elf-path, for commands that have another one. */
extern const struct mkperf_option_group report_elf_options, report_symfs_options;

/* Seconds with up to nine decimals, exactly, in ns. Returns what follows; NULL: not a time. */
const char *report_filter_seconds(const char *text, uint64_t *ns);

/* Says in a head which samples are shown; nothing if all are. */
void report_filter_print(const struct report_filter *f, FILE *out);

#endif
