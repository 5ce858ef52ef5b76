/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answers of fake_net.h's target to a host's requests: sessions, commands, counts, latencies, events.
 *
 * Owns: on_request.
 */
#ifndef MKPERF_TESTS_FAKE_NET_REQUESTS_H
#define MKPERF_TESTS_FAKE_NET_REQUESTS_H

#include "fake_net_target.h"

static inline void refuse_control(struct target *t, uint32_t request)
{
    fake_error(&t->out, request, mkperf_ErrorCode_ERROR_NOT_CONTROLLER, 0, "bob@desk controls");
    flush_out(t);
}

static inline void start(struct target *t, uint32_t request)
{
    t->running = t->new_epoch = true;
    t->epoch++;
    t->session++;
    t->sent = t->of_session = t->readings = 0;
    send_session(t, request);
}

static inline void send_reply(struct target *t, uint32_t request, bool ok, bool more,
                              const char *text)
{
    static mkperf_ToHost m;

    memset(&m, 0, sizeof m);
    m.request = request;
    m.which_msg = mkperf_ToHost_reply_tag;
    m.msg.reply.ok = ok;
    m.msg.reply.more = more;
    snprintf(m.msg.reply.text, sizeof m.msg.reply.text, "%s", net_text(t, text));
    send_message(t, &m);
}

static inline void on_command(struct target *t, uint32_t request, const char *text)
{
    if (strcmp(text, "start") == 0) {
        send_reply(t, request, true, false, "");
        start(t, 0);
    } else if (strcmp(text, "stop") == 0) {
        t->running = false;
        fake_status(&t->out, 0, t->session, false, t->sent, 0);
        send_reply(t, request, true, false, "");
    } else if (strcmp(text, "status") == 0) {
        send_reply(t, request, true, true, "part one\n");
        fake_text(&t->out, "printed by the target\n");
        send_reply(t, request, true, false, "part two\n");
    } else if (strcmp(text, "exit") == 0) {
        send_reply(t, request, true, false, "");
        hang_up(t);
    } else {
        send_reply(t, request, false, false, "usage: start|stop|status\n");
    }
}

/* While the session of a host that is gone runs, and until its last samples are out. */
static inline bool on_abandoned(struct target *t, const mkperf_ToTarget *m)
{
    if (m->which_msg == mkperf_ToTarget_configure_tag && t->running) {
        fake_error(&t->out, m->request, mkperf_ErrorCode_ERROR_STATE, 0, "running");
    } else if (m->which_msg == mkperf_ToTarget_stop_tag && t->draining != 0) {
        fake_error(&t->out, m->request, mkperf_ErrorCode_ERROR_STATE, 0, "on their way");
    } else if (m->which_msg == mkperf_ToTarget_stop_tag) {
        t->draining = DRAIN_BATCHES;
        t->stop_request = m->request;
    } else {
        return false;
    }
    flush_out(t);
    return true;
}

/*
 * A reading each 10 ms, of 7 events a tick in user mode, all of one PD. What bob's session counts
 * is seen from FAKE_BOBS on. The last reading of a whole session is some ticks later than the one before Stop.
 */
enum {
    FAKE_COUNTS_HZ = 1000000,
    FAKE_READING_TICKS = 10000,
    FAKE_STOP_TICKS = 20,
    FAKE_BOBS = 1000000000
};

static inline void end_counting(struct target *t)
{
    bool bob = t->how.counts != ENDED_HERE;

    if (bob) {
        t->how.bob = true;
        send_role(t, false, "bob@desk");
    }
    t->running = t->how.counts == BOB_STARTS;
    fake_status(&t->out, 0, t->session, false, 0, 0);
    t->session += t->running;
    t->reported = bob; /* it reports bob's session */
}

static inline void on_counts(struct target *t, uint32_t request, uint32_t part)
{
    static mkperf_ToHost m;
    mkperf_Counts *c = &m.msg.counts;

    if (part == 0 && t->running) {
        t->readings++;
        if (t->all_readings++ == t->how.readings && t->how.counts != COUNTED) {
            end_counting(t);
        }
    }
    if (t->reported && t->how.counts == BOB_SAMPLES) {
        fake_error(&t->out, request, mkperf_ErrorCode_ERROR_STATE, 0, "no session that counts");
        flush_out(t);
        return;
    }
    memset(&m, 0, sizeof m);
    m.request = request;
    m.which_msg = mkperf_ToHost_counts_tag;
    *c = (mkperf_Counts){
        .session = t->session,
        .running = t->running,
        .tick_hz = FAKE_COUNTS_HZ,
        .enabled_ticks = (uint64_t)t->readings * FAKE_READING_TICKS +
                         (t->how.counts == COUNTED && !t->running ? FAKE_STOP_TICKS : 0),
        .part = part,
        .parts = t->how.parts != 0 ? t->how.parts : 2,
        .slices = 1,
        .by_pd = true};
    uint64_t user = c->enabled_ticks * 7 + (t->reported ? FAKE_BOBS : 0);
    if (part == 0) {
        c->events_count = 1;
        c->events[0] = (mkperf_EventCount){.user = user, .running_ticks = c->enabled_ticks};
    } else {
        c->threads_count = 1;
        c->threads[0] = (mkperf_ThreadCount){.thread = 3 + 2, .user_count = 1, .user = {user}};
    }
    send_message(t, &m);
}

