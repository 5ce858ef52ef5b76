/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the Firefox Profiler's format share.
 *
 *     firefox.c             the profile, its threads, their tables, samples and markers
 *     firefox_counters.c    the tracks of counters
 */
#ifndef MKPERF_HOST_EXPORT_FIREFOX_H
#define MKPERF_HOST_EXPORT_FIREFOX_H

#include "formats.h"

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

/* A thread of the output: it has the samples of one PD, of one event, on one core. */
struct firefox_thread {
    uint32_t pd, event, core;
    uint32_t
        chain; /* while threads are listed: a chain + 1, of which the samples are in the thread */
};

struct firefox {
    struct mkperf_profile *c;
    struct mkperf_textout *t;
    struct firefox_thread *thread; /* by PD, then event, then core */
    uint32_t nthreads;
    uint32_t *thread_of; /* for each chain its thread */
    uint32_t *stack_of;  /* for each chain its stack in its thread + 1 */
    uint32_t *place_of;  /* for each frame of the profile its place */
    uint64_t *mark_end;  /* for each mark when its phase ends */
    unsigned notes;

    /* The current thread. */
    uint32_t pd;
    /* The texts, functions and frames of the profile that the thread uses, with its own numbers. */
    struct mkperf_hash string, func, frame;
    struct mkperf_hash stacks; /* keys: prefix + 1, frame of the profile */
    struct firefox_marker *marker;
    size_t nmarkers, marker_room;
};

/* Returns whether a thread is the first one of its PD. */
static inline bool firefox_is_main(const struct firefox *f, uint32_t thread)
{
    return thread == 0 || f->thread[thread - 1].pd != f->thread[thread].pd;
}

/* Writes the member counters. The thread of losses, if there is one, follows the listed threads. */
void firefox_counters_put(struct firefox *f);

#endif
