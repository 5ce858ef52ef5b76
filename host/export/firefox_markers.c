/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The markers of a thread in the Firefox Profiler's format.
 *
 * Owns: which markers there are, and their columns. There are three kinds.
 *   Marks: a point, or a phase from its begin to its end. A phase without its other half is a marker with one end.
 *   Scheduling: intervals of a PD's states without a hole; the time between the known states is waiting. A call is an
 *     interval of the caller, an interval of the callee from when it ran with the call, and the reply. All three have
 *     one flow, which the reply ends.
 *   Losses: a point for each report, in the thread of losses.
 */
#include "firefox.h"
#include "model/figures.h"
#include "model/marks.h"

#define OPEN UINT64_MAX          /* mark_end of a mark without its other half */
#define SKIPPED (UINT64_MAX - 1) /* mark_end of an end, if the begin has the marker */
enum { NAME_BYTES = 32 };

enum firefox_phase { FIREFOX_INSTANT, FIREFOX_INTERVAL, FIREFOX_START, FIREFOX_END };

struct firefox_marker {
    enum firefox_phase phase;
    enum firefox_category category;
    uint64_t from_ns, to_ns;        /* to_ns: of intervals and ends */
    uint32_t name;                  /* a text of the places */
    const char *type;               /* a name in markerSchema */
    uint32_t number;                /* member "id" of a "mark" */
    uint32_t other;                 /* member "by" or "pd": a text; 0: "" */
    uint32_t flow;                  /* member "flow": a text; 0: the marker has none */
    const struct mkperf_lost *lost; /* the members of a "lost" */
};

/* The markers of one thread, while they are collected. */
struct firefox_markers {
    struct firefox_marker *marker;
    size_t n, room;
};

static void add_marker(struct firefox_markers *m, struct firefox_marker marker)
{
    MKPERF_GROW(m->marker, m->room, m->n + 1);
    m->marker[m->n++] = marker;
}

static const struct mkperf_profile_mark *mark_at(const struct firefox_tables *f, size_t i)
{
    return (const struct mkperf_profile_mark *)f->c->marks.map + i;
}

void firefox_marks_pair(struct firefox_tables *f)
{
    size_t n = f->c->marks.count;
    struct mkperf_marks marks = {.nbegun = 0};

    f->mark_end = mkperf_xcalloc(n, sizeof *f->mark_end);
    for (size_t i = 0; i < n; i++) {
        const struct mkperf_profile_mark *m = mark_at(f, i);
        struct mkperf_phase phase = {.pd = m->pd, .id = m->id, .name = m->name};
        struct mkperf_phase_begin begin = {.time_ns = m->time_ns, .tag = i};
        f->mark_end[i] = OPEN;
        if (m->kind == MKPERF_MARK_BEGIN) {
            mkperf_marks_begin(&marks, &phase, &begin);
        } else if (m->kind == MKPERF_MARK_END && mkperf_marks_end(&marks, &phase, &begin)) {
            f->mark_end[begin.tag] = m->time_ns;
            f->mark_end[i] = SKIPPED;
        }
    }
    mkperf_marks_free(&marks);
}

static enum firefox_phase phase_of(const struct firefox_tables *f, size_t i)
{
    if (mark_at(f, i)->kind == MKPERF_MARK_POINT) {
        return FIREFOX_INSTANT;
    }
    if (f->mark_end[i] != OPEN) {
        return FIREFOX_INTERVAL;
    }
    return mark_at(f, i)->kind == MKPERF_MARK_BEGIN ? FIREFOX_START : FIREFOX_END;
}

static uint32_t text_number(struct mkperf_profile *c, const char *name)
{
    return mkperf_places_text_number(&c->places, name);
}

static void flow_name(char name[NAME_BYTES], size_t call)
{
    snprintf(name, NAME_BYTES, "call %zx", call + 1);
}

static const char *state_name(enum mkperf_pd_state state)
{
    return state == MKPERF_PD_CALLING ? "in a call" : mkperf_pd_state_names[state];
}

