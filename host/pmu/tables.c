/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: look-ups in the event tables, see tables.h. */
#include "tables.h"

#include <stddef.h>
#include <strings.h>

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

void mkperf_pmu_events(mkperf_put *put, void *to)
{
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
