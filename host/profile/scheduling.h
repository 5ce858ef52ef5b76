/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a profile takes from scheduling events: off-CPU samples, utilisation, and a schedule for pictures.
 *
 * Owns: two listeners of an analysis (sched/analysis.h), and the text of what a PD waited for. profile.c has the third listener, and
 * attaches the ones that its options ask for.
 *
 *      events ─► analysis ─┬─ interval ─► profile.c            ─► samples with MKPERF_SAMPLE_BLOCKED ─► chains of the profile
 *                          ├─ core ─────► mkperf_utilisation     ─► ns for each PD and slice; runs as samples
 *                          └─ all ──────► mkperf_schedule        ─► temporary files of intervals, calls, wake-ups, gaps, windows
 */
#ifndef MKPERF_HOST_PROFILE_SCHEDULING_H
#define MKPERF_HOST_PROFILE_SCHEDULING_H

#include "base/outfile.h"
#include "filter.h"
#include "sched/analysis.h"

/*
 * Off-CPU samples (report --off-cpu). If a recording has samples of blocked threads (record --off-cpu), the profile takes only
 * these. If it has only scheduling events, each interval for which a PD was blocked becomes a sample without a callchain; its
 * `wait` names what the PD waited for. Periods are ns. A PD that is ready, but does not run, is not blocked.
 *
 * Returns the `wait`: of a PD that was blocked, with the event that woke it, or of a PD that runs (report --util). kind:
 * MKPERF_SCHED_SWITCH if it is not known. pd: the PD that it waited for.
 */
uint64_t mkperf_blocked_wait(enum mkperf_pd_state state, enum mkperf_sched_kind kind, uint32_t irq,
                             uint32_t pd);

/* The text of a `wait`: "[calls server]", "[waits for interrupt 33]", "[runs]". name_of returns the name of a PD. */
enum { MKPERF_BLOCKED_TEXT = 128 };
void mkperf_blocked_text(uint64_t wait, const char *(*name_of)(const void *self, uint32_t pd),
                         const void *self, char text[MKPERF_BLOCKED_TEXT]);

/*
 * How long each PD ran, in the whole recording or in slices of time. Time and cores that the filter leaves out are in no sum.
 * Time of gaps is counted separately, and shares are of the rest.
 */
struct mkperf_utilisation {
    /* Set before it is attached: */
    const struct report_filter *filter;
    struct mkperf_time_slices *slices;
    /* A PD, which may be the idle thread, ran within one slice; may be NULL. */
    enum mkperf_status (*on_run)(void *self, const struct mkperf_core_interval *run,
                                 struct mkperf_error *e);
    void *self;                  /* the argument of on_run */
    struct mkperf_error *failed; /* gets the first error */

    struct mkperf_hash pds; /* keys: PD and slice */
    uint64_t *ran_ns;       /* one for each key */
    uint32_t ran_room;
    struct mkperf_hash cores; /* keys: core and slice */
    struct mkperf_core_time {
        uint64_t known_ns, unknown_ns;
    } * core; /* one for each key */
    uint32_t core_room;
    /* By slice, after the end: the known time of the core with the most, and the unknown time of all cores. */
    struct mkperf_core_time *slice;
};

/* Attaches the sums to an analysis, before its first event. */
void mkperf_utilisation_attach(struct mkperf_utilisation *u, struct mkperf_analysis *a);
/* Computes what depends on the whole recording: the times of each slice. Called once, after the last event. */
void mkperf_utilisation_end(struct mkperf_utilisation *u);
void mkperf_utilisation_free(struct mkperf_utilisation *u);

/* Stores the share of the known time of a slice for which the PD ran, in per cent: 100 is one core all the time.
 * *unknown_ns gets the unknown time of cores in the slice. Returns false if nothing is known. */
bool mkperf_utilisation_of(const struct mkperf_utilisation *u, uint32_t pd, uint32_t slice,
                           double *percent, uint64_t *unknown_ns);

/* A whole call. */
struct mkperf_schedule_call {
    uint64_t from_ns, taken_ns, to_ns; /* the call; when the callee ran with it; the reply */
    uint32_t from, to;
    uint32_t exit; /* the same as in struct mkperf_call_edge */
};

/*
 * Which cores do work, for a profile of elapsed time (report --latency): a sample's weight is divided by the number of cores that
 * work at that time, so that the weights of one moment are one moment. The time in which no core works is idle's.
 *
 *      core 0   client client client client       client 1/2 + 1/2 + 1 + 1
 *      core 1   server server idle   idle         server 1/2 + 1/2, idle 0
 *
 * Returns the weight of a sample on one of `cores` cores, or 0 if it takes no elapsed time. idle: it is of the idle thread. a: the
 * analysis of all events before it. *unsure: grows if it is not known what a core does, which counts as idle then.
 */
uint64_t mkperf_parallel_weight(const struct mkperf_analysis *a, const struct mkperf_sample *s,
                                bool idle, unsigned cores, uint64_t *unsure);

/* The times of MKPERF_SCHEDULE_BLOCK intervals, or fewer in the last block. A reader finds the intervals of a time by them. */
enum { MKPERF_SCHEDULE_BLOCK = 4096 };
struct mkperf_schedule_block {
    uint64_t from, to; /* ns: the earliest begin and the latest end */
};

/* From a time on, a window of the domain schedule lasts. */
struct mkperf_schedule_window {
    uint64_t from;
    uint64_t number; /* number of the window + 1; 0: events are missing */
};

/* Temporary files for pictures with a time axis, which the profile opens. Records are in the order of their ends. */
struct mkperf_schedule {
    bool open;
    struct mkperf_spool intervals;       /* struct mkperf_interval */
    struct mkperf_schedule_block *block; /* blocks of intervals */
    size_t blocks, block_room;
    struct mkperf_spool calls; /* struct mkperf_schedule_call */
    struct mkperf_spool gaps;  /* struct mkperf_core_interval for which it is not known what ran */
    struct mkperf_spool wakings; /* struct mkperf_woken */
    struct mkperf_spool windows; /* struct mkperf_schedule_window */
    uint64_t lost; /* lost events, as far as gaps state them; the profile counts them */
    struct mkperf_error *failed;
};

/* Keeps the findings of `analysis` from now on. *failed gets the first error. */
void mkperf_schedule_attach(struct mkperf_schedule *s, struct mkperf_analysis *analysis,
                            struct mkperf_error *failed);

/* A reading of a queue. */
struct mkperf_queue_fill {
    uint64_t time_ns;
    uint32_t queue, entries; /* MKPERF_FILL_UNKNOWN: no queue can have such indices */
};
#define MKPERF_FILL_UNKNOWN UINT32_MAX

/* How full queues were, in the order of time. */
struct mkperf_fills {
    const struct mkperf_queue *queue; /* those of the session */
    unsigned nqueues;
    struct mkperf_queue_fill *fill;
    size_t fills, room;
    uint64_t *read; /* for each queue the number of its readings */
    uint64_t step;  /* one of so many readings of a queue is kept */
};

/* The session lives as long as f. */
void mkperf_fills_begin(struct mkperf_fills *f, const struct mkperf_session *session);
void mkperf_fills_add(struct mkperf_fills *f, const struct mkperf_queue_reading *r);
void mkperf_fills_free(struct mkperf_fills *f);

#endif
