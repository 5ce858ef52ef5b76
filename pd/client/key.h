/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pre-shared key that the build was given (MKPERF_KEY_FILE), in a file that scripts/key-source
 * writes.
 */
#ifndef MKPERF_KEY_H
#define MKPERF_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/auth.h>

extern const bool mkperf_key_present;
extern const uint8_t mkperf_key[MKPERF_KEY_BYTES];

#endif
