/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables for unwinding programs without frame pointers (include/mkperf/unwind.h).
 *
 * Owns: the check of the tables in this PD's ELF, and their copy for the kernel hook. Called at boot.
 */
#ifndef MKPERF_PROFILER_UNWIND_LOAD_H
#define MKPERF_PROFILER_UNWIND_LOAD_H

#include <stdint.h>

#include <mkperf/unwind.h>

enum mkperf_unwind_state { MKPERF_UNWIND_NONE, MKPERF_UNWIND_LOADED, MKPERF_UNWIND_INVALID };

/* The bytes that `mkperf stamp` replaces. */
extern const uint8_t mkperf_unwind_tables[MKPERF_UNWIND_BYTES];

/* Checks the tables in the n bytes at `from` and copies them to `to`, which has MKPERF_UNWIND_BYTES
 * bytes. Nothing is copied if there are none, or if they are invalid. */
enum mkperf_unwind_state mkperf_unwind_load(struct mkperf_unwind_tables *to, const uint8_t *from,
                                            uint32_t n);

#endif
