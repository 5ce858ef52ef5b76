/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the table of figures, see figures.h. */
#include "figures.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/percent.h"

/* clang-format off */
const struct mkperf_loss_place mkperf_loss_places[MKPERF_LOST_PLACES] = {
    [MKPERF_LOST_RING]    = {"ring",    "ring",   "sample ring full",   "in the kernel's ring"},
    [MKPERF_LOST_OUTPUT]  = {"output",  "output", "output ring full",   "in the profiler's output"},
    [MKPERF_LOST_LINK]    = {"link",    "link",   "link too slow",      "at the link"},
    [MKPERF_LOST_TRANSIT] = {"transit", "way",    "damaged in transit", "on the way"},
    [MKPERF_LOST_CHAIN]   = {"chain",   "chain",  "callchain lost",     "with a lost chain"},
};
/* clang-format on */

typedef void print_fn(const struct mkperf_totals *t, FILE *out);

/* How a figure is shown in an output: where, and as what. */
struct line {
    unsigned order;    /* section + number; 0: not there */
    const char *title; /* of the head, and of the summary if there is one */
    const char *text;  /* %n in it: the value, %p: as a percentage of the samples */
    print_fn *print;   /* instead, for what one number does not say */
};

struct mkperf_figure {
    const char *key; /* with its unit, unless that is what its name says */
    size_t at;       /* of a uint64_t in struct mkperf_totals */
    bool recovered;  /* a recovered file has it too: what arrived can be counted again */
    struct line in[MKPERF_FIGURE_OUTPUTS];
};

/* The timer's samples, by how surely they were attributed. */
static void head_attributed(const struct mkperf_totals *t, FILE *out)
{
    uint64_t timed = t->confidence[MKPERF_PROVED] + t->confidence[MKPERF_INFERRED] +
                     t->confidence[MKPERF_AMBIGUOUS];

    if (timed != 0) {
        fprintf(out,
                "# attributed  by the timer's registers: %.2f %% proved, %.2f %% by priority, "
                "%.2f %% ambiguous\n"
                "#             kernel time is in the code that it returned to; callers only as far "
                "as they could be read\n",
                mkperf_percent(t->confidence[MKPERF_PROVED], timed),
                mkperf_percent(t->confidence[MKPERF_INFERRED], timed),
                mkperf_percent(t->confidence[MKPERF_AMBIGUOUS], timed));
    }
}

static void summary_marks(const struct mkperf_totals *t, FILE *out)
{
    if (t->marks != 0 || t->marks_lost != 0) {
        fprintf(out, "  marks   %" PRIu64 ", %" PRIu64 " lost\n", t->marks, t->marks_lost);
    }
}

#define AT(member) offsetof(struct mkperf_totals, member)
#define HEAD(n, ...) [MKPERF_FIGURE_HEAD] = {(n), __VA_ARGS__}
#define SUMMARY(n, ...) [MKPERF_FIGURE_SUMMARY] = {(n), __VA_ARGS__}
#define NOTE(n, text) [MKPERF_FIGURE_NOTE] = {(n), "", (text), NULL}
#define JSON(n) [MKPERF_FIGURE_JSON] = {(n), "", "", NULL}
enum { FIRST = MKPERF_SECTION_FIRST, SECOND = MKPERF_SECTION_SECOND, THIRD = MKPERF_SECTION_THIRD };

