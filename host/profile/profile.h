/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile: a recording as counts of its distinct callchains.
 *
 * Owns: the only sink that collects samples. Reports, exports and views iterate over its chains.
 * Memory grows with the number of distinct chains, not with samples; if the order of samples is
 * wanted, they go to temporary files. What a session and its PDs say stands in `places`, as do the
 * ELFs and the names of addresses.
 */
#ifndef MKPERF_HOST_PROFILE_PROFILE_H
#define MKPERF_HOST_PROFILE_PROFILE_H

#include "base/spool.h"
#include "blocked.h"
#include "cost.h"
#include "filter.h"
#include "model/marks.h"
#include "places.h"
#include "schedule.h"
#include "utilisation.h"

/* Words of a chain's key; callers follow, a word each: the address; and its PD, if one of them is of
 * another PD than the chain's. */
enum mkperf_profile_word {
    MKPERF_PROFILE_THREAD, /* the PD; the event in the upper half */
    MKPERF_PROFILE_FLAGS,  /* KERNEL, NO_USER, MKPERF_PROFILE_OTHER_PDS; in the upper half the core,
                              if cores are kept, and above it the slice of time */
    MKPERF_PROFILE_KERNEL_PC,
    MKPERF_PROFILE_PC,
    MKPERF_PROFILE_CALLERS,
    MKPERF_PROFILE_WORDS_MAX = MKPERF_PROFILE_CALLERS + 2 * (MKPERF_MAX_FRAMES + 1),
};

#define MKPERF_PROFILE_OTHER_PDS (UINT32_C(1) << 31)
enum { MKPERF_PROFILE_CORE_AT = 32, MKPERF_PROFILE_SLICE_AT = 44 };
_Static_assert(MKPERF_MODEL_CORES <= 1 << (MKPERF_PROFILE_SLICE_AT - MKPERF_PROFILE_CORE_AT),
               "a core has room below the slice");
_Static_assert(MKPERF_TIME_SLICES_MAX <= 1 << (64 - MKPERF_PROFILE_SLICE_AT), "a slice has room");

struct mkperf_weight {
    uint64_t samples, period;
};

static inline void mkperf_weight_add(struct mkperf_weight *to, const struct mkperf_weight *w)
{
    to->samples += w->samples;
    to->period += w->period;
}

struct mkperf_profile_sample { /* in the spool */
    uint64_t time_ns, period;
    uint32_t chain, core;
    uint32_t order; /* of arrival */
};

struct mkperf_profile_mark { /* in the spool, too */
    uint64_t time_ns;
    uint32_t pd, kind, id, name; /* name: a text of the places */
    uint64_t order;              /* of arrival */
};

/* Marks of one PD and name: points, and phases (model/marks.h). Those that the filter leaves out do
 * not count; a phase belongs to the time at which it began. */
struct mkperf_mark_sum {
    uint64_t points, phases, sum_ns, longest_ns;
    uint64_t open; /* phases that have no end */
};

enum { MKPERF_PROFILE_MARKS = 32 };

struct mkperf_profile {
    /* Set before reading: */
    bool cores;         /* keep cores apart */
    bool times;         /* keep what has a time: the spools below */
    bool edges;         /* places of chains have an edge where a PD calls another */
    bool leaves_only;   /* callers are not kept */
    bool keep_schedule; /* with times: keep what scheduling events say, interval by
                                    interval; then a session may have no samples */
    bool off_cpu;       /* an off-CPU profile: blocked.h */
    bool utilisation;   /* keep how long PDs ran, without keep_schedule */
    bool runs;          /* with utilisation: instead of samples, the time that PDs ran */
    struct mkperf_time_slices slices; /* its quantum: of chains, and of utilisation */
    struct report_filter filter;      /* samples that do not pass are not counted */
    enum mkperf_status (*whole)(void *self, struct mkperf_error *e); /* at the end; NULL: none */
    void *self;

