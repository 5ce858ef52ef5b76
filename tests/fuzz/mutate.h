/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the structure-aware mutators share. Owns: random numbers (from the seed that libFuzzer
 * gives), numbers that decoders are likely to handle wrongly, and the replacement of a part of an
 * input. A mutator changes an input where its format has meaning, and repairs sizes and counts, so
 * that the change gets past the first check.
 */
#ifndef MKPERF_TESTS_FUZZ_MUTATE_H
#define MKPERF_TESTS_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* libFuzzer's function. It changes data[0..size) in any way, up to max bytes, and returns the new
 * size. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
/* Ours, called by libFuzzer. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

static uint64_t mutate_state;

static inline void mutate_seed(unsigned seed)
{
    mutate_state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

/* Returns a number from 0 to n - 1; n is not 0. */
static inline unsigned mutate_random(unsigned n)
{
    mutate_state ^= mutate_state << 13;
    mutate_state ^= mutate_state >> 7;
    mutate_state ^= mutate_state << 17;
    return (unsigned)((mutate_state >> 33) % n);
}

/* Returns a number at a border of a type, near `old`, small, or of any size. */
static inline uint64_t mutate_number(uint64_t old)
{
    static const uint64_t borders[] = {0,         1,          UINT64_C(0x7fffffff), UINT32_MAX,
                                       INT64_MAX, UINT64_MAX, UINT64_C(1) << 63,    UINT16_MAX};

    switch (mutate_random(6)) {
    case 0:
        return borders[mutate_random(8)];
    case 1:
        return old + mutate_random(9) - 4;
    case 2:
        return UINT64_C(1) << mutate_random(64);
    case 3:
        return old ^ UINT64_C(1) << mutate_random(64);
    case 4:
        return mutate_random(64);
    default:
        return ((uint64_t)mutate_random(1U << 31) << 31 | mutate_random(1U << 31)) >>
               mutate_random(62);
    }
}

/* Puts m bytes in the place of n at `at`. The new size; the old one if there is no room. */
static inline size_t mutate_replace(uint8_t *data, size_t size, size_t max, size_t at, size_t n,
                                    const uint8_t *with, size_t m)
{
    if (size - n + m > max) {
        return size;
    }
    memmove(data + at + m, data + at + n, size - at - n);
    if (m != 0) {
        memcpy(data + at, with, m);
    }
    return size - n + m;
}

/* Reads a little-endian number of 1, 2, 4 or 8 bytes. */
static inline uint64_t mutate_get(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < bytes; i++) {
        v |= (uint64_t)p[i] << 8 * i;
    }
    return v;
}

static inline void mutate_put(uint8_t *p, unsigned bytes, uint64_t v)
{
    for (unsigned i = 0; i < bytes; i++) {
        p[i] = (uint8_t)(v >> 8 * i);
    }
}

#endif
