/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the table of figures, and the loops over it. See figures.h. */
#include "figures.h"

/* clang-format off */
const struct mkperf_loss_place mkperf_loss_places[MKPERF_LOST_PLACES] = {
    [MKPERF_LOST_RING]    = {"ring",    "ring",   "sample ring full",   "in the kernel's ring"},
    [MKPERF_LOST_OUTPUT]  = {"output",  "output", "output ring full",   "in the profiler's output"},
    [MKPERF_LOST_LINK]    = {"link",    "link",   "link too slow",      "at the link"},
    [MKPERF_LOST_TRANSIT] = {"transit", "way",    "damaged in transit", "on the way"},
    [MKPERF_LOST_CHAIN]   = {"chain",   "chain",  "callchain lost",     "with a lost chain"},
};
/* clang-format on */

struct mkperf_figure;
typedef void text_fn(const struct mkperf_totals *t, const struct mkperf_figure *f, FILE *out);

/* The line of a figure in an output. */
struct line {
    unsigned order;    /* section + number; 0: the output does not have the figure */
    const char *title; /* title in the head, and in the summary if it has the figure */
    const char *text;  /* %n in it is the value, %p the value as a percentage of the samples */
    text_fn *write;    /* writes the text instead, from several members; nothing: no line */
};

enum {
    RECOVERED = 1, /* a recovery can count it again from what arrived */
    WARNS = 2,     /* above 0, it makes other numbers doubtful */
    NO_COUNT = 4,  /* a time, a share, or else no count */
};

struct mkperf_figure {
    const char *key; /* the key for programs; it ends in a unit, except for counts */
    size_t at;       /* offset of a uint64_t in struct mkperf_totals */
    unsigned is;     /* a set of the following */
    struct line in[MKPERF_FIGURE_OUTPUTS];
};

/* Writes the numbers of the timer's samples by the confidence of their attribution. */
static void write_attributed(const struct mkperf_totals *t, const struct mkperf_figure *f,
                             FILE *out)
{
    (void)f;
    uint64_t timed = t->confidence[MKPERF_PROVED] + t->confidence[MKPERF_INFERRED] +
                     t->confidence[MKPERF_AMBIGUOUS];

    if (timed != 0) {
        fprintf(out,
                "by the timer's registers: %.2f %% proved, %.2f %% by priority, %.2f %% ambiguous\n"
                "kernel time is in the code that it returned to; callers only as far as they could "
                "be read",
                mkperf_percent(t->confidence[MKPERF_PROVED], timed),
                mkperf_percent(t->confidence[MKPERF_INFERRED], timed),
                mkperf_percent(t->confidence[MKPERF_AMBIGUOUS], timed));
    }
}

static void write_marks(const struct mkperf_totals *t, const struct mkperf_figure *f, FILE *out)
{
    (void)f;
    if (t->marks != 0 || t->marks_lost != 0) {
        fprintf(out, "%" PRIu64 ", %" PRIu64 " lost", t->marks, t->marks_lost);
    }
}

#define AT(member) offsetof(struct mkperf_totals, member)

/* Writes whether samples agree with scheduling events, or with counts, and the PD that differs most. A figure that warns is
 * for a contradiction, the other one for agreement. */
