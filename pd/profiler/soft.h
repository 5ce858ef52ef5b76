/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Software events in the profiler PD: the table that the kernel fills in, and requests for it.
 *
 * Owns: the table between sessions. include/mkperf/soft.h says what the events are.
 */
#ifndef MKPERF_PROFILER_SOFT_H
#define MKPERF_PROFILER_SOFT_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/session.h>

struct mkperf_profiler;

struct mkperf_soft_name {
    const char *name;
    const char *description;
};

/* By kind. */
extern const struct mkperf_soft_name mkperf_soft_events[MKPERF_SOFT_KINDS];
/* The kind of that name (MKPERF_NAME_BYTES at most) + 1; 0: none. `cs` is context-switches, as in
 * perf. */
uint32_t mkperf_soft_named(const char *name);

struct mkperf_soft_view { /* the reported part of the table */
    bool on;              /* the last session had software events */
    uint64_t began;       /* ticks */
    uint64_t ended;       /* 0: it runs */
    uint64_t total[MKPERF_SOFT_KINDS];
    uint64_t records_dropped;
    uint64_t enabled;
    uint32_t edges;
    uint32_t threads;
    struct mkperf_soft_edge edge[MKPERF_SOFT_EDGES];
    struct mkperf_soft_thread thread[MKPERF_COUNT_THREADS];
};

/* Whether the kernel has software events, as it last said. */
bool mkperf_soft_there(const struct mkperf_profiler *p);
/* A key of the kernel's tables, with what they hold of a scheduling context's badge, as the key of
 * the thread's identity. */
uint64_t mkperf_soft_key(uint64_t key, uint64_t sc);
/* A session begins: an empty table, and the configuration's part. Before it is applied. False, and
 * *error says so: the kernel has no software events. */
bool mkperf_soft_prepare(struct mkperf_profiler *p, mkperf_Error *error);
/* The session was applied. */
void mkperf_soft_started(struct mkperf_profiler *p);
/* The counters were stopped: the time, while the hook still has the session. */
void mkperf_soft_ended(struct mkperf_profiler *p);
/* Into the snapshot of a session that counts: its software events. */
void mkperf_soft_count(struct mkperf_profiler *p);
/* Answers INTERACTIONS in the session page: the table's contents. False: *error has the reason. */
bool mkperf_soft_answer(struct mkperf_profiler *p, uint32_t part, mkperf_Error *error);

#endif
