/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Overflows of counters that do not sample: they add to a count, end a slice, or wake this PD.
 *
 * Owns: struct mkperf_tally. Called by drain.c for each such record. counting.c and multiplex.c
 * read the counts and the end of a slice from it. A counter that does not sample is armed with
 * MKPERF_COUNT_PERIOD events. Each of its overflows has a record with that period, so that no wrap
 * is missed.
 */
#ifndef MKPERF_PROFILER_TALLY_H
#define MKPERF_PROFILER_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/counts.h>
#include <mkperf/session.h>

#include "plan.h"

struct mkperf_tally {
    const struct mkperf_plan *plan;
    bool expired;  /* The clock overflowed: the slice is over. */
    uint32_t mask; /* counters that count in this slice */
    uint8_t slot[MKPERF_MAX_COUNTERS];
    uint64_t total[MKPERF_TARGET_CORES]
                  [MKPERF_COUNT_SLOTS]; /* without the counters' current values */
    uint64_t last[MKPERF_TARGET_CORES]; /* ticks: time of the last record in total[] */
};

static inline void mkperf_tally_begin(struct mkperf_tally *t)
{
    *t = (struct mkperf_tally){.plan = t->plan};
}

/* Takes a SAMPLE record of a session that counts. */
static inline void mkperf_tally_count(struct mkperf_tally *t, unsigned core, const uint64_t *record)
{
    unsigned counter = mkperf_record_counter(record[MKPERF_WORD_HEADER]);

    t->last[core] = record[MKPERF_WORD_TIME];
    if (counter + 1 == t->plan->clock) {
        t->expired = true;
    } else if (t->mask >> counter & 1) {
        t->total[core][t->slot[counter]] += record[MKPERF_WORD_PERIOD];
    }
}

/* Takes a SLICE record. False: it is not one of the session. */
static inline bool mkperf_tally_slice(struct mkperf_tally *t, const uint64_t *record, unsigned size)
{
    unsigned counter = mkperf_record_counter(record[MKPERF_WORD_HEADER]);

    if (size < 8 * MKPERF_SLICE_WORDS) {
        return false;
    }
    if (t->plan->beat != 0 && counter == t->plan->beat - 1) {
        return true; /* It has woken this PD. */
    }
    t->expired = t->plan->clock != 0 && !t->plan->counting;
    return t->expired;
}

#endif
