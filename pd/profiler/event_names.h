/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of events: the PMU's, software events, and the timer.
 *
 * Owns: the names of software events. Called by plan.c and probe.c to find an event, and by main.c
 * for LIST. No platform: tested on the host.
 */
#ifndef MKPERF_PROFILER_EVENT_NAMES_H
#define MKPERF_PROFILER_EVENT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/session.h>

#include "../pmu/pmu.h"

/* The kind + 1 of the software event with that name (at most MKPERF_NAME_BYTES); 0: no such event.
 * `cs` means context-switches, as in perf. */
uint32_t mkperf_soft_named(const char *name);
/* The PMU's entry for a name: the first that the CPU supports, else the first, else NULL. */
const struct mkperf_pmu_event *mkperf_event_named(const struct mkperf_cpu *cpu, const char *name);
/* The highest rate of an event of the PMU: enum mkperf_pmu_rate. */
unsigned mkperf_event_rate(const struct mkperf_cpu *cpu, uint32_t code);
/* Lists events, beginning with number `first`: software events, then the PMU's, then the timer.
 * soft, timer: whether the target has these. */
void mkperf_events_list(const struct mkperf_cpu *cpu, bool soft, bool timer, uint32_t first,
                        mkperf_Events *out);

#endif