static void write_agreed(const struct mkperf_totals *t, const struct mkperf_figure *f, FILE *out)
{
    bool counts = f->at >= AT(counted) && f->at < AT(counted) + sizeof t->counted;
    bool contradict = (f->is & WARNS) != 0;
    const struct mkperf_agreed *a = counts ? &t->counted : &t->agreed;
    const char *what = counts ? "counts" : "scheduling events";

    if (contradict != (a->contradicted != 0) || (a->pd[0] == '\0' && a->not [0] == '\0')) {
        return;
    }
    if (a->pd[0] == '\0') {
        fprintf(out, "samples and %s were not compared: %s", what, a->not );
        return;
    }
    if (contradict) {
        fprintf(out, "samples and %s CONTRADICT each other in %" PRIu64 " of ", what,
                a->contradicted);
    } else {
        fprintf(out, "samples and %s agree in all ", what);
    }
    fprintf(out, "%" PRIu64 " shares; the largest difference: %s has %.2f %% of ", a->compared,
            a->pd, (double)a->by_samples_ppm / 1e4);
    if (counts) {
        fprintf(out, "%s:u", a->event);
    } else {
        fprintf(out, "core %" PRIu32 "'s %stime", a->core, a->busy_only ? "busy " : "");
    }
    fprintf(out, " by samples, %.2f %% by %s", (double)a->by_events_ppm / 1e4,
            counts ? "counts" : "events");
    if (a->error_ppm != 0 || !counts) { /* the sum over all PDs has none */
        fprintf(out, ", standard error %.2f", (double)a->error_ppm / 1e4);
    }
    if (a->not [0] != '\0') {
        fprintf(out, "\nanother %s was not compared: %s", counts ? "event" : "core", a->not );
    }
}

/* Writes the cost of recording scheduling events, by these events. */
static void write_own(const struct mkperf_totals *t, const struct mkperf_figure *f, FILE *out)
{
    (void)f;
    if (t->known_ns != 0 && t->own_ns != 0) {
        fprintf(out,
                "mkperf's PDs ran %.2f %% of one core's time, by scheduling events; the kernel's "
                "part is not in it",
                mkperf_percent(t->own_ns, t->known_ns));
    }
}

/* Writes what ended a flight recording. */
static void write_stopped(const struct mkperf_totals *t, const struct mkperf_figure *f, FILE *out)
{
    (void)f;
    fputs(t->stopped, out);
}

#define HEAD(n, ...) [MKPERF_FIGURE_HEAD] = {(n), __VA_ARGS__}
#define SUMMARY(n, ...) [MKPERF_FIGURE_SUMMARY] = {(n), __VA_ARGS__}
#define JSON(n) [MKPERF_FIGURE_JSON] = {(n), "", "", NULL}
enum { FIRST = MKPERF_SECTION_FIRST, SECOND = MKPERF_SECTION_SECOND, THIRD = MKPERF_SECTION_THIRD };