static inline void on_interactions(struct target *t, uint32_t request, uint32_t part)
{
    static mkperf_ToHost m;
    mkperf_Interactions *i = &m.msg.interactions;

    memset(&m, 0, sizeof m);
    m.request = request;
    m.which_msg = mkperf_ToHost_interactions_tag;
    *i = (mkperf_Interactions){.part = t->how.same_part ? 0 : part, .parts = t->how.parts};
    i->tick_hz = FAKE_HZ;
    i->edges_count = 1;
    i->edges[0] = (mkperf_Edge){.from = 3 + 2, .to = part + 2, .calls = 1};
    send_message(t, &m);
}

/* A call of 5 us, after 20 ms. */
static inline void on_latency(struct target *t, uint32_t request, uint32_t part)
{
    static mkperf_ToHost m;
    mkperf_Latency *l = &m.msg.latency;

    memset(&m, 0, sizeof m);
    m.request = request;
    m.which_msg = mkperf_ToHost_latency_tag;
    *l = (mkperf_Latency){
        .tick_hz = FAKE_COUNTS_HZ, .enabled_ticks = 20000, .part = part, .parts = 1};
    l->pairs_count = 1;
    l->pairs[0] = (mkperf_LatencyPair){.from = 3 + 2,
                                       .to = 4 + 2,
                                       .count = 1,
                                       .total_ticks = 5,
                                       .max_ticks = 5,
                                       .bucket_count = 1,
                                       .bucket = {5},
                                       .in_bucket_count = 1,
                                       .in_bucket = {1}};
    send_message(t, &m);
}

static inline void send_events(struct target *t, uint32_t request)
{
    static mkperf_ToHost m;
    mkperf_EventInfo *event = &m.msg.events.events[0];

    memset(&m, 0, sizeof m);
    m.request = request;
    m.which_msg = mkperf_ToHost_events_tag;
    m.msg.events.events_count = 1;
    *event = (mkperf_EventInfo){.code = 0x11, .supported = true};
    strcpy(event->name, net_text(t, "cycles"));
    strcpy(event->description, net_text(t, "processor cycles"));
    send_message(t, &m);
}

/* Whether the request was answered with nothing but a hostile reason. */
static inline bool refused_hostilely(struct target *t, const mkperf_ToTarget *m)
{
    bool hello = m->which_msg == mkperf_ToTarget_hello_tag;

    if (hello ? t->how.texts != HOSTILE_HELLO : t->how.texts != HOSTILE_REQUEST) {
        return false;
    }
    fake_error(&t->out, m->request, mkperf_ErrorCode_ERROR_INTERNAL, 0, NET_HOSTILE);
    flush_out(t);
    return true;
}

static inline void on_request(struct target *t, const mkperf_ToTarget *m)
{
    bool controls = m->which_msg == mkperf_ToTarget_configure_tag ||
                    m->which_msg == mkperf_ToTarget_start_tag ||
                    m->which_msg == mkperf_ToTarget_stop_tag;

    if (refused_hostilely(t, m)) {
        return;
    }
    if (m->which_msg == mkperf_ToTarget_hello_tag) {
        on_hello(t, m->request, &m->msg.hello);
    } else if (m->which_msg == mkperf_ToTarget_command_tag) {
        on_command(t, m->request, m->msg.command.text);
    } else if (m->which_msg == mkperf_ToTarget_prove_tag) {
        on_prove(t, m->request, &m->msg.prove);
    } else if (!t->greeted) {
        _exit(7);
    } else if (controls && t->how.bob) {
        refuse_control(t, m->request);
    } else if (t->how.abandoned && on_abandoned(t, m)) {
        return;
    } else if (t->how.counts && m->which_msg == mkperf_ToTarget_get_counts_tag) {
        on_counts(t, m->request, m->msg.get_counts.part);
    } else if (t->how.parts != 0 && m->which_msg == mkperf_ToTarget_get_interactions_tag) {
        on_interactions(t, m->request, m->msg.get_interactions.part);
    } else if (t->latency && m->which_msg == mkperf_ToTarget_get_latency_tag) {
        on_latency(t, m->request, m->msg.get_latency.part);
    } else if (m->which_msg == mkperf_ToTarget_list_events_tag) {
        send_events(t, m->request);
    } else if (m->which_msg == mkperf_ToTarget_configure_tag) {
        t->configured = true;
        t->latency = m->msg.configure.latency;
        send_session(t, m->request);
    } else if (m->which_msg == mkperf_ToTarget_start_tag) {
        start(t, m->request);
    } else if (m->which_msg == mkperf_ToTarget_take_control_tag) {
        t->how.bob = t->how.bob && !m->msg.take_control.force;
        t->how.bob ? refuse_control(t, m->request) : acknowledge(t, m->request);
    } else if (m->which_msg == mkperf_ToTarget_reset_chains_tag) {
        t->new_epoch = true;
        t->epoch++;
        acknowledge(t, m->request);
    } else {
        t->running = t->running && m->which_msg != mkperf_ToTarget_stop_tag;
        fake_status(&t->out, m->request, t->session, t->running, t->sent, 0);
        flush_out(t);
    }
}

#endif
