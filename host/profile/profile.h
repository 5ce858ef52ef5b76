/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile: a recording as counts of its distinct callchains.
 *
 * Owns: the only sink that collects samples. Reports, exports and views iterate over its chains. Memory grows with the number of
 * distinct chains, not with samples. If the order of samples is wanted, they are kept in temporary files (spools). The session,
 * its PDs and the names of addresses are in `places`.
 *
 *      samples                          chains (a hash of keys)                    weight[] of each chain
 *      PD 1, pc A, callers B C, 100 ┐
 *      PD 1, pc A, callers B C, 100 ┴►  0: | PD 1, event 0 | flags, core | A B C |   samples 2, period 200
 *      PD 2, pc D, caller B, 100    ──► 1: | PD 2, event 0 | flags, core | D B   |   samples 1, period 100
 *
 * The key of a chain, in words of 64 bits:
 *
 *      word 0    bits 0-31 PD    bits 32-63 event
 *      word 1    bits 0-31 flags: KERNEL, NO_USER, BLOCKED, the guest's mode, MKPERF_PROFILE_OTHER_PDS
 *                bits 32-43 core, 0 unless cores are kept    bits 44-63 slice of time
 *      word 2..  addresses, innermost first: kernel (KERNEL), wait (BLOCKED), user pc (not NO_USER), callers.
 *                With OTHER_PDS a word with the PD of the caller follows each caller.
 *
 * Invariants
 *  1. Chains are numbered densely in the order of their first samples, and a chain never changes.
 *  2. The sum of weight[] over the chains of an event is total[event].
 *  3. A key has OTHER_PDS only if a caller is in another PD than the sample; so equal chains have equal keys.
 *
 * Example: a chain of PD 1 in user mode at A, called from B in the same PD: words {1, 0, A, B}, two addresses.
 */
#ifndef MKPERF_HOST_PROFILE_PROFILE_H
#define MKPERF_HOST_PROFILE_PROFILE_H

#include "base/colour.h"
#include "places.h"
#include "scheduling.h"

/* Words of the key of a chain. */
enum mkperf_profile_word {
    MKPERF_PROFILE_THREAD,
    MKPERF_PROFILE_FLAGS,
    MKPERF_PROFILE_ADDRESSES,
    MKPERF_PROFILE_WORDS_MAX = MKPERF_PROFILE_ADDRESSES + 2 + 2 * (MKPERF_MAX_FRAMES + 1),
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

/* A record of the spool of samples. */
struct mkperf_profile_sample {
    uint64_t time_ns, period;
    uint32_t chain, core;
    uint32_t order; /* position in the order of arrival */
};

/* A record of the spool of marks. */
struct mkperf_profile_mark {
    uint64_t time_ns;
    uint32_t pd, kind, id, name; /* name: the number of a text of `places` */
    uint64_t order;              /* position in the order of arrival */
};

/* The marks of one PD and name: points and phases (model/model.h). Marks that the filter leaves out are not counted. A phase
 * belongs to the time at which it began. */
struct mkperf_mark_sum {
    uint64_t points, phases, sum_ns, longest_ns;
    uint64_t open; /* phases without an end */
};

enum { MKPERF_PROFILE_MARKS = 32 };

struct mkperf_profile {
    /* Set before reading: */
    bool cores;       /* keep cores apart */
    bool times;       /* keep samples, losses and marks in spools */
    bool edges;       /* chains have an edge where a PD calls another one */
    bool leaves_only; /* callers are not kept */
    /* Until the end, cores are kept apart and callers are kept, so that a snapshot has both. */
    bool wide;
    /* Keep intervals of PDs; needs times, and then a session may have no samples. */
    bool keep_schedule;
    bool events_suffice; /* a session may have no samples, if it has scheduling events */
    bool off_cpu;        /* an off-CPU profile, see scheduling.h */
    bool utilisation;    /* keep how long PDs ran; not with keep_schedule */
    bool latency;        /* weights are of elapsed time, see scheduling.h */
    bool runs;           /* rows are the time that PDs ran instead of samples; needs utilisation */
    struct mkperf_time_slices slices; /* the quantum is set: of chains, and of utilisation */
    struct report_filter filter;      /* samples that do not pass are not counted */
    enum mkperf_status (*whole)(void *self,
                                struct mkperf_error *e); /* called at the end; or NULL */
    void *self;

