/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting: sessions whose events are counted and not sampled, and counts beside samples.
 *
 * Owns: struct mkperf_counting: the last snapshot of all counts. Called by hook_session.c at a
 * session's start and end, and by main.c for COUNTS. Events that do not fit into the counters are
 * multiplexed (multiplex.h).
 *
 *   count of an event = tally (whole overflows) + value of its counter, of each core
 *
 * After an overflow the hook arms the counter again and writes a record. A counter's value and the
 * tally are therefore consistent if no record follows the reading of the value.
 *
 * Counts beside samples: a second counter of each event counts user mode, and is in no record. The
 * kernel's table has all of it by thread, because each request to the hook completes the table.
 */
#ifndef MKPERF_COUNTING_H
#define MKPERF_COUNTING_H

#include "multiplex.h"

struct mkperf_counting_thread {
    uint64_t identity;
    uint64_t count[MKPERF_COUNT_SLOTS];
};

struct mkperf_counting {
    const struct mkperf_plan *plan;
    struct mkperf_kernel *kernel;
    struct mkperf_drain *drain;
    const struct mkperf_multiplex *multiplex;
    const struct mkperf_soft *soft; /* the kernel's table of software events */
    struct mkperf_counts *table;    /* counts by thread; the kernel writes it */

    /* the snapshot */
    uint64_t now;
    uint64_t by_core[MKPERF_TARGET_CORES][MKPERF_COUNT_SLOTS];
    uint64_t count[MKPERF_COUNT_SLOTS]; /* counts of all cores together */
    uint64_t ran[MKPERF_MAX_EVENTS];
    uint32_t cores; /* the cores in it, bit = number; 0 with a single core */
    uint32_t threads;
    struct mkperf_counting_thread thread[MKPERF_COUNT_THREADS];
};

/* Begins a session that counts, or counts beside samples: adds the table and the counters beside samples to the
 * configuration, which has the first slice. */
void mkperf_counting_begin(struct mkperf_counting *c);
/* Takes a snapshot. op: 0, or STOP for the last one, while the hook still has the session. */
void mkperf_counting_snapshot(struct mkperf_counting *c, uint32_t op);
/* Fills a part of the answer to COUNTS; part 0 takes a snapshot of a running session. Counts beside
 * samples are complete when the session has ended. False: *error has the reason. */
bool mkperf_counting_answer(struct mkperf_counting *c, uint32_t part, bool running,
                            mkperf_Counts *out, mkperf_Error *error);

#endif