/* clang-format off */
static const struct mkperf_figure figures[] = {
    {"samples", AT(samples), RECOVERED, {JSON(FIRST + 1)}},
    {"lost_ring",    AT(lost[MKPERF_LOST_RING]), RECOVERED, {{0}}},
    {"lost_output",  AT(lost[MKPERF_LOST_OUTPUT]), RECOVERED, {{0}}},
    {"lost_link",    AT(lost[MKPERF_LOST_LINK]), RECOVERED, {{0}}},
    {"lost_transit", AT(lost[MKPERF_LOST_TRANSIT]), RECOVERED, {{0}}},
    {"lost_chain",   AT(lost[MKPERF_LOST_CHAIN]), RECOVERED, {{0}}},
    {"late_events", AT(late_events), 0,
     {HEAD(SECOND + 2, "late", "%n event%s counted into samples that were taken late", NULL),
      SUMMARY(FIRST + 1, "late", "%n event%s counted into samples that were taken late", NULL),
      JSON(SECOND + 1)}},
    {"spurious", AT(spurious), 0,
     {HEAD(SECOND + 3, "spurious", "%n interrupt%s without an overflow", NULL),
      SUMMARY(FIRST + 2, "spurious", "%n interrupt%s without an overflow", NULL),
      JSON(SECOND + 2)}},
    {"disturbed", AT(disturbed), WARNS,
     {HEAD(SECOND + 7, "disturbed", "%n time%s counters had been changed by something else: shares may be wrong", NULL),
      SUMMARY(FIRST + 3, "disturbed", "%n time%s counters had been changed by something else", NULL),
      JSON(SECOND + 7)}},
    {"guest_accesses", AT(guest_accesses), 0,
     {HEAD(SECOND + 23, "guests", "accessed the PMU %n time%s: they read 0 and changed nothing", NULL),
      SUMMARY(SECOND + 19, "guests", "accessed the PMU %n time%s: they read 0 and changed nothing", NULL),
      JSON(THIRD + 18)}},
    {"storms", AT(storms), WARNS,
     {HEAD(SECOND + 8, "storm", "ended by the target: samples took more than half of its time", NULL),
      SUMMARY(FIRST + 4, "storm", "ended by the target: samples took more than half of its time", NULL),
      JSON(SECOND + 8)}},
    {"unrepaired", AT(unrepaired), 0,
     {HEAD(SECOND + 6, "callers", "of %n sample%s (%p %) may lack the innermost one: no unwind data", NULL),
      SUMMARY(SECOND + 1, NULL, "%n sample%s may lack the caller of the innermost function", NULL),
      JSON(SECOND + 3)}},
    {"cut_chains", AT(cut_chains), 0,
     {HEAD(SECOND + 24, "callers", "of %n sample%s (%p %) are cut off: frames that the target cannot unwind", NULL),
      SUMMARY(SECOND + 10, NULL, "the callers of %n sample%s (%p %) are cut off: docs/install.md", NULL),
      JSON(SECOND + 18)}},
    {"overwritten", AT(overwritten), 0,
     {HEAD(SECOND + 1, "flight", "%n older sample%s had been overwritten by these", NULL),
      JSON(THIRD + 3)}},
    {"looks_us", AT(snapshots_us), 0, {{0}}},
    {"unread", AT(unread), 0,
     {HEAD(SECOND + 5, "unread", "%n sample%s without their events' counts: too long an interval", NULL),
      JSON(THIRD + 4)}},
    {"proved", AT(confidence[MKPERF_PROVED]), 0,
     {HEAD(SECOND + 4, "attributed", NULL, write_attributed)}},
    {"inferred", AT(confidence[MKPERF_INFERRED]), 0, {{0}}},
    {"ambiguous", AT(confidence[MKPERF_AMBIGUOUS]), 0, {{0}}},
    {"off_cpu_unpaired", AT(off_cpu_unpaired), 0,
     {HEAD(SECOND + 15, "blocked", "%n sample%s of blocked threads left out: for how long is not known", NULL),
      SUMMARY(SECOND + 11, "blocked", "%n sample%s of blocked threads left out: for how long is not known", NULL),
      JSON(SECOND + 16)}},
    {"inferred_callers", AT(inferred_callers), 0,
     {HEAD(SECOND + 16, "callers", "of %n sample%s (%p %) in other PDs are inferred from registers: docs/stock.md", NULL),
      SUMMARY(SECOND + 12, "callers", "in other PDs inferred from registers in %n sample%s (%p %)", NULL),
      JSON(SECOND + 17)}},
    {"marks_lost", AT(marks_lost), 0, {JSON(SECOND + 5)}},
    {"restarts", AT(restarts), WARNS,
     {HEAD(FIRST + 1, "restarts", "the target was restarted %n time%s; the time in between is missing", NULL),
      SUMMARY(SECOND + 2, "restarts", "%n of the target: the time in between is missing", NULL),
      JSON(SECOND + 6)}},
    {"marks", AT(marks), RECOVERED, {SUMMARY(SECOND + 3, "marks", NULL, write_marks), JSON(SECOND + 4)}},
    {"sched_events", AT(sched_events), RECOVERED,
     {SUMMARY(SECOND + 4, "sched", "%n scheduling event%s", NULL), JSON(SECOND + 9)}},
    {"sched_lost_ring", AT(sched_lost[MKPERF_LOST_RING]), WARNS,
     {HEAD(SECOND + 9, "sched", "%n scheduling event%s lost: sample ring full", NULL),
      SUMMARY(SECOND + 5, "lost", "%n scheduling event%s in the kernel's ring", NULL),
      JSON(SECOND + 10)}},
    {"sched_lost_output", AT(sched_lost[MKPERF_LOST_OUTPUT]), WARNS,
     {HEAD(SECOND + 10, "sched", "%n scheduling event%s lost: output ring full", NULL),
      SUMMARY(SECOND + 6, "lost", "%n scheduling event%s in the profiler's output", NULL),
      JSON(SECOND + 11)}},
    {"sched_lost_link", AT(sched_lost[MKPERF_LOST_LINK]), WARNS,
     {HEAD(SECOND + 11, "sched", "%n scheduling event%s lost: link too slow", NULL),
      SUMMARY(SECOND + 7, "lost", "%n scheduling event%s at the link", NULL),
      JSON(SECOND + 12)}},
    {"sched_lost_transit", AT(sched_lost[MKPERF_LOST_TRANSIT]), WARNS,
     {HEAD(SECOND + 12, "sched", "%n scheduling event%s lost: damaged in transit", NULL),
      SUMMARY(SECOND + 8, "lost", "%n scheduling event%s on the way", NULL),
      JSON(SECOND + 13)}},
    {"sched_lost_code", AT(sched_lost[MKPERF_LOST_CHAIN]), WARNS,
     {HEAD(SECOND + 13, "sched", "%n scheduling event%s lost: their code was in a lost frame", NULL),
      SUMMARY(SECOND + 9, "lost", "%n scheduling event%s with a lost code", NULL),
      JSON(SECOND + 14)}},
    {"sched_overwritten", AT(sched_overwritten), 0,
     {HEAD(SECOND + 14, "flight", "%n older scheduling events had been overwritten", NULL),
      JSON(SECOND + 15)}},
    {"queue_readings", AT(queue_readings), RECOVERED,
     {SUMMARY(SECOND + 18, "queues", "%n reading%s of queues", NULL), JSON(THIRD + 15)}},
    {"stopped_at_ns", AT(stopped_at_ns), NO_COUNT,
     {HEAD(FIRST + 2, "stopped", NULL, write_stopped), JSON(THIRD + 16)}},
    {"stopped_ns", AT(stopped_ns), NO_COUNT, {JSON(THIRD + 17)}},
    {"first_ns", AT(first_ns), RECOVERED | NO_COUNT, {JSON(THIRD + 1)}},
    {"last_ns", AT(last_ns), RECOVERED | NO_COUNT, {JSON(THIRD + 2)}},
    {"unordered", AT(unordered), 0,
     {HEAD(SECOND + 17, "unordered", "%n sample%s of a core arrived too late for their place in the order of time", NULL),
      SUMMARY(FIRST + 5, "order", "%n sample%s of a core arrived too late for their place", NULL),
      JSON(THIRD + 5)}},
    {"shares_compared", AT(agreed.compared), 0,
     {HEAD(SECOND + 18, "checked", NULL, write_agreed),
      SUMMARY(SECOND + 13, "checked", NULL, write_agreed), JSON(THIRD + 6)}},
    {"shares_contradicted", AT(agreed.contradicted), WARNS,
     {HEAD(SECOND + 19, "checked", NULL, write_agreed),
      SUMMARY(SECOND + 14, "checked", NULL, write_agreed), JSON(THIRD + 7)}},
    {"share_by_samples_ppm", AT(agreed.by_samples_ppm), NO_COUNT, {JSON(THIRD + 8)}},
    {"share_by_events_ppm", AT(agreed.by_events_ppm), NO_COUNT, {JSON(THIRD + 9)}},
    {"share_error_ppm", AT(agreed.error_ppm), NO_COUNT, {JSON(THIRD + 10)}},
    {"own_ns", AT(own_ns), 0,
     {HEAD(SECOND + 20, "own PDs", NULL, write_own), SUMMARY(SECOND + 15, "cost", NULL, write_own),
      JSON(THIRD + 11)}},
    {"known_ns", AT(known_ns), 0, {JSON(THIRD + 12)}},
    {"faulted", AT(faulted), WARNS, {JSON(THIRD + 13)}},
    {"only_idle", AT(only_idle), WARNS | NO_COUNT, {JSON(THIRD + 14)}},
    {"own_ppm", AT(own_ppm), NO_COUNT, {JSON(THIRD + 19)}},
    {"counts_compared", AT(counted.compared), 0,
     {HEAD(SECOND + 21, "checked", NULL, write_agreed),
      SUMMARY(SECOND + 16, "checked", NULL, write_agreed), JSON(THIRD + 20)}},
    {"counts_contradicted", AT(counted.contradicted), WARNS,
     {HEAD(SECOND + 22, "checked", NULL, write_agreed),
      SUMMARY(SECOND + 17, "checked", NULL, write_agreed), JSON(THIRD + 21)}},
    {"count_by_samples_ppm", AT(counted.by_samples_ppm), NO_COUNT, {JSON(THIRD + 22)}},
    {"count_by_counts_ppm", AT(counted.by_events_ppm), NO_COUNT, {JSON(THIRD + 23)}},
    {"count_error_ppm", AT(counted.error_ppm), NO_COUNT, {JSON(THIRD + 24)}},
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

const char *mkperf_lost_text(const uint64_t lost[MKPERF_LOST_PLACES], char text[MKPERF_LOST_TEXT])
{
    size_t n = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < MKPERF_LOST_PLACES; i++) {
        if (lost[i] != 0) {
            n += (size_t)snprintf(text + n, MKPERF_LOST_TEXT - n, "%s%s %" PRIu64,
                                  n != 0 ? ", " : "", mkperf_loss_places[i].key, lost[i]);
        }
    }
    return text;
}

