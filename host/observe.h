/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a target needs for `-e timer`: which PDs the profiler PD can observe, and what of them.
 *
 * Owns: the conversation before Configure. Called by recorder.c.
 */
#ifndef MKPERF_HOST_OBSERVE_H
#define MKPERF_HOST_OBSERVE_H

#include <stdio.h>

#include "recorder.h"

/* Whether the configuration is for the timer. */
bool mkperf_observe_wanted(const mkperf_Configure *c);

/*
 * Tells the target. PDs that cannot be observed are named to the user. Errors: USAGE without a
 * .system file, or one without the target's profiler PD; REFUSED by the target; those of the link.
 */
enum mkperf_status mkperf_observe(struct mkperf_recorder *r, struct mkperf_error *e);

/* For a recording's summary: how the timer's samples came by their threads, and what the target
 * says of it. Nothing for other recordings. */
void mkperf_observe_summary(const struct mkperf_stream *s, FILE *out);

#endif
