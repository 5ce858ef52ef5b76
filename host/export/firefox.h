/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the Firefox Profiler's format share.
 *
 *     firefox.c           the profile, its threads, their samples, and the tracks of counters
 *     firefox_tables.c    a thread's tables of strings, functions, frames and stacks, and its markers
 */
#ifndef MKPERF_HOST_EXPORT_FIREFOX_H
#define MKPERF_HOST_EXPORT_FIREFOX_H

#include "formats.h"

enum firefox_category {
    FIREFOX_OTHER,
    FIREFOX_USER,
    FIREFOX_KERNEL,
    FIREFOX_IDLE,
    FIREFOX_CALLER, /* a frame of another PD than that of the thread */
    FIREFOX_CALL,   /* the frame between a PD and the PD that it called */
};

/* Writes a member that is an array of n values. `put` is an expression that writes the value number i. */
#define FIREFOX_COLUMN(t, name, n, put)          \
    do {                                         \
        mkperf_json((t), "%s:[", (name));        \
        for (size_t i = 0; i < (n); i++) {       \
            mkperf_textout_put((t), ",", i > 0); \
            (put);                               \
        }                                        \
        mkperf_textout_puts((t), "],");          \
    } while (0)

/* Returns the number of a thread of the output: it has the samples of one PD, of one event, on one
 * core. */
static inline uint64_t firefox_thread(uint32_t pd, uint32_t event, uint32_t core)
{
    return (uint64_t)pd << 32 | event << 16 | core;
}

static inline uint64_t firefox_thread_of(const struct mkperf_profile *c, uint32_t chain)
{
    struct mkperf_chain_head head = mkperf_profile_head(c, chain);

    return firefox_thread(head.pd, head.event, head.core);
}

static inline uint32_t firefox_thread_pd(uint64_t thread)
{
    return (uint32_t)(thread >> 32);
}

static inline uint32_t firefox_thread_event(uint64_t thread)
{
    return (uint32_t)thread >> 16;
}

static inline uint32_t firefox_thread_core(uint64_t thread)
{
    return (uint32_t)thread & 0xffff;
}

struct firefox_tables {
    struct mkperf_profile *c;
    struct mkperf_textout *t;
    uint32_t *stack_of; /* for each chain its stack in the current thread + 1 */
    uint32_t *place_of; /* for each frame of the profile its place */
    uint64_t *mark_end; /* for each mark when its phase ends; owned by firefox_tables.c */

    uint32_t nthreads;
    unsigned notes;

    /* The current thread. */
    uint32_t pd;
    /* The texts, functions and frames of the profile that the thread uses, with its own numbers. */
    struct mkperf_hash string, func, frame;
    struct mkperf_hash stacks; /* keys: prefix + 1, frame of the profile */
};

/* Follows the resolution of all chains: the numbers of functions and frames must no longer grow. */
void firefox_tables_open(struct firefox_tables *f, struct mkperf_profile *c,
                         struct mkperf_textout *t);
void firefox_tables_close(struct firefox_tables *f);

/* Begins a thread of PD `pd` with empty tables. */
void firefox_tables_reset(struct firefox_tables *f, uint32_t pd);
/* Adds a chain's stack to the thread. */
void firefox_tables_add(struct firefox_tables *f, uint32_t chain);

/* Writes the member stackTable and the following members up to stringArray. */
void firefox_tables_put(struct firefox_tables *f);

/* Returns whether scheduling events show what the PD did. */
bool firefox_sched_known(const struct mkperf_profile *c, uint32_t pd);
/* Writes the member markers of the current thread. Only a PD's first thread has them; MKPERF_SCHED_NOBODY: none. */
void firefox_markers_put(struct firefox_tables *f, uint32_t pd);
/* Writes the member markers of the thread of losses. */
void firefox_markers_put_lost(struct firefox_tables *f);

#endif
