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

uint64_t mkperf_client_now(struct mkperf_client *c)
{
    return c->clock != NULL ? c->clock() : c->calls;
}

uint64_t mkperf_client_hz(const struct mkperf_client *c)
{
    return c->clock != NULL ? c->clock_hz : MKPERF_FALLBACK_HZ;
}

/* The request of a host, with the sizes of rings that text commands set. */
static void set_request(struct mkperf_client *c, const mkperf_Configure *m)
{
    struct mkperf_session_request *r = &c->page->request;

    *r = MKPERF_SESSION_REQUEST_ZERO;
    r->configure = *m;
    r->core_bytes = c->settings.core_bytes;
    r->output_bytes = m->overwrite_bytes != 0 ? m->overwrite_bytes : c->settings.output_bytes;
}

static void begin_session(struct mkperf_client *c)
{
    const mkperf_Session *s = &c->page->session;
    uint32_t bytes = c->page->output_bytes;

    if (mkperf_ring_size_ok(bytes) && bytes <= MKPERF_OUTPUT_RING_BYTES) {
        c->ring.size = bytes;
    }
    c->ring.tail = __atomic_load_n(&c->ring.ring->tail, __ATOMIC_RELAXED);
    mkperf_encoder_begin(&c->encoder, s->id, c->page->tick_hz);
    mkperf_sched_encoder_begin(&c->sched, s->id, c->page->tick_hz);
    for (unsigned i = 0; i < s->events_count && i < MKPERF_MAX_EVENTS; i++) {
        const mkperf_SessionEvent *e = &s->events[i];
        uint64_t period = c->page->status.period[i];
        bool jitter = !mkperf_page_bool(&s->no_jitter) &&
                      s->source == mkperf_SampleSource_SOURCE_HOOK;
        if (mkperf_page_bool(&e->read)) {
            continue; /* does not sample */
        }
        if (e->user_counter != 0) {
            mkperf_encoder_expect(&c->encoder, e->user_counter - 1, period, jitter);
        }
        if (e->kernel_counter != 0) {
            mkperf_encoder_expect(&c->encoder, e->kernel_counter - 1, period, jitter);
        }
    }
    for (unsigned i = 0; i < c->places; i++) {
        c->connection[i].gap = (struct mkperf_gap){0};
        c->connection[i].lost = 0;
        c->connection[i].sched_lost = 0;
    }
    c->corrupt = 0;
    c->dropped = 0;
    c->sched_dropped = 0;
    c->status_time = 0;
    c->status_due = false;
    c->ring_peak = 0;
    c->new_epoch = false;
    c->announce = true;
    c->running = true;
}

uint32_t mkperf_control_start(struct mkperf_client *c)
{
    uint32_t result = c->call(MKPERF_OP_START);

    c->trigger_there = false;
    if (result == MKPERF_RESULT_OK && !mkperf_page_bool(&c->page->session.overwrite)) {
        begin_session(c);
    }
    return result;
}

/* Restarts a dump that another host had started. A host repeats its request if the answer is late: that
 * is answered again, and the dump goes on. */
static uint32_t dump(struct mkperf_client *c, unsigned who, uint32_t request)
{
    if (c->dumping && c->dump_by == who && c->dump_request == request) {
        return MKPERF_RESULT_OK;
    }

    uint32_t result = c->call(MKPERF_OP_DUMP);

    if (result == MKPERF_RESULT_OK) {
        begin_session(c);
        c->stopping = true;
        c->dumping = true;
        c->dump_by = who;
        c->dump_request = request;
        c->stop_by = MKPERF_NOBODY;
    }
    return result;
}

bool mkperf_control_active(const struct mkperf_client *c)
{
    bool recording = (int)c->page->status.flight == MKPERF_FLIGHT_RECORDING;

    return !c->stopping && (c->running || recording);
}

uint32_t mkperf_control_stop(struct mkperf_client *c, unsigned by, uint32_t request)
{
    uint32_t result = c->call(MKPERF_OP_STOP);

    if (result == MKPERF_RESULT_OK) {
        c->stopping = true;
        c->stop_by = by;
        c->stop_request = request;
    }
    return result;
}

