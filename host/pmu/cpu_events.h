/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event tables of CPUs whose own PMU events the target cannot name: those of host/pmu,
 * compiled in.
 *
 * Owns: nothing but constants. Names and numbers are the published ones of each CPU; what a target
 * really has, it says itself as far as its hardware knows.
 */
#ifndef MKPERF_HOST_PMU_CPU_EVENTS_H
#define MKPERF_HOST_PMU_CPU_EVENTS_H

#include <stdint.h>

#include "base/args.h"

struct mkperf_pmu_table_event {
    const char *name; /* lower case */
    uint32_t code;
    const char *description;
};

struct mkperf_pmu_table {
    const char *cpu; /* as TargetHello.cpu says it */
    unsigned n;
    const struct mkperf_pmu_table_event *event; /* ascending codes */
};

extern const struct mkperf_pmu_table mkperf_pmu_tables[]; /* ends with cpu NULL */

/* The table of a CPU, by name without regard to case; NULL: there is none. */
const struct mkperf_pmu_table *mkperf_pmu_table(const char *cpu);

/* An event by its name without regard to case; NULL: the table (which may be NULL) has none. */
const struct mkperf_pmu_table_event *mkperf_pmu_table_find(const struct mkperf_pmu_table *t,
                                                           const char *name);

/* The names that perf has too, and those of all tables, each once, for completion. */
void mkperf_pmu_events(mkperf_put *put, void *to);

#endif
