/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long each PD ran, by scheduling events, in the whole recording or in slices of time.
 *
 * Owns: the sums by PD and slice. Part of a profile, which attaches it to its analysis. Time and
 * cores that the filter leaves out are in no sum. What a core did in a gap is not known: that time is
 * counted apart, and shares are of the rest.
 */
#ifndef MKPERF_HOST_PROFILE_UTILISATION_H
#define MKPERF_HOST_PROFILE_UTILISATION_H

#include "filter.h"
#include "sched/analysis.h"
#include "time_slices.h"

struct mkperf_utilisation {
    /* Set before it is attached: */
    const struct report_filter *filter;
    struct mkperf_time_slices *slices;
    /* A PD, which may be the idle thread, ran within one slice; may be NULL. */
    enum mkperf_status (*on_run)(void *self, const struct mkperf_core_interval *run,
                                 struct mkperf_error *e);
    void *self;                  /* of on_run */
    struct mkperf_error *failed; /* gets the first error */

    struct mkperf_hash pds; /* PD and slice */
    uint64_t *ran_ns;       /* of each of these */
    uint32_t ran_room;
    struct mkperf_hash cores; /* core and slice */
    struct mkperf_core_time {
        uint64_t known_ns, unknown_ns;
    } * core; /* of each of these */
    uint32_t core_room;
    struct mkperf_core_time *slice; /* of each slice, after the end: of the core that is known
                                     * longest; and unknown of all cores */
};

/* Before the analysis's first event. */
void mkperf_utilisation_attach(struct mkperf_utilisation *u, struct mkperf_analysis *a);
/* After the analysis has ended. */
void mkperf_utilisation_end(struct mkperf_utilisation *u);
void mkperf_utilisation_free(struct mkperf_utilisation *u);

/* The share of a slice's known time in which the PD ran, in per cent: 100 is one core all the time.
 * *unknown_ns: time of cores in it that is not known. False: nothing is known. */
bool mkperf_utilisation_of(const struct mkperf_utilisation *u, uint32_t pd, uint32_t slice,
                           double *percent, uint64_t *unknown_ns);

#endif
