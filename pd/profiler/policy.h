/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profiler PD's choices, as pure functions: periods, jitter, when to be woken.
 *
 * Owns: no state. Called by the rest of the profiler PD outside the sampling path, and by tests.
 */
#ifndef MKPERF_POLICY_H
#define MKPERF_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/jitter.h>

enum mkperf_policy {
    MKPERF_MIN_PERIOD_BUSY = 1000, /* events that can occur every cycle: or what a sample costs, if
                                      that is more */
    /* What a sample costs the target, in instructions, rounded up (docs/sel4.md, docs/events.md):
     */
    MKPERF_COST_SAMPLE = 450, /* the hook without frames, and the copy, */
    MKPERF_COST_FRAME = 17,   /* each return address, */
    MKPERF_COST_GROUP = 70,   /* group reads in it, */
    MKPERF_COST_READ = 45,    /* and each of them */
    MKPERF_WAKES_PER_SECOND = 4,
    /* Most samples between two wake-ups: enough to share its cost. The watermark is in bytes, and
     * not always up to date, so it may be some 30 more: a batch of 256 still holds them. */
    MKPERF_WAKE_SAMPLES = 220,
};

/* The cost of a sample with this many frames and group reads, in instructions. */
uint32_t mkperf_sample_cost(uint32_t frames, uint32_t reads);

/* The shortest period of an event, by how often it can occur (enum mkperf_pmu_rate), by whether it
 * is counted in the kernel alone, and by what its samples hold. Of a rare one it is what the hook
 * enforces (descriptor.h). events: those that sample user mode in the session, this one among them;
 * with all of busy ones at their shortest periods, user mode gets as many instructions as they
 * take. */
uint32_t mkperf_min_period(unsigned rate, bool kernel, uint32_t frames, uint32_t callers,
                           uint32_t reads, uint32_t events);

/*
 * The period to begin with for a frequency (1 .. MKPERF_MAX_FREQUENCY, per second): for busy events
 * as if one occurred each nanosecond, for rare ones the shortest, until the first samples show
 * the rate. The result is within [minimum, MKPERF_MAX_PERIOD].
 */
uint32_t mkperf_first_period(uint32_t frequency, uint32_t minimum, unsigned rate);

/*
 * The next period for a frequency, after `events` events in `ticks` ticks (tick_hz a second): the
 * one that fits the observed rate; half way to it if it is within a factor of 2, as that may be
 * noise; never further than a factor of 4 at a time. Unknown values (0) change nothing, nor does a
 * rate that is less than 1.6 % off: each change costs a request to the hook and bytes on the wire.
 */
uint32_t mkperf_adapt_period(uint32_t period, uint32_t minimum, uint32_t frequency, uint64_t events,
                             uint64_t ticks, uint64_t tick_hz);

/* The period for an event that did not occur: a quarter, not below the minimum. */
uint32_t mkperf_starved_period(uint32_t period, uint32_t minimum);

/*
 * Samples between two wake-ups of the profiler PD: `fixed` if that is not 0, else such that there
 * are MKPERF_WAKES_PER_SECOND, at `samples` in `ticks`; 1 while nothing is known; at most
 * MKPERF_WAKE_SAMPLES.
 */
uint32_t mkperf_wake_samples(uint32_t fixed, uint64_t samples, uint64_t ticks, uint64_t tick_hz);

/* The ring's watermark for that, with records of record_bytes on average (0: not known yet), at
 * most half of the ring. The n-th of n records of that very size wakes. */
uint32_t mkperf_watermark(uint32_t wake_samples, uint64_t record_bytes, uint32_t ring_bytes);

#endif