/* Whether the last session's end is still unreported; the answer is then an error. */
static bool busy(struct mkperf_client *c, unsigned who, uint32_t request)
{
    if (c->stopping) {
        mkperf_report_error(c, who, request, mkperf_ErrorCode_ERROR_STATE,
                            "the last session's samples are still on their way");
    }
    return c->stopping;
}

static void configure(struct mkperf_client *c, unsigned who, uint32_t request,
                      const mkperf_Configure *m)
{
    if (busy(c, who, request)) {
        return;
    }
    set_request(c, m);
    if (m->restart && c->running && mkperf_control_stop(c, who, request) == MKPERF_RESULT_OK) {
        c->restarting = true;
        return;
    }
    mkperf_report_result(c, who, request, c->call(MKPERF_OP_CONFIGURE));
}

static void stop(struct mkperf_client *c, unsigned who, uint32_t request)
{
    if (busy(c, who, request)) {
        return;
    }
    uint32_t result = mkperf_control_stop(c, who, request);
    if (result != MKPERF_RESULT_OK) {
        mkperf_report_refusal(c, who, request, result);
    }
}

/* Requests that change state: controller only. */
static void carry_out_control(struct mkperf_client *c, unsigned who)
{
    const mkperf_ToTarget *m = &c->in;

    if (c->controller != who) {
        c->refused++;
        mkperf_report_error(c, who, m->request, mkperf_ErrorCode_ERROR_NOT_CONTROLLER,
                            c->controller == MKPERF_NOBODY
                                ? "this connection only watches, and no host controls"
                                : "this connection only watches: another host controls");
    } else if (m->which_msg == mkperf_ToTarget_configure_tag) {
        configure(c, who, m->request, &m->msg.configure);
    } else if (m->which_msg == mkperf_ToTarget_stop_tag) {
        stop(c, who, m->request);
    } else if (m->which_msg == mkperf_ToTarget_dump_tag) {
        if (c->dumping || !busy(c, who, m->request)) {
            mkperf_report_result(c, who, m->request, dump(c, who, m->request));
        }
    } else if (m->which_msg == mkperf_ToTarget_observe_tag) {
        mkperf_client_observe(c, who, m->request, &m->msg.observe);
    } else if (!busy(c, who, m->request)) {
        mkperf_report_result(c, who, m->request, mkperf_control_start(c));
    }
}

static void malformed(struct mkperf_client *c, unsigned who, const char *text)
{
    struct mkperf_connection *p = &c->connection[who];

    p->link.bad_frames++;
    p->ending = p->ends;
    c->refused += p->ends;
    mkperf_report_error(c, who, c->in.request, mkperf_ErrorCode_ERROR_MALFORMED, text);
}

static void carry_out(struct mkperf_client *c, unsigned who)
{
    struct mkperf_connection *p = &c->connection[who];
    const mkperf_ToTarget *m = &c->in;

    switch (m->which_msg) {
    case mkperf_ToTarget_configure_tag:
    case mkperf_ToTarget_start_tag:
    case mkperf_ToTarget_stop_tag:
    case mkperf_ToTarget_dump_tag:
    case mkperf_ToTarget_observe_tag:
        carry_out_control(c, who);
        break;
    case mkperf_ToTarget_get_status_tag:
        c->call(MKPERF_OP_STATUS);
        mkperf_report_status(c, who, m->request);
        break;
    case mkperf_ToTarget_get_counts_tag:
        mkperf_report_counts(c, who, m->request, m->msg.get_counts.part);
        break;
    case mkperf_ToTarget_get_interactions_tag:
        mkperf_report_interactions(c, who, m->request, m->msg.get_interactions.part);
        break;
    case mkperf_ToTarget_get_latency_tag:
        mkperf_report_latency(c, who, m->request, m->msg.get_latency.part);
        break;
    case mkperf_ToTarget_get_stamp_tag:
        mkperf_client_stamp(c, who, m->request, m->msg.get_stamp.offset);
        break;
    case mkperf_ToTarget_list_events_tag:
        p->listing = true;
        p->list_text = false;
        p->list_request = m->request;
        p->list_next = 0;
        break;
    case mkperf_ToTarget_reset_chains_tag:
        p->wants_epoch = c->running;
        c->new_epoch |= c->running && who == c->controller;
        if (m->request != 0) {
            mkperf_report_ack(c, who, m->request);
        }
        break;
    case mkperf_ToTarget_take_control_tag:
        mkperf_connection_take_control(c, who, m->request, m->msg.take_control.force);
        break;
    case mkperf_ToTarget_command_tag:
        mkperf_command(c, who, m->request, m->msg.command.text, sizeof m->msg.command.text);
        break;
    default:
        malformed(c, who, "a message without a content that this target knows");
    }
}

