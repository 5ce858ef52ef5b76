/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Off-CPU profiles (report --off-cpu): what PDs waited for, by scheduling events.
 *
 * Owns: samples made of them. If a recording has samples of blocked threads (record --off-cpu), the
 * profile takes these alone; if it has scheduling events alone, each time that a PD was blocked
 * becomes a sample of what it waited for, without a callchain. All times are nanoseconds, as periods
 * of the event "offcpu-time".
 *
 * A PD that is ready, but does not run, is not blocked.
 */
#ifndef MKPERF_HOST_PROFILE_BLOCKED_H
#define MKPERF_HOST_PROFILE_BLOCKED_H

#include "sched/analysis.h"

struct mkperf_blocked_source {
    /* Set before it is attached: */
    enum mkperf_status (*add)(void *self, const struct mkperf_sample *s, struct mkperf_error *e);
    void *self;                  /* of add */
    struct mkperf_error *failed; /* gets the first error */

    struct mkperf_woken woken; /* the last one */
};

/* Before the analysis's first event. */
void mkperf_blocked_attach(struct mkperf_blocked_source *b, struct mkperf_analysis *a);

/* The address of a sample with MKPERF_SAMPLE_BLOCKED that runs: it has no callchain. */
uint64_t mkperf_blocked_runs(void);

/* What a sample with MKPERF_SAMPLE_BLOCKED waited for: "[calls server]"; or "[runs]". name_of: a
 * PD's name. */
enum { MKPERF_BLOCKED_TEXT = 128 };
void mkperf_blocked_text(uint64_t what, const char *(*name_of)(const void *self, uint32_t pd),
                         const void *self, char text[MKPERF_BLOCKED_TEXT]);

#endif
