/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which samples of a recording are shown, and the slices of its time.
 *
 * Owns: the filters of the commands that show a recording, and the texts of their options. Samples that do not pass are counted
 * nowhere: percentages are of the samples that pass.
 */
#ifndef MKPERF_HOST_PROFILE_FILTER_H
#define MKPERF_HOST_PROFILE_FILTER_H

#include "base/args.h"
#include "symbols/symbols.h"

struct report_filter {
    struct mkperf_cpu_list cores;
    bool has_time;
    uint64_t from_ns, to_ns; /* first and last time that pass the filter, as in perf */
    bool percent;            /* from_ns and to_ns follow from these when the recording is read: */
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
 * Options that these commands share, with the type of the value that each group sets. -i: const char *, the path; --pd and -e:
 * struct report_names; --cpu and --time: struct report_filter.
 */
struct report_names {
    const char *pd, *event; /* NULL: all */
};
extern const struct mkperf_option report_input_options[], report_names_options[],
    report_filter_options[];
#define report_time_options (report_filter_options + 2) /* only --time */
/* --elf-path and --symfs, --objdump: struct mkperf_elf_search. The second group has no --elf-path, for commands with another
 * one; the third is for those that disassemble. */
extern const struct mkperf_option report_elf_options[], report_objdump_options[];
#define report_symfs_options (report_elf_options + 1)

/* Parses seconds with up to nine decimals into ns, exactly. Returns the text that follows; NULL: it is not a time. */
const char *report_filter_seconds(const char *text, uint64_t *ns);

/* Prints in a head which samples are shown; nothing if all are. */
void report_filter_print(const struct report_filter *f, FILE *out);

enum { MKPERF_TIME_SLICES_MAX = 1 << 20 };

/* The time of a recording in slices of one length (--time-quantum), numbered in the order of their appearance. */
struct mkperf_time_slices {
    /* The length of a slice, which begins at a multiple of it. 0: slice 0 is the whole time. */
    uint64_t quantum_ns;
    struct mkperf_hash numbers;
};

/* Stores the number of the slice with that time. Returns USAGE if there are too many slices. */
static inline enum mkperf_status mkperf_time_slice(struct mkperf_time_slices *t, uint64_t time_ns,
                                                   uint32_t *slice, struct mkperf_error *e)
{
    uint64_t key = t->quantum_ns != 0 ? time_ns / t->quantum_ns : 0;

    *slice = t->quantum_ns != 0 ? mkperf_hash_number(&t->numbers, &key, 1) : 0;
    return *slice < MKPERF_TIME_SLICES_MAX
               ? MKPERF_OK
               : mkperf_error_set(e, MKPERF_ERR_USAGE,
                                  "--time-quantum: the recording has more than %d of these",
                                  MKPERF_TIME_SLICES_MAX);
}

/* Returns when a slice begins, in ns. */
static inline uint64_t mkperf_time_slice_ns(const struct mkperf_time_slices *t, uint32_t slice)
{
    return t->quantum_ns != 0 ? *mkperf_hash_key(&t->numbers, slice) * t->quantum_ns : 0;
}

#endif
