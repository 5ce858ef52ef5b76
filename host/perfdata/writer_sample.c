/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of samples and marks, and of events that the head of a perf.data file lacks: those of a
 * later session.
 *
 * Owns: the layout of SAMPLE, HEADER_ATTR and EVENT_UPDATE records. perf accepts the last two within
 * the data, so the file of a killed writer has them too. A pipe has all its events in this form.
 * Called by the writer, when everything that a record names is in the file.
 */
#include "writer_internal.h"

enum { NAME_ROOM = MKPERF_MODEL_NAME + 8, TEXT_ROOM = 128 };

/* Writes an attribute with the id that its samples have. trailers: also with the id of trailers, 1. */
static void put_attr(struct mkperf_perfdata *w, const uint8_t *attr, uint64_t id, bool trailers)
{
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_HEADER_ATTR, 0);
    mkperf_put_bytes(&c, attr, PERF_ATTR_BYTES);
    mkperf_put64(&c, id);
    if (trailers) {
        mkperf_put64(&c, 1);
    }
    perfdata_end(&w->out, c);
}

/* Writes an attribute, and the name that perf shows for it. */
static void announce_attr(struct mkperf_perfdata *w, const uint8_t *attr, uint64_t id,
                          const char *name)
{
    put_attr(w, attr, id, false);
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_EVENT_UPDATE, 0);
    mkperf_put64(&c, PERF_EVENT_UPDATE_NAME);
    mkperf_put64(&c, id);
    perfdata_put_text(&c, name, strlen(name));
    perfdata_end(&w->out, c);
}

void perfdata_event_announce(struct mkperf_perfdata *w, unsigned i)
{
    const struct mkperf_event *event = &w->session.event[i];
    uint8_t attr[PERF_ATTR_BYTES];
    struct mkperf_put c = {attr};
    char name[NAME_ROOM];

    perfdata_event_name(event, name, sizeof name);
    perfdata_put_attr(&c, w, i);
    announce_attr(w, attr, i + 1, name);
}

void perfdata_trace_announce(struct mkperf_perfdata *w)
{
    bool trailers = w->session.nevents == 0; /* otherwise event 0 has the id of trailers */
    uint8_t attr[PERF_ATTR_BYTES];

    for (unsigned i = 0; i < perfdata_trace_points(w); i++) {
        struct mkperf_put c = {attr};
        perfdata_put_trace_attr(&c, (enum mkperf_trace_point)i);
        put_attr(w, attr, MKPERF_TRACE_ID + i, trailers && i == 0);
    }
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
        perfdata_event_announce(w, i);
    }
    return mkperf_outfile_status(&w->out, e);
}

static void announce_marks(struct mkperf_perfdata *w)
{
    uint8_t attr[PERF_ATTR_BYTES];
    struct mkperf_put c = {attr};

    perfdata_put_mark_attr(&c);
    w->has_marks = true;
    announce_attr(w, attr, MKPERF_PERFDATA_MARK, "mkperf:mark");
}

/* "begin 7 request", "end 7 request", "point 0 ready" */
static size_t mark_text(const struct mkperf_mark *m, char *text, size_t room)
{
    static const char *const kinds[] = {
        [MKPERF_MARK_POINT] = "point", [MKPERF_MARK_BEGIN] = "begin", [MKPERF_MARK_END] = "end"};
    int n = snprintf(text, room, "%s %u %s", kinds[m->kind], m->id, m->name);

    return n < (int)room ? (size_t)n : room - 1;
}

void perfdata_mark_add(struct mkperf_perfdata *w, const struct mkperf_mark *m)
{
    char text[TEXT_ROOM];
    size_t length = mark_text(m, text, sizeof text), raw = (4 + length + 1 + 7) / 8 * 8 - 4;

    if (!w->has_marks) {
        announce_marks(w);
    }
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    mkperf_put64(&c, MKPERF_PERFDATA_MARK);
    mkperf_put64(&c, 0);
    mkperf_put32(&c, m->pd + 1);
    mkperf_put32(&c, m->pd + 1);
    mkperf_put64(&c, m->time_ns > w->round_ns ? m->time_ns : w->round_ns); /* see finish_round */
    mkperf_put64(&c, 0);
    mkperf_put64(&c, 1);
    mkperf_put32(&c, (uint32_t)raw);
    mkperf_put_padded(&c, text, length, raw);
    perfdata_end(&w->out, c);
}

