/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of events: the PMU's, software events, and the timer: see plan.h.
 *
 * Owns: the names of software events. Called by plan.c and probe.c to find an event, and by main.c
 * for LIST. No platform: tested on the host.
 */
#include "plan.h"

#include <mkperf/observe.h>

#include "../lib/text.h"

struct mkperf_cpu mkperf_cpu;

/* By kind. */
static const struct {
    const char *name;
    const char *description;
} soft_events[MKPERF_SOFT_KINDS] = {
    [MKPERF_SOFT_SWITCH] = {"context-switches", "another thread ran than before"},
    [MKPERF_SOFT_FAULT] = {"faults", "memory and capability faults, exceptions of PDs"},
    [MKPERF_SOFT_PPCALL] = {"ppcalls", "protected calls that were delivered"},
    [MKPERF_SOFT_NOTIFICATION] = {"notifications", "notifications by PDs"},
};

uint32_t mkperf_soft_named(const char *name)
{
    for (uint32_t kind = 0; kind < MKPERF_SOFT_KINDS; kind++) {
        if (mkperf_text_is(name, MKPERF_NAME_BYTES, soft_events[kind].name)) {
            return kind + 1;
        }
    }
    return mkperf_text_is(name, MKPERF_NAME_BYTES, "cs") ? MKPERF_SOFT_SWITCH + 1 : 0;
}

const struct mkperf_pmu_event *mkperf_event_named(const char *name)
{
    const struct mkperf_pmu_event *found = NULL;

    for (const struct mkperf_pmu_event *e = mkperf_cpu.pmu->events; e->name != NULL; e++) {
        if (mkperf_text_is(name, MKPERF_NAME_BYTES, e->name)) {
            if (mkperf_cpu_supports(&mkperf_cpu, e->code)) {
                return e;
            }
            found = found == NULL ? e : found;
        }
    }
    return found;
}

const struct mkperf_pmu_event *mkperf_event_there(const char *name)
{
    const struct mkperf_pmu_event *e = mkperf_event_named(name);

    return e != NULL && mkperf_cpu_supports(&mkperf_cpu, e->code) ? e : NULL;
}

unsigned mkperf_event_rate(uint32_t code)
{
    for (const struct mkperf_pmu_event *e = mkperf_cpu.pmu->events; e->name != NULL; e++) {
        if (e->code == code) {
            return e->rate;
        }
    }
    return MKPERF_RATE_BUSY;
}

static void put_event(mkperf_Events *out, const char *name, uint32_t code, bool supported,
                      const char *description)
{
    mkperf_EventInfo *to = &out->events[out->events_count++];

    mkperf_text_copy(to->name, name, sizeof to->name);
    mkperf_text_copy(to->description, description, sizeof to->description);
    to->code = code;
    to->supported = supported;
}

void mkperf_events_list(bool soft, bool timer, uint32_t first, mkperf_Events *out)
{
    const struct mkperf_pmu_event *e = mkperf_cpu.pmu->events;

    out->events_count = 0;
    for (uint32_t i = MKPERF_SOFT_KINDS; i < first && e->name != NULL; i++) {
        e++;
    }
    for (; out->events_count < MKPERF_LIST_EVENTS && first < MKPERF_SOFT_KINDS; first++) {
        put_event(out, soft_events[first].name, MKPERF_SOFT_CODE + first, soft,
                  soft_events[first].description);
    }
    for (; out->events_count < MKPERF_LIST_EVENTS && e->name != NULL; e++) {
        put_event(out, e->name, e->code, mkperf_cpu_supports(&mkperf_cpu, e->code), e->description);
    }
    out->more = out->events_count == MKPERF_LIST_EVENTS;
    if (!out->more) {
        put_event(out, MKPERF_TIMER_EVENT, MKPERF_TIMER_CODE, timer,
                  "microseconds, by a timer; needs no kernel extension");
    }
}
