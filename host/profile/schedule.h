/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What scheduling events say, interval by interval, for pictures that have a time axis.
 *
 * Owns: temporary files of the analysis's intervals, calls and wakings (sched/analysis.h), and of
 * gaps. Part of a profile, which opens it if it keeps times.
 */
#ifndef MKPERF_HOST_PROFILE_SCHEDULE_H
#define MKPERF_HOST_PROFILE_SCHEDULE_H

#include "base/spool.h"
#include "sched/analysis.h"

struct mkperf_schedule_call {
    uint64_t from_ns, taken_ns, to_ns; /* the call, the callee runs with it, the reply */
    uint32_t from, to;
};

/* MKPERF_SCHEDULE_BLOCK intervals, the last block may have fewer: by these times a reader finds those of a
 * stretch of time. */
enum { MKPERF_SCHEDULE_BLOCK = 4096 };
struct mkperf_schedule_block {
    uint64_t from, to; /* the first beginning and the last end, ns */
};

/* Records in the order of their ends, which of wakings is the order of time. */
struct mkperf_schedule {
    bool open;
    struct mkperf_spool intervals;       /* struct mkperf_interval */
    struct mkperf_schedule_block *block; /* of intervals */
    size_t blocks, block_room;
    struct mkperf_spool calls;   /* struct mkperf_schedule_call */
    struct mkperf_spool gaps;    /* struct mkperf_core_interval: what ran is not known */
    struct mkperf_spool wakings; /* struct mkperf_woken */
    uint64_t lost;               /* events, as far as gaps name them: counted by the profile */
    struct mkperf_error *failed;
};

/* Keeps what `analysis` finds from now on. Errors: those of mkperf_spool_open; *failed gets the first
 * error of a file after that. */
enum mkperf_status mkperf_schedule_open(struct mkperf_schedule *s, struct mkperf_analysis *analysis,
                                        struct mkperf_error *failed, struct mkperf_error *e);
/* The analysis has ended: makes the records accessible. Nothing to do if it is not open. */
enum mkperf_status mkperf_schedule_map(struct mkperf_schedule *s, struct mkperf_error *e);
void mkperf_schedule_close(struct mkperf_schedule *s);

#endif
