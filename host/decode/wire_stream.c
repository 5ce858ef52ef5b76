/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: sessions, losses and control messages of a stream, see wire_stream.h. */
#include "wire_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pb_decode.h>

#include "wire.h"
#include "wire_internal.h"

struct mkperf_stream *mkperf_stream_new(const struct mkperf_stream_config *config)
{
    struct mkperf_stream *s = calloc(1, sizeof *s);

    if (s != NULL) {
        s->config = *config;
        s->repair.decide = config->decide;
        s->generation = 1;
        s->totals.first_ns = UINT64_MAX;
        memset(s->event_of, -1, sizeof s->event_of);
    }
    return s;
}

void mkperf_stream_free(struct mkperf_stream *s)
{
    free(s);
}

void stream_void_chains(struct mkperf_stream *s)
{
    s->generation++;
}

enum mkperf_status stream_lost(struct mkperf_stream *s, const struct mkperf_lost *lost,
                               struct mkperf_error *e)
{
    const struct mkperf_sink *sink = &s->config.sink;

    if (lost->samples == 0) {
        return MKPERF_OK;
    }
    s->totals.lost[lost->where] += lost->samples;
    s->seen[lost->where] += lost->samples;
    if (!s->began || sink->ops->lost == NULL) {
        return MKPERF_OK;
    }
    return sink->ops->lost(sink->self, lost, e);
}

enum mkperf_status stream_announce(struct mkperf_stream *s, struct mkperf_error *e)
{
    const struct mkperf_sink *sink = &s->config.sink;

    while (s->announced < mkperf_pds_count(s->config.pds)) {
        const struct mkperf_pd *pd = mkperf_pds_at(s->config.pds, s->announced++);
        if (sink->ops->pd != NULL && sink->ops->pd(sink->self, pd, e) != MKPERF_OK) {
            return e->status;
        }
    }
    return MKPERF_OK;
}

enum mkperf_status stream_begin(struct mkperf_stream *s, struct mkperf_error *e)
{
    const struct mkperf_sink *sink = &s->config.sink;

    if (s->began) {
        return MKPERF_OK;
    }
    s->session.platform = s->hello.platform;
    s->session.cpu = s->hello.cpu;
    s->session.cores = s->hello.cores <= MKPERF_MAX_CORES ? s->hello.cores : MKPERF_MAX_CORES;
    s->session.kernel_elf = mkperf_pds_kernel(s->config.pds);
    s->session.command = s->config.command;
    s->began = true;
    if (sink->ops->begin != NULL && sink->ops->begin(sink->self, &s->session, e) != MKPERF_OK) {
        return e->status;
    }
    return stream_announce(s, e);
}

static enum mkperf_status on_hello(struct mkperf_stream *s, const mkperf_TargetHello *hello,
                                   struct mkperf_error *e)
{
    if (hello->protocol != MKPERF_PROTOCOL) {
        return mkperf_error_set(e, MKPERF_ERR_PROTOCOL,
                                "the target speaks protocol %" PRIu32 ", this mkperf %d",
                                hello->protocol, MKPERF_PROTOCOL);
    }
    if (s->began && s->has_hello && hello->boot_id != s->hello.boot_id) {
        return mkperf_error_set(e, MKPERF_ERR_LINK, "the target was restarted");
    }
    s->hello = *hello;
    s->has_hello = true;
    return MKPERF_OK;
}

static void convert_event(const mkperf_SessionEvent *from, struct mkperf_event *to)
{
    memset(to, 0, sizeof *to);
    if (from->name[0] != '\0') {
        snprintf(to->name, sizeof to->name, "%s", from->name);
    } else {
        snprintf(to->name, sizeof to->name, "r%" PRIx32, from->code);
    }
    to->code = from->code;
    to->user = from->user_counter != 0;
    to->kernel = from->kernel_counter != 0;
    to->period = from->period;
    to->frequency = from->frequency;
}

static void convert_session(const mkperf_Session *from, struct mkperf_session *to)
{
    memset(to, 0, sizeof *to);
    to->nevents = from->events_count;
    to->max_frames = from->max_frames;
    to->jitter = !from->no_jitter;
    for (unsigned i = 0; i < to->nevents; i++) {
        convert_event(&from->events[i], &to->event[i]);
    }
}

static bool same_event(const struct mkperf_event *a, const struct mkperf_event *b)
{
    return strcmp(a->name, b->name) == 0 && a->code == b->code && a->user == b->user &&
           a->kernel == b->kernel && a->period == b->period && a->frequency == b->frequency;
}

static bool same_session(const struct mkperf_session *a, const struct mkperf_session *b)
{
    bool same = a->nevents == b->nevents && a->max_frames == b->max_frames &&
                a->jitter == b->jitter;

    for (unsigned i = 0; same && i < a->nevents; i++) {
        same = same_event(&a->event[i], &b->event[i]);
    }
    return same;
}

static void map_counters(struct mkperf_stream *s, const mkperf_Session *session)
{
    memset(s->event_of, -1, sizeof s->event_of);
    for (unsigned i = 0; i < session->events_count; i++) {
        uint32_t user = session->events[i].user_counter, kernel = session->events[i].kernel_counter;
        if (user - 1 < MKPERF_MAX_COUNTERS) {
            s->event_of[user - 1] = (int8_t)i;
        }
        if (kernel - 1 < MKPERF_MAX_COUNTERS) {
            s->event_of[kernel - 1] = (int8_t)i;
        }
    }
}

