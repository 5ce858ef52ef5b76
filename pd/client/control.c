/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Executes messages from hosts: see control.h for ownership and callers.
 *
 * Messages are not trusted: nanopb bounds their fields, their MACs are verified before use, the
 * profiler PD checks their values, and only the controller's have an effect.
 */
#include "control.h"

#include <pb_decode.h>

void mkperf_client_init(struct mkperf_client *c)
{
    c->controller = MKPERF_NOBODY;
    c->stop_by = MKPERF_NOBODY;
    mkperf_command_defaults(&c->settings);
    mkperf_sched_encoder_begin(&c->sched, 0, 0);
    mkperf_encoder_begin(&c->encoder, 0, 0); /* a sample may arrive before a session is known */
    c->ring.tail = __atomic_load_n(&c->ring.ring->tail, __ATOMIC_RELAXED);
    c->call(MKPERF_OP_INFO);
}

/* Configures a session. Its rings have the sizes that text commands have set. */
static void configure(struct mkperf_peer peer, const mkperf_Configure *m)
{
    struct mkperf_client *c = peer.c;
    struct mkperf_session_request *r = &c->page->request;

    *r = MKPERF_SESSION_REQUEST_ZERO;
    r->configure = *m;
    r->core_bytes = c->settings.request.core_bytes;
    r->output_bytes = m->overwrite_bytes != 0 ? m->overwrite_bytes
                                              : c->settings.request.output_bytes;
    if (m->restart && c->running &&
        mkperf_control_stop(c, peer.who, peer.request) == MKPERF_RESULT_OK) {
        c->restarting = true;
        return;
    }
    mkperf_report_result(peer, c->call(MKPERF_OP_CONFIGURE));
}

/* Takes the data for attributing the timer's samples. The profiler PD checks more than nanopb's
 * bounds. */
static void observe(struct mkperf_peer peer, const mkperf_Observe *m)
{
    peer.c->page->observe = *m;
    if (mkperf_report_refusal(peer, peer.c->call(MKPERF_OP_OBSERVE))) {
        return;
    }
    if (m->part == 0) {
        mkperf_report_page(peer, mkperf_ToHost_observer_tag);
    } else {
        mkperf_report_ack(peer);
    }
}

/* Requests that change state: controller only. */
static void carry_out_control(struct mkperf_peer peer, const mkperf_ToTarget *m)
{
    struct mkperf_client *c = peer.c;
    bool dump_goes_on = m->which_msg == mkperf_ToTarget_dump_tag && c->dumping;

    if (c->controller != peer.who) {
        c->refused++;
        mkperf_report_error(peer, mkperf_ErrorCode_ERROR_NOT_CONTROLLER,
                            c->controller == MKPERF_NOBODY
                                ? "this connection only watches, and no host controls"
                                : "this connection only watches: another host controls");
    } else if (m->which_msg == mkperf_ToTarget_observe_tag) {
        observe(peer, &m->msg.observe);
    } else if (c->stopping && !dump_goes_on) {
        mkperf_report_error(peer, mkperf_ErrorCode_ERROR_STATE,
                            "the last session's samples are still on their way");
    } else if (m->which_msg == mkperf_ToTarget_configure_tag) {
        configure(peer, &m->msg.configure);
    } else if (m->which_msg == mkperf_ToTarget_stop_tag) {
        mkperf_report_refusal(peer, mkperf_control_stop(c, peer.who, peer.request));
    } else if (m->which_msg == mkperf_ToTarget_dump_tag) {
        mkperf_report_result(peer, mkperf_control_dump(peer));
    } else {
        mkperf_report_result(peer, mkperf_control_start(c));
    }
}

static void malformed(struct mkperf_peer peer, const char *text)
{
    peer.p->link.bad_frames++;
    peer.p->ending = peer.p->ends;
    peer.c->refused += peer.p->ends;
    mkperf_report_error(peer, mkperf_ErrorCode_ERROR_MALFORMED, "%s", text);
}

static void carry_out_request(struct mkperf_peer peer, const mkperf_ToTarget *m)
{
    struct mkperf_client *c = peer.c;

    switch (m->which_msg) {
    case mkperf_ToTarget_configure_tag:
    case mkperf_ToTarget_start_tag:
    case mkperf_ToTarget_stop_tag:
    case mkperf_ToTarget_dump_tag:
    case mkperf_ToTarget_observe_tag:
        carry_out_control(peer, m);
        break;
    case mkperf_ToTarget_get_status_tag:
        c->call(MKPERF_OP_STATUS);
        mkperf_report_status(peer);
        break;
    case mkperf_ToTarget_get_counts_tag:
        mkperf_report_part(peer, mkperf_ToHost_counts_tag, MKPERF_OP_COUNTS,
                           m->msg.get_counts.part);
        break;
    case mkperf_ToTarget_get_interactions_tag:
        mkperf_report_part(peer, mkperf_ToHost_interactions_tag, MKPERF_OP_INTERACTIONS,
                           m->msg.get_interactions.part);
        break;
    case mkperf_ToTarget_get_latency_tag:
        mkperf_report_part(peer, mkperf_ToHost_latency_tag, MKPERF_OP_LATENCY,
                           m->msg.get_latency.part);
        break;
    case mkperf_ToTarget_get_stamp_tag:
        mkperf_report_stamp(peer, m->msg.get_stamp.offset);
        break;
    case mkperf_ToTarget_list_events_tag:
        mkperf_stream_list(peer, false);
        break;
    case mkperf_ToTarget_reset_chains_tag:
        peer.p->wants_epoch = c->running;
        c->new_epoch |= c->running && peer.who == c->controller;
        if (peer.request != 0) {
            mkperf_report_ack(peer);
        }
        break;
    case mkperf_ToTarget_take_control_tag:
        mkperf_connection_take_control(peer, m->msg.take_control.force);
        break;
    case mkperf_ToTarget_command_tag:
        mkperf_command(peer, m->msg.command.text, sizeof m->msg.command.text);
        break;
    default:
        malformed(peer, "a message without a content that this target knows");
    }
}

