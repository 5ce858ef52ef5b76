/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * By what a program that was recorded is known again: a linker's fingerprint, and the name of an
 * architecture. Owns: their form, between decoders, sinks and the symbolizer.
 */
#ifndef MKPERF_HOST_SYMBOLS_BUILD_ID_H
#define MKPERF_HOST_SYMBOLS_BUILD_ID_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MKPERF_BUILD_ID_BYTES = 20, MKPERF_ARCH_BYTES = 16 };

struct mkperf_build_id {
    uint8_t n; /* bytes, 0: unknown */
    uint8_t byte[MKPERF_BUILD_ID_BYTES];
    bool derived; /* not the linker's: a hash of what is loaded of an ELF without one */
};

static inline bool mkperf_build_id_same(const struct mkperf_build_id *a,
                                        const struct mkperf_build_id *b)
{
    return a->n == b->n && a->derived == b->derived && memcmp(a->byte, b->byte, a->n) == 0;
}

#endif
