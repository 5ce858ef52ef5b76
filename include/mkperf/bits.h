/* SPDX-License-Identifier: BSD-2-Clause */
/* A loop over the bits of a mask of cores, counters or connections. */
#ifndef MKPERF_BITS_H
#define MKPERF_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* MKPERF_EACH_BIT (i, mask) { .. }: i is the number of each bit of the mask, from the lowest on. The
 * mask is read once, before the first bit. */
#define MKPERF_EACH_BIT(i, mask)                                                                 \
    for (uint32_t i##_rest = (mask), i = 0; /* NOLINT(bugprone-macro-parentheses): declares i */ \
         i##_rest != 0 && ((i) = (uint32_t)__builtin_ctz(i##_rest), true);                       \
         i##_rest &= i##_rest - 1)

#endif
