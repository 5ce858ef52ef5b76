/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the analysis of scheduling events share. */
#ifndef MKPERF_HOST_SCHED_ANALYSIS_INTERNAL_H
#define MKPERF_HOST_SCHED_ANALYSIS_INTERNAL_H

#include "analysis.h"

/* Calls the function `what` of each listener that has it. */
#define SCHED_REPORT(a, what, ...)                                           \
    do {                                                                     \
        for (unsigned k_ = 0; k_ < (a)->nlisteners; k_++) {                  \
            if ((a)->listener[k_].what != NULL) {                            \
                (a)->listener[k_].what((a)->listener[k_].self, __VA_ARGS__); \
            }                                                                \
        }                                                                    \
    } while (0)

/* machine.c: one event, in the order of time. */
void sched_machine(void *self, const struct mkperf_sched *event);
/* Counts a PD's time until now. */
void sched_charge(struct mkperf_analysis *a, uint32_t pd, uint64_t now);
/* Counts a core's time until now. */
void sched_charge_core(struct mkperf_analysis *a, uint32_t core, uint64_t now);
/* What a PD was ready is counted as that. */
void sched_charge_ready(struct mkperf_analysis *a, uint32_t pd);

/* call_edges.c */
void sched_call_begin(struct mkperf_analysis *a, uint32_t from, uint32_t to, uint64_t now);
/* Time of a PD in `state` is time of the call that it serves. */
void sched_call_charge(struct mkperf_analysis *a, uint32_t pd, enum mkperf_pd_state state,
                       uint32_t by, uint64_t ns);
/* The callee runs with the call. */
void sched_call_taken(struct mkperf_analysis *a, uint32_t from, uint64_t now);
/* A reply by `callee`; both were charged. */
void sched_call_end(struct mkperf_analysis *a, uint32_t from, uint32_t callee, uint64_t now);
void sched_call_void(struct mkperf_analysis *a, uint32_t from);

/* inversions.c. All inversions on a core end with its runner; others may begin. */
void sched_inversions_end(struct mkperf_analysis *a, uint32_t core, uint64_t now);
void sched_inversions_begin(struct mkperf_analysis *a, uint32_t core, uint64_t now);
/* `from` had waited for `callee` since `since` without its being known. */
void sched_inversions_past(struct mkperf_analysis *a, uint32_t from, uint32_t callee,
                           uint64_t since, uint64_t now);

static inline bool sched_is_pd(const struct mkperf_analysis *a, uint32_t pd)
{
    return pd < a->npds && !a->pd[pd].idle;
}

#endif
