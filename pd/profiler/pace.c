/* SPDX-License-Identifier: BSD-2-Clause */
/* The period of each event on each core: see pipeline.h. */
#include "pipeline.h"

#include "policy.h"

enum {
    PACE_SAMPLES = 8,       /* samples after which a rate is judged */
    PACE_PER_SECOND = 20,   /* a rate is also judged after this part of a second */
    SETTLED = 8,            /* a period that changes by more than this part will change again */
    STARVED_INTERVALS = 10, /* intervals without a sample after which an event is absent */
    SILENT_INTERVALS = 4,   /* the same if no event has a sample */
};

struct mkperf_pace mkperf_pace[MKPERF_TARGET_CORES][MKPERF_MAX_EVENTS];

/* Sets the event's period. Its rate is measured from the time `from` on; 0: from the next sample on. The hook
 * shortens a current interval that is now far too long. */
static void set_period(unsigned core, unsigned event, uint32_t period, uint64_t from)
{
    const struct mkperf_plan_event *e = &mkperf_plan.event[event];
    struct mkperf_pace *pace = &mkperf_pace[core][event];
    uint32_t most = pace->period / SETTLED;

    pace->from = from;
    pace->samples = 0;
    pace->events = 0;
    period = mkperf_in_steps(period);
    pace->settling = period > pace->period + most || period + most < pace->period;
    if (period == pace->period) {
        return;
    }
    pace->period = period;
    MKPERF_EACH_BIT (i,
                     mkperf_counter_bit(e->user_counter) | mkperf_counter_bit(e->kernel_counter)) {
        struct mkperf_request_counter *c = &mkperf_kernel.core[core].d->want.counter[i];
        c->period = period;
        c->jitter_mask = mkperf_plan.session.no_jitter ? 0 : mkperf_jitter_mask(period);
        mkperf_kernel.stale |= UINT32_C(1) << core;
    }
}

/* Adapts an event with a frequency to the samples since the last call. */
static void adapt_to_rate(unsigned core, unsigned event, bool dropped)
{
    const struct mkperf_plan_event *e = &mkperf_plan.event[event];
    struct mkperf_pace *pace = &mkperf_pace[core][event];
    uint64_t ticks = pace->last - pace->from;
    uint32_t period = pace->period;
    bool first = pace->from == 0;

    if (pace->samples == 0 || (!first && pace->samples < PACE_SAMPLES &&
                               ticks < mkperf_kernel.tick_hz / PACE_PER_SECOND)) {
        return;
    }
    if (dropped) {
        period = period <= MKPERF_MAX_PERIOD / 2 ? 2 * period : MKPERF_MAX_PERIOD;
    } else if (!first) {
        period = mkperf_adapt_period(period, e->minimum,
                                     mkperf_plan.session.events[event].frequency, pace->events,
                                     ticks, mkperf_kernel.tick_hz);
    }
    set_period(core, event, period, pace->last);
    pace->settling |= first;
}

/* Lowers the period of an event with a frequency that has not occurred for long. */
static void adapt_to_absence(unsigned core, unsigned event, uint64_t now, uint64_t silence)
{
    struct mkperf_pace *pace = &mkperf_pace[core][event];
    uint64_t hz = mkperf_kernel.tick_hz;
    uint32_t frequency = mkperf_plan.session.events[event].frequency;
    bool silent = silence > SILENT_INTERVALS * hz / frequency;
    uint64_t patience = STARVED_INTERVALS * hz / frequency + hz / 10;

    if (pace->last == 0) {
        pace->last = now; /* the event has no sample yet: its wait begins now */
    }
    if (!silent && (int64_t)(now - pace->last) <= (int64_t)patience) {
        return;
    }
    pace->last = now;
    set_period(core, event, mkperf_starved_period(pace->period, mkperf_plan.event[event].minimum),
               0);
}

bool mkperf_pace_adapt(uint32_t slice, uint64_t now, bool dropped, uint64_t silence)
{
    bool settling = false;

    MKPERF_EACH_BIT (core, mkperf_plan.adaptive ? mkperf_kernel.on : 0) {
        for (unsigned i = 0; i < mkperf_plan.events; i++) {
            if (mkperf_plan.session.events[i].frequency != 0 &&
                mkperf_plan.event[i].slice == slice) {
                adapt_to_rate(core, i, dropped);
                adapt_to_absence(core, i, now, silence);
                settling |= mkperf_pace[core][i].settling;
            }
        }
    }
    return settling;
}

void mkperf_pace_resume(unsigned event, uint64_t away)
{
    for (unsigned core = 0; core < mkperf_kernel.cores; core++) {
        struct mkperf_pace *pace = &mkperf_pace[core][event];
        pace->from += pace->from != 0 ? away : 0;
        pace->last += pace->last != 0 ? away : 0;
    }
}

void mkperf_pace_begin(void)
{
    for (unsigned i = 0; i < MKPERF_MAX_EVENTS; i++) {
        for (unsigned core = 0; core < mkperf_kernel.cores; core++) {
            mkperf_pace[core][i] =
                (struct mkperf_pace){.period = mkperf_in_steps(mkperf_plan.event[i].period)};
        }
    }
}