static uint32_t pd_text(const struct firefox_tables *f, uint32_t pd)
{
    return pd == MKPERF_SCHED_NOBODY ? 0
                                     : text_number(f->c, mkperf_places_pd_name(&f->c->places, pd));
}

void firefox_sched_texts(struct mkperf_profile *c)
{
    char name[NAME_BYTES];

    if (!c->schedule.open) {
        return;
    }
    if (c->sched->events > 0) { /* times are relative to the first sample, mark or event */
        bool other = c->samples.count + c->marks.count > 0;

        c->first_ns = other && c->first_ns < c->sched->first_ns ? c->first_ns : c->sched->first_ns;
        c->last_ns = c->last_ns > c->sched->last_ns ? c->last_ns : c->sched->last_ns;
    }
    for (unsigned i = 0; i < MKPERF_PD_STATES; i++) {
        text_number(c, state_name((enum mkperf_pd_state)i));
    }
    text_number(c, "call");
    text_number(c, "serve");
    text_number(c, "reply");
    for (uint32_t i = 0; i < c->places.npds; i++) {
        text_number(c, mkperf_places_pd_name(&c->places, i));
    }
    for (size_t i = 0; i < c->schedule.calls.count; i++) {
        flow_name(name, i);
        text_number(c, name);
    }
}

bool firefox_sched_known(const struct mkperf_profile *c, uint32_t pd)
{
    const struct mkperf_analysis *a = c->sched;

    return c->schedule.open && a->events > 0 && pd < a->npds && !a->pd[pd].idle &&
           a->pd[pd].name != NULL && a->pd[pd].in[MKPERF_PD_UNKNOWN] < a->last_ns - a->first_ns;
}

static void add_state(const struct firefox_tables *f, enum mkperf_pd_state state, uint64_t from,
                      uint64_t to, uint32_t by, struct firefox_markers *m)
{
    if (to > from) {
        add_marker(m, (struct firefox_marker){
                          .phase = FIREFOX_INTERVAL,
                          .category = state == MKPERF_PD_RUNNING ? FIREFOX_USER : FIREFOX_OTHER,
                          .from_ns = from,
                          .to_ns = to,
                          .name = text_number(f->c, state_name(state)),
                          .type = "sched",
                          .other = pd_text(f, by)});
    }
}

static void put_data(struct firefox_tables *f, const struct firefox_marker *m)
{
    bool mark = strcmp(m->type, "mark") == 0, sched = strcmp(m->type, "sched") == 0;

    if (m->lost != NULL) {
        mkperf_json(f->t, "{'type':%s,'where':%s", m->type, mkperf_loss_places[m->lost->where].key);
        if (m->lost->core != MKPERF_CORE_UNKNOWN) {
            mkperf_json(f->t, ",'core':%" PRIu32, m->lost->core);
        }
        mkperf_json(f->t, ",'samples':%" PRIu64 ",'events':%" PRIu64, m->lost->samples,
                    m->lost->events);
    } else {
        mkperf_json(f->t, "{'type':%s,%s:%" PRIu32, m->type,
                    mark    ? "id"
                    : sched ? "by"
                            : "pd",
                    mark ? m->number : firefox_tables_text(f, m->other));
    }
    if (m->flow != 0) {
        mkperf_json(f->t, ",'flow':%" PRIu32, firefox_tables_text(f, m->flow));
    }
    mkperf_textout_put(f->t, "}", 1);
}

/* Writes a time, or null if it is not known. */
static void put_time(struct firefox_tables *f, bool known, uint64_t ns)
{
    if (known) {
        mkperf_textout_ms(f->t, ns - f->c->first_ns);
    } else {
        mkperf_textout_puts(f->t, "null");
    }
}