static uint64_t *value_in(const struct mkperf_figure *f, const struct mkperf_totals *t)
{
    return (uint64_t *)((uintptr_t)t + f->at);
}

static const struct mkperf_figure *find_figure(const char *key)
{
    size_t i = mkperf_named(figures, FIGURES, sizeof *figures, key);

    return i < FIGURES ? &figures[i] : NULL;
}

const uint64_t *mkperf_figure_count(const struct mkperf_totals *t, const char *key)
{
    const struct mkperf_figure *f = find_figure(key);

    return f == NULL || (f->is & NO_COUNT) != 0 ? NULL : value_in(f, t);
}

static void add_count(uint64_t *to, uint64_t n, bool subtract)
{
    *to = !subtract ? *to + n : *to > n ? *to - n : 0;
}

void mkperf_figures_add(struct mkperf_totals *to, const struct mkperf_totals *t, bool subtract)
{
    for (unsigned i = 0; i < FIGURES; i++) {
        if ((figures[i].is & NO_COUNT) == 0) {
            add_count(value_in(&figures[i], to), *value_in(&figures[i], t), subtract);
        }
    }
    for (unsigned i = 0; i < MKPERF_MAX_CORES; i++) {
        add_count(&to->core[i].samples, t->core[i].samples, subtract);
        add_count(&to->core[i].late_events, t->core[i].late_events, subtract);
        add_count(&to->core[i].late_answers, t->core[i].late_answers, subtract);
        for (unsigned k = 0; k < MKPERF_LOST_PLACES; k++) {
            add_count(&to->core[i].lost[k], t->core[i].lost[k], subtract);
        }
    }
    for (unsigned i = 0; i < MKPERF_MODEL_EVENTS; i++) {
        add_count(&to->enabled_ns[i], t->enabled_ns[i], subtract);
        add_count(&to->running_ns[i], t->running_ns[i], subtract);
    }
}

