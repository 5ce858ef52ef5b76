/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A measurement of `mkperf stat`, from the begin of its session to the printed table.
 *
 * Owns: the conversation with the target. The target counts exactly. If its kernel cannot count by PD, an estimate from samples
 * is printed instead, and the output states this. A run lasts for a duration of the target's time. The target counts all the
 * time; a reading is its answer to a request, and contains the target's time.
 */
#ifndef MKPERF_HOST_STAT_MEASURE_H
#define MKPERF_HOST_STAT_MEASURE_H

#include "link/recorder.h"
#include "stat.h"

struct stat_measure {
    /* Set before: options and stop of the recorder, and the members up to `style`. */
    struct mkperf_recorder recorder;
    bool per_pd, per_core, estimate;
    bool util; /* also how long each PD ran, as an event MKPERF_RUN_TIME_EVENT after the others */
    uint64_t interval_ms, runs;
    struct stat_style style;

    mkperf_Session session;   /* as the target runs it */
    struct stat_reading work; /* the reading that is being received or estimated */
    struct stat_reading good; /* the last complete reading */
    bool warned;              /* the warning about cores was printed */
    bool counting;            /* our session runs, and we have not asked for its end */
    bool ended;               /* another host ended our session */
    bool foreign;             /* messages of the target are about the session of another host */
    uint64_t first_ns, last_ns;
    struct stat_repeat repeat;
    struct stat_reading before, mean;
};

/*
 * Measures and prints all runs. If another host takes over and ends the session, the measurement ends, too. Counts until then
 * are printed, with a message. Errors: those of mkperf_recorder_start; REFUSED also if nothing was counted by then. The caller
 * calls mkperf_recorder_free in any case.
 */
enum mkperf_status stat_measure(struct stat_measure *s, struct mkperf_error *e);

#endif