/* clang-format off */
static const struct mkperf_figure figures[] = {
    {"samples", AT(samples), true, {JSON(FIRST + 1)}},
    {"lost_ring",    AT(lost[MKPERF_LOST_RING]), true, {{0}}},
    {"lost_output",  AT(lost[MKPERF_LOST_OUTPUT]), true, {{0}}},
    {"lost_link",    AT(lost[MKPERF_LOST_LINK]), true, {{0}}},
    {"lost_transit", AT(lost[MKPERF_LOST_TRANSIT]), true, {{0}}},
    {"lost_chain",   AT(lost[MKPERF_LOST_CHAIN]), true, {{0}}},
    {"late_events", AT(late_events), false,
     {HEAD(SECOND + 2, "late", "%n events counted into samples that were taken late", NULL),
      SUMMARY(FIRST + 1, "late", "%n events counted into samples that were taken late", NULL),
      JSON(SECOND + 1)}},
    {"spurious", AT(spurious), false,
     {HEAD(SECOND + 3, "spurious", "%n interrupts without an overflow", NULL),
      SUMMARY(FIRST + 2, "spurious", "%n interrupts without an overflow", NULL),
      JSON(SECOND + 2)}},
    {"disturbed", AT(disturbed), false,
     {HEAD(SECOND + 7, "disturbed", "%n times counters had been changed by something else: shares may be wrong", NULL),
      SUMMARY(FIRST + 3, "disturbed", "%n times counters had been changed by something else", NULL),
      NOTE(3, "times that counters had been changed by something else"),
      JSON(SECOND + 7)}},
    {"storms", AT(storms), false,
     {HEAD(SECOND + 8, "storm", "ended by the target: samples took more than half of its time", NULL),
      SUMMARY(FIRST + 4, "storm", "ended by the target: samples took more than half of its time", NULL),
      NOTE(4, "ended since samples took more than half of the target's time"),
      JSON(SECOND + 8)}},
    {"unrepaired", AT(unrepaired), false,
     {HEAD(SECOND + 6, "callers", "of %n samples (%p %) may lack the innermost one: no unwind data", NULL),
      SUMMARY(SECOND + 1, NULL, "%n samples may lack the caller of the innermost function", NULL),
      JSON(SECOND + 3)}},
    {"overwritten", AT(overwritten), false,
     {HEAD(SECOND + 1, "flight", "%n older samples had been overwritten by these", NULL),
      NOTE(2, "overwritten by the flight recorder before the first sample"),
      JSON(THIRD + 3)}},
    {"looks_us", AT(snapshots_us), false, {{0}}},
    {"unread", AT(unread), false,
     {HEAD(SECOND + 5, "unread", "%n samples without their events' counts: too long an interval", NULL),
      NOTE(1, "samples without their events' counts"),
      JSON(THIRD + 4)}},
    {"proved", AT(confidence[MKPERF_PROVED]), false,
     {HEAD(SECOND + 4, "attributed", NULL, head_attributed)}},
    {"inferred", AT(confidence[MKPERF_INFERRED]), false, {{0}}},
    {"ambiguous", AT(confidence[MKPERF_AMBIGUOUS]), false, {{0}}},
    {"off_cpu_unpaired", AT(off_cpu_unpaired), false,
     {HEAD(SECOND + 15, "blocked", "%n samples of blocked threads left out: for how long is not known", NULL),
      SUMMARY(SECOND + 11, "blocked", "%n samples of blocked threads left out: for how long is not known", NULL),
      JSON(SECOND + 16)}},
    {"inferred_callers", AT(inferred_callers), false,
     {HEAD(SECOND + 16, "callers", "of %n samples (%p %) in other PDs are inferred from registers: docs/stock.md", NULL),
      SUMMARY(SECOND + 12, "callers", "in other PDs inferred from registers in %n samples (%p %)", NULL),
      NOTE(11, "samples whose callers in other PDs are inferred from registers"), JSON(SECOND + 17)}},
    {"marks_lost", AT(marks_lost), false, {JSON(SECOND + 5)}},
    {"restarts", AT(restarts), false,
     {HEAD(FIRST + 1, "restarts", "the target was restarted %n times; the time in between is missing", NULL),
      SUMMARY(SECOND + 2, "restarts", "%n of the target: the time in between is missing", NULL),
      JSON(SECOND + 6)}},
    {"marks", AT(marks), true, {SUMMARY(SECOND + 3, "marks", NULL, summary_marks), JSON(SECOND + 4)}},
    {"sched_events", AT(sched_events), true,
     {SUMMARY(SECOND + 4, "sched", "%n scheduling events", NULL), JSON(SECOND + 9)}},
    {"sched_lost_ring", AT(sched_lost[MKPERF_LOST_RING]), false,
     {HEAD(SECOND + 9, "sched", "%n scheduling events lost: sample ring full", NULL),
      SUMMARY(SECOND + 5, "lost", "%n scheduling events in the kernel's ring", NULL),
      NOTE(5, "scheduling events lost: sample ring full"), JSON(SECOND + 10)}},
    {"sched_lost_output", AT(sched_lost[MKPERF_LOST_OUTPUT]), false,
     {HEAD(SECOND + 10, "sched", "%n scheduling events lost: output ring full", NULL),
      SUMMARY(SECOND + 6, "lost", "%n scheduling events in the profiler's output", NULL),
      NOTE(6, "scheduling events lost: output ring full"), JSON(SECOND + 11)}},
    {"sched_lost_link", AT(sched_lost[MKPERF_LOST_LINK]), false,
     {HEAD(SECOND + 11, "sched", "%n scheduling events lost: link too slow", NULL),
      SUMMARY(SECOND + 7, "lost", "%n scheduling events at the link", NULL),
      NOTE(7, "scheduling events lost: link too slow"), JSON(SECOND + 12)}},
    {"sched_lost_transit", AT(sched_lost[MKPERF_LOST_TRANSIT]), false,
     {HEAD(SECOND + 12, "sched", "%n scheduling events lost: damaged in transit", NULL),
      SUMMARY(SECOND + 8, "lost", "%n scheduling events on the way", NULL),
      NOTE(8, "scheduling events lost: damaged in transit"), JSON(SECOND + 13)}},
    {"sched_lost_code", AT(sched_lost[MKPERF_LOST_CHAIN]), false,
     {HEAD(SECOND + 13, "sched", "%n scheduling events lost: their code was in a lost frame", NULL),
      SUMMARY(SECOND + 9, "lost", "%n scheduling events with a lost code", NULL),
      NOTE(9, "scheduling events lost: their code was in a lost frame"), JSON(SECOND + 14)}},
    {"sched_overwritten", AT(sched_overwritten), false,
     {HEAD(SECOND + 14, "flight", "%n older scheduling events had been overwritten", NULL),
      NOTE(10, "scheduling events overwritten by the flight recorder"), JSON(SECOND + 15)}},
    {"first_ns", AT(first_ns), true, {JSON(THIRD + 1)}},
    {"last_ns", AT(last_ns), true, {JSON(THIRD + 2)}},
    {"unordered", AT(unordered), false,
     {HEAD(SECOND + 16, "unordered", "%n samples of a core came too late for their place in the order of time", NULL),
      SUMMARY(FIRST + 5, "order", "%n samples of a core came too late for their place", NULL),
      JSON(THIRD + 5)}},
};
/* clang-format on */
enum { FIGURES = sizeof figures / sizeof *figures };