/* Finds the figure with the lowest order from *order on, and sets *order behind it; NULL: there is none before end. */
static const struct mkperf_figure *next_figure(enum mkperf_figure_output output, unsigned *order,
                                               unsigned end)
{
    const struct mkperf_figure *found = NULL;

    for (unsigned i = 0; i < FIGURES; i++) {
        unsigned n = figures[i].in[output].order;
        assert(n == 0 || found == NULL ||
               n != found->in[output].order); /* one would not be shown */
        if (n != 0 && n >= *order && n < end && (found == NULL || n < found->in[output].order)) {
            found = &figures[i];
        }
    }
    *order = found != NULL ? found->in[output].order + 1 : end;
    return found;
}

void mkperf_figures_each(enum mkperf_figure_section from, enum mkperf_figure_section to,
                         const struct mkperf_totals *t,
                         void (*member)(void *self, const char *key, uint64_t value), void *self)
{
    const struct mkperf_figure *f;

    for (unsigned order = from; (f = next_figure(MKPERF_FIGURE_JSON, &order, to)) != NULL;) {
        member(self, f->key, *value_in(f, t));
    }
}

void mkperf_figures_texts(enum mkperf_figure_output output, enum mkperf_figure_section from,
                          enum mkperf_figure_section to, const struct mkperf_totals *t,
                          void (*row)(void *self, bool warns, const char *title, const char *text),
                          void *self)
{
    const struct mkperf_figure *f;

    for (unsigned order = from; (f = next_figure(output, &order, to)) != NULL;) {
        const struct line *line = &f->in[output];
        uint64_t value = line->write == NULL ? *value_in(f, t) : 0;
        char *text = NULL;
        size_t n = 0;
        FILE *out = mkperf_memstream_open(&text, &n);

        if (line->write != NULL) {
            line->write(t, f, out);
        }
        for (const char *p = value != 0 ? line->text : ""; *p != '\0'; p++) {
            if (strncmp(p, "%n", 2) == 0) {
                fprintf(out, "%" PRIu64, value);
                p++;
            } else if (strncmp(p, "%s", 2) == 0) {
                fputs(mkperf_plural(value), out);
                p++;
            } else if (strncmp(p, "%p", 2) == 0) {
                fprintf(out, "%.2f", mkperf_percent(value, t->samples));
                p++;
            } else {
                fputc(*p, out);
            }
        }
        mkperf_memstream_close(out);
        if (n != 0) {
            row(self, (f->is & WARNS) != 0, line->title, text);
        }
        free(text);
    }
}

