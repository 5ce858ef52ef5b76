/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The input as a script: its bytes are taken one after the other. After the end all are 0.
 */
#ifndef MKPERF_TESTS_FUZZ_INPUT_H
#define MKPERF_TESTS_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static struct {
    const uint8_t *data;
    size_t size;
} input;

static inline uint8_t byte(void)
{
    if (input.size == 0) {
        return 0;
    }
    input.size--;
    return *input.data++;
}

/* Takes the next n bytes, or as many as there are. *n becomes their number. */
static inline const uint8_t *take_bytes(size_t *n)
{
    const uint8_t *p = input.data;

    *n = *n < input.size ? *n : input.size;
    input.data += *n;
    input.size -= *n;
    return p;
}

/* Takes them into `to`. Returns their number. */
static inline size_t copy_bytes(void *to, size_t n)
{
    const uint8_t *p = take_bytes(&n);

    if (n != 0) {
        memcpy(to, p, n);
    }
    return n;
}

#endif
