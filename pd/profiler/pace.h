/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pacing: the period of each event on each core.
 *
 * Owns: struct mkperf_pacer. The drain notes samples here; hook_session.c adapts the periods after
 * a drain, and sends the changed configurations (kernel.stale) to the hook. On each core an event
 * has one period for its user and its kernel counter, so that all its samples have equal weight.
 * With a frequency, the period follows the measured rate.
 *
 *   drained samples (samples, events, from .. last) -> policy.h -> period -> want.counter[].period
 */
#ifndef MKPERF_PROFILER_PACE_H
#define MKPERF_PROFILER_PACE_H

#include "kernel.h"
#include "plan.h"

/* An event on a core while a session runs. Times are ticks. */
struct mkperf_pace {
    uint32_t period;  /* the current one */
    uint32_t samples; /* samples since `from` */
    uint64_t events;  /* sum of the periods of these samples */
    uint64_t from;    /* time of the sample from which the rate is measured; 0: none yet */
    uint64_t last;    /* time of the last sample, or of the last reaction to its absence */
    bool settling;    /* The last change was large, or the period has not changed yet. */
};

struct mkperf_pacer {
    const struct mkperf_plan *plan;
    struct mkperf_kernel *kernel;
    struct mkperf_pace core[MKPERF_TARGET_CORES][MKPERF_MAX_EVENTS];
};

/* Sets the periods of the plan, for a new session. */
void mkperf_pace_begin(struct mkperf_pacer *p);
/* Adapts the events of that slice to the samples since the last call. now: ticks. dropped: samples
 * were lost, so that the rate is only known to be too high. silence: ticks for which there was no
 * sample of any event, as far as is known. Returns whether a period changes so much that it will change again soon. */
bool mkperf_pace_adapt(struct mkperf_pacer *p, uint32_t slice, uint64_t now, bool dropped,
                       uint64_t silence);
/* Called when the event counts again after `away` ticks without counting. */
void mkperf_pace_resume(struct mkperf_pacer *p, unsigned event, uint64_t away);

/* Called for drained samples of an event, the last one at `time`. events: the sum of their
 * periods. */
static inline void mkperf_pace_note(struct mkperf_pace *pace, uint32_t samples, uint64_t events,
                                    uint64_t time)
{
    pace->samples += samples;
    pace->events += events;
    pace->last = time;
}

#endif
