/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: look-ups in the event tables, see cpu_events.h. */
#include "cpu_events.h"

#include <stddef.h>
#include <strings.h>

#include "model/interactions.h"

const struct mkperf_pmu_table *mkperf_pmu_table(const char *cpu)
{
    for (const struct mkperf_pmu_table *t = mkperf_pmu_tables; t->cpu != NULL; t++) {
        if (strcasecmp(t->cpu, cpu) == 0) {
            return t;
        }
    }
    return NULL;
}

const struct mkperf_pmu_table_event *mkperf_pmu_table_find(const struct mkperf_pmu_table *t,
                                                           const char *name)
{
    for (unsigned i = 0; t != NULL && i < t->n; i++) {
        if (strcasecmp(t->event[i].name, name) == 0) {
            return &t->event[i];
        }
    }
    return NULL;
}

/* What targets call the events that perf has names for (pd/pmu). */
static const char *const generic[] = {
    "cycles",
    "instructions",
    "branches",
    "branch-misses",
    "cache-references",
    "cache-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "L1-dcache-loads",
    "L1-dcache-load-misses",
    "L1-icache-loads",
    "L1-icache-load-misses",
    "dTLB-loads",
    "dTLB-load-misses",
    "iTLB-loads",
    "iTLB-load-misses",
    "LLC-loads",
    "LLC-load-misses",
};

void mkperf_pmu_events(mkperf_put *put, void *to)
{
    for (size_t i = 0; i < sizeof generic / sizeof *generic; i++) {
        put(to, generic[i], "");
    }
    for (size_t i = 0; i < MKPERF_SOFT_KINDS; i++) {
        put(to, mkperf_soft_names[i], "");
    }
    for (const struct mkperf_pmu_table *t = mkperf_pmu_tables; t->cpu != NULL; t++) {
        for (unsigned i = 0; i < t->n; i++) {
            const struct mkperf_pmu_table *before = mkperf_pmu_tables;

            while (before < t && mkperf_pmu_table_find(before, t->event[i].name) == NULL) {
                before++;
            }
            if (before == t) {
                put(to, t->event[i].name, t->event[i].description);
            }
        }
    }
}
