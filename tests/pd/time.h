/* SPDX-License-Identifier: BSD-2-Clause */
/* The clock of the samples' times, on the built-in platform. */
#ifndef MKPERF_TESTS_TIME_H
#define MKPERF_TESTS_TIME_H

#include <stdint.h>

static inline uint64_t time_ticks(void)
{
    uint64_t ticks;

#ifdef __riscv
    __asm__ volatile("rdtime %0" : "=r"(ticks) : : "memory");
#else
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
#endif
    return ticks;
}

static inline uint64_t time_hz(void)
{
#ifdef __riscv
    return 10000000; /* QEMU's virt machine */
#else
    uint64_t hz;

    __asm__("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
#endif
}

#endif