struct printed {
    enum mkperf_figure_output output;
    FILE *out;
};

static void print_row(void *self, bool warns, const char *title, const char *text)
{
    const struct printed *p = self;
    const char *name = title != NULL ? title : "", *end;
    bool head = p->output == MKPERF_FIGURE_HEAD;

    (void)warns;
    for (; (end = strchr(text, '\n')) != NULL; text = end + 1, name = "") {
        fprintf(p->out, head ? "# %-12s%.*s\n" : "  %-7s %.*s\n", name, (int)(end - text), text);
    }
    fprintf(p->out, head ? "# %-12s%s\n" : title != NULL ? "  %-7s %s\n" : "  %s%s\n", name, text);
}

void mkperf_figures_print(enum mkperf_figure_output output, enum mkperf_figure_section from,
                          enum mkperf_figure_section to, const struct mkperf_totals *t, FILE *out)
{
    struct printed p = {output, out};

    mkperf_figures_texts(output, from, to, t, print_row, &p);
}

void mkperf_figures_write(const struct mkperf_totals *t, bool recovered, FILE *out)
{
    for (unsigned i = 0; i < FIGURES; i++) {
        if (!recovered || figures[i].is & RECOVERED) {
            fprintf(out, "%s %" PRIu64 "\n", figures[i].key, *value_in(&figures[i], t));
        }
    }
}

bool mkperf_figures_read(struct mkperf_totals *t, const char *key, const char *value)
{
    const struct mkperf_figure *f = find_figure(key);

    uint64_t number;

    if (f == NULL) {
        return true;
    }
    if (!mkperf_read_number(value, strlen(value), 10, &number)) {
        return false;
    }
    *value_in(f, t) = number;
    return true;
}
