/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of a session: memory of the profiler PD that the kernel uses besides the rings.
 *
 * Owns: their places. The descriptor's `tables` has the address, and its configuration says which of them a
 * session uses. All cores use the same ones.
 */
#ifndef MKPERF_TABLES_H
#define MKPERF_TABLES_H

#include <stdint.h>

#include <mkperf/counts.h>
#include <mkperf/unwind.h>
#include <mkperf/words.h>

enum { MKPERF_TABLES_BYTES = 0x20000 }; /* whole pages that hold the tables */

struct mkperf_tables {
    struct mkperf_unwind_tables unwind; /* Samples read them. */
    uint8_t programs[MKPERF_UNWIND_BYTES + MKPERF_UNWIND_SLACK -
                     sizeof(struct mkperf_unwind_tables)]; /* the rest of `unwind` */
    uint64_t word[MKPERF_MAX_WORDS];                       /* Each request reads them. */
    struct mkperf_counts counts;
};

_Static_assert(sizeof(struct mkperf_tables) <= MKPERF_TABLES_BYTES, "the tables' pages");

#endif
