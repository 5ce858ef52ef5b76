/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The figures of a recording: their names, their texts, and the warnings that follow from them.
 *
 * Owns: the table of the members of struct mkperf_totals and of the places where samples are lost (figures.c), texts about
 * cores and the output ring (cores.c), and the list of warnings (warnings.c). perf.data's writer and reader, the head of
 * reports, record's summary, JSON Lines and all exports loop over the table. To add a figure: a member in model.h, a row in
 * figures.c, and the place that counts it.
 */
#ifndef MKPERF_HOST_MODEL_FIGURES_H
#define MKPERF_HOST_MODEL_FIGURES_H

#include "model.h"
#include <mkperf/counts.h>

/* A place where samples are lost, by enum mkperf_lost_where. */
struct mkperf_loss_place {
    const char *key;     /* its name in files and formats; the figure's key is "lost_" and this */
    const char *brief;   /* its name in the line of progress */
    const char *cause;   /* the cause that reports name */
    const char *summary; /* behind "N samples" in record's summary */
};
extern const struct mkperf_loss_place mkperf_loss_places[MKPERF_LOST_PLACES];

/* Returns the number of samples that were lost in all places. */
uint64_t mkperf_lost_sum(const uint64_t lost[MKPERF_LOST_PLACES]);

/* Stores where samples were lost: "ring 3, link 4"; "" if none were. */
enum { MKPERF_LOST_TEXT = 160 };
const char *mkperf_lost_text(const uint64_t lost[MKPERF_LOST_PLACES], char text[MKPERF_LOST_TEXT]);

/* Outputs that print a figure as a line of text or as a member. */
enum mkperf_figure_output {
    MKPERF_FIGURE_HEAD,    /* the head of reports: "# TITLE TEXT" */
    MKPERF_FIGURE_SUMMARY, /* the summary of record: "  TITLE TEXT" */
    MKPERF_FIGURE_JSON,    /* ,"KEY":N */
    MKPERF_FIGURE_OUTPUTS,
};

/* Sections of an output, each in the order of its rows' numbers. */
enum mkperf_figure_section {
    MKPERF_SECTION_FIRST = 0,   /* head: behind the time; JSON: before the losses */
    MKPERF_SECTION_SECOND = 20, /* head: numbers that may be wrong; JSON: counts */
    MKPERF_SECTION_THIRD = 40,  /* JSON: times and the rest */
    MKPERF_SECTION_END = 70,
};

/* Calls member for each figure of a section of JSON, in order, also if it is 0. */
void mkperf_figures_each(enum mkperf_figure_section from, enum mkperf_figure_section to,
                         const struct mkperf_totals *t,
                         void (*member)(void *self, const char *key, uint64_t value), void *self);

/* Adds the figures of `t` to those of `to`, with those of cores and of losses. subtract: subtracts them, at most to 0. Times,
 * shares and the output ring's points remain as they are in `to`. */
void mkperf_figures_add(struct mkperf_totals *to, const struct mkperf_totals *t, bool subtract);

/* Returns where the count with a key of JSON is, or NULL if that is no count. Counts of several recordings can be added up. */
const uint64_t *mkperf_figure_count(const struct mkperf_totals *t, const char *key);

/*
 * Calls row for each line of a section of the head or the summary, in order. A figure of 0 has no line. title is NULL in
 * lines of the summary without one. text may have several lines. warns: the figure makes other numbers doubtful.
 */
void mkperf_figures_texts(enum mkperf_figure_output output, enum mkperf_figure_section from,
                          enum mkperf_figure_section to, const struct mkperf_totals *t,
                          void (*row)(void *self, bool warns, const char *title, const char *text),
                          void *self);

/* Prints the lines of a section of the head or the summary. */
void mkperf_figures_print(enum mkperf_figure_output output, enum mkperf_figure_section from,
                          enum mkperf_figure_section to, const struct mkperf_totals *t, FILE *out);

/*
 * Writes the figures as lines `key value` for perf.data. recovered: only those that a recovery can count, because the
 * target's own were lost.
 */
void mkperf_figures_write(const struct mkperf_totals *t, bool recovered, FILE *out);

/* Reads such a line into t. Another key is ignored. Returns false if the value is no number; the figure is unchanged then. */
bool mkperf_figures_read(struct mkperf_totals *t, const char *key, const char *value);

/* ---- each core's part of a recording (cores.c). A recording of one core has no such figures. ---- */

extern const char *const mkperf_core_states[MKPERF_CORE_ABSENT + 1];

/* The reason why a core's figures may be too small, as a clause behind its name; NULL: they are right. The text is constant
 * or in `room`. */
enum { MKPERF_CORE_PROBLEM_TEXT = 160 };
const char *mkperf_core_problem(const struct mkperf_core *core,
                                char room[MKPERF_CORE_PROBLEM_TEXT]);

/*
 * Prints a line for each core if there are several, the first behind `first`, the others behind
 * `rest`: "core 1  1234 samples (25.00 %), 3 lost (ring 3)".
 */
void mkperf_cores_print(const struct mkperf_totals *t, const char *first, const char *rest,
                        FILE *out);

/* Returns the cores that a session samples, as a mask, or 0 if they are not known or are more than a mask has. */
uint32_t mkperf_session_cores(const struct mkperf_session *s);

/* Returns whether the target is known to have more cores than are sampled. */
bool mkperf_cores_missing(const struct mkperf_session *s);

/*
 * Stores warning number n, from 0 on, about figures of several cores: a sentence without a capital and a full stop. False:
 * there are no more. The warnings: the target has more cores than are sampled, and percentages are of these; events that
 * each core counts for all cores.
 */
