/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the Firefox Profiler format share: firefox.c owns the profile and its
 * threads, firefox_tables.c a thread's tables of strings, functions, frames and stacks,
 * firefox_markers.c a thread's markers: those that programs made (firefox_marks.c) and those of
 * scheduling events (firefox_sched.c); firefox_counters.c the tracks of counters.
 */
#ifndef MKPERF_HOST_EXPORT_FIREFOX_H
#define MKPERF_HOST_EXPORT_FIREFOX_H

#include "formats.h"

enum firefox_category {
    FIREFOX_OTHER,
    FIREFOX_USER,
    FIREFOX_KERNEL,
    FIREFOX_IDLE,
    FIREFOX_CALLER, /* a frame of another PD than the thread's */
    FIREFOX_CALL,   /* the edge of a PD's call to another */
};

#define FIREFOX_LOST "Lost samples" /* a text of the places */

/* A thread of the output: a PD's samples of an event on a core, in the order of these. */
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

/* For qsort and bsearch. */
int firefox_compare_threads(const void *a, const void *b);

/* The threads of the output, ascending. */
struct firefox_threads {
    uint64_t *list;
    uint32_t n;
};

/* Numbers of the profile (of texts, functions, frames) that a thread uses, renumbered from 0. */
struct firefox_set {
    uint32_t *local; /* of each number, + 1; 0: not used */
    uint32_t *used;  /* the numbers, in local order */
    uint32_t count;
};

struct firefox_tables {
    struct mkperf_profile *c;
    struct mkperf_textout *t;
    uint32_t functions, frames, texts;      /* how many the profile has */
    struct firefox_set string, func, frame; /* of the current thread */
    struct mkperf_hash stacks;              /* keys: prefix + 1, frame of the profile */
    uint32_t *stack_of;                     /* of each chain: stack + 1 */
    uint32_t *place_of;                     /* of each frame of the profile: its place */
    uint64_t *mark_end;                     /* of each mark: firefox_marks.c's */
    bool idle;
    uint32_t pd; /* of the current thread */
};

/* For the whole profile, whose chains have all been resolved. */
void firefox_tables_open(struct firefox_tables *f, struct mkperf_profile *c,
                         struct mkperf_textout *t);
void firefox_tables_close(struct firefox_tables *f);

/* Begins a thread of PD pd: its tables are empty. */
void firefox_tables_reset(struct firefox_tables *f, uint32_t pd, bool idle);
void firefox_tables_add(struct firefox_tables *f, uint32_t chain);
/* A text's number in the thread's stringArray. */
uint32_t firefox_tables_text(struct firefox_tables *f, uint32_t text);

enum firefox_phase { FIREFOX_INSTANT, FIREFOX_INTERVAL, FIREFOX_START, FIREFOX_END };

/* A marker: what its columns say. */
struct firefox_marker {
    enum firefox_phase phase;
    enum firefox_category category;
    uint64_t from_ns, to_ns;        /* to: of intervals and ends */
    uint32_t name;                  /* a text of the places */
    const char *type;               /* of the schema */
    uint32_t number;                /* member "id" of a "mark" */
    uint32_t other;                 /* member "by" or "pd": a text; 0: "" */
    uint32_t flow;                  /* member "flow": a text; 0: none */
    const struct mkperf_lost *lost; /* members of a "lost" */
};

struct firefox_markers {
    struct firefox_marker *marker;
    size_t n, room;
};

void firefox_markers_add(struct firefox_markers *m, struct firefox_marker marker);
/* The markers of a PD, as a member of its first thread; NOBODY: none. And of the thread of losses. */
void firefox_markers_put(struct firefox_tables *f, uint32_t pd);
void firefox_markers_put_lost(struct firefox_tables *f);

/* Once for the profile. */
void firefox_marks_pair(struct firefox_tables *f);
void firefox_marks_add(const struct firefox_tables *f, uint32_t pd, struct firefox_markers *m);

/* Scheduling: its texts, before the tables are opened; whether a PD has any. */
void firefox_sched_texts(struct mkperf_profile *c);
bool firefox_sched_known(const struct mkperf_profile *c, uint32_t pd);
void firefox_sched_add(const struct firefox_tables *f, uint32_t pd, struct firefox_markers *m);

/* When what the first samples stand for began: the profile's time begins with it. */
uint64_t firefox_counters_begin(const struct mkperf_profile *c);
/* The member counters, for the threads and the one of losses after them. */
void firefox_counters_put(struct firefox_tables *f, const struct firefox_threads *threads);

/* stackTable to stringArray. */
void firefox_tables_put(struct firefox_tables *f);

#endif