/* A session that was not the one before: what was known of samples and chains is void. */
static void new_session(struct mkperf_stream *s, uint32_t id)
{
    s->session_id = id;
    s->numbered = s->from_start = s->has_status = false;
    s->skipped = 0;
    memset(s->seen, 0, sizeof s->seen);
    stream_void_chains(s);
}

static enum mkperf_status on_session(struct mkperf_stream *s, const mkperf_Session *m, bool answer,
                                     struct mkperf_error *e)
{
    struct mkperf_session session;

    convert_session(m, &session);
    if (session.nevents == 0) {
        return MKPERF_OK; /* not configured */
    }
    if (s->began && !same_session(&session, &s->session)) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT,
                                "another session (%" PRIu32 ") with other events begins here",
                                m->id);
    }
    if (!s->has_session || m->id != s->session_id) {
        new_session(s, m->id);
    }
    if (!s->began) {
        s->session = session;
    }
    s->has_session = true;
    map_counters(s, m);
    if (answer && m->running && !s->numbered) { /* it was just started */
        s->numbered = s->from_start = true;
        s->next_sample = 0;
    }
    return m->running ? stream_begin(s, e) : MKPERF_OK;
}

static enum mkperf_status on_control(struct mkperf_stream *s, struct mkperf_error *e)
{
    const mkperf_ToHost *m = &s->message;
    enum mkperf_status status = MKPERF_OK;

    if (m->which_msg == mkperf_ToHost_hello_tag) {
        status = on_hello(s, &m->msg.hello, e);
    } else if (m->which_msg == mkperf_ToHost_session_tag) {
        status = on_session(s, &m->msg.session, m->request != 0, e);
    } else if (m->which_msg == mkperf_ToHost_status_tag && s->has_session &&
               m->msg.status.session == s->session_id) {
        s->status = m->msg.status;
        s->has_status = true;
    }
    if (status == MKPERF_OK && s->config.control != NULL) {
        status = s->config.control(s->config.self, m, e);
    }
    return status;
}

static void on_gap(struct mkperf_stream *s, unsigned gap)
{
    s->gaps += gap <= MKPERF_WIRE_MAX_GAP ? gap : 0;
    s->damaged = true;
    stream_void_chains(s);
}

static void on_malformed(struct mkperf_stream *s)
{
    s->malformed++;
    s->damaged = true;
    stream_void_chains(s); /* it may have defined some */
}

enum mkperf_status mkperf_stream_message(void *self, const uint8_t *p, size_t n, unsigned gap,
                                         struct mkperf_error *e)
{
    struct mkperf_stream *s = self;
    size_t length;
    const uint8_t *batch = mkperf_batch_find(p, n, &length);

    if (gap != 0) {
        on_gap(s, gap);
    }
    if (batch != NULL) {
        if (mkperf_batch_decode(&s->batch, batch, length)) {
            return stream_batch(s, e);
        }
        on_malformed(s);
        return MKPERF_OK;
    }
    pb_istream_t in = pb_istream_from_buffer(p, n);
    if (!pb_decode(&in, mkperf_ToHost_fields, &s->message)) {
        on_malformed(s);
        return MKPERF_OK;
    }
    return on_control(s, e);
}

/* What the target lost beyond what its Loss records told us: they may have been in lost frames. */
static enum mkperf_status reconcile(struct mkperf_stream *s, struct mkperf_error *e)
{
    const mkperf_Status *t = &s->status;
    const uint64_t total[MKPERF_LOSS_PLACES] = {t->lost_ring, t->lost_output, t->lost_link};
    struct mkperf_lost lost = {.samples = 0};

    for (unsigned i = 0; i < MKPERF_LOSS_PLACES; i++) {
        lost.where = (enum mkperf_lost_where)i;
        lost.samples = total[i] > s->seen[i] ? total[i] - s->seen[i] : 0;
        if (s->from_start && stream_lost(s, &lost, e) != MKPERF_OK) {
            return e->status;
        }
    }
    lost.where = MKPERF_LOST_TRANSIT;
    lost.samples = !t->running && s->numbered && t->sent > s->next_sample ? t->sent - s->next_sample
                                                                          : 0;
    s->next_sample += lost.samples;
    return stream_lost(s, &lost, e);
}

enum mkperf_status mkperf_stream_finish(struct mkperf_stream *s, struct mkperf_error *e)
{
    const mkperf_Status *t = &s->status;

    if (!s->has_session) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "no session was in what arrived");
    }
    if (stream_begin(s, e) != MKPERF_OK) {
        return e->status;
    }
    if (s->has_status) {
        if (reconcile(s, e) != MKPERF_OK) {
            return e->status;
        }
        s->totals.late_events = t->late_events;
        s->totals.spurious = t->spurious;
        s->totals.complete = s->from_start && !t->running && s->next_sample == t->sent &&
                             t->captured == t->sent + t->lost_output + t->lost_link;
    }
    if (s->totals.samples == 0) {
        s->totals.first_ns = 0;
    }
    return MKPERF_OK;
}