static uint64_t kernel_address(uint64_t addr)
{
    return addr >= (uint64_t)-4096 ? 0 : addr; /* perf would take it for a context marker */
}

/* The number of events in the group of `event` whose values are in its samples; 0: none. */
static unsigned group_size(const struct mkperf_perfdata *w, unsigned event)
{
    unsigned leader, n = 0;

    for (unsigned i = event;
         i < w->session.nevents && perfdata_is_read(&w->session, i, &leader) && leader == event;
         i++) {
        n++;
    }
    return n;
}

/* What the user code of samples is, by mkperf_guest_letter. */
static unsigned user_mode(char guest)
{
    return guest == 'g'   ? PERF_RECORD_MISC_GUEST_KERNEL
           : guest == 'u' ? PERF_RECORD_MISC_GUEST_USER
                          : PERF_RECORD_MISC_USER;
}

void perfdata_sample_add(struct mkperf_perfdata *w, const struct mkperf_sample *s)
{
    bool kernel = s->flags & MKPERF_SAMPLE_KERNEL;
    char guest = mkperf_guest_letter(s->flags);
    unsigned group = group_size(w, s->event);
    struct mkperf_put c = perfdata_begin(&w->out, PERF_RECORD_SAMPLE,
                                         kernel ? PERF_RECORD_MISC_KERNEL : user_mode(guest));
    mkperf_put64(&c, s->event + 1);
    mkperf_put64(&c, kernel ? kernel_address(s->kernel_pc) : mkperf_perfdata_slid(s->pd, s->pc));
    mkperf_put32(&c, s->pd + 1);
    mkperf_put32(&c, s->pd + 1);
    mkperf_put64(&c, s->time_ns);
    mkperf_put64(&c, s->core);
    mkperf_put64(&c, s->period);
    if (group != 0) {
        /* Puts the sums of the group's values since the first sample. perf calculates the differences. */
        w->count[s->event] += s->period;
        for (unsigned i = 0; i < s->nreads; i++) {
            w->count[s->reads[i].event] += s->reads[i].count;
        }
        mkperf_put64(&c, group);
        for (unsigned i = s->event; i < s->event + group; i++) {
            mkperf_put64(&c, w->count[i]);
            mkperf_put64(&c, i + 1);
        }
    }
    if (w->chains[s->event]) {
        /* Puts the callchain: the number of its words, then the words. */
        const struct mkperf_chain *callers = s->callers;
        bool user = !(s->flags & MKPERF_SAMPLE_NO_USER);
        struct mkperf_put count = c;
        c.p += 8;
        if (s->flags & MKPERF_SAMPLE_KERNEL) {
            mkperf_put64(&c, PERF_CONTEXT_KERNEL);
            mkperf_put64(&c, kernel_address(s->kernel_pc));
            /* A kernel that was interrupted in its own work has kernel callers, see model.h. */
            for (unsigned i = 0; !user && i < callers->n; i++) {
                mkperf_put64(&c, kernel_address(callers->caller[i].addr));
            }
        }
        if (user) {
            mkperf_put64(&c, guest == 'g'   ? PERF_CONTEXT_GUEST_KERNEL
                             : guest == 'u' ? PERF_CONTEXT_GUEST_USER
                                            : PERF_CONTEXT_USER);
            mkperf_put64(&c, mkperf_perfdata_slid(s->pd, s->pc));
            for (unsigned i = 0; i < callers->n; i++) {
                mkperf_put64(&c,
                             mkperf_perfdata_slid(callers->caller[i].pd, callers->caller[i].addr));
            }
        }
        mkperf_put64(&count, (uint64_t)(c.p - count.p) / 8 - 1);
    }
    if (w->session.aggregate_ms != 0) {
        mkperf_put64(&c, mkperf_sample_count(s));
    }
    perfdata_end(&w->out, c);
}
