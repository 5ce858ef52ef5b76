/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A line that says how far a long command is: on standard error, if that is a terminal, from the
 * third second on, and gone before anything else is printed there.
 *
 * Owns: the line; there is one in a process. Commands begin and end it, and decoders and loops say
 * where they are, which costs nothing while nobody has begun.
 */
#ifndef MKPERF_HOST_BASE_PROGRESS_H
#define MKPERF_HOST_BASE_PROGRESS_H

#include <stdint.h>

/* what: "perf.data", followed by how much; lives until the end. */
void mkperf_progress_begin(const char *what);
/* Bytes done and in all (0: unknown). */
void mkperf_progress_bytes(uint64_t done, uint64_t all);
/* Steps done and in all. */
void mkperf_progress_steps(uint64_t done, uint64_t all);
/* Seconds done and in all (0: unknown). */
void mkperf_progress_seconds(double done, double all);
/* Takes the line away, until the next of the above draws it again. */
void mkperf_progress_clear(void);
void mkperf_progress_end(void); /* idempotent */

#endif