/* Returns whether the connection may send message m now, of n bytes. Refusals are answered here. */
static bool admit(struct mkperf_peer peer, const mkperf_ToTarget *m, const uint8_t *message,
                  size_t n)
{
    struct mkperf_client *c = peer.c;
    struct mkperf_connection *p = peer.p;

    if (c->dump_by == peer.who && m->which_msg != mkperf_ToTarget_dump_tag) {
        c->dump_by = MKPERF_NOBODY; /* another program's requests may have the same numbers */
    }

    bool ready = mkperf_connection_ready(c, peer.who);
    bool authenticated = p->link.authenticated && mkperf_link_accept(&p->link, message, n);

    /* A serial line does not show that another host is there now: that one begins with a hello, and does not have the
     * keys of the host before. */
    if (m->which_msg == mkperf_ToTarget_hello_tag &&
        (authenticated || !p->link.authenticated || !p->ends)) {
        mkperf_connection_hello(peer, &m->msg.hello);
    } else if (m->which_msg == mkperf_ToTarget_prove_tag && (p->claim.open || !ready)) {
        mkperf_connection_prove(peer, &m->msg.prove);
    } else if (!ready) {
        c->bad_auth += c->key != NULL;
        p->ending = p->ends;
        mkperf_report_error(peer,
                            c->key != NULL ? mkperf_ErrorCode_ERROR_AUTHENTICATION
                                           : mkperf_ErrorCode_ERROR_PROTOCOL,
                            c->key != NULL ? "this target has a key: prove yours first"
                                           : "HostHello must be first");
    } else if (p->link.authenticated && !authenticated) {
        c->bad_auth++;
        p->ending = p->ends;
    } else {
        return true;
    }
    return false;
}

static void take_message(struct mkperf_peer peer, const uint8_t *message, size_t n)
{
    mkperf_ToTarget *m = &peer.c->in;
    pb_istream_t stream = pb_istream_from_buffer(message, n);

    peer.p->framed = true;
    if (mkperf_link_room(&peer.p->link) == 0) {
        peer.p->link.bad_frames++; /* It sends requests and does not read: it may repeat them. */
        return;
    }
    *m = (mkperf_ToTarget)mkperf_ToTarget_init_zero;
    bool decoded = pb_decode(&stream, mkperf_ToTarget_fields, m);
    peer.request = m->request;
    if (!decoded) {
        malformed(peer, "the message does not decode");
    } else if (admit(peer, m, message, n)) {
        carry_out_request(peer, m);
    }
}

/* Plain text, for people with a terminal: only without a key, and before the first frame. */
static void take_line(struct mkperf_peer peer)
{
    const char *line;
    int n = mkperf_link_line(&peer.p->link, &line);

    if (n <= 0) {
        return;
    }
    const char *refusal = NULL;
    if (peer.c->key != NULL) {
        refusal = "this target has a key: use mkperf\n";
    } else if (!mkperf_connection_admit(peer)) {
        refusal = "as many hosts are connected as there can be\n";
    }
    if (refusal != NULL) {
        mkperf_report_reply(peer, false, refusal, false);
        peer.p->ending = peer.p->ends;
        return;
    }
    mkperf_command(peer, line, (size_t)n);
}

void mkperf_client_byte(struct mkperf_client *c, unsigned who, uint8_t byte)
{
    struct mkperf_peer peer = mkperf_peer(c, who, 0);
    struct mkperf_connection *p = peer.p;
    const uint8_t *message;

    if (!p->used || p->ending) {
        return;
    }
    uint64_t bad = p->link.bad_frames;
    int n = mkperf_link_byte(&p->link, byte, &message);
    if (p->link.bad_frames != bad && p->ends) {
        p->ending = true; /* TCP has no noise: the sender uses another protocol */
        c->refused++;
        return;
    }
    if (byte == 0) {
        c->pool = (c->pool ^ mkperf_client_now(c)) * UINT64_C(0x9e3779b97f4a7c15);
        c->pool ^= c->pool >> 29;
    }
    if (n >= 0) {
        take_message(peer, message, (size_t)n);
    } else if (!p->framed && (byte == '\n' || byte == '\r')) {
        take_line(peer);
    }
}
