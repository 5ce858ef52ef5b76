/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PMU counters that are read in the timer's samples: `-e '{timer,cycles,...}:S'`.
 *
 * Owns: struct mkperf_timer_reads: each counter's value at the last sample. Called by ticks.c. With
 * the kernel hook they are one of its sessions. Without it they need a kernel that lets user mode
 * use the PMU. Each event has one counter, for both modes unless the host wants one of them.
 * Counters are stopped while this PD handles an interrupt, so that no value includes its own work.
 *
 * What may be lost: the values of an interval that was too long for counters of 32 bits. Its sample
 * has no values, and `unread` counts it.
 */
#ifndef MKPERF_TIMER_READS_H
#define MKPERF_TIMER_READS_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/record.h>
#include <mkperf/session.h>

#include "../kernel.h"
#include "../plan.h"

struct mkperf_timer_reads {
    struct mkperf_kernel *kernel;
    const struct mkperf_plan *plan;
    uint32_t mask;                    /* of hardware counters, from 0 on without a gap; 0: none */
    bool hook;                        /* the hook has them, else they are used from user mode */
    uint32_t count[MKPERF_MAX_READS]; /* since the last sample */
    uint32_t last[MKPERF_MAX_READS];  /* user mode: value at the last reading */
    uint64_t at;                      /* ticks: time of the last sample */
    uint64_t unread;                  /* samples without values */
};

/* Plans the events after the first of a timer's session, which is planned; they are at most
 * MKPERF_MAX_READS. False: the error has the reason, and the plan is invalid. */
bool mkperf_timer_reads_plan(struct mkperf_kernel *k, struct mkperf_planning *m);
/* With the session. start: counters are programmed and count from `now` (ticks) on; false: *error
 * names the one that failed. */
bool mkperf_timer_reads_start(struct mkperf_timer_reads *r, uint64_t now, mkperf_Error *error);
void mkperf_timer_reads_stop(struct mkperf_timer_reads *r);
/* Called at the beginning and at the end of an interrupt. */
void mkperf_timer_reads_pause(struct mkperf_timer_reads *r);
void mkperf_timer_reads_resume(struct mkperf_timer_reads *r);
/*
 * Stores the events since the last call, until this PD's interrupt at `now` (ticks), as words of a
 * sample with MKPERF_SAMPLE_READ (record.h) into out, of 1 + MKPERF_MAX_READS words. Returns
 * their number; 0: there is nothing to report. hz: ticks per second.
 */
unsigned mkperf_timer_reads_take(struct mkperf_timer_reads *r, uint64_t hz, uint64_t now,
                                 uint64_t *out);

#endif
