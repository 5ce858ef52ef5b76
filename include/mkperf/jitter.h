/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jitter: the random part of an interval between two samples of a counter.
 *
 * Owns: its width and its generator. That has no state: a draw is a function of the time of the
 * sample at which the interval begins. So a receiver that has a counter's last sample knows the
 * period of its next one, and the wire need not carry it (docs/protocol.md, "Batches"). Used by the
 * kernel hook, which draws, by the profiler PD, the client PD and the host.
 *
 * It separates samples from what programs do in step with them. It is no secret: a program that
 * knows the exact time of its last sample can compute when the next one is due.
 */
#ifndef MKPERF_JITTER_H
#define MKPERF_JITTER_H

#include <stdint.h>

/*
 * What every interval between overflows is a multiple of, a power of two. 1, but for QEMU under
 * `-icount shift=1` (platform/microkit/boards), if the kernel does not help it: cycles go by in
 * twos there, and QEMU loses the overflow of an interval that ends in the middle of an instruction.
 */
#ifndef MKPERF_PERIOD_STEP
#define MKPERF_PERIOD_STEP 1
#endif

/* A period in whole steps. */
static inline uint32_t mkperf_in_steps(uint32_t period)
{
    return period & ~(uint32_t)(MKPERF_PERIOD_STEP - 1);
}

/*
 * The jitter for a period (2 .. MKPERF_MAX_PERIOD): the largest 2^k - 1 that is at most the period,
 * in steps. So intervals are drawn from a width of half a period to a whole one: a smaller width
 * keeps a loop of a few periods in step for longer (docs/design.md, "Jitter").
 */
static inline uint32_t mkperf_jitter_mask(uint32_t period)
{
    unsigned k = 31 - (unsigned)__builtin_clz(period + 1);

    return mkperf_in_steps((UINT32_C(1) << k) - 1);
}

/* 2^64 divided by the golden ratio: multiplication carries each bit of the time into many others. */
#define MKPERF_JITTER_MIX UINT64_C(0x9e3779b97f4a7c15)

/*
 * 32 bits that look random, of a sample's time (its record's) and its counter's number. mix:
 * MKPERF_JITTER_MIX, which a caller may keep in memory: as a constant it takes four instructions.
 */
static inline uint32_t mkperf_jitter_draw(uint64_t time, unsigned counter, uint64_t mix)
{
    uint64_t r = (time + ((uint64_t)counter << 32)) * mix;

    return (uint32_t)((r ^ r >> 32) * mix >> 32);
}

/*
 * The interval that follows such a draw. mask: 2^k - 1, of which low bits may be clear; 0: no jitter.
 * Uniform in [period - (mask + 1) / 2, period + mask / 2] where mask is 2^k - 1; modulo 2^64.
 */
static inline uint64_t mkperf_jitter_interval(uint64_t period, uint32_t mask, uint32_t draw)
{
    return period - (mask != 0 ? mask / 2 + 1 : 0) + (draw & mask);
}

#endif
