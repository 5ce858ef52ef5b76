/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events that are not in a perf.data file's head: those of a later session, and marks.
 *
 * Owns: HEADER_ATTR and EVENT_UPDATE records, and the form of marks. perf accepts both records
 * within a file, so a killed writer's file has them, too. A pipe has all its events in this form.
 */
#include <stdio.h>

#include "writer_internal.h"

enum { NAME_ROOM = MKPERF_MODEL_NAME + 8, TEXT_ROOM = 128 };

/* An attribute with the one id that its samples carry; `trailers`: also the id of trailers, 1. */
static enum mkperf_status put_attr(struct mkperf_perfdata *w, const uint8_t *attr, uint64_t id,
                                   bool trailers, struct mkperf_error *e)
{
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_HEADER_ATTR, 0, e);

    if (c.p == NULL) {
        return e->status;
    }
    mkperf_put_bytes(&c, attr, PERF_ATTR_BYTES);
    mkperf_put64(&c, id);
    if (trailers) {
        mkperf_put64(&c, 1);
    }
    return perfdata_end(&w->out, c);
}

/* The same, and the name that perf shows. */
static enum mkperf_status announce(struct mkperf_perfdata *w, const uint8_t *attr, uint64_t id,
                                   const char *name, struct mkperf_error *e)
{
    if (put_attr(w, attr, id, false, e) != MKPERF_OK) {
        return e->status;
    }
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_EVENT_UPDATE, 0, e);
    if (c.p == NULL) {
        return e->status;
    }
    mkperf_put64(&c, PERF_EVENT_UPDATE_NAME);
    mkperf_put64(&c, id);
    perfdata_put_text(&c, name, strlen(name));
    return perfdata_end(&w->out, c);
}

enum mkperf_status perfdata_event_announce(struct mkperf_perfdata *w, unsigned i,
                                           struct mkperf_error *e)
{
    const struct mkperf_event *event = &w->session.event[i];
    uint8_t attr[PERF_ATTR_BYTES];
    struct mkperf_put c = {attr};
    char name[NAME_ROOM];

    perfdata_event_name(event, name, sizeof name);
    perfdata_put_attr(&c, w, i);
    return announce(w, attr, i + 1, name, e);
}

enum mkperf_status perfdata_trace_announce(struct mkperf_perfdata *w, struct mkperf_error *e)
{
    bool two = w->session.nevents == 0; /* ids: trailers name the first event's, which is 1 */
    uint8_t attr[PERF_ATTR_BYTES];

    for (unsigned i = 0; i < perfdata_trace_points(w); i++) {
        struct mkperf_put c = {attr};
        perfdata_put_trace_attr(&c, (enum mkperf_trace_point)i);
        if (put_attr(w, attr, MKPERF_TRACE_ID + i, two && i == 0, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return MKPERF_OK;
}

enum mkperf_status perfdata_events_add(struct mkperf_perfdata *w,
                                       const struct mkperf_session *session, struct mkperf_error *e)
{
    bool chains = session->max_frames > 0;

    if (session->nevents < w->session.nevents || session->nevents > MKPERF_MODEL_EVENTS) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "a session of %u events", session->nevents);
    }
    unsigned before = w->session.nevents;
    w->session.nevents = session->nevents;
    for (unsigned i = before; i < session->nevents; i++) {
        w->chains[i] = chains;
        w->session.event[i] = session->event[i];
    }
    for (unsigned i = before; i < session->nevents; i++) {
        if (perfdata_event_announce(w, i, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return MKPERF_OK;
}

static enum mkperf_status announce_marks(struct mkperf_perfdata *w, struct mkperf_error *e)
{
    uint8_t attr[PERF_ATTR_BYTES];
    struct mkperf_put c = {attr};

    perfdata_put_mark_attr(&c);
    w->has_marks = true;
    return announce(w, attr, MKPERF_PERFDATA_MARK, "mkperf:mark", e);
}

/* "begin 7 request", "end 7 request", "point 0 ready" */
static size_t mark_text(const struct mkperf_mark *m, char *text, size_t room)
{
    static const char *const kinds[] = {
        [MKPERF_MARK_POINT] = "point", [MKPERF_MARK_BEGIN] = "begin", [MKPERF_MARK_END] = "end"};
    int n = snprintf(text, room, "%s %u %s", kinds[m->kind], m->id, m->name);

    return n < (int)room ? (size_t)n : room - 1;
}

enum mkperf_status perfdata_mark_add(struct mkperf_perfdata *w, const struct mkperf_mark *m,
                                     struct mkperf_error *e)
{
    char text[TEXT_ROOM];
    size_t length = mark_text(m, text, sizeof text), raw = (4 + length + 1 + 7) / 8 * 8 - 4;

    if (!w->has_marks && announce_marks(w, e) != MKPERF_OK) {
        return e->status;
    }
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, e);
    if (c.p == NULL) {
        return e->status;
    }
    mkperf_put64(&c, MKPERF_PERFDATA_MARK);
    mkperf_put64(&c, 0);
    mkperf_put32(&c, m->pd + 1);
    mkperf_put32(&c, m->pd + 1);
    mkperf_put64(&c, m->time_ns > w->round_ns ? m->time_ns : w->round_ns); /* see flush */
    mkperf_put64(&c, 0);
    mkperf_put64(&c, 1);
    mkperf_put32(&c, (uint32_t)raw);
    mkperf_put_padded(&c, text, length, raw);
    return perfdata_end(&w->out, c);
}
