/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile, collected: what a format needs that cannot be written as samples come.
 *
 * Owns: a sink that counts each distinct chain and, if asked, keeps the order of samples and losses
 * in temporary files. Memory grows with the number of distinct chains, not with samples. Formats
 * (folded, flame graph, pprof, callgrind, speedscope, Firefox) are functions over it.
 */
#ifndef MKPERF_HOST_PROFILE_COLLECT_H
#define MKPERF_HOST_PROFILE_COLLECT_H

#include "base/spool.h"
#include "cost.h"
#include "places.h"

/* Words of a chain's key; callers follow, two words each: address, PD. */
enum mkperf_collect_word {
    MKPERF_COLLECT_PD,    /* and the event in the upper half */
    MKPERF_COLLECT_FLAGS, /* KERNEL and NO_USER; the core in the upper half, if asked */
    MKPERF_COLLECT_KERNEL_PC,
    MKPERF_COLLECT_PC,
    MKPERF_COLLECT_CALLERS,
    MKPERF_COLLECT_WORDS_MAX = MKPERF_COLLECT_CALLERS + 2 * (MKPERF_MAX_FRAMES + 1),
};

struct mkperf_weight {
    uint64_t samples, period;
};

struct mkperf_collected { /* a sample in the spool */
    uint64_t time_ns, period;
    uint32_t chain, core;
};

struct mkperf_collected_mark { /* a mark in the spool */
    uint64_t time_ns;
    uint32_t pd, kind, id, name; /* name: a text of the stack */
    uint64_t order;              /* of arrival */
};

/* Marks of one PD and name: points, and phases from the outermost begin to its end. */
struct mkperf_mark_sum {
    uint64_t points, phases, sum_ns, longest_ns;
    uint64_t open, begin_ns; /* phases that have no end yet; when the outermost began */
};

struct mkperf_collect {
    bool cores, times; /* set before begin: keep cores apart; keep what has a time in order */
    struct mkperf_stack stack;
    struct mkperf_hash chains;
    struct mkperf_weight *weight; /* of each chain */
    uint32_t weight_room;
    uint32_t nevents; /* at least the session's */
    struct mkperf_weight total[MKPERF_MODEL_EVENTS];
    uint64_t lost[MKPERF_LOST_PLACES], lost_events[MKPERF_LOST_PLACES];
    uint64_t first_ns, last_ns;
    struct mkperf_totals totals;
    struct mkperf_cost cost;      /* after mkperf_collect_cost */
    struct mkperf_hash mark_keys; /* PD, name (a text of the stack) */
    struct mkperf_mark_sum *mark_sum;
    struct mkperf_spool samples, losses, marks; /* of struct mkperf_collected, mkperf_lost and
                                                 * mkperf_collected_mark */
};

/* A chain by its number. */
struct mkperf_collected_chain {
    uint32_t pd, event, core;
    struct mkperf_weight weight;
    int n; /* places, innermost first */
    uint32_t place[MKPERF_STACK_MAX];
};

extern const struct mkperf_sink_ops mkperf_collect_ops; /* self is the collection */

enum mkperf_status mkperf_collect_chain(struct mkperf_collect *c, uint32_t number,
                                        struct mkperf_collected_chain *out, struct mkperf_error *e);
/* Whose a chain's samples are: the PD, with the event in the upper half. */
static inline uint64_t mkperf_collect_thread(const struct mkperf_collect *c, uint32_t chain)
{
    uint32_t words;

    return mkperf_hash_key(&c->chains, chain, &words)[MKPERF_COLLECT_PD];
}
/* Resolves all chains, so that texts have their numbers, and sums up what the profiler took. */
enum mkperf_status mkperf_collect_cost(struct mkperf_collect *c, struct mkperf_error *e);
uint64_t mkperf_collect_lost(const struct mkperf_collect *c); /* samples, everywhere */

/* With times: the spools in the order of time, and mapped. */
enum mkperf_status mkperf_collect_order(struct mkperf_collect *c, struct mkperf_error *e);
void mkperf_collect_free(struct mkperf_collect *c);

/*
 * The head that formats with room for text carry, a line at a time, `put` once for each: events
 * with periods and sums, losses by place, the cost of profiling, marks, interactions, completeness,
 * the command.
 */
void mkperf_collect_notes(const struct mkperf_collect *c, void (*put)(void *self, const char *line),
                          void *self);

#endif
