/* SPDX-License-Identifier: BSD-2-Clause */
/* A loop over the bits of a mask of cores, counters or connections. */
#ifndef MKPERF_BITS_H
#define MKPERF_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the number of the lowest set bit of a mask that is not 0. RISC-V's base has no instruction for it, and the lowest
 * counters are used most: a loop takes fewer instructions than the compiler's function. */
static inline uint32_t mkperf_lowest_bit(uint32_t mask)
{
#if defined(__riscv) && !defined(__riscv_zbb)
    uint32_t i = 0;

    while ((mask >> i & 1) == 0) {
        i++;
    }
    return i;
#else
    return (uint32_t)__builtin_ctz(mask);
#endif
}

/* MKPERF_EACH_BIT (i, mask) { .. }: i is the number of each bit of the mask, from the lowest on. The
 * mask is read once, before the first bit. */
#define MKPERF_EACH_BIT(i, mask)                                                                 \
    for (uint32_t i##_rest = (mask), i = 0; /* NOLINT(bugprone-macro-parentheses): declares i */ \
         i##_rest != 0 && ((i) = mkperf_lowest_bit(i##_rest), true); i##_rest &= i##_rest - 1)

#endif
