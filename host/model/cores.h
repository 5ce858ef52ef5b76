/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each of a target's cores contributed to a recording, and lost; and what percentages are of.
 *
 * Owns: texts and lines of a file for struct mkperf_core. The stream decoder fills it in; reports,
 * record's summary and perf.data print it. A recording of one core has no such figures: its totals
 * are that core's.
 */
#ifndef MKPERF_HOST_MODEL_CORES_H
#define MKPERF_HOST_MODEL_CORES_H

#include <stdio.h>

#include "model.h"

extern const char *const mkperf_core_states[MKPERF_CORE_ABSENT + 1];

/* Why a core's figures may be less than they seem, as a clause behind its name; NULL: they are not. The text
 * is in `room`. */
enum { MKPERF_CORE_PROBLEM_TEXT = 160 };
const char *mkperf_core_problem(const struct mkperf_core *core,
                                char room[MKPERF_CORE_PROBLEM_TEXT]);

/*
 * Prints a line for each core if there are several, the first behind `first`, the others behind
 * `rest`: "core 1  1234 samples (25.00 %), 3 lost (ring 3)".
 */
void mkperf_cores_print(const struct mkperf_totals *t, const char *first, const char *rest,
                        FILE *out);

/* Lines of `key value` for a file, and one of them back. False: it is not of cores. */
void mkperf_cores_write(const struct mkperf_totals *t, FILE *out);
bool mkperf_cores_line(struct mkperf_totals *t, const char *key, const char *value);

/* The cores that a session samples, as a mask; 0: not known, or more than a mask has. */
uint32_t mkperf_session_cores(const struct mkperf_session *s);

/* Whether the target is known to have more cores than are sampled. */
bool mkperf_cores_missing(const struct mkperf_session *s);

/*
 * Why figures of several cores may not be what they seem, number n from 0 on, as a sentence without a
 * capital and a full stop. False: there are no more. That the target has more cores than are sampled: what
 * percentages are of then; which events each core counts for all cores.
 */
enum { MKPERF_CORES_TEXT = 384 };
bool mkperf_cores_warning(const struct mkperf_session *s, unsigned n, char text[MKPERF_CORES_TEXT]);

#endif
