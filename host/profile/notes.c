/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The head of formats that have room for text, see mkperf_profile_notes.
 *
 * Owns: its lines. A format may also contain their facts in another place.
 */
#include "profile.h"

enum { LINE = 1024, MARKS_SHOWN = 100 };

struct notes {
    void (*put)(void *self, const char *line);
    void *self;
};

static void note(const struct notes *n, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void note(const struct notes *n, const char *format, ...)
{
    char line[LINE];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    n->put(n->self, line);
}

static void note_warning(void *self, enum mkperf_warning_level level, const char *text)
{
    note(self, "%s%s%s", level == MKPERF_NOTE ? "" : mkperf_warning_names[level],
         level == MKPERF_NOTE ? "" : ": ", text);
}

static void note_unnamed(void *self, enum mkperf_warning_level level, const char *text)
{
    (void)level;
    note(self, "%s", text);
}

void mkperf_profile_warnings(const struct mkperf_profile *p, mkperf_put_warning *put, void *self)
{
    struct mkperf_totals totals = p->totals;

    /* Before the end of a session there are no totals, and reports of losses may have more than the totals. */
    for (uint32_t i = 0; i < p->nevents && p->totals.samples == 0; i++) {
        totals.samples += p->total[i].samples;
    }
    memcpy(totals.lost, p->lost, sizeof totals.lost);
    mkperf_places_warnings(&p->places, &totals, put, self);
}

void mkperf_profile_notes(const struct mkperf_profile *p, void (*put)(void *self, const char *line),
                          void *self)
{
    struct notes n = {put, self};

    mkperf_profile_warnings(p, note_warning, &n);
    for (uint32_t i = 0; i < p->nevents; i++) {
        const struct mkperf_event *event = &p->places.session.event[i];
        char room[32], how[64] = "";
        if (i < p->places.session.nevents && event->period != 0) {
            snprintf(how, sizeof how, ", one sample each %" PRIu64, event->period);
        } else if (i < p->places.session.nevents && event->frequency != 0) {
            snprintf(how, sizeof how, ", %u sample%s per second and core", event->frequency,
                     mkperf_plural(event->frequency));
        }
        note(&n, "event %s: %" PRIu64 " sample%s, period sum %" PRIu64 "%s",
             mkperf_places_event_name(&p->places, i, room), p->total[i].samples,
             mkperf_plural(p->total[i].samples), p->total[i].period, how);
    }
    const struct mkperf_places *s = &p->places;
    if (s->session.image != NULL) {
        note(&n, "image: %s, which lists its programs", s->session.image);
    }
    mkperf_places_unnamed(s, NULL, note_unnamed, &n);
    char line[LINE];
    mkperf_lost_text(p->lost, line);
    note(&n, "lost samples: %" PRIu64 "%s%s", mkperf_lost_sum(p->lost), *line != '\0' ? ", " : "",
         line);
    for (uint32_t i = 0; i < p->nevents; i++) {
        mkperf_cost_text(&p->cost, &p->places, i, p->total[i].period, line, sizeof line);
        note(&n, "cost of profiling: %s", line);
    }
    const struct mkperf_totals *t = &p->totals;
    bool marks = t->marks != 0 || t->marks_lost != 0;
    if (marks) {
        note(&n, "marks: %" PRIu64 ", lost %" PRIu64, t->marks, t->marks_lost);
    }
    for (uint32_t i = 0; marks && i < p->mark_keys.count && i < MARKS_SHOWN; i++) {
        const struct mkperf_mark_sum *m = &p->mark_sum[i];
        const uint64_t *key = mkperf_hash_key(&p->mark_keys, i);
        const char *pd = mkperf_places_pd_name(s, (uint32_t)key[0]);
        const char *name = mkperf_places_text(s, (uint32_t)key[1]);
        if (m->points != 0) {
            note(&n, "mark %s of PD %s: %" PRIu64 " times", name, pd, m->points);
        }
        if (m->phases != 0 || m->open != 0) {
            note(&n,
                 "phase %s of PD %s: %" PRIu64 " times, %.6f ms in all, longest %.6f ms, %" PRIu64
                 " without an end",
                 name, pd, m->phases, (double)m->sum_ns / 1e6, (double)m->longest_ns / 1e6,
                 m->open);
        }
    }
    if (marks && p->mark_keys.count > MARKS_SHOWN) {
        note(&n, "and marks of %u other names", p->mark_keys.count - MARKS_SHOWN);
    }
    const struct mkperf_interactions *a = t->interactions;
    for (unsigned i = 0; a != NULL && i < MKPERF_SOFT_KINDS; i++) {
        if (a->total[i] != 0) {
            note(&n, "%s: %" PRIu64, mkperf_soft_names[i], a->total[i]);
        }
    }
    for (unsigned i = 0; a != NULL && i < a->nedges; i++) {
        note(&n, "%s to %s: %" PRIu64 " calls, %" PRIu64 " notifications", a->edge[i].from,
             a->edge[i].to, a->edge[i].calls, a->edge[i].notifications);
    }
    if (p->totals.complete) {
        put(self, "complete: yes");
    }
    if (p->places.session.command != NULL) {
        note(&n, "recorded by: %s", p->places.session.command);
    }
}