    struct mkperf_places places;
    struct mkperf_hash chains;
    struct mkperf_weight *weight; /* of each chain */
    uint32_t weight_room;
    uint32_t nevents; /* at least the session's */
    struct mkperf_weight total[MKPERF_MODEL_EVENTS];
    double squares[MKPERF_MODEL_EVENTS]; /* sum of squared periods */
    unsigned cores_seen;                 /* highest core with a sample, + 1 */
    uint64_t lost[MKPERF_LOST_PLACES];
    uint64_t first_ns, last_ns; /* of samples, and with times of marks */
    struct mkperf_totals totals;
    struct mkperf_cost cost;          /* after mkperf_profile_cost */
    struct mkperf_analysis *sched;    /* of scheduling events; NULL: none were recorded */
    struct mkperf_error sched_failed; /* the first error of what listens to it */
    struct mkperf_blocked_source blocked;
    bool made;              /* samples are made from scheduling events: without callchains */
    uint32_t off_cpu_event; /* of the session: MKPERF_MODEL_EVENTS if it has none */
    struct mkperf_schedule schedule; /* if kept */
    struct mkperf_utilisation util;  /* if kept */
    struct mkperf_hash mark_keys;    /* PD, name (a text of the places) */
    struct mkperf_mark_sum *mark_sum;
    uint32_t mark_room;
    struct mkperf_marks phases;
    uint64_t nmarks_passed;                                /* that the filter does not leave out */
    struct mkperf_profile_mark mark[MKPERF_PROFILE_MARKS]; /* the first ones */
    unsigned nmarks;
    struct mkperf_spool samples, losses, marks; /* of struct mkperf_profile_sample, mkperf_lost and
                                                 * mkperf_profile_mark */
};

extern const struct mkperf_sink_ops mkperf_profile_ops; /* self is the profile */
struct mkperf_sink mkperf_profile_sink(struct mkperf_profile *p);
void mkperf_profile_free(struct mkperf_profile *p);

/* ---- chains, by number: 0 to chains.count - 1, in the order of their first samples ---- */

/* What a chain's samples have in common, apart from addresses. */
struct mkperf_chain_head {
    uint32_t pd, event, core; /* core 0 unless cores are kept */
    uint32_t slice;
};
struct mkperf_chain_head mkperf_profile_head(const struct mkperf_profile *p, uint32_t chain);

/* The PD of a chain, with the event in the upper half. */
static inline uint64_t mkperf_profile_thread(const struct mkperf_profile *p, uint32_t chain)
{
    uint32_t words;

    return mkperf_hash_key(&p->chains, chain, &words)[MKPERF_PROFILE_THREAD];
}

/* The addresses of a chain, innermost first. Returns how many; 0: nothing is known of it. */
uint32_t mkperf_profile_addresses(const struct mkperf_profile *p, uint32_t chain,
                                  struct mkperf_address out[MKPERF_PLACES_MAX]);

/* A chain with its places: resolved addresses. */
struct mkperf_profile_chain {
    uint32_t pd, event, core;
    struct mkperf_weight weight;
    uint32_t n; /* places, innermost first; at least one */
    uint32_t place[MKPERF_PLACES_MAX];
};
void mkperf_profile_chain(struct mkperf_profile *p, uint32_t number,
                          struct mkperf_profile_chain *out);

/* ---- after reading ---- */

/* Sums up what the profiler took, in p->cost. All chains get places, so that texts have numbers. */
void mkperf_profile_cost(struct mkperf_profile *p);

/* With times: the spools mapped, in the order of time, then of core, then of arrival; those of
 * `schedule` in the order of their ends. */
enum mkperf_status mkperf_profile_order(struct mkperf_profile *p, struct mkperf_error *e);

/* Samples that are known to be lost, at all places. */
uint64_t mkperf_profile_lost(const struct mkperf_profile *p);

/* The name of a PD; "" for a number that no sample has. */
static inline const char *mkperf_profile_pd_name(const struct mkperf_profile *p, uint64_t pd)
{
    return pd < p->places.npds && p->places.pd[pd].name != NULL ? p->places.pd[pd].name : "";
}

/* notes.c: what a reader must know to trust the numbers, model/warnings.h. */
void mkperf_profile_warnings(const struct mkperf_profile *p, mkperf_put_warning *put, void *self);

/*
 * The head that formats with room for text carry, a line at a time, `put` once for each: those warnings,
 * events with periods and sums, losses by place, the cost of profiling, marks, interactions,
 * completeness, the command.
 */
void mkperf_profile_notes(const struct mkperf_profile *p, void (*put)(void *self, const char *line),
                          void *self);

/* profile_check.c: names and filters that match nothing would give an empty table: an error
 * instead, USAGE. pd, event NULL: not asked for. */
enum mkperf_status report_check_names(const struct mkperf_profile *p, const char *path,
                                      const char *pd, const char *event, struct mkperf_error *e);

#endif
