/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A measurement of `mkperf stat`: the order of it, from the session's begin to what is printed.
 *
 * The target counts exactly; where its kernel cannot count by PD, samples are taken instead, which
 * is said. Runs last for a time of the target's; readings happen when the host asks, and carry the
 * target's time.
 */
#ifndef MKPERF_HOST_STAT_MEASURE_H
#define MKPERF_HOST_STAT_MEASURE_H

#include "link/recorder.h"
#include "stat.h"

struct stat_measure {
    /* Set before: recorder's options, stop; events are set up here. */
    struct mkperf_recorder recorder;
    bool per_pd, per_core, estimate;
    bool util; /* how long each PD ran, too: an event MKPERF_RUN_TIME_EVENT behind the others */
    uint64_t interval_ms, runs;
    struct stat_style style;

    mkperf_Session session;   /* as the target runs it */
    struct stat_reading work; /* being received, or estimated */
    struct stat_reading good; /* the last one that was whole */
    bool warned;              /* of cores */
    bool counting;            /* our session runs, and we have not asked for its end */
    bool ended;               /* it was ended by others, */
    bool foreign;             /* and what the target says now is of another */
    uint64_t first_ns, last_ns;
    struct stat_repeat repeat;
    struct stat_reading before, mean;
};

/*
 * All runs, printed. Another host that takes over and ends the session ends the measurement: what
 * was counted until then is printed, and said so. Errors: as mkperf_recorder_start; REFUSED: also
 * if nothing was counted by then. mkperf_recorder_free in any case.
 */
enum mkperf_status stat_measure(struct stat_measure *s, struct mkperf_error *e);

#endif
