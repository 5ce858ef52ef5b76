/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The critical path: the chain of runs and waits that determined when something was done.
 *
 * Owns: three parts, of which `mkperf latency --critical-path` uses each once.
 *  * The choice: which time the path explains. It is a sink that passes everything to an analysis (analysis.h), which it
 *    needs to find the longest call, time between two marks, or phase.
 *  * The timeline: the intervals and wake-ups of a window of time in memory. A second reading of the recording fills it.
 *    Memory grows with the events in the window: 40 bytes for each interval, 32 for each wake-up.
 *  * The path: found by a walk from the end of the time back to its begin.
 *
 *      time    10        20        30        40        50
 *      client  RRRRRRRRRR------------------------------          R: it runs   -: it waits
 *      server            RRRRRRRRRR----------RRRRRRRRRR
 *      disk                        RRRRRRRRRR
 *
 *      The path of this call, found from right to left: server from 40, disk from 30 (it woke server), server from 20,
 *      client from 10 (it called server).
 *
 * Rules of the walk
 *  1. If a PD was woken by another PD, the path continues in that PD. What the woken PD did before its wait is not in
 *     the path, because doing it sooner would have changed nothing.
 *  2. If a PD was ready, it waited for the PD that ran; the path stays in it.
 *  3. The recording does not show the cause of an interrupt. The path contains the wait for it, and stays in the PD.
 *  4. The steps follow each other without a hole. Their sum is the time from begin to end.
 */
#ifndef MKPERF_HOST_SCHED_CRITICAL_PATH_H
#define MKPERF_HOST_SCHED_CRITICAL_PATH_H

#include "analysis.h"

/* Which time the path explains. */
enum mkperf_path_kind { MKPERF_PATH_CALL, MKPERF_PATH_MARKS, MKPERF_PATH_PHASE };

struct mkperf_path_choice {
    struct mkperf_analysis *analysis; /* the caller sets it before reading, and frees it */
    enum mkperf_path_kind kind;
    char first[MKPERF_MODEL_NAME],
        second[MKPERF_MODEL_NAME]; /* names of PDs or marks; "": any call */
    bool has_at;                   /* the time contains at_ns, or it is the longest */
    uint64_t at_ns;
    bool marked; /* the first mark was recorded at mark_ns, and the second one not yet */
    uint64_t mark_ns;
    /* Open phases of the wanted name. The caller frees them with mkperf_marks_free. */
    struct mkperf_marks phases;
    /* The result: */
    uint64_t candidates; /* times of the wanted kind and names */
    bool found;
    uint32_t pd;     /* the PD that was done at to_ns */
    uint32_t caller; /* the caller, if it is a call; else MKPERF_SCHED_NOBODY */
    uint64_t from_ns, to_ns;
};

/*
 * Reads a choice. The text is "FROM:TO" for the longest call of a pair of PDs, "MARK..MARK" for the longest time from
 * one mark to the other, "PHASE" for the longest phase, or NULL for the longest call of all. Errors: USAGE.
 */
enum mkperf_status mkperf_path_choice_parse(struct mkperf_path_choice *c, const char *text,
                                            struct mkperf_error *e);
/* Returns a sink that passes everything to c->analysis. */
struct mkperf_sink mkperf_path_choice_sink(struct mkperf_path_choice *c);
/* Reads a recording into it, or answers from a snapshot. Errors: those of mkperf_analysis_read. */
enum mkperf_status mkperf_path_choice_read(struct mkperf_path_choice *c, const char *path,
                                           struct mkperf_error *e);
/* Checks the choice after reading. Errors: INPUT, no such time was found; USAGE, no PD has that
 * name. */
enum mkperf_status mkperf_path_choice_check(const struct mkperf_path_choice *c,
                                            struct mkperf_error *e);
/* Writes a title such as "the longest of 40 calls client -> server" into n bytes. */
void mkperf_path_choice_title(const struct mkperf_path_choice *c, char *text, size_t n);

/* The intervals of a PD in the order of time, without a hole. Gaps are MKPERF_PD_UNKNOWN. */
struct mkperf_lane {
    struct mkperf_interval *interval;
    size_t n, room;
};

struct mkperf_timeline {
    uint64_t from_ns, to_ns; /* the window: intervals that overlap it are kept */
    uint32_t npds, pd_room;
    struct mkperf_lane *lane; /* one for each PD */
    /* What one PD caused in another, such as a call, a reply or a notification, in the order of time. */
    struct mkperf_woken *arrow;
    size_t narrows, arrow_room;
};

/* Makes the timeline a listener of `a`, before its first event. 0 to UINT64_MAX is everything. */
void mkperf_timeline_attach(struct mkperf_timeline *t, struct mkperf_analysis *a, uint64_t from_ns,
                            uint64_t to_ns);
void mkperf_timeline_free(struct mkperf_timeline *t);

/* Stores the first interval of a PD that overlaps [from, to) in *first. Returns their number. */
size_t mkperf_timeline_intervals(const struct mkperf_timeline *t, uint32_t pd, uint64_t from,
                                 uint64_t to, const struct mkperf_interval **first);
struct mkperf_path_step {
    struct mkperf_interval what; /* the PD that ran or waited; cut to the time of the path */
    /* The event by which the PD of the step before this one woke the PD of this one. MKPERF_SCHED_SWITCH (0):
     * both steps are of the same PD. */
    enum mkperf_sched_kind entered;
    bool irq_known; /* the step is a wait that interrupt `irq` ended */
    uint32_t irq;
};

struct mkperf_path {
    uint64_t from, to;
    size_t n, room;
    struct mkperf_path_step *step; /* steps in the order of time */
};

/* Finds the path from `from` to `to`, when pd was done. The window of the timeline contains both. The caller frees the path. */
void mkperf_path_find(struct mkperf_path *path, const struct mkperf_timeline *t, uint32_t pd,
                      uint64_t from, uint64_t to);
/* Reads a recording into `a`, which is new, and finds the path from `from` to `to`, when pd was done. Errors: those of
 * mkperf_analysis_read; *path is not set then. */
enum mkperf_status mkperf_path_read(struct mkperf_path *path, struct mkperf_analysis *a,
                                    uint32_t pd, uint64_t from, uint64_t to, const char *recording,
                                    struct mkperf_error *e);
void mkperf_path_free(struct mkperf_path *path);

#endif
