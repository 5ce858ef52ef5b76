/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the bytes that `mkperf stamp` replaces. In a separate file, so that the compiler of the
 * reading code cannot assume its contents.
 */
#include "control.h"

/* The magic makes the array part of the file: a table in .bss could not be written there. */
const uint8_t mkperf_stamp[MKPERF_STAMP_BYTES] = MKPERF_STAMP_EMPTY;
