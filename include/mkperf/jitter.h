/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jitter: the random part of an interval between two samples of a counter.
 *
 * Owns: its width and its generator. The generator has no state: a draw is a function of the time
 * of the sample at which the interval begins. A receiver of a counter's last sample can therefore
 * compute the period of the next one, and the wire omits it (docs/protocol.md, "Batches"). The
 * kernel hook draws; the profiler PD, the client PD and the host compute the same draws.
 *
 * Jitter keeps samples out of step with loops of programs. It is no secret: a program that knows
 * the exact time of its last sample can compute the time of the next one.
 */
#ifndef MKPERF_JITTER_H
#define MKPERF_JITTER_H

#include <stdint.h>

/*
 * Every interval between overflows is a multiple of this power of two. It is 1 except for QEMU
 * under `-icount shift=1` (platform/microkit/boards) without the kernel's help. An instruction is
 * two cycles there, and QEMU loses the overflow of an interval that ends in the middle of an
 * instruction.
 */
#ifndef MKPERF_PERIOD_STEP
#define MKPERF_PERIOD_STEP 1
#endif

/* Returns the period, rounded down to whole steps. */
static inline uint32_t mkperf_in_steps(uint32_t period)
{
    return period & ~(uint32_t)(MKPERF_PERIOD_STEP - 1);
}

/*
 * Returns the jitter for a period (2 .. MKPERF_MAX_PERIOD): the largest 2^k - 1 that is at most the
 * period, in steps. Intervals are therefore drawn from a width between half a period and a whole
 * one. With a smaller width, a loop of a few periods stays in step with the samples for longer
 * (docs/design.md, "Jitter").
 */
static inline uint32_t mkperf_jitter_mask(uint32_t period)
{
    unsigned k = 31 - (unsigned)__builtin_clz(period + 1);

    return mkperf_in_steps((UINT32_C(1) << k) - 1);
}

/* 2^64 divided by the golden ratio: multiplication carries each bit of the time into many
 * others. */
#define MKPERF_JITTER_MIX UINT64_C(0x9e3779b97f4a7c15)

/*
 * Computes 32 bits that look random from the time in a sample's record and its counter's number.
 * mix is MKPERF_JITTER_MIX. A caller may keep it in memory, because the constant takes four
 * instructions.
 */
static inline uint32_t mkperf_jitter_draw(uint64_t time, unsigned counter, uint64_t mix)
{
    uint64_t r = (time + ((uint64_t)counter << 32)) * mix;

    return (uint32_t)((r ^ r >> 32) * mix >> 32);
}

/*
 * Returns the interval for a draw. mask: 2^k - 1, of which low bits may be clear; 0 for no jitter.
 * The interval is uniform in [period - (mask + 1) / 2, period + mask / 2] where mask is 2^k - 1;
 * modulo 2^64.
 */
static inline uint64_t mkperf_jitter_interval(uint64_t period, uint32_t mask, uint32_t draw)
{
    return period - (mask != 0 ? mask / 2 + 1 : 0) + (draw & mask);
}

#endif
