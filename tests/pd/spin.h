/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work of a known length, for the programs of tests.
 *
 * Owns: the loop. Two instructions an iteration, in user mode, without memory.
 */
#ifndef MKPERF_TESTS_PD_SPIN_H
#define MKPERF_TESTS_PD_SPIN_H

#include <stdint.h>

static inline void spin(uint64_t iterations)
{
#ifdef __riscv
    __asm__ volatile("1: addi %0, %0, -1\n\tbnez %0, 1b" : "+r"(iterations));
#elif defined __x86_64__
    __asm__ volatile("1: sub $1, %0\n\tjnz 1b" : "+r"(iterations) : : "cc");
#else
    __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(iterations) : : "cc");
#endif
}

/* n instructions, an even number of at least 2. */
static inline void work(uint64_t n)
{
    spin(n / 2);
}

#endif