enum { MKPERF_CORES_TEXT = 384 };
bool mkperf_cores_warning(const struct mkperf_session *s, unsigned n, char text[MKPERF_CORES_TEXT]);

/* Stores what a recording by windows cannot show. False: samples were not counted in windows. */
bool mkperf_aggregate_text(const struct mkperf_session *s, char text[MKPERF_CORES_TEXT]);

/* ---- how full the target's output ring was (cores.c) ---- */

/* Adds a report. A time before that of the last report counts as that time. size 0: the target reported nothing. */
void mkperf_fill_add(struct mkperf_fill *f, uint64_t time_ns, uint64_t bytes, uint64_t size);

/* Writes the peak into text: "at most 1024 of 65536 bytes (1.6 %)". */
void mkperf_fill_text(const struct mkperf_fill *f, char *text, size_t n);

/* ---- warnings: what a reader must know to trust the numbers (warnings.c) ---- */

enum mkperf_warning_level {
    MKPERF_NOTE,    /* a count, or by how much a number may be wrong */
    MKPERF_WARNING, /* numbers are biased or mean something else */
    MKPERF_ERROR,   /* names are wrong, or the system was not the one that the user means */
    MKPERF_WARNING_LEVELS,
};

extern const char *const mkperf_warning_names[MKPERF_WARNING_LEVELS]; /* "note", ... */

/* Called for a line of the list, which has no line's end. */
typedef void mkperf_put_warning(void *self, enum mkperf_warning_level level, const char *text);

/*
 * What must be known before any figure, because the system was not the one that the user means: PDs faulted, none ran, or
 * recording took much of a core. Each is first in the list of warnings, in the head of each report and in explain's page.
 */
enum mkperf_first { MKPERF_FIRST_FAULTED, MKPERF_FIRST_NONE_RAN, MKPERF_FIRST_COST, MKPERF_FIRSTS };
enum { MKPERF_FIRST_TEXT = 256 };
/* Stores its text. False: it does not apply. */
bool mkperf_first(enum mkperf_first which, const struct mkperf_totals *t,
                  char text[MKPERF_FIRST_TEXT]);

/* Calls put for each line; a recording without problems has none. pd_name returns the name of a PD, never NULL. */
void mkperf_warnings_each(const struct mkperf_session *session, const struct mkperf_totals *t,
                          const char *(*pd_name)(const void *names, uint32_t pd), const void *names,
                          mkperf_put_warning *put, void *self);

/* ---- counts of a session's events by PD, in addition to samples (interactions.c). relays.h compares the two. ---- */

enum { MKPERF_PD_COUNTS = MKPERF_COUNT_THREADS * MKPERF_MAX_EVENTS };

struct mkperf_pd_count {
    char pd[MKPERF_MODEL_NAME];
    bool own;       /* the PD is mkperf's */
    uint32_t event; /* index into the session's events */
    uint64_t user;  /* events in user mode */
};

struct mkperf_pd_counts {
    unsigned n;
    struct mkperf_pd_count at[MKPERF_PD_COUNTS];
};

/* Adds a count to that of its PD and event. What does not fit is omitted, and the comparison then shows it. */
void mkperf_pd_counts_add(struct mkperf_pd_counts *c, const struct mkperf_pd_count *count);

/*
 * Calls and notifications between PDs, and other software events of a session.
 *
 * Owns: the structures of these counts, and the sums. perfdata/own_lines.c has their lines in a file.
 */

enum { MKPERF_INTERACTION_NAME = 64 };

struct mkperf_interaction {
    char from[MKPERF_INTERACTION_NAME], to[MKPERF_INTERACTION_NAME]; /* PDs */
    uint64_t calls, notifications;
};

struct mkperf_soft_counts {
    char pd[MKPERF_INTERACTION_NAME];
    uint64_t count[MKPERF_SOFT_KINDS];
    struct mkperf_soft_stack stack; /* all 0 without record --stacks */
};

struct mkperf_interactions {
    uint64_t ns; /* the time in which they were counted; 0: not known */
    uint64_t total[MKPERF_SOFT_KINDS];
    uint64_t records_dropped; /* faults without a mark */
    unsigned nedges, npds;
    struct mkperf_interaction edge[MKPERF_SOFT_EDGES];
    struct mkperf_soft_counts pd[MKPERF_COUNT_THREADS];
};

/* perf's names where perf has one, by enum mkperf_soft_kind. */
extern const char *const mkperf_soft_names[MKPERF_SOFT_KINDS];

/* Returns how many bytes of the stack are at this address and above, or 0 if there are none, or if
 * that is not known. */
static inline uint64_t mkperf_stack_above(const struct mkperf_soft_stack *s, uint64_t address)
{
    return s->bottom <= address && address < s->top ? s->top - address : 0;
}

/* Returns the bytes that a stack has had in use since the system started, or 0 if it was not
 * searched. */
static inline uint64_t mkperf_stack_used(const struct mkperf_soft_stack *s)
{
    uint64_t seen = mkperf_stack_above(s, s->least), used = mkperf_stack_above(s, s->lowest);

    return used != 0 && used < seen ? seen : used; /* words that are in use may be 0 */
}

/* Adds an edge, or a PD's counts and stack. Entries that do not fit are omitted; the totals include them. */
void mkperf_interactions_add(struct mkperf_interactions *i, const struct mkperf_interaction *edge);
void mkperf_interactions_add_pd(struct mkperf_interactions *i, const struct mkperf_soft_counts *pd);

/* Returns how many events of the kind (calls or notifications) are in no edge. */
uint64_t mkperf_interactions_unplaced(const struct mkperf_interactions *i,
                                      enum mkperf_soft_kind kind);

#endif
