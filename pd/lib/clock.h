/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clock of the samples' times, if the platform lets EL0 read it: MKPERF_CLOCK is its register's
 * name. Without that, mkperf_clock_there() is false and the rest is 0.
 */
#ifndef MKPERF_CLOCK_H
#define MKPERF_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#ifdef MKPERF_CLOCK

#define MKPERF_CLOCK_TEXT(x) #x
#define MKPERF_CLOCK_READ(name, value) \
    __asm__ volatile("isb\n\tmrs %0, " MKPERF_CLOCK_TEXT(name) : "=r"(value)::"memory")

static inline bool mkperf_clock_there(void)
{
    return true;
}

static inline uint64_t mkperf_clock_ticks(void)
{
    uint64_t ticks;

    MKPERF_CLOCK_READ(MKPERF_CLOCK, ticks);
    return ticks;
}

static inline uint64_t mkperf_clock_hz(void)
{
    uint64_t hz;

    MKPERF_CLOCK_READ(cntfrq_el0, hz);
    return hz;
}

#else

static inline bool mkperf_clock_there(void)
{
    return false;
}

static inline uint64_t mkperf_clock_ticks(void)
{
    return 0;
}

static inline uint64_t mkperf_clock_hz(void)
{
    return 0;
}

#endif

#endif
