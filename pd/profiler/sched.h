/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events on their way to the client.
 *
 * Owns: struct mkperf_sched: the thread of each slot on each core, and the losses that are not yet
 * reported. Called by drain.c for each record of the three types (include/mkperf/sched.h).
 *
 *   SCHED_THREAD (slot, thread) -> thread[slot]
 *   SCHED (slot) -> thread[slot] -> event with an identity -> output
 *
 * What may be lost: events that the hook could not write, and events that do not fit into the
 * output. Both are counted, and a record before the next event of that core has their number.
 */
#ifndef MKPERF_PROFILER_SCHED_H
#define MKPERF_PROFILER_SCHED_H

#include <mkperf/sched.h>

#include "kernel.h"
#include "output.h"
#include "plan.h"

/* The threads of a core's slots, as of the last record read from its ring. */
struct mkperf_slots {
    uint64_t thread[MKPERF_SCHED_SLOTS];
};

static inline void mkperf_slots_begin(struct mkperf_slots *s)
{
    for (unsigned i = 0; i < MKPERF_SCHED_SLOTS; i++) {
        s->thread[i] = MKPERF_THREAD_NONE;
    }
}

/* Applies a SCHED_THREAD record. */
static inline void mkperf_slots_take(struct mkperf_slots *s, const uint64_t *record)
{
    s->thread[mkperf_sched_slot_of(record[MKPERF_WORD_HEADER])] =
        mkperf_thread_of(record[MKPERF_WORD_THREAD], record[MKPERF_WORD_SC]);
}

struct mkperf_sched_core {
    struct mkperf_slots slots;
    uint64_t dropped;   /* the part of the ring's count that lost_ring includes */
    uint64_t lost;      /* events not yet reported in the stream */
    uint64_t lost_from; /* time of the first of these events */
};

struct mkperf_sched {
    const struct mkperf_plan *plan;
    struct mkperf_output *output;
    struct mkperf_sched_core core[MKPERF_TARGET_CORES];
};

/* Begins a session: writes scheduling events into the configuration. False: the kernel has none,
 * and *error has the reason. */
bool mkperf_sched_prepare(struct mkperf_sched *s, struct mkperf_kernel *kernel,
                          mkperf_Error *error);
/* Takes a record of events or words from that core's ring. False: it is not one of the session. */
bool mkperf_sched_take(struct mkperf_sched *s, unsigned core, const uint64_t *record,
                       unsigned size);
/* Called at the end of a drain of that core: reports losses that no event followed. dropped: the
 * ring's count of dropped events. */
void mkperf_sched_drained(struct mkperf_sched *s, unsigned core, uint64_t dropped);

#endif
