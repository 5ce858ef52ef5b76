/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A running session, counted by function over the last seconds.
 *
 * Owns: mkperf top's sink for the stream decoder. Time is cut into slices of the
 * target's clock; a row keeps its weight in each of the last TOP_SLICES of them, so the window
 * slides in steps of a slice and nothing is ever scaled. Memory is bounded: after
 * TOP_ROWS_MAX rows, further functions are counted in one row of their PD.
 */
#ifndef MKPERF_HOST_TOP_TOP_COUNTS_H
#define MKPERF_HOST_TOP_TOP_COUNTS_H

#include "base/hash.h"
#include "model/model.h"
#include "model/pds.h"
#include "profile/charge.h"
#include "sched/analysis.h"

enum { TOP_SLICES = 32, TOP_ROWS_MAX = 16384 };

/* A weight over time. */
struct top_window {
    uint64_t slice;                      /* the newest that it has */
    struct mkperf_weight in[TOP_SLICES]; /* slice % TOP_SLICES */
    struct mkperf_weight all;            /* since the session began */
};

struct top_row {
    uint32_t event, pd;
    bool kernel;
    const char *name;
    char *own_name; /* the same, if it is not the symbolizer's */
    struct top_window weight;
};

/* What a PD did on behalf of one, maybe itself: charge.h. */
struct top_pair {
    uint32_t event, to, by;
    struct top_window weight;
};

struct top_counts {
    struct mkperf_pds *pds;         /* set before the session begins */
    struct mkperf_symbols *symbols; /* the same; NULL = the kernel's addresses get no names */
    struct mkperf_module *kernel;   /* of the session */
    uint64_t window_ns;             /* set before the session begins; of the target's time, not 0 */
    bool all;                       /* lists are of all since the session began */
    bool no_idle;                   /* lists are without idle: shares are of the rest */
    struct mkperf_session session;
    struct mkperf_hash keys;
    struct top_row *row;
    uint32_t n, room;
    struct mkperf_hash pair_keys;
    struct top_pair *pair;
    uint32_t npairs, pair_room;
    struct mkperf_analysis *sched; /* of a session with scheduling events, NULL: none */
    struct top_window *ran;        /* by PD: ns that it ran */
    uint32_t ran_room;
    struct top_window unknown; /* ns of cores in which events are missing */
    struct top_window *core;   /* by event and core: event * MKPERF_MAX_CORES + core */
    uint32_t core_room;
    uint64_t newest; /* slice */
};

struct mkperf_sink top_counts_sink(struct top_counts *c);
void top_counts_free(struct top_counts *c);

enum top_sort { TOP_BY_SHARE, TOP_BY_NAME, TOP_BY_PD, TOP_SORTS };

struct top_entry {
    const char *pd, *name; /* name NULL: the whole PD */
    bool kernel;
    struct mkperf_weight weight;
    double util; /* percentage of one core's time that the PD ran, by scheduling events */
};

/* What the screen shows: PDs and functions of an event in the window. */
struct top_list {
    struct top_entry *pd, *function;
    uint32_t npds, nfunctions;
    struct mkperf_weight core[MKPERF_MAX_CORES];
    struct mkperf_weight total; /* of the event, all PDs; without idle if that is not listed */
    struct mkperf_weight whole; /* of the event, with idle */
};

/* pd: only its functions, NULL: all. */
void top_counts_list(const struct top_counts *c, uint32_t event, const char *pd, enum top_sort sort,
                     struct top_list *out);
void top_list_free(struct top_list *l);

/* The charged time of the same. To be freed with mkperf_charge_free. */
void top_counts_charge(const struct top_counts *c, uint32_t event, struct mkperf_charge *out);

#endif
