/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The comparison of recordings before (A) and after (B): what changed, by how much, and whether chance explains it.
 *
 * Owns: the rows of `mkperf diff` and the answer of `mkperf explain --why regression` (comparison.c), and the printed forms of
 * rows (changes.c).
 *
 *      recordings A, A, A ─► rows of each (rows.c) ─┐
 *                                                   ├─► struct report_change: one for each function ─► judged ─► sorted
 *      recordings B, B, B ─► rows of each ──────────┘
 *
 * The value of a row is its share of the event, from 0 to 1. With `per` it is its cost: periods for each mark, call, packet or
 * count. With `latency` it is the mean latency of a pair of PDs, in us. With exact counts it is the count. Of several recordings of a side it is their mean.
 *
 * The significance of a change is computed as follows.
 *   1. It is that of two proportions. A value is a proportion of its side's `whole`: the sum of all rows.
 *   2. Samples of unequal weight count as (sum of weights)^2 / (sum of squared weights) samples of equal weight.
 *   3. If a side has several recordings, their differences give a second probability, by Student's t with one variance for
 *      both sides. The greater probability counts. Runs that differ by more than sampling explains make a change less certain.
 *   4. A table has many rows, so the probability of a deviation is multiplied by their number (Bonferroni). Rows with too few
 *      samples for a claim do not count, and two shares that are all of the time are one.
 *   5. Samples are assumed to be independent. A program that changes slowly has fewer independent samples.
 *   6. A recording begins and ends within a call or a packet, so a number n of them has the relative error 1 / n.
 *   7. The significance of a mean latency is Welch's, by the normal approximation: a pair needs LATENCIES_MIN latencies on each
 *      side, and some in each recording. Variances are those of the histograms, with a bucket's width.
 *
 * A row has grown by 100 * (B - A) / A per cent. A row that A does not have has grown without limit.
 */
#ifndef MKPERF_HOST_REPORT_COMPARISON_H
#define MKPERF_HOST_REPORT_COMPARISON_H

#include "report.h"

enum report_side { REPORT_A, REPORT_B, REPORT_SIDES };
enum { REPORT_RUNS = 32, REPORT_VALUE_TEXT = 32 };

struct report_change {
    char *text[REPORT_SORT_KEYS]; /* a text for each key; rows with equal texts are compared */
    bool kernel;
    bool idle; /* more idle time is not a failure */
    double value[REPORT_SIDES];
    double run[REPORT_SIDES][REPORT_RUNS]; /* the value in each recording */
    struct {
        uint64_t n;      /* latencies */
        double variance; /* variance of their mean */
        unsigned runs;   /* recordings that have some */
    } of[REPORT_SIDES];  /* the latencies of each side, with `latency` */
    double between;      /* standard error of delta by the recordings' differences; 0: not known */
    double delta;
    double growth;   /* growth in per cent; INFINITY: the row is new */
    double interval; /* half of the change's interval at 95 %; NAN: not known */
    /* The probability of such a deviation in any row if the systems are equal; 1: nothing is claimed. */
    double chance;
    /* The growth in per cent that would have been significant in 95 of 100 comparisons with as many samples; 0: none would. */
    double visible;
    bool sure; /* chance does not explain the change, with the probability of `confidence` */
};

struct report_run {
    char *path;
    struct mkperf_profile profile;
    struct mkperf_frames frames;
    double units; /* the number of marks, calls, packets or counts, with `per` */
};

/* The recordings of a comparison and the rows of its current event. */
struct report_comparison {
    /* Set before reading: */
    struct mkperf_elf_search elfs;
    struct report_column_list keys;
    const char *pd;  /* only samples of this PD are compared; NULL: all */
    const char *per; /* KIND:NAME, of which rows are the cost; NULL: rows are shares */
    bool latency;    /* rows are the latencies of pairs of PDs */
    double
        confidence; /* per cent; 95: chance makes a row significant in 5 of 100 comparisons of equal systems */
    bool exact;        /* counts are compared; reading sets it, too, if all recordings have them */
    bool by_growth;    /* rows are sorted by delta instead of its size */
    double limit;      /* rows below so many per cent on both sides are not printed */
    double fail_above; /* growth of a row in per cent; negative: no growth is a failure */
    bool colour;

    struct report_run *run[REPORT_SIDES];
    unsigned runs[REPORT_SIDES];
    const char *event; /* the name of the compared event, on side A */
    struct report_change *row;
    size_t n, room;
    struct mkperf_hash texts,
        numbers;                /* numbers of texts; numbers of rows by those of their texts */
    size_t family;              /* the number of rows in which chance can claim a change */
    size_t changed;             /* rows with another value */
    size_t largest;             /* the row of a program with the greatest value in A */
    double whole[REPORT_SIDES]; /* the sum of all rows; of several recordings its mean */
    /* The units of all recordings of a side, with `per`; otherwise INFINITY. */
    double units[REPORT_SIDES];
    double samples[REPORT_SIDES];   /* numbers of samples as if all had equal weight */
    uint64_t counted[REPORT_SIDES]; /* samples */
};

/*
 * Reads the recordings of each side, FILE[,FILE]. Errors: those of the reader; USAGE: too many recordings, or no such PD; INPUT:
 * `exact` is set and a recording has samples, or a recording lacks what `per` names. The caller frees d in any case.
 */
enum mkperf_status report_comparison_read(struct report_comparison *d,
                                          char *const path[REPORT_SIDES], struct mkperf_error *e);
void report_comparison_free(struct report_comparison *d);
extern const struct mkperf_option report_per_options[]; /* --per, of the member `per` */

/*
 * Compares event a of side A with event b of side B: builds the rows, judges and sorts them. False: exact counts of one side
 * differ, and the first row that does is named on standard error.
 */
bool report_compare_event(struct report_comparison *d, const char *a, const char *b);
/* Returns whether all recordings have the event. */
bool report_comparison_has(const struct report_comparison *d, const char *event);

/* Returns whether values are no shares: costs, latencies. */
static inline bool report_has_costs(const struct report_comparison *d)
{
    return d->per != NULL || d->latency;
}

/* Returns a row's part of all rows of a side, in per cent. Latencies have no sum, so each is all. */
static inline double report_change_part(const struct report_comparison *d,
                                        const struct report_change *r, unsigned side)
{
    return d->latency ? 100 : 100 * r->value[side] / d->whole[side];
}

/* Returns a value with its unit: a share in per cent, a cost, a latency, or a count. */
const char *report_change_value(const struct report_comparison *d, double value,
                                char text[REPORT_VALUE_TEXT]);

/* Returns whether a row grew by more than fail_above allows, significantly. */
bool report_change_fails(const struct report_comparison *d, const struct report_change *r);

/* Print the rows as a table, as rows "change" for programs, and as a table in Markdown, which has only significant changes. */
void report_changes_print(const struct report_comparison *d);
void report_changes_values(const struct report_comparison *d, unsigned failed,
                           struct mkperf_textout *v);
void report_changes_markdown(const struct report_comparison *d);
/* Prints the rows as test cases of JUnit. Returns their number. */
unsigned report_changes_cases(const struct report_comparison *d, struct mkperf_textout *t);
/* Prints text for a cell of a table in Markdown. */
void report_markdown_cell(const char *text);

#endif
