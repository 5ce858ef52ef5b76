/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * By what a program that was recorded is known again: a linker's fingerprint, and the name of an
 * architecture. Owns: their form, between decoders, sinks and the symbolizer.
 */
#ifndef MKPERF_HOST_SYMBOLS_BUILD_ID_H
#define MKPERF_HOST_SYMBOLS_BUILD_ID_H

#include <stdint.h>

enum { MKPERF_BUILD_ID_BYTES = 20, MKPERF_ARCH_BYTES = 16 };

struct mkperf_build_id {
    uint8_t n; /* bytes, 0: unknown */
    uint8_t byte[MKPERF_BUILD_ID_BYTES];
};

#endif