static void put_columns(struct firefox_tables *f, struct firefox_markers *markers)
{
    const struct firefox_marker *m = markers->marker;
    size_t n = markers->n;

    mkperf_json(f->t, "'markers':{");
    FIREFOX_COLUMN(f->t, "data", n, put_data(f, &m[i]));
    FIREFOX_COLUMN(f->t, "name", n, mkperf_textout_u64(f->t, firefox_tables_text(f, m[i].name)));
    FIREFOX_COLUMN(f->t, "startTime", n, put_time(f, m[i].phase != FIREFOX_END, m[i].from_ns));
    FIREFOX_COLUMN(
        f->t, "endTime", n,
        put_time(f, m[i].phase == FIREFOX_INTERVAL || m[i].phase == FIREFOX_END, m[i].to_ns));
    FIREFOX_COLUMN(f->t, "phase", n, mkperf_textout_u64(f->t, m[i].phase));
    FIREFOX_COLUMN(f->t, "category", n, mkperf_textout_u64(f->t, m[i].category));
    mkperf_json(f->t, "'length':%zu},\n", n);
    free(markers->marker);
}

void firefox_markers_put(struct firefox_tables *f, uint32_t pd)
{
    struct firefox_markers m = {.n = 0};

    for (size_t i = 0; i < f->c->marks.count; i++) {
        if (mark_at(f, i)->pd == pd && f->mark_end[i] != SKIPPED) {
            enum firefox_phase phase = phase_of(f, i);
            add_marker(&m, (struct firefox_marker){.phase = phase,
                                                   .from_ns = mark_at(f, i)->time_ns,
                                                   .to_ns = phase == FIREFOX_INTERVAL
                                                                ? f->mark_end[i]
                                                                : mark_at(f, i)->time_ns,
                                                   .name = mark_at(f, i)->name,
                                                   .type = "mark",
                                                   .number = mark_at(f, i)->id});
        }
    }
    if (firefox_sched_known(f->c, pd)) {
        const struct mkperf_interval *i = f->c->schedule.intervals.map;
        uint64_t at = f->c->sched->first_ns;
        for (size_t k = 0; k < f->c->schedule.intervals.count; k++) {
            if (i[k].pd == pd && i[k].state != MKPERF_PD_WAITING) {
                add_state(f, MKPERF_PD_WAITING, at, i[k].from, MKPERF_SCHED_NOBODY, &m);
                add_state(f, i[k].state, i[k].from, i[k].to, i[k].by, &m);
                at = i[k].to;
            }
        }
        add_state(f, MKPERF_PD_WAITING, at, f->c->sched->last_ns, MKPERF_SCHED_NOBODY, &m);
        const struct mkperf_schedule_call *call = f->c->schedule.calls.map;
        char name[NAME_BYTES], exit[64];
        for (size_t k = 0; k < f->c->schedule.calls.count; k++) {
            struct firefox_marker marker = {
                .phase = FIREFOX_INTERVAL, .type = "call", .to_ns = call[k].to_ns};
            if (call[k].from != pd && call[k].to != pd) {
                continue;
            }
            flow_name(name, k);
            marker.flow = text_number(f->c, name);
            if (call[k].from == pd) {
                marker.from_ns = call[k].from_ns;
                marker.name = text_number(
                    f->c, call[k].exit == 0 ? "call" : mkperf_exit_name(call[k].exit, exit));
                marker.other = pd_text(f, call[k].to);
                add_marker(&m, marker);
                marker.phase = FIREFOX_INSTANT;
                marker.type = "reply";
                marker.from_ns = call[k].to_ns;
                marker.name = text_number(f->c, "reply");
            } else {
                marker.from_ns = call[k].taken_ns;
                marker.name = text_number(f->c, "serve");
                marker.other = pd_text(f, call[k].from);
            }
            add_marker(&m, marker);
        }
    }
    put_columns(f, &m);
}

void firefox_markers_put_lost(struct firefox_tables *f)
{
    const struct mkperf_lost *lost = f->c->losses.map;
    struct firefox_markers m = {.n = 0};

    for (size_t i = 0; i < f->c->losses.count; i++) {
        uint64_t at = lost[i].time_ns > f->c->first_ns ? lost[i].time_ns : f->c->first_ns;

        add_marker(&m, (struct firefox_marker){
                           .phase = FIREFOX_INSTANT,
                           .from_ns = at,
                           .name = mkperf_places_text_number(&f->c->places, FIREFOX_LOST),
                           .type = "lost",
                           .lost = &lost[i]});
    }
    put_columns(f, &m);
}
