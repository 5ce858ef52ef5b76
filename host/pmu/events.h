/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event list of -e, in perf's syntax.
 *
 * Owns: parsing. Which events exist only the target knows. Called by commands that configure a
 * session.
 */
#ifndef MKPERF_HOST_PMU_EVENTS_H
#define MKPERF_HOST_PMU_EVENTS_H

#include "base/error.h"
#include "mkperf.pb.h"

/*
 * Appends the events of `text` to c:
 *   list  = item {"," item}
 *   item  = event | "{" event {"," event} "}" [":" modifiers]     a group: counts together
 *   event = (name | "r" hex) ["/" term {"," term} "/"] [[":"] modifiers]   (":" optional after "/")
 *   term  = ("period" | "freq") "=" number          modifiers = {"u" | "k"}, of a group also "S":
 * only its first event samples, and the others' counts ride in its samples.
 * Errors: MKPERF_ERR_USAGE with the event and the place.
 */
enum mkperf_status mkperf_events_parse(const char *text, mkperf_Configure *c,
                                       struct mkperf_error *e);

/*
 * Gives names that stand in the CPU's table (host/pmu/cpu_events.h) their code, for a target that
 * does not know them.
 */
void mkperf_events_resolve(mkperf_Configure *c, const char *cpu);

#endif
