/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the list of warnings, its order, and how serious each is. Exports write it where their format has a place, and `mkperf
 * convert` prints it. The head of a report (report/head.c) has the same facts in more detail.
 */
#include "figures.h"

#include <math.h>

#include "relays.h"

enum { LINE = 1024 };

static const double TAKES_MUCH = 33; /* per cent of a core for mkperf's own PDs */
static const double LOUD = 1.0;      /* per cent of samples lost above which numbers are biased */

const char *const mkperf_warning_names[MKPERF_WARNING_LEVELS] = {
    [MKPERF_NOTE] = "note", [MKPERF_WARNING] = "warning", [MKPERF_ERROR] = "ERROR"};

struct list {
    mkperf_put_warning *put;
    void *self;
};

static void add_line(const struct list *l, enum mkperf_warning_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add_line(const struct list *l, enum mkperf_warning_level level, const char *format, ...)
{
    char line[LINE];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    l->put(l->self, level, line);
}

static void add_figure(void *self, bool warns, const char *title, const char *text)
{
    char line[LINE];
    size_t n = 0;

    for (; *text != '\0' && n + 3 < sizeof line; text++) { /* the lines of a text become one line */
        if (*text == '\n') {
            line[n++] = ';';
            line[n++] = ' ';
        } else {
            line[n++] = *text;
        }
    }
    line[n] = '\0';
    add_line(self, warns ? MKPERF_WARNING : MKPERF_NOTE, "%s: %s", title, line);
}

bool mkperf_first(enum mkperf_first which, const struct mkperf_totals *t,
                  char text[MKPERF_FIRST_TEXT])
{
    double by_events = mkperf_percent(t->own_ns, t->known_ns),
           by_samples = (double)t->own_ppm / 1e4;

    switch (which) {
    case MKPERF_FIRST_FAULTED:
        snprintf(text, MKPERF_FIRST_TEXT,
                 "a PD stopped with a fault %" PRIu64 " time%s, the last time %s", t->faulted,
                 mkperf_plural(t->faulted), t->faulted_pd);
        return t->faulted != 0 && t->faulted_pd[0] != '\0';
    case MKPERF_FIRST_NONE_RAN:
        snprintf(
            text, MKPERF_FIRST_TEXT,
            "only idle and mkperf's PDs ran: every other PD waits, was suspended, or has faulted");
        return t->only_idle != 0;
    default:
        snprintf(
            text, MKPERF_FIRST_TEXT,
            "mkperf's PDs took %.2f %% of one core's time by %s: record with a larger period or "
            "fewer events",
            fmax(by_events, by_samples), by_events < by_samples ? "samples" : "events");
        return fmax(by_events, by_samples) > TAKES_MUCH;
    }
}

void mkperf_warnings_each(const struct mkperf_session *session, const struct mkperf_totals *t,
                          const char *(*pd_name)(const void *names, uint32_t pd), const void *names,
                          mkperf_put_warning *put, void *self)
{
    struct list l = {put, self};
    char text[512], room[MKPERF_CORE_PROBLEM_TEXT], first[MKPERF_FIRST_TEXT];

    for (unsigned i = 0; i < MKPERF_FIRSTS; i++) {
        if (mkperf_first((enum mkperf_first)i, t, first)) {
            put(self, MKPERF_ERROR, first);
        }
    }
    if (session->unverified != NULL) {
        add_line(&l, MKPERF_NOTE, "names are unverified: %s", session->unverified);
    }
    for (unsigned i = 0; i < t->nsuspects; i++) {
        uint32_t pd = t->suspect[i].pd;
        const char *name = pd == MKPERF_SUSPECT_KERNEL ? "kernel" : pd_name(names, pd);
        add_line(&l, MKPERF_ERROR, "%s",
                 mkperf_suspect_text(&t->suspect[i], name, text, sizeof text));
    }
    for (unsigned i = 0; mkperf_cores_warning(session, i, text); i++) {
        add_line(&l, MKPERF_WARNING, "%s", text);
    }
    if (mkperf_aggregate_text(session, text)) {
        add_line(&l, MKPERF_NOTE, "%s", text);
    }
    for (unsigned i = 0; i < t->ncores; i++) {
        const char *problem = mkperf_core_problem(&t->core[i], room);
        if (problem != NULL) {
            add_line(&l, MKPERF_WARNING, "core %u %s", i, problem);
        }
    }
    uint64_t lost = mkperf_lost_sum(t->lost);
    double part = mkperf_percent(lost, t->samples + lost);
    if (lost != 0) {
        add_line(&l, part > LOUD ? MKPERF_WARNING : MKPERF_NOTE,
                 "%.2f %% of the samples were lost (%s)%s", part, mkperf_lost_text(t->lost, text),
                 part > LOUD ? ": numbers are biased against what ran then" : "");
    }
    if (t->marks_lost != 0) {
        add_line(&l, MKPERF_NOTE, "%" PRIu64 " marks were lost", t->marks_lost);
    }
    mkperf_figures_texts(MKPERF_FIGURE_HEAD, MKPERF_SECTION_FIRST, MKPERF_SECTION_END, t,
                         add_figure, &l);
    for (unsigned i = 0; i < session->nevents; i++) {
        if (t->enabled_ns[i] != 0) {
            add_line(&l, MKPERF_NOTE, "event %s multiplexed: counted %.2f %% of the time",
                     session->event[i].name, mkperf_percent(t->running_ns[i], t->enabled_ns[i]));
        }
    }
    if (t->cut) {
        add_line(&l, MKPERF_WARNING,
                 "the recording was cut off, or its end has no totals of losses (the last %" PRIu64
                 " bytes are an incomplete record): more may be missing than is known%s",
                 t->cut_bytes, t->recoverable ? "; mkperf recover finishes the file" : "");
    } else if (!t->complete) {
        add_line(&l, MKPERF_NOTE,
                 "no matching totals from the target (the recording continues, was cut off, or was "
                 "not made by mkperf): more may be lost than is known");
    }
}
