/* SPDX-License-Identifier: BSD-2-Clause */
/* The profiler PD's choices: see policy.h. */
#include "policy.h"

#include <mkperf/descriptor.h>
#include <mkperf/record.h>
#include <mkperf/session.h>

#include "../pmu/pmu.h"

enum {
    NOMINAL_HZ = 1000000000,
    MAX_STEP = 4,
    NOISE = 64, /* a difference below this part of a period is ignored */
    SMALLEST_RECORD = 8 * MKPERF_SAMPLE_FIXED_WORDS,
};

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
    return value < low ? low : value > high ? high : value;
}

uint32_t mkperf_sample_cost(uint32_t frames, uint32_t reads)
{
    uint32_t group = reads != 0 ? MKPERF_COST_GROUP + MKPERF_COST_READ * reads : 0;

    return MKPERF_COST_SAMPLE + MKPERF_COST_FRAME * frames + group;
}

uint32_t mkperf_min_period(unsigned rate, bool kernel, uint32_t frames, uint32_t callers,
                           uint32_t reads, uint32_t events)
{
    uint32_t least = mkperf_least_interval(frames, callers, reads, kernel);
    uint32_t cost = mkperf_sample_cost(frames, reads);

    if (rate == MKPERF_RATE_RARE) {
        return least;
    }
    cost *= !kernel && events > 1 ? events : 1;
    cost = cost > MKPERF_MIN_PERIOD_BUSY ? cost : MKPERF_MIN_PERIOD_BUSY;
    return cost > least ? cost : least;
}

uint32_t mkperf_first_period(uint32_t frequency, uint32_t minimum, unsigned rate)
{
    if (rate == MKPERF_RATE_RARE) {
        return minimum;
    }
    return (uint32_t)clamp(NOMINAL_HZ / frequency, minimum, MKPERF_MAX_PERIOD);
}

uint32_t mkperf_adapt_period(uint32_t period, uint32_t minimum, uint32_t frequency, uint64_t events,
                             uint64_t ticks, uint64_t tick_hz)
{
    if (events == 0 || ticks == 0 || tick_hz == 0 || frequency == 0) {
        return period;
    }
    /* Keeps events * tick_hz and ticks * frequency within 64 bits (tick_hz below 2^32). */
    while (events >> 32 != 0 || ticks >> 40 != 0) {
        events >>= 4;
        ticks >>= 4;
    }
    tick_hz = clamp(tick_hz, 1, UINT32_MAX);
    uint64_t rate = clamp(events, 1, UINT64_MAX / tick_hz) * tick_hz;
    uint64_t fits = rate / (clamp(ticks, 1, UINT64_MAX >> 20) * frequency);
    uint64_t near = clamp(fits, period / MAX_STEP, (uint64_t)period * MAX_STEP);

    if (near + near / NOISE >= period && near <= period + period / NOISE) {
        return period;
    }
    if (near >= period / 2 && near <= (uint64_t)period * 2) {
        near = (period + near) / 2; /* the difference may be noise */
    }
    return (uint32_t)clamp(near, minimum, MKPERF_MAX_PERIOD);
}

uint32_t mkperf_starved_period(uint32_t period, uint32_t minimum)
{
    return (uint32_t)clamp(period / MAX_STEP, minimum, MKPERF_MAX_PERIOD);
}

uint32_t mkperf_wake_samples(uint32_t fixed, uint64_t samples, uint64_t ticks, uint64_t tick_hz)
{
    if (fixed != 0) {
        return fixed;
    }
    if (samples == 0 || ticks == 0) {
        return 1;
    }
    uint64_t rate = clamp(samples, 1, UINT32_MAX) * clamp(tick_hz, 1, UINT32_MAX) / ticks;

    return (uint32_t)clamp(rate / MKPERF_WAKES_PER_SECOND, 1, MKPERF_WAKE_SAMPLES);
}

uint32_t mkperf_watermark(uint32_t wake_samples, uint64_t record_bytes, uint32_t ring_bytes)
{
    uint64_t bytes = record_bytes != 0 ? record_bytes : SMALLEST_RECORD;

    bytes = clamp(bytes, SMALLEST_RECORD, MKPERF_MAX_RECORD_BYTES);
    return (uint32_t)clamp(clamp(wake_samples, 1, ring_bytes) * bytes, 8, ring_bytes / 2);
}