/* Whether the connection may send this now. Refusals are answered here. */
static bool admit(struct mkperf_client *c, unsigned who, const uint8_t *message, size_t n)
{
    struct mkperf_connection *p = &c->connection[who];
    const mkperf_ToTarget *m = &c->in;

    if (c->dump_by == who && m->which_msg != mkperf_ToTarget_dump_tag) {
        c->dump_by = MKPERF_NOBODY; /* another program's requests may have the same numbers */
    }

    bool ready = mkperf_connection_ready(c, who);
    bool authenticated = p->link.authenticated && mkperf_link_accept(&p->link, message, n);

    /* On a line, a host may send a hello without the last host's keys. */
    if (m->which_msg == mkperf_ToTarget_hello_tag &&
        (authenticated || !p->link.authenticated || !p->ends)) {
        mkperf_connection_hello(c, who, m->request, &m->msg.hello);
    } else if (m->which_msg == mkperf_ToTarget_prove_tag && (p->claim.open || !ready)) {
        mkperf_connection_prove(c, who, m->request, &m->msg.prove);
    } else if (!ready) {
        c->bad_auth += c->key != NULL;
        p->ending = p->ends;
        mkperf_report_error(c, who, m->request,
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

static void take_message(struct mkperf_client *c, unsigned who, const uint8_t *message, size_t n)
{
    struct mkperf_connection *p = &c->connection[who];
    pb_istream_t stream = pb_istream_from_buffer(message, n);

    p->framed = true;
    if (mkperf_link_room(&p->link) == 0) {
        p->link.bad_frames++; /* a host that sends requests and does not read: it may repeat them */
        return;
    }
    c->in = (mkperf_ToTarget)mkperf_ToTarget_init_zero;
    if (!pb_decode(&stream, mkperf_ToTarget_fields, &c->in)) {
        malformed(c, who, "the message does not decode");
    } else if (admit(c, who, message, n)) {
        carry_out(c, who);
    }
}

/* Plain text, for people with a terminal: only without a key, and before the first frame. */
static void take_line(struct mkperf_client *c, unsigned who)
{
    struct mkperf_connection *p = &c->connection[who];
    const char *line;
    int n = mkperf_link_line(&p->link, &line);

    if (n <= 0) {
        return;
    }
    if (c->key != NULL) {
        static const char text[] = "this target has a key: use mkperf\n";
        mkperf_link_text(&p->link, text, sizeof text - 1);
        p->ending = p->ends;
        return;
    }
    if (!mkperf_connection_admit(c, who)) {
        static const char text[] = "as many hosts are connected as there can be\n";
        mkperf_link_text(&p->link, text, sizeof text - 1);
        p->ending = p->ends;
        return;
    }
    mkperf_command(c, who, 0, line, (size_t)n);
}

void mkperf_client_byte(struct mkperf_client *c, unsigned who, uint8_t byte)
{
    struct mkperf_connection *p = &c->connection[who];
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
        take_message(c, who, message, (size_t)n);
    } else if (!p->framed && (byte == '\n' || byte == '\r')) {
        take_line(c, who);
    }
}
