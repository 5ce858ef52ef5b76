/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `mkperf stat` measured, between the conversation and the print.
 *
 * Owns: struct stat_reading and the arithmetic on it. Row 0 is the whole system, the others are PDs
 * and cores.
 */
#ifndef MKPERF_HOST_STAT_STAT_H
#define MKPERF_HOST_STAT_STAT_H

#include <stdbool.h>
#include <stdio.h>

#include "mkperf.pb.h"
#include "model/pds.h"

enum { STAT_EVENTS = 16, STAT_ROWS = 1 + 128 + MKPERF_MAX_CORES };

/* The number of a core's row, and back; PDs have smaller ones. */
#define STAT_CORE UINT32_C(0x80000000)

struct stat_value {
    double user, kernel; /* scaled to the whole time where the event was multiplexed */
    double error;        /* standard error of the sum: 0 = exact, or scaled */
    double samples;      /* an estimate's */
};

struct stat_row {
    uint32_t pd;    /* of row 1 and up; or STAT_CORE + the core */
    double seconds; /* a core's own, since the session began there; 0: the reading's */
    bool late;      /* a core that did not answer: what it counted is not known */
    struct stat_value value[STAT_EVENTS];
};

struct stat_reading {
    double seconds; /* of the target's time; 0 = not known */
    bool estimate;  /* from samples */
    unsigned events;
    unsigned slices;
    double share[STAT_EVENTS]; /* of the time that the event was counted */
    unsigned rows;
    struct stat_row row[STAT_ROWS];
};

static inline double stat_sum(const struct stat_value *v)
{
    return v->user + v->kernel;
}

static inline bool stat_is_core(const struct stat_row *row)
{
    return row->pd >= STAT_CORE;
}

/* The part of the time in which event i was counted there; 0: what is there is no count. */
static inline double stat_share(const struct stat_reading *r, const struct stat_row *row,
                                unsigned i)
{
    return row->late ? 0 : r->share[i];
}

static inline double stat_seconds(const struct stat_reading *r, const struct stat_row *row)
{
    return row->seconds > 0 ? row->seconds : r->seconds;
}

/* The row of a PD or core, maybe a new one; when there is no room, the last one. */
struct stat_row *stat_row(struct stat_reading *r, uint32_t pd);

/* Begins a reading from part 0 of the target's counts; adds its other parts. */
void stat_begin(struct stat_reading *r, const mkperf_Counts *m);
void stat_add(struct stat_reading *r, const mkperf_Counts *m, struct mkperf_pds *pds);

/* One more event of the reading: the time that a PD ran; all PDs' and idle are the system's. */
void stat_begin_runs(struct stat_reading *r);
void stat_add_run(struct stat_reading *r, uint32_t pd, uint64_t ns);

/* Adds one sample of an estimate, and completes it: totals, errors. per_core: to its core, too. */
void stat_sample(struct stat_reading *r, const struct mkperf_sample *s, bool per_core);
void stat_estimate(struct stat_reading *r, unsigned events, double seconds);

/* What was counted between two readings of one session. */
void stat_difference(struct stat_reading *out, const struct stat_reading *now,
                     const struct stat_reading *before);

/* Several runs: mean, and the standard error of the mean in `error`. */
struct stat_repeat {
    unsigned runs;
    struct stat_reading sum, squares; /* of user + kernel: squares.value.user */
};
void stat_repeat_add(struct stat_repeat *s, const struct stat_reading *r);
void stat_repeat_mean(const struct stat_repeat *s, struct stat_reading *out);

/* How to print. */
struct stat_style {
    FILE *out;
    const char *separator; /* NULL: for people, as perf stat; else fields, as perf stat -x */
    bool per_core;         /* the system by core */
    unsigned cores;        /* that the target counts on */
    bool interval;         /* the first column is the time of the reading's end */
    double time_s;
    unsigned runs;     /* that the reading is the mean of */
    const char *title; /* the target */
    const char *only;  /* NAME[,NAME] of PDs, NULL: all */
    const mkperf_Session *session;
    const struct mkperf_pds *pds;
};
void stat_print(const struct stat_reading *r, const struct stat_style *style);

/* The derived figure of event i in a row, as perf stat says it; false: none. */
bool stat_derived(const struct stat_reading *r, const struct stat_row *row,
                  const mkperf_Session *session, unsigned i, double *figure, const char **unit);

#endif