uint64_t mkperf_lost_sum(const uint64_t lost[MKPERF_LOST_PLACES])
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        sum += lost[i];
    }
    return sum;
}

static uint64_t *value_in(const struct mkperf_figure *f, struct mkperf_totals *t)
{
    return (uint64_t *)(void *)((char *)t + f->at);
}

static uint64_t value_of(const struct mkperf_figure *f, const struct mkperf_totals *t)
{
    return *(const uint64_t *)(const void *)((const char *)t + f->at);
}

/* The figure with the lowest order from *order on, which becomes its successor's; NULL: none. */
static const struct mkperf_figure *next(enum mkperf_figure_output output, unsigned *order,
                                        unsigned end)
{
    const struct mkperf_figure *found = NULL;

    for (unsigned i = 0; i < FIGURES; i++) {
        unsigned n = figures[i].in[output].order;
        if (n != 0 && n >= *order && n < end && (found == NULL || n < found->in[output].order)) {
            found = &figures[i];
        }
    }
    *order = found != NULL ? found->in[output].order + 1 : end;
    return found;
}

void mkperf_figures_each(enum mkperf_figure_output output, enum mkperf_figure_section from,
                         enum mkperf_figure_section to, const struct mkperf_totals *t,
                         void (*row)(void *self, const struct mkperf_figure *f, uint64_t value),
                         void *self)
{
    const struct mkperf_figure *f;

    for (unsigned order = from; (f = next(output, &order, to)) != NULL;) {
        if (output == MKPERF_FIGURE_JSON || value_of(f, t) != 0) {
            row(self, f, value_of(f, t));
        }
    }
}

const char *mkperf_figure_key(const struct mkperf_figure *f)
{
    return f->key;
}

const char *mkperf_figure_note(const struct mkperf_figure *f)
{
    return f->in[MKPERF_FIGURE_NOTE].text;
}

/* A line's text, with the value in it. */
static void print_text(const char *text, uint64_t value, const struct mkperf_totals *t, FILE *out)
{
    for (const char *p = text; *p != '\0'; p++) {
        if (strncmp(p, "%n", 2) == 0) {
            fprintf(out, "%" PRIu64, value);
            p++;
        } else if (strncmp(p, "%p", 2) == 0) {
            fprintf(out, "%.2f", mkperf_percent(value, t->samples));
            p++;
        } else {
            fputc(*p, out);
        }
    }
    fputc('\n', out);
}

void mkperf_figures_print(enum mkperf_figure_output output, enum mkperf_figure_section from,
                          enum mkperf_figure_section to, const struct mkperf_totals *t, FILE *out)
{
    const struct mkperf_figure *f;

    for (unsigned order = from; (f = next(output, &order, to)) != NULL;) {
        const struct line *line = &f->in[output];

        if (line->print != NULL) {
            line->print(t, out);
        } else if (value_of(f, t) != 0) {
            if (output == MKPERF_FIGURE_HEAD) {
                fprintf(out, "# %-12s", line->title);
            } else {
                fprintf(out, line->title != NULL ? "  %-7s " : "  %s",
                        line->title != NULL ? line->title : "");
            }
            print_text(line->text, value_of(f, t), t, out);
        }
    }
}

void mkperf_figures_write(const struct mkperf_totals *t, bool recovered, FILE *out)
{
    for (unsigned i = 0; i < FIGURES; i++) {
        if (!recovered || figures[i].recovered) {
            fprintf(out, "%s %" PRIu64 "\n", figures[i].key, value_of(&figures[i], t));
        }
    }
}

bool mkperf_figures_read(struct mkperf_totals *t, const char *key, const char *value)
{
    for (unsigned i = 0; i < FIGURES; i++) {
        if (strcmp(figures[i].key, key) == 0) {
            *value_in(&figures[i], t) = strtoull(value, NULL, 10);
            return true;
        }
    }
    return false;
}
