/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work of a known length, for the programs of tests.
 *
 * Owns: the loops. They run in user mode, without memory. A loop of 20 instructions takes QEMU a fraction of the time of a loop of two,
 * for which it looks up each iteration.
 */
#ifndef MKPERF_TESTS_PD_SPIN_H
#define MKPERF_TESTS_PD_SPIN_H

#include <stdint.h>

/* For a loop that counts down: the rest of ten iterations in one. */
#define SPIN_REST ".rept 18\n\tnop\n\t.endr\n\t"

#ifdef __riscv
#define SPIN(n, rest) __asm__ volatile("1: addi %0, %0, -1\n\t" rest "bnez %0, 1b" : "+r"(n))
#elif defined __x86_64__
#define SPIN(n, rest) __asm__ volatile("1: sub $1, %0\n\t" rest "jnz 1b" : "+r"(n) : : "cc")
#else
#define SPIN(n, rest) __asm__ volatile("1: subs %0, %0, #1\n\t" rest "b.ne 1b" : "+r"(n) : : "cc")
#endif

/* A program that wants a function of its own, to be seen in call chains, defines this before. */
#ifndef SPIN_LINKAGE
#define SPIN_LINKAGE static inline
#endif

/* At least one iteration, of two instructions. */
SPIN_LINKAGE void spin(uint64_t iterations)
{
    uint64_t tens = iterations / 10;
    uint64_t ones = iterations % 10;

    if (tens > 0) {
        SPIN(tens, SPIN_REST);
    }
    if (ones > 0) {
        SPIN(ones, "");
    }
}

/* n instructions, an even number of at least 2. */
static inline void work(uint64_t n)
{
    spin(n / 2);
}

#endif
