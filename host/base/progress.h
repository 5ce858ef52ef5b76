/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The progress line of a long command: on standard error, if that is a terminal, from the third
 * second on. It is removed before anything else is printed there.
 *
 * Owns: the line; there is one in a process. Commands begin and end it; decoders and loops report
 * their position, which costs nothing while it has not begun.
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
