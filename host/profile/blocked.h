/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Off-CPU profiles (report --off-cpu): where the time went in which threads were blocked.
 *
 * Owns: the choice of where it comes from. If the recording has samples of blocked threads (record
 * --off-cpu), these alone are passed on. If it has scheduling events alone, each time that a PD was
 * blocked becomes a sample of what it waited for, without a callchain. A relay in front of a
 * profile; all times are nanoseconds, as periods of the event "offcpu-time".
 *
 * A PD that is ready, but does not run, is not blocked.
 */
#ifndef MKPERF_HOST_PROFILE_BLOCKED_H
#define MKPERF_HOST_PROFILE_BLOCKED_H

#include "model/model.h"

struct mkperf_blocked_source;

/* to: lives as long. To be freed. */
struct mkperf_blocked_source *mkperf_blocked_new(struct mkperf_sink to);
void mkperf_blocked_free(struct mkperf_blocked_source *b);
struct mkperf_sink mkperf_blocked_sink(struct mkperf_blocked_source *b);

/* Whether samples are made from scheduling events: without callchains. */
bool mkperf_blocked_made(const struct mkperf_blocked_source *b);

/* The address of a sample with MKPERF_SAMPLE_BLOCKED that runs: it has no callchain. */
uint64_t mkperf_blocked_runs(void);

/* What a sample with MKPERF_SAMPLE_BLOCKED waited for: "[calls server]"; or "[runs]". name_of: a
 * PD's name. */
enum { MKPERF_BLOCKED_TEXT = 128 };
void mkperf_blocked_text(uint64_t what, const char *(*name_of)(const void *self, uint32_t pd),
                         const void *self, char text[MKPERF_BLOCKED_TEXT]);

#endif
