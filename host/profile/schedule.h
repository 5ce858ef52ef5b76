/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What scheduling events say, interval by interval, for pictures that have a time axis.
 *
 * Owns: temporary files of the analysis's intervals and calls (sched/analysis.h), and of gaps. A PD
 * that waits for work has no interval: it is the background. Part of a profile, which opens it if it
 * keeps times.
 */
#ifndef MKPERF_HOST_PROFILE_SCHEDULE_H
#define MKPERF_HOST_PROFILE_SCHEDULE_H

#include "base/spool.h"
#include "sched/analysis.h"

struct mkperf_schedule_interval {
    uint64_t from_ns, to_ns;
    uint32_t pd, core;
    uint32_t by; /* who ran while it was ready, or on whom it waited; MKPERF_SCHED_NOBODY */
    enum mkperf_pd_state state;
};

struct mkperf_schedule_call {
    uint64_t from_ns, taken_ns, to_ns; /* the call, the callee runs with it, the reply */
    uint32_t from, to;
};

struct mkperf_schedule_gap { /* events of a core are missing */
    uint64_t from_ns, to_ns, lost;
    uint32_t core;
};

/* Records of the three structures above, in the order of their ends. */
struct mkperf_schedule {
    bool open;
    struct mkperf_spool intervals, calls, gaps;
    struct mkperf_error failed; /* the first error of a file */
};

/* Keeps what `analysis` finds from now on. Errors: those of mkperf_spool_open. */
enum mkperf_status mkperf_schedule_open(struct mkperf_schedule *s, struct mkperf_analysis *analysis,
                                        struct mkperf_error *e);
/* Of each event, after the analysis had it. Errors: those of files, since the last call. */
enum mkperf_status mkperf_schedule_event(struct mkperf_schedule *s,
                                         const struct mkperf_sched *event, struct mkperf_error *e);
/* The analysis has ended: makes the records accessible. Nothing to do if it is not open. */
enum mkperf_status mkperf_schedule_map(struct mkperf_schedule *s, struct mkperf_error *e);
void mkperf_schedule_close(struct mkperf_schedule *s);

#endif