    struct mkperf_places places;
    struct mkperf_hash chains;
    struct mkperf_weight *weight; /* one for each chain */
    uint32_t weight_room;
    uint32_t nevents; /* number of events, at least the session's */
    struct mkperf_weight total[MKPERF_MODEL_EVENTS];
    double squares[MKPERF_MODEL_EVENTS]; /* sums of squared periods */
    unsigned cores_seen;                 /* the highest core with a sample, plus 1 */
    uint64_t lost[MKPERF_LOST_PLACES];   /* samples that are known to be lost */
    /* times of the first and the last sample; with `times` also of marks */
    uint64_t first_ns, last_ns;
    struct mkperf_totals totals;
    struct mkperf_cost cost;          /* set by mkperf_profile_cost */
    struct mkperf_analysis *sched;    /* analysis of scheduling events; NULL: none were recorded */
    struct mkperf_error sched_failed; /* the first error of a listener of `sched` */
    struct mkperf_woken woken;        /* the last PD that was woken, of a profile of blocked PDs */
    bool made;              /* samples are made from scheduling events, without callchains */
    uint32_t off_cpu_event; /* number of the session's off-CPU event; MKPERF_MODEL_EVENTS: none */
    struct mkperf_schedule schedule; /* filled in with keep_schedule */
    struct mkperf_fills fills;       /* filled in with keep_schedule */
    struct mkperf_utilisation util;  /* filled in with utilisation */
    uint64_t unsure;              /* with latency: samples while it was not known what a core did */
    struct mkperf_hash mark_keys; /* keys: PD, and name as the number of a text */
    struct mkperf_mark_sum *mark_sum;
    uint32_t mark_room;
    struct mkperf_marks phases;
    uint64_t nmarks_passed;                                /* marks that the filter lets pass */
    struct mkperf_profile_mark mark[MKPERF_PROFILE_MARKS]; /* the first ones */
    unsigned nmarks;
    struct mkperf_spool samples; /* struct mkperf_profile_sample */
    struct mkperf_spool losses;  /* struct mkperf_lost */
    struct mkperf_spool marks;   /* struct mkperf_profile_mark */
};

struct mkperf_sink mkperf_profile_sink(struct mkperf_profile *p);
void mkperf_profile_free(struct mkperf_profile *p);

/* Returns the question that its options ask, for a snapshot (import/import.h). The caller frees the text; it is NULL if
 * samples are kept in the order of time. */
struct mkperf_question mkperf_profile_question(struct mkperf_profile *p);

/* ---- chains, by number: 0 to chains.count - 1, in the order of their first samples ---- */

/* What the samples of a chain have in common, in addition to addresses. */
struct mkperf_chain_head {
    uint32_t pd, event;
    uint32_t core; /* 0 unless cores are kept */
    uint32_t slice;
};
struct mkperf_chain_head mkperf_profile_head(const struct mkperf_profile *p, uint32_t chain);

/* Returns the PD of a chain, with the event in the upper half. */
static inline uint64_t mkperf_profile_thread(const struct mkperf_profile *p, uint32_t chain)
{
    return mkperf_hash_key(&p->chains, chain)[MKPERF_PROFILE_THREAD];
}

/* Stores the addresses of a chain, innermost first. Returns their number, 0 if no address is known. */
uint32_t mkperf_profile_addresses(const struct mkperf_profile *p, uint32_t chain,
                                  struct mkperf_place out[MKPERF_PLACES_MAX]);

/* A chain with its places, which are resolved addresses. */
struct mkperf_profile_chain {
    uint32_t pd, event, core;
    struct mkperf_weight weight;
    uint32_t n; /* places, innermost first; at least one */
    uint32_t place[MKPERF_PLACES_MAX];
};
void mkperf_profile_chain(struct mkperf_profile *p, uint32_t number,
                          struct mkperf_profile_chain *out);

/* ---- after reading ---- */

/* Sums up the cost of profiling in p->cost. All chains get places, so that their texts have numbers. */
void mkperf_profile_cost(struct mkperf_profile *p);

/* With `times`: maps the spools, sorted by time, then by core, then by arrival. The spools of `schedule` are in the order of the
 * ends of their records. */
enum mkperf_status mkperf_profile_order(struct mkperf_profile *p, struct mkperf_error *e);

/* Returns the number of samples of equal weight with the statistical error of those of an event: (sum of weights)^2 /
 * (sum of squares). */
double mkperf_profile_equal_samples(const struct mkperf_profile *p, uint32_t event);

/*
 * Returns half of the interval at 95 % of a share of an event, both in per cent (Agresti and Coull, 1998). Samples are
 * assumed to be independent; a load in a few long bursts has a larger interval. 100 without samples.
 */
double mkperf_profile_interval(const struct mkperf_profile *p, uint32_t event, double share);

/* Returns the name of a PD; "" for a number that no sample has. */
static inline const char *mkperf_profile_pd_name(const struct mkperf_profile *p, uint64_t pd)
{
    return pd < p->places.npds && p->places.pd[pd].name != NULL ? p->places.pd[pd].name : "";
}

/* Calls put for each reason why the numbers may be wrong, with its text (notes.c). self: passed to put. */
void mkperf_profile_warnings(const struct mkperf_profile *p, mkperf_put_warning *put, void *self);

/*
 * Makes the head of formats that have room for text. Calls `put` for each line: those warnings, events with periods and
 * sums, losses by place, the cost of profiling, marks, interactions, completeness, the command.
 */
void mkperf_profile_notes(const struct mkperf_profile *p, void (*put)(void *self, const char *line),
                          void *self);

/*
 * Call trees.
 *
 * Owns: nodes with the weights of one profile, or of two that are compared. The label of a node is a number that
 * its user chooses: a function of mkperf_frames, a name of the stacks in export/parts.h. Memory grows with the number of distinct
 * paths: 32 bytes per node, its key in the table of children, and 8 bytes if there are two profiles.
 */

struct mkperf_tree_node {
    uint32_t parent;      /* the root is node 0, and its parent is 0 */
    uint32_t child, next; /* the first child, and the next node of the same parent; 0: none */
    uint32_t label;
    /* The weight in the first profile with that of all descendants; before mkperf_tree_finish, of the node itself. */
    struct mkperf_weight total;
};

struct mkperf_tree {
    struct mkperf_tree_node *node;
    uint32_t n, room;
    uint32_t *
        slot; /* finds nodes by parent and label; at most three quarters are used; 0: the slot is free */
    uint32_t nslots;
    /* For each node its period in the second profile; NULL: there is no second one. */
    uint64_t *other;
    uint32_t other_room;
};

/* Makes a tree that has only a root, with label 0. */
void mkperf_tree_init(struct mkperf_tree *t);
void mkperf_tree_free(struct mkperf_tree *t);

/* Returns the child of `parent` with this label. It is created if there is none. */
uint32_t mkperf_tree_child(struct mkperf_tree *t, uint32_t parent, uint32_t label);

/* Adds weight to a node itself, in profile `side`: 0, or 1, of which only the period is kept. */
void mkperf_tree_add(struct mkperf_tree *t, uint32_t node, unsigned side, struct mkperf_weight w);

/* Follows the last mkperf_tree_add. It computes the totals, and sorts the children of each node. */
void mkperf_tree_finish(struct mkperf_tree *t,
                        int (*compare)(const struct mkperf_tree_node *a,
                                       const struct mkperf_tree_node *b, const void *context),
                        const void *context);

/* Returns the weight of a finished tree's node in the first profile, without that of its children. */
struct mkperf_weight mkperf_tree_self(const struct mkperf_tree *t, uint32_t node);

/* Returns the node that follows `node` if parents precede their children, or 0 if `node` is the last one. The first
 * call has node 0. */
uint32_t mkperf_tree_next(const struct mkperf_tree *t, uint32_t node);

/*
 * Charged time: the time that each PD used itself, and the time that others used on its behalf.
 *
 * Owns: the sums for each pair of PDs; `report` and `top` show them. A sample is charged to the outermost PD of its callchain,
 * because a protected call of that PD led to the work, directly or through other servers. Work that no call led to is charged to
 * the PD itself. Every sample is charged to one PD, so the sum of all charges is the sum of all samples.
 *
 *      chain of the sample          charged to   done by
 *      store <- server <- client    client       store       imposed on client, served by store
 *      client                       client       client      self of client
 *
 * What may be wrong: a chain that was cut (depth, number of callers) ends in a PD that may have been called as well. The work is
 * charged to that PD.
 */

struct mkperf_charge_pair {
    uint32_t to; /* PD that is charged */
    uint32_t by; /* PD that did the work */
    struct mkperf_weight weight;
};

struct mkperf_charge_pd {
    uint32_t pd;
    struct mkperf_weight charged; /* self plus imposed */
    struct mkperf_weight self;    /* work of the PD on its own behalf */
    struct mkperf_weight imposed; /* work of other PDs on its behalf */
    struct mkperf_weight served;  /* work of the PD on behalf of other PDs */
};

struct mkperf_charge {
    struct mkperf_charge_pair *pair; /* pairs by period, largest first */
    uint32_t npairs;
    struct mkperf_charge_pd *pd; /* PDs with samples, by charged period, largest first */
    uint32_t npds;
    struct mkperf_weight total;
};

/* Sums up one event of a profile that was read with callers (not leaves_only). The caller frees the result. */
void mkperf_charge_make(struct mkperf_charge *c, const struct mkperf_profile *p, uint32_t event);
/* Sums up c->npairs pairs, each of which occurs once; the rest of *c is 0. */
void mkperf_charge_sum(struct mkperf_charge *c);
void mkperf_charge_free(struct mkperf_charge *c);

/*
 * The stretch of time that a sample represents, for pictures with a time axis.
 *
 * Owns: the rule. The time of a core between two samples of an event belongs to the later sample. Therefore no moment belongs to
 * two samples of an event on a core. For an event that counts with time (cycles, a clock), a sample of n cycles represents at
 * most the time that n cycles take. Therefore time in which a core slept without counting is empty, and a late sample, which
 * represents several periods, fills all of them. The data of the page and the Firefox export call it.
 *
 * What may be wrong: the speed of a core is the 90th percentile of the rates between its samples. It is too low if the core never
 * ran undisturbed between two samples.
 */

/*
 * Returns the time in ns that ends with each of n samples, which are in the order of time. The caller frees it. `rate`
 * is NULL, or gets for each event of p the number that a core counts in a nanosecond if it does nothing else; 0 if that
 * is not known, or if the event does not count with time.
 */
uint64_t *mkperf_profile_spans(const struct mkperf_profile *p,
                               const struct mkperf_profile_sample *sample, size_t n, double *rate);

/* Returns whether an event of that name counts with time. */
bool mkperf_event_is_time(const char *name);

/*
 * The colours of the PDs of a profile (base/colour.h). They are chosen for all PDs of the system that the recording names, also
 * for PDs without a sample. Therefore a PD has one colour in all recordings of a system.
 *
 * Owns: the set of names and their colours. The flame graph and the page use it.
 */

struct mkperf_colours { /* all zero: empty */
    struct mkperf_hash names;
    uint32_t *colour; /* one for each name */
};

/* Chooses the colours for a profile, or for two that are shown together; b may be NULL. */
void mkperf_colours_choose(struct mkperf_colours *c, const struct mkperf_profile *a,
                           const struct mkperf_profile *b);
/* Returns the colour of a name as 0xrrggbb; MKPERF_COLOUR_UNKNOWN for other names. */
uint32_t mkperf_colours_of(struct mkperf_colours *c, const char *name);
void mkperf_colours_free(struct mkperf_colours *c);

#endif
