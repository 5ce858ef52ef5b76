/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the messages of a stream, one after the other, see wire_stream.h. */
#include "wire_stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "receiver.h"
#include "wire_internal.h"
#include "wire_message.h"

enum { PAUSE_NS = 1000000 };

struct mkperf_stream *mkperf_stream_new(const struct mkperf_stream_config *config)
{
    struct mkperf_stream *s = mkperf_xcalloc(1, sizeof *s);

    s->config = *config;
    s->repair.decide = config->decide;
    s->generation = s->sched_generation = 1;
    s->totals.first_ns = UINT64_MAX;
    s->totals.complete = true;
    s->pause_ns = PAUSE_NS;
    s->off_cpu.to = config->sink;
    s->off_cpu.totals = &s->totals;
    s->off_cpu_sink = mkperf_off_cpu_sink(&s->off_cpu);
    memset(s->event_of, -1, sizeof s->event_of);
    return s;
}

void mkperf_stream_free(struct mkperf_stream *s)
{
    if (s != NULL) {
        mkperf_merge_free(s->merge);
        mkperf_off_cpu_free(&s->off_cpu);
        free(s->interactions);
        free(s->stamp);
        for (unsigned i = 0; i < MKPERF_MAX_CORES; i++) {
            free(s->core[i]);
        }
    }
    free(s);
}

void stream_void_chains(struct mkperf_stream *s)
{
    s->generation++;
}

enum mkperf_status stream_lost(struct mkperf_stream *s, const struct mkperf_lost *lost,
                               struct mkperf_error *e)
{
    if (lost->samples == 0) {
        return MKPERF_OK;
    }
    s->totals.lost[lost->where] += lost->samples;
    s->seen[lost->where] += lost->samples;
    if (lost->core < MKPERF_MAX_CORES) {
        s->totals.core[lost->core].lost[lost->where] += lost->samples;
        s->core_seen[lost->core].lost[lost->where] += lost->samples;
    }
    return s->began ? mkperf_sink_lost(&s->config.sink, lost, e) : MKPERF_OK;
}

enum mkperf_status stream_announce(struct mkperf_stream *s, struct mkperf_error *e)
{
    const struct mkperf_sink *sink = &s->config.sink;

    while (s->announced < mkperf_pds_count(s->config.pds)) {
        const struct mkperf_pd *pd = mkperf_pds_at(s->config.pds, s->announced++);
        if (mkperf_sink_pd(sink, pd, e) != MKPERF_OK) {
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
    mkperf_pds_describe(s->config.pds, &s->session);
    if (s->hello.target_cores > s->session.target_cores) {
        s->session.target_cores = s->hello.target_cores;
    }
    s->session.command = s->config.command;
    s->began = true;
    stream_cores_begin(s, 0);
    if (mkperf_sink_begin(sink, &s->session, e) != MKPERF_OK) {
        return e->status;
    }
    return stream_announce(s, e);
}

static void on_status(struct mkperf_stream *s, const mkperf_Status *m)
{
    if (!s->has_marks_lost) { /* counted since boot, not since we are here */
        s->has_marks_lost = true;
        s->marks_lost = m->marks_lost;
    }
    if (s->has_session && m->session == s->session_id) {
        s->status = *m;
        s->has_status = true;
        stream_cores_status(s, m);
        s->totals.marks_lost = m->marks_lost - s->marks_lost;
        if (s->began && s->totals.samples != 0) {
            mkperf_fill_add(&s->totals.fill, s->totals.last_ns, m->ring_peak, m->ring_bytes);
        }
    }
}

/* A message with identities in it. */
static enum mkperf_status on_names(struct mkperf_stream *s, const mkperf_ToHost *m,
                                   struct mkperf_error *e)
{
    bool drop;
    enum mkperf_status status = stream_need_names(s, &drop, e);

    if (status != MKPERF_OK || drop) {
        return status;
    }
    switch (m->which_msg) {
    case mkperf_ToHost_mark_tag:
        return stream_mark(s, &m->msg.mark, e);
    case mkperf_ToHost_gap_tag:
        return stream_gap(s, &m->msg.gap, e);
    case mkperf_ToHost_sched_tag:
        return stream_sched(s, &m->msg.sched, e);
    default:
        stream_interactions(s, &m->msg.interactions);
        return MKPERF_OK;
    }
}

static enum mkperf_status on_control(struct mkperf_stream *s, struct mkperf_error *e)
{
    const mkperf_ToHost *m = &s->message;
    enum mkperf_status status = MKPERF_OK;

    if (m->which_msg == mkperf_ToHost_hello_tag) {
        status = stream_hello(s, &m->msg.hello, e);
    } else if (m->which_msg == mkperf_ToHost_stamp_tag) {
        status = stream_stamp(s, &m->msg.stamp, e);
    } else if (m->which_msg == mkperf_ToHost_session_tag) {
        status = stream_session(s, &m->msg.session, m->request != 0, e);
    } else if (m->which_msg == mkperf_ToHost_status_tag) {
        on_status(s, &m->msg.status);
    } else if (m->which_msg == mkperf_ToHost_mark_tag || m->which_msg == mkperf_ToHost_gap_tag ||
               m->which_msg == mkperf_ToHost_interactions_tag ||
               m->which_msg == mkperf_ToHost_sched_tag) {
        status = on_names(s, m, e);
    }
    if (status == MKPERF_OK && s->config.control != NULL) {
        status = s->config.control(s->config.self, m, e);
    }
    return status;
}

void mkperf_stream_damaged(struct mkperf_stream *s)
{
    /* A session of scheduling events alone has no epochs of chains that would end the damage. */
    s->damaged = !s->sched_running || s->session.nevents != 0;
    stream_void_chains(s);
    stream_sched_damaged(s);
}

static void on_missing(struct mkperf_stream *s, unsigned gap)
{
    s->gaps += gap <= MKPERF_WIRE_MAX_GAP ? gap : 0;
    mkperf_stream_damaged(s);
}

static void on_malformed(struct mkperf_stream *s)
{
    s->malformed++;
    mkperf_stream_damaged(s); /* it may have defined some */
}

enum mkperf_status mkperf_stream_message(void *self, const uint8_t *p, size_t n, unsigned gap,
                                         struct mkperf_error *e)
{
    struct mkperf_stream *s = self;
    size_t length;
    const uint8_t *batch = mkperf_batch_find(p, n, &length);

    if (gap != 0) {
        on_missing(s, gap);
    }
    if (batch != NULL) {
        if (mkperf_batch_decode(&s->batch, batch, length)) {
            return stream_batch(s, e);
        }
        on_malformed(s);
        return MKPERF_OK;
    }
    if (!mkperf_wire_decode(p, n, &s->message)) {
        on_malformed(s);
        return MKPERF_OK;
    }
    return on_control(s, e);
}
