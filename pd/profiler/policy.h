/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profiler PD's choices as pure functions: periods and wake-ups.
 *
 * Owns: no state. Called by the rest of the profiler PD outside the sampling path, and by tests.
 */
#ifndef MKPERF_POLICY_H
#define MKPERF_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/jitter.h>

enum mkperf_policy {
    MKPERF_MIN_PERIOD_BUSY = 1000, /* for events that can occur every cycle; more if a sample costs
                                      more */
    /* The cost of a sample on the target in instructions, rounded up
     * (docs/verification.md, "Cost on the target") */
    MKPERF_COST_SAMPLE = 450, /* the hook without frames, and the copy */
    MKPERF_COST_FRAME = 17,   /* each return address */
    MKPERF_COST_GROUP = 70,   /* all group reads together */
    MKPERF_COST_READ = 45,    /* each group read in addition */
    MKPERF_WAKES_PER_SECOND = 4,
    /* Most samples between two wake-ups, so that they share its cost. The watermark is in bytes and
     * may be out of date. Up to 30 more samples may come, and a batch still holds 256. */
    MKPERF_WAKE_SAMPLES = 220,
};

/* Returns the cost of a sample with this many frames and group reads, in instructions. */
uint32_t mkperf_sample_cost(uint32_t frames, uint32_t reads);

/* Returns the shortest period of an event. rate: enum mkperf_pmu_rate. kernel: the event is counted
 * only in the kernel. frames, callers, reads: contents of its samples. events: number of the
 * session's events that sample user mode, with this one. The minimum of a rare event is that of the
 * hook (descriptor.h). If all events are busy and have their shortest periods, user mode gets half
 * of the instructions, and the samples the other half. */
uint32_t mkperf_min_period(unsigned rate, bool kernel, uint32_t frames, uint32_t callers,
                           uint32_t reads, uint32_t events);

/*
 * The first period for a frequency (1 .. MKPERF_MAX_FREQUENCY, per second), until samples show the
 * rate. For a busy event it assumes one event per nanosecond. For a rare one it is the minimum. The
 * result is within [minimum, MKPERF_MAX_PERIOD].
 */
uint32_t mkperf_first_period(uint32_t frequency, uint32_t minimum, unsigned rate);

/*
 * The next period for a frequency, after `events` events in `ticks` ticks (tick_hz per second). It
 * changes by a factor of at most 4 towards the period that fits the measured rate. It goes only
 * half of the way if that is within a factor of 2, because the difference may be noise. The period
 * stays if an argument is unknown (0) or the rate is less than 1.6 % off, because each change costs
 * a request to the hook and bytes on the wire.
 */
uint32_t mkperf_adapt_period(uint32_t period, uint32_t minimum, uint32_t frequency, uint64_t events,
                             uint64_t ticks, uint64_t tick_hz);

/* Returns the next period of an event that did not occur: a quarter, but at least the minimum. */
uint32_t mkperf_starved_period(uint32_t period, uint32_t minimum);

/*
 * The number of samples between two wake-ups of the profiler PD: `fixed` if that is not 0.
 * Otherwise the rate of `samples` in `ticks` yields MKPERF_WAKES_PER_SECOND wake-ups; the result is
 * 1 if the rate is unknown (0), and at most MKPERF_WAKE_SAMPLES.
 */
uint32_t mkperf_wake_samples(uint32_t fixed, uint64_t samples, uint64_t ticks, uint64_t tick_hz);

/* Returns the ring's watermark in bytes for that number of samples, at most half of the ring.
 * record_bytes: the average size of a record; 0: unknown. */
uint32_t mkperf_watermark(uint32_t wake_samples, uint64_t record_bytes, uint32_t ring_bytes);

#endif
