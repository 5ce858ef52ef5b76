/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pre-shared keys that the build was given (MKPERF_KEY_FILE), in a file that scripts/key-source
 * writes. None: mkperf_keys is 0, any host may connect.
 */
#ifndef MKPERF_KEY_H
#define MKPERF_KEY_H

#include <mkperf/auth.h>

extern const unsigned mkperf_keys;
extern const struct mkperf_shared_key mkperf_key[];

#endif
