/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events: the list of -e in perf's syntax, and the tables of CPUs that translate names into numbers.
 *
 * Owns: the syntax, and the look-ups. The tables are host/pmu/CPU.json, which scripts/gen-pmu-tables turns into C.
 * Called by the commands that configure a session. Only the target knows which events its hardware has.
 */
#ifndef MKPERF_HOST_PMU_EVENTS_H
#define MKPERF_HOST_PMU_EVENTS_H

#include "base/args.h"
#include "mkperf.pb.h"

struct mkperf_pmu_table_event {
    const char *name; /* lower case */
    uint32_t code;
    const char *description;
};

/* A figure: factor * event / of, printed with `unit`. If an event has several, the first one of which both events are counted is
 * used. group: the word of -M; "": in none. */
struct mkperf_pmu_metric {
    const char *group, *event, *of, *unit;
    uint32_t event_code, of_code;
    double factor;
};

/* The events that the manufacturer publishes for a CPU and for which perf has no name. */
struct mkperf_pmu_table {
    const char *cpu; /* name of the CPU, as TargetHello.cpu has it */
    unsigned n;
    const struct mkperf_pmu_table_event *event; /* ascending codes */
    const struct mkperf_pmu_metric *metric;     /* ends with unit NULL */
};

extern const struct mkperf_pmu_table
    mkperf_pmu_tables[]; /* ends with cpu NULL: it has the metrics of the architecture */

/*
 * Appends the events of a list of metric groups, "ipc,cache,branch,stall,bus", to c: those that this CPU has. The
 * events of a figure are counted at the same times. Names in `missing`, of `size` bytes, the groups for which the CPU
 * has no events, and those that do not fit into a session any more; "": none. Errors: USAGE, no such group; INPUT, no
 * event is left.
 */
enum mkperf_status mkperf_pmu_metric_groups(const char *groups, const char *cpu,
                                            mkperf_Configure *c, char *missing, size_t size,
                                            struct mkperf_error *e);

/* Returns the table of a CPU, by name without regard to case; the last one, which has no events, if there is none, or for
 * NULL. */
const struct mkperf_pmu_table *mkperf_pmu_table(const char *cpu);

/* Returns an event by its name without regard to case, or NULL if t has none of that name. */
const struct mkperf_pmu_table_event *mkperf_pmu_table_find(const struct mkperf_pmu_table *t,
                                                           const char *name);

/* Puts all names for completion, each once: perf's, the software events, and those of all tables. */
void mkperf_pmu_events(mkperf_put *put, void *to);

/*
 * Appends the events of `text` to c:
 *   list  = item {"," item}
 *   item  = event | "{" event {"," event} "}" [":" modifiers]     a group: its events count at the same times
 *   event = (name | "r" hex) ["/" term {"," term} "/"] [[":"] modifiers]   (":" is optional after "/")
 *   term  = ("period" | "freq") "=" number
 *   modifiers = {"u" | "k"}; those of a group also "S": only its first event samples, and each sample has the counts
 *               of the other events.
 * Errors: USAGE with the event and the place; c has the events before it then.
 */
enum mkperf_status mkperf_events_parse(const char *text, mkperf_Configure *c,
                                       struct mkperf_error *e);

/* Adds the code to each event that the CPU's table has, for a target that does not know the name. */
void mkperf_events_resolve(mkperf_Configure *c, const char *cpu);

#endif
