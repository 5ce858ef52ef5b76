/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A linker's fingerprint of a program. Owns: its form, between decoders, sinks and the symbolizer.
 */
#ifndef MKPERF_HOST_SYMBOLS_BUILD_ID_H
#define MKPERF_HOST_SYMBOLS_BUILD_ID_H

#include <stdint.h>

enum { MKPERF_BUILD_ID_BYTES = 20 };

struct mkperf_build_id {
    uint8_t n; /* bytes, 0: unknown */
    uint8_t byte[MKPERF_BUILD_ID_BYTES];
};

#endif
