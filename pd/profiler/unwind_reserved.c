/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the bytes that `mkperf stamp` replaces. In a separate file, so that the compiler of the
 * reading code cannot assume its contents.
 */
#include "unwind_load.h"

/* The magic makes the array part of the file: tables in .bss could not be written there. */
_Alignas(8) const uint8_t mkperf_unwind_tables[MKPERF_UNWIND_BYTES] = MKPERF_UNWIND_EMPTY;
