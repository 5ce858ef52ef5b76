/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events on their way to the client.
 *
 * Owns: struct mkperf_sched: which thread a slot stands for on each core, and the losses that are not
 * yet reported. Called by drain.c for each record of the three types (include/mkperf/sched.h).
 *
 *   SCHED_THREAD (slot, thread) -> thread[slot]
 *   SCHED (slot) -> thread[slot] -> event with an identity -> output
 *
 * What may be lost: events that the hook could not write, and those that do not fit into the output.
 * Both are counted, and a record before the next event of that core says how many.
 */
#ifndef MKPERF_PROFILER_SCHED_H
#define MKPERF_PROFILER_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/sched.h>

#include "kernel.h"
#include "output.h"
#include "plan.h"

/* The threads that a core's slots stand for, as far as its ring was read. */
struct mkperf_slots {
    uint64_t thread[MKPERF_SCHED_SLOTS];
};

static inline void mkperf_slots_begin(struct mkperf_slots *s)
{
    for (unsigned i = 0; i < MKPERF_SCHED_SLOTS; i++) {
        s->thread[i] = MKPERF_THREAD_NONE;
    }
}

/* What a SCHED_THREAD record says. */
static inline void mkperf_slots_take(struct mkperf_slots *s, const uint64_t *record)
{
    s->thread[mkperf_sched_slot_of(record[MKPERF_WORD_HEADER])] =
        mkperf_thread_of(record[MKPERF_WORD_THREAD], record[MKPERF_WORD_SC]);
}

struct mkperf_sched_core {
    struct mkperf_slots slots;
    uint64_t dropped;   /* of the ring's count of events, the part that is in lost_ring */
    uint64_t lost;      /* events not yet reported in the stream */
    uint64_t lost_from; /* from this time on */
};

struct mkperf_sched {
    const struct mkperf_plan *plan;
    struct mkperf_output *output;
    uint64_t captured;
    uint64_t lost_ring;
    uint64_t lost_output;
    struct mkperf_sched_core core[MKPERF_TARGET_CORES];
};

/* A session begins: the configuration's part, before it is applied. False: the kernel has no
 * scheduling events, as *error says. */
bool mkperf_sched_prepare(struct mkperf_sched *s, struct mkperf_kernel *kernel,
                          mkperf_Error *error);
/* A record of the three types from that core's ring. False: it is none of the session's. */
bool mkperf_sched_take(struct mkperf_sched *s, unsigned core, const uint64_t *record,
                       unsigned size);
/* The end of a drain of that core. dropped: what the ring counts. Reports losses that no event
 * followed. */
void mkperf_sched_drained(struct mkperf_sched *s, unsigned core, uint64_t dropped);
void mkperf_sched_status(const struct mkperf_sched *s, mkperf_Status *out);

#endif
