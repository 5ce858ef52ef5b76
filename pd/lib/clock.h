/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clock of the samples' times, if the platform lets EL0 read it: MKPERF_CLOCK is its register's
 * name, and MKPERF_CLOCK_HZ its frequency where no register has that. Without that, both functions return 0.
 */
#ifndef MKPERF_CLOCK_H
#define MKPERF_CLOCK_H

#include <stdint.h>

#define MKPERF_CLOCK_TEXT(x) #x
#ifdef __riscv
#define MKPERF_CLOCK_READ(name, value) \
    __asm__ volatile("csrr %0, " MKPERF_CLOCK_TEXT(name) : "=r"(value)::"memory")
#else
#define MKPERF_CLOCK_READ(name, value) \
    __asm__ volatile("isb\n\tmrs %0, " MKPERF_CLOCK_TEXT(name) : "=r"(value)::"memory")
#endif

static inline uint64_t mkperf_clock_ticks(void)
{
    uint64_t ticks = 0;

#ifdef MKPERF_CLOCK
    MKPERF_CLOCK_READ(MKPERF_CLOCK, ticks);
#endif
    return ticks;
}

/* Ticks per second. */
static inline uint64_t mkperf_clock_hz(void)
{
    uint64_t hz = 0;

#ifdef MKPERF_CLOCK_HZ /* RISC-V has no register for it */
    hz = MKPERF_CLOCK_HZ;
#elif defined MKPERF_CLOCK
    MKPERF_CLOCK_READ(cntfrq_el0, hz);
#endif
    return hz;
}

#endif
