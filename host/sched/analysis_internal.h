/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that the files of the analysis of scheduling events (analysis.h) share: call_parts.c, machine.c, analysis.c. */
#ifndef MKPERF_HOST_SCHED_ANALYSIS_INTERNAL_H
#define MKPERF_HOST_SCHED_ANALYSIS_INTERNAL_H

#include "analysis.h"

/* Calls the function `what` of each listener that has this function. */
#define SCHED_REPORT(a, what, ...)                                           \
    do {                                                                     \
        for (unsigned k_ = 0; k_ < (a)->nlisteners; k_++) {                  \
            if ((a)->listener[k_].what != NULL) {                            \
                (a)->listener[k_].what((a)->listener[k_].self, __VA_ARGS__); \
            }                                                                \
        }                                                                    \
    } while (0)

/* call_parts.c: begins the call of PD `from`. `to` is MKPERF_SCHED_NOBODY if its callee is not known yet. */
void sched_call_begin(struct mkperf_analysis *a, uint32_t from, uint32_t to, uint32_t exit,
                      uint64_t now);
/* Adds an interval to the parts of the call that its PD serves. */
void sched_call_charge(struct mkperf_analysis *a, const struct mkperf_interval *i);
/* Notes that the callee begins to run for the call of PD `from`: the wait of that call ends. */
void sched_call_taken(struct mkperf_analysis *a, uint32_t from, uint64_t now);
/* Ends the call of PD `from`, to which PD `callee` replies. The time of both was counted until now. */
void sched_call_end(struct mkperf_analysis *a, uint32_t from, uint32_t callee, uint64_t now);
/* Counts the call of PD `from` as void, because a part of it is not known. It is in no sum. */
void sched_call_void(struct mkperf_analysis *a, uint32_t from);

/* Counts an interval of a ready PD that serves a caller of a higher priority than the PD that ran. */
void sched_inversion(struct mkperf_analysis *a, const struct mkperf_interval *i);
/* Counts inversions of the past: only now it is known that `from` waited for `callee` since `since`. */
void sched_inversions_past(struct mkperf_analysis *a, uint32_t from, uint32_t callee,
                           uint64_t since, uint64_t now);

/* demand.c: finds all budgets that `mkperf budget` shows, and frees the runs. The rows describe what remains. */
void sched_demand_conclude(void *self);
extern const struct mkperf_shape_row sched_demand_rows[];

/* analysis.c: returns the item of an array that begins with these words. If there is none, it is added, and the rest of it is 0. */
void *sched_item(void **array, unsigned *n, unsigned *room, size_t size, const uint32_t *key,
                 size_t words);
#define SCHED_ITEM(array, n, room, ...)                                                            \
    sched_item((void **)&(array), &(n), &(room), sizeof *(array), (const uint32_t[]){__VA_ARGS__}, \
               sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* Returns whether this number is a PD, not the idle thread and not MKPERF_SCHED_NOBODY. */
static inline bool sched_is_pd(const struct mkperf_analysis *a, uint32_t pd)
{
    return pd < a->npds && !a->pd[pd].idle;
}

#endif
