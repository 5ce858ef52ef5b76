/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Software events: the table that the kernel fills in, records of faults, and INTERACTIONS.
 *
 * Owns: struct mkperf_soft_stage: the kernel's table, and the snapshot of it for the current
 * answers. include/mkperf/soft.h defines the events. Called by drain.c for FAULT records, by
 * hook_session.c at a session's start and end, by counting.c for counts, and by main.c for
 * INTERACTIONS.
 *
 * What may be lost: the record of a fault that does not fit into the output. The fault is still in
 * the count of faults, and the record is counted as dropped.
 */
#ifndef MKPERF_PROFILER_SOFT_H
#define MKPERF_PROFILER_SOFT_H

#include "kernel.h"
#include "output.h"
#include "plan.h"

struct mkperf_soft_stage {
    const struct mkperf_plan *plan;
    struct mkperf_kernel *kernel;
    struct mkperf_output *output;
    struct mkperf_soft *table; /* The kernel writes it. */
    bool on;                   /* The last session had software events. */
    uint64_t ended;            /* ticks; 0: the session runs */

    /* the snapshot, in which used entries come first and have identities instead of keys */
    struct mkperf_soft view;
    uint64_t enabled; /* ticks */
    uint32_t edges;
    uint32_t threads;
};

/* Returns the identity of the thread with this key and scheduling context in the kernel's
 * tables. */
static inline uint64_t mkperf_soft_identity(uint64_t key, uint64_t sc)
{
    return mkperf_thread_of(key - mkperf_counts_key(0), sc);
}

/* Begins a session: clears the table and writes software events into the configuration. False: the
 * kernel has none, and *error has the reason. */
bool mkperf_soft_prepare(struct mkperf_soft_stage *s, mkperf_Error *error);
/* Called when the counters were stopped, while the hook still has the session. In one with stacks, it
 * looks at the pages of each thread's stack. */
void mkperf_soft_ended(struct mkperf_soft_stage *s);
/* Takes a FAULT record of a core. False: it is not one of the session. */
bool mkperf_soft_take(struct mkperf_soft_stage *s, const uint64_t *record, unsigned size);
/* Fills a part of the answer to INTERACTIONS; part 0 takes the snapshot. False: *error has the
 * reason. */
bool mkperf_soft_answer(struct mkperf_soft_stage *s, uint32_t part, mkperf_Interactions *out,
                        mkperf_Error *error);

#endif
