/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A set of cores from the command line, as perf's -C takes it: "0", "1,3", "0-2,5".
 *
 * Owns: the set and its text.
 */
#ifndef MKPERF_HOST_BASE_CPU_LIST_H
#define MKPERF_HOST_BASE_CPU_LIST_H

#include "args.h"

enum { MKPERF_CPU_LIST_MAX = 4096 };

struct mkperf_cpu_list {
    bool given; /* false: all cores */
    uint64_t bits[MKPERF_CPU_LIST_MAX / 64];
};

static inline bool mkperf_cpu_list_has(const struct mkperf_cpu_list *l, uint32_t cpu)
{
    return !l->given || (cpu < MKPERF_CPU_LIST_MAX && l->bits[cpu / 64] >> cpu % 64 & 1);
}

/* Takes an option's value; all numbers are below `most`. USAGE. */
enum mkperf_status mkperf_given_cpus(const struct mkperf_given *g, uint32_t most,
                                     struct mkperf_cpu_list *l);

/* "core 0", "cores 0-2,5": of a set that is given and not empty; cut with "..." if it is long. */
enum { MKPERF_CPU_LIST_TEXT = 128 };
const char *mkperf_cpu_mask_text(uint64_t mask, char text[MKPERF_CPU_LIST_TEXT]);
const char *mkperf_cpu_list_text(const struct mkperf_cpu_list *l, char text[MKPERF_CPU_LIST_TEXT]);

#endif
