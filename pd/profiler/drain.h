/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The head of the pipeline: empties the cores' sample rings.
 *
 * Owns: struct mkperf_drain: this PD's end of each ring, the samples' way to the output, and their
 * losses. Called at each wake-up and on the client's request. This is the profiler PD's part of the
 * sampling path: samples are checked one by one, and copied in one piece.
 *
 *   ring of core 0 --+-- SAMPLE ----------------> pace, output
 *   ring of core 1 --+-- SAMPLE that counts ----> tally (counting.c, multiplex.c read it)
 *        ...         +-- SLICE -----------------> tally
 *                    +-- FAULT -----------------> soft -> output
 *                    +-- SCHED, _THREAD, _LOSS -> sched -> output
 *                    before that: latencies
 *
 * 1. Each record is given to one stage, which knows only what comes after it.
 * 2. captured = delivered + lost, always. Samples may be lost that do not fit into the output ring,
 *    or that the hook dropped. Both are counted, and a LOSS record before the core's next sample
 *    has their number.
 * 3. A drain is bounded by what the rings hold when it begins.
 */
#ifndef MKPERF_PROFILER_DRAIN_H
#define MKPERF_PROFILER_DRAIN_H

#include "kernel.h"
#include "latencies.h"
#include "output.h"
#include "pace.h"
#include "sched.h"
#include "soft.h"

struct mkperf_lost { /* losses that are not yet reported in the stream */
    uint64_t samples;
    uint64_t events;
};

struct mkperf_drain_core {
    uint64_t now;         /* ticks: time of its last record */
    uint32_t samples;     /* samples of the last drain */
    bool unreported;      /* There are losses in lost[]. */
    uint64_t lost_events; /* the part of the ring's count that is included in lost[] */
    struct mkperf_lost lost[MKPERF_LOSS_LINK];
};

/* Overflows of counters that do not sample: they add to a count, end a slice, or wake this PD. Such a
 * counter is armed with MKPERF_COUNT_PERIOD events. Each of its overflows has a record with that
 * period, so that no wrap is missed. counting.c reads this; multiplex.c sets mask and slot. */
struct mkperf_tally {
    bool expired;  /* The clock overflowed: the slice is over. */
    uint32_t mask; /* counters that count in this slice */
    uint8_t slot[MKPERF_MAX_COUNTERS];
    /* Counts up to the counters' last readings, without what they count now. */
    uint64_t total[MKPERF_TARGET_CORES][MKPERF_COUNT_SLOTS];
    uint64_t last[MKPERF_TARGET_CORES]; /* ticks: time of the last record in total[] */
};

struct mkperf_drain {
    const struct mkperf_plan *plan;
    struct mkperf_kernel *kernel;
    struct mkperf_pacer *pacer;
    struct mkperf_soft_stage *soft;
    struct mkperf_sched *sched;
    struct mkperf_latencies *latencies;
    struct mkperf_output *output;
    uint64_t now; /* ticks: time of the last record of any core */
    /* The event's number in the plan, by hardware counter of the current slice. */
    uint8_t number[MKPERF_MAX_COUNTERS];
    struct mkperf_ring_consumer ring[MKPERF_TARGET_CORES];
    struct mkperf_drain_core core[MKPERF_TARGET_CORES];
    struct mkperf_tally tally;
};

/* Empties a ring, as the hook expects at the start of a session. Called only without a session. */
void mkperf_ring_clear(struct mkperf_ring_consumer *c);
/* Begins a session with empty rings of the plan's size. */
void mkperf_drain_begin(struct mkperf_drain *d);
/* The result of a drain. */
struct mkperf_drained {
    uint32_t samples;
    uint32_t most;  /* samples of a core */
    uint64_t bytes; /* bytes of all samples together */
    bool output;    /* The output ring has new records. */
};
/* Moves the records of the session's cores to the stages. */
struct mkperf_drained mkperf_drain(struct mkperf_drain *d);

#endif
