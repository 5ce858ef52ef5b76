/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reading of `mkperf stat`: the counts of a session at one moment, as the target sent them or as samples estimate them.
 *
 * Owns: struct stat_reading and the arithmetic on it. measure.c fills readings, and stat_print.c prints them.
 *
 *      row[0]   the whole system    pd: STAT_SYSTEM      value[event]: user, kernel, error, samples
 *      row[1]   a PD                pd: its number
 *      row[2]   a core              pd: STAT_CORE + its number
 *
 * Invariants: a reading has at least row 0; row[0] to row[rows - 1] are valid, and each PD or core has one row at most. If there
 * is no room for another row, the last one is used.
 */
#ifndef MKPERF_HOST_STAT_STAT_H
#define MKPERF_HOST_STAT_STAT_H

#include "link/recorder.h"
#include "report/report.h"

enum { STAT_EVENTS = 16, STAT_ROWS = 1 + 128 + MKPERF_MAX_CORES };

/* The number of a core's row is this one + the core. The numbers of PDs are smaller. The other one is that of row 0. */
#define STAT_CORE UINT32_C(0x80000000)
#define STAT_SYSTEM UINT32_MAX

struct stat_value {
    double user, kernel; /* scaled to the whole time where the event was multiplexed */
    double error;        /* the standard error of user + kernel; 0: the sum is exact, or scaled */
    double samples;      /* the number of samples of an estimate */
};

struct stat_row {
    uint32_t pd;    /* a PD, or STAT_CORE + a core, or STAT_SYSTEM */
    double seconds; /* seconds since the core's session began; 0: the time of the reading */
    bool late;      /* the core did not answer, so its counts are not known */
    struct stat_value value[STAT_EVENTS];
};

struct stat_reading {
    double seconds; /* the target's time since the session began; 0: not known */
    bool estimate;  /* the values are estimated from samples */
    bool by_pd;     /* the kernel counts by PD */
    unsigned events;
    unsigned slices;
    unsigned runs;             /* the number of runs of which this reading is the sum or the mean */
    double share[STAT_EVENTS]; /* the part of the time in which the event was counted, 0 to 1 */
    unsigned rows;
    struct stat_row row[STAT_ROWS];
};

static inline double stat_sum(const struct stat_value *v)
{
    return v->user + v->kernel;
}

static inline bool stat_is_core(const struct stat_row *row)
{
    return row->pd >= STAT_CORE && row->pd != STAT_SYSTEM;
}

/* Returns the row of the system, a PD or a core; a new row if it has none. If there is no room, the last row. */
struct stat_row *stat_row(struct stat_reading *r, uint32_t pd);

/* stat_begin starts a reading with part 0 of the counts of a target; stat_add adds another part. */
void stat_begin(struct stat_reading *r, const mkperf_Counts *m);
void stat_add(struct stat_reading *r, const mkperf_Counts *m, struct mkperf_pds *pds);

/* stat_sample adds a sample to an estimate, with per_core also to the row of its core; stat_estimate computes totals and errors. */
void stat_sample(struct stat_reading *r, const struct mkperf_sample *s, bool per_core);
void stat_estimate(struct stat_reading *r, unsigned events, double seconds);

/* Computes the counts between two readings of one session. */
void stat_difference(struct stat_reading *out, const struct stat_reading *now,
                     const struct stat_reading *before);

/* Several runs. In the sum, value.error is the sum of the squares of user + kernel; in the mean, the standard error of the mean. */
void stat_repeat_add(struct stat_reading *sum, const struct stat_reading *r);
void stat_repeat_mean(const struct stat_reading *sum, struct stat_reading *out);

/* The form of the output. */
struct stat_style {
    FILE *out;
    const char *separator; /* between the fields of perf stat -x; NULL: a table for people */
    struct mkperf_textout *values; /* not NULL: rows for programs go there, and not to `out` */
    bool per_core;                 /* rows of cores instead of the row of the system */
    unsigned cores;                /* cores on which the target counts */
    bool interval;                 /* the first column is time_s, the end of the reading */
    bool titles; /* the titles of columns precede the first interval of a table for people */
    double time_s;
    const char *title; /* the target */
    const char *only;  /* NAME[,NAME]: only rows of these PDs; NULL: all */
    const mkperf_Session *session;
    /* The groups of figures of -M: their events are counted, and PDs have these figures instead of shares. NULL: none. */
    const char *metrics;
    const char *cpu; /* the CPU whose derived figures are shown; NULL: those of the architecture */
    const struct mkperf_pds *pds;
};
void stat_print(const struct stat_reading *r, const struct stat_style *style);

/* Stores the derived figure of event i in a row: that of perf stat, or one of the metrics of the style's CPU. Returns its unit, or
 * NULL if there is none. */
const char *stat_derived(const struct stat_reading *r, const struct stat_row *row,
                         const struct stat_style *style, unsigned i, double *figure);

/*
 * A measurement of `mkperf stat`, from the begin of its session to the printed table.
 *
 * Owns: the conversation with the target. The target counts exactly. If its kernel cannot count by PD, an estimate from samples
 * is printed instead, and the output states this. A run lasts for a duration of the target's time. The target counts all the
 * time; a reading is its answer to a request, and contains the target's time.
 */

struct stat_measure {
    /* The caller sets options and stop of the recorder, the members up to `runs`, and of `style` all except cores, titles, time_s,
     * session, cpu and pds. */
    struct mkperf_recorder recorder;
    bool per_pd, estimate;
    /* The time that each PD ran is counted, too, as MKPERF_RUN_TIME_EVENT after the other
     * events. */
    bool util;
    uint64_t interval_ms, runs;
    struct stat_style style;

    struct mkperf_checks *checks; /* compares the samples of an estimate with counts */
    mkperf_Session session;       /* the session as the target runs it */
    struct stat_reading work;     /* the reading that is being received or estimated */
    struct stat_reading good;     /* the last complete reading */
    bool warned;                  /* the warning about cores was printed */
    bool counting;                /* our session runs, and we have not asked for its end */
    bool ended;                   /* another host ended our session */
    uint64_t first_ns, last_ns;
    struct stat_reading sum; /* of the runs that have ended */
    struct stat_reading before;
};

/*
 * Measures and prints all runs. If another host takes over and ends the session, the measurement ends, too. Counts until then
 * are printed, with a message. Errors: those of mkperf_recorder_start; REFUSED also if nothing was counted by then. The caller
 * calls mkperf_recorder_free and mkperf_checks_free in any case.
 */
enum mkperf_status stat_measure(struct stat_measure *s, struct mkperf_error *e);

#endif
