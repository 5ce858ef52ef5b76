/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls and notifications between PDs, and other software events of a session.
 *
 * Owns: the form in memory, and that of the lines in which a perf.data file carries it among
 * mkperf's own totals.
 */
#ifndef MKPERF_HOST_MODEL_INTERACTIONS_H
#define MKPERF_HOST_MODEL_INTERACTIONS_H

#include <mkperf/soft.h>

#include "base/base.h"

enum { MKPERF_INTERACTION_NAME = 64 };

struct mkperf_interaction {
    char from[MKPERF_INTERACTION_NAME], to[MKPERF_INTERACTION_NAME]; /* PDs */
    uint64_t calls, notifications;
};

struct mkperf_soft_counts {
    char pd[MKPERF_INTERACTION_NAME];
    uint64_t count[MKPERF_SOFT_KINDS];
    struct mkperf_soft_stack stack; /* all 0 without record --stacks */
};

struct mkperf_interactions {
    uint64_t ns; /* for which they were counted; 0: not known */
    uint64_t total[MKPERF_SOFT_KINDS];
    uint64_t records_dropped; /* faults without a mark */
    unsigned nedges, npds;
    struct mkperf_interaction edge[MKPERF_SOFT_EDGES];
    struct mkperf_soft_counts pd[MKPERF_COUNT_THREADS];
};

/* perf's names where perf has one, by enum mkperf_soft_kind. */
extern const char *const mkperf_soft_names[MKPERF_SOFT_KINDS];

/* How many bytes of the stack are at this address and above; 0: none, or that is not known. */
static inline uint64_t mkperf_stack_above(const struct mkperf_soft_stack *s, uint64_t address)
{
    return s->bottom <= address && address < s->top ? s->top - address : 0;
}

/* The bytes that a stack has had in use since the system started. 0: it was not searched. */
static inline uint64_t mkperf_stack_used(const struct mkperf_soft_stack *s)
{
    uint64_t seen = mkperf_stack_above(s, s->least), used = mkperf_stack_above(s, s->lowest);

    return used != 0 && used < seen ? seen : used; /* words that are in use may be 0 */
}

/* Adds an edge, or a PD's counts and stack. Entries that do not fit are omitted; the totals include them. */
void mkperf_interactions_add(struct mkperf_interactions *i, const struct mkperf_interaction *edge);
void mkperf_interactions_add_pd(struct mkperf_interactions *i, const struct mkperf_soft_counts *pd);

/* Events of the kind (calls or notifications) that are in no edge. */
uint64_t mkperf_interactions_unplaced(const struct mkperf_interactions *i,
                                      enum mkperf_soft_kind kind);

#define MKPERF_INTERACTIONS_KEYS "soft_" /* their keys begin with it, and no others do */
/* As lines `key value`; and one such line back. False: not one of these keys. */
void mkperf_interactions_write(const struct mkperf_interactions *i, FILE *f);
bool mkperf_interactions_line(struct mkperf_interactions *i, const char *key, const char *value);

#endif
