/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client PD without its platform: see control.h, which says what is owned, who calls, and what
 * becomes of records when the line is slow.
 *
 * Messages from the host are trusted in nothing: nanopb bounds their fields, the profiler PD checks
 * their values.
 */
#include "control.h"

#include <pb_decode.h>

#include "../lib/text.h"

enum {
    /* Frames of the queue that only answers to the host may fill: hello, session, status, error. */
    ANSWER_FRAMES = 4,
    /* Frames that one step may queue: hello and session before a batch, a status after it. */
    STEP_FRAMES = 4,
    MAX_STEPS = 16384, /* in one call; the queue and the ring are exhausted long before */
};

void mkperf_client_init(struct mkperf_client *c)
{
    c->ring.tail = __atomic_load_n(&c->ring.ring->tail, __ATOMIC_RELAXED);
    c->call(MKPERF_OP_INFO);
}

static void set_request(struct mkperf_client *c, const mkperf_Configure *m)
{
    struct mkperf_session_request *r = &c->page->request;

    r->events = m->events_count;
    r->max_frames = m->max_frames;
    r->no_jitter = m->no_jitter;
    r->wake_samples = 0;
    for (unsigned i = 0; i < m->events_count; i++) {
        const mkperf_EventSpec *e = &m->events[i];
        mkperf_text_copy(r->event[i].name, e->name, sizeof r->event[i].name);
        r->event[i].raw = e->raw;
        r->event[i].user = e->user;
        r->event[i].kernel = e->kernel;
        r->event[i].frequency = e->frequency;
        r->event[i].period = e->period;
    }
}

static void hello(struct mkperf_client *c, uint32_t request, const mkperf_HostHello *m)
{
    if (m->protocol != MKPERF_PROTOCOL) {
        mkperf_report_error(c, request, mkperf_ErrorCode_ERROR_PROTOCOL,
                            "the target speaks mkperf protocol 1 and the host another: use the "
                            "mkperf command that belongs to the target's build");
        return;
    }
    c->call(MKPERF_OP_INFO);
    if (request != 0) {
        mkperf_report_hello(c, request);
    }
    c->new_epoch = c->running; /* a host that comes in the middle knows no chain */
}

/* Answers with the session's state, or why the call was refused. */
static bool answer_session(struct mkperf_client *c, uint32_t request, uint32_t result)
{
    if (request != 0) {
        if (result == MKPERF_RESULT_OK) {
            mkperf_report_session(c, request);
        } else {
            mkperf_report_refusal(c, request, result);
        }
    }
    return result == MKPERF_RESULT_OK;
}

static void begin_session(struct mkperf_client *c)
{
    const struct mkperf_session_state *s = &c->page->state;

    mkperf_encoder_begin(&c->encoder, s->id, s->tick_hz);
    for (unsigned i = 0; i < s->events && i < MKPERF_MAX_EVENTS; i++) {
        const struct mkperf_session_event *e = &s->event[i];
        uint64_t period = c->page->status.period[i];
        if (e->user_counter != 0) {
            mkperf_encoder_expect(&c->encoder, e->user_counter - 1, period);
        }
        if (e->kernel_counter != 0) {
            mkperf_encoder_expect(&c->encoder, e->kernel_counter - 1, period);
        }
    }
    c->corrupt = 0;
    c->status_time = 0;
    c->new_epoch = false;
    c->announce = true;
    c->running = true;
}

static void start(struct mkperf_client *c, uint32_t request)
{
    if (c->stopping) {
        mkperf_report_error(c, request, mkperf_ErrorCode_ERROR_STATE,
                            "the last session's samples are still on their way");
    } else if (answer_session(c, request, c->call(MKPERF_OP_START))) {
        begin_session(c);
    }
}

static void stop(struct mkperf_client *c, uint32_t request)
{
    uint32_t result = c->call(MKPERF_OP_STOP);

    if (result == MKPERF_RESULT_OK) {
        c->stopping = true;
        c->stop_request = request;
    } else if (request != 0) {
        mkperf_report_refusal(c, request, result);
    }
}

static void carry_out(struct mkperf_client *c)
{
    const mkperf_ToTarget *m = &c->in;
    uint32_t request = m->request;

    switch (m->which_msg) {
    case mkperf_ToTarget_hello_tag:
        hello(c, request, &m->msg.hello);
        break;
    case mkperf_ToTarget_configure_tag:
        set_request(c, &m->msg.configure);
        answer_session(c, request, c->call(MKPERF_OP_CONFIGURE));
        break;
    case mkperf_ToTarget_start_tag:
        start(c, request);
        break;
    case mkperf_ToTarget_stop_tag:
        stop(c, request);
        break;
    case mkperf_ToTarget_get_status_tag:
        c->call(MKPERF_OP_STATUS);
        mkperf_report_status(c, request);
        break;
    case mkperf_ToTarget_list_events_tag:
        c->listing = true;
        c->list_request = request;
        c->list_next = 0;
        break;
    case mkperf_ToTarget_reset_chains_tag:
        c->new_epoch = true;
        if (request != 0) {
            mkperf_report_ack(c, request);
        }
        break;
    default:
        c->link.bad_frames++;
        mkperf_report_error(c, request, mkperf_ErrorCode_ERROR_MALFORMED,
                            "a message without a content that this target knows");
    }
}

void mkperf_client_byte(struct mkperf_client *c, uint8_t byte)
{
    const uint8_t *message;
    int n = mkperf_link_byte(&c->link, byte, &message);

    if (n < 0) {
        return;
    }
    if (mkperf_link_room(&c->link) == 0) {
        c->link.bad_frames++; /* a host that asks and does not listen: it may ask again */
        return;
    }
    pb_istream_t stream = pb_istream_from_buffer(message, (size_t)n);
    c->in = (mkperf_ToTarget)mkperf_ToTarget_init_zero;
    if (pb_decode(&stream, mkperf_ToTarget_fields, &c->in)) {
        carry_out(c);
        return;
    }
    c->link.bad_frames++;
    if (c->in.request != 0) {
        mkperf_report_error(c, c->in.request, mkperf_ErrorCode_ERROR_MALFORMED,
                            "the message does not decode");
    }
}

/* Sends the batch, whatever is in it, and once a second of the target's time a status. */
static void flush(struct mkperf_client *c)
{
    uint64_t time = c->encoder.last_time;
    size_t n = mkperf_encoder_finish(&c->encoder, c->message);

    if (n == 0) {
        return;
    }
    mkperf_link_send(&c->link, c->message, n);
    c->new_epoch |= mkperf_encoder_epoch_over(&c->encoder);
    if (c->status_time == 0) {
        c->status_time = time;
    }
    if (!c->stopping && time - c->status_time >= c->encoder.tick_hz) {
        c->status_time = time;
        c->call(MKPERF_OP_STATUS);
        mkperf_report_status(c, 0);
    }
}

static void list_events(struct mkperf_client *c)
{
    c->page->request.list_first = c->list_next;
    c->call(MKPERF_OP_LIST);
    c->list_next += MKPERF_LIST_EVENTS;
    c->listing = c->page->list.more != 0 && c->list_next < UINT16_MAX;
    mkperf_report_events(c, c->list_request);
}

/* The output ring is empty and its last batch sent. */
static bool end_session(struct mkperf_client *c)
{
    uint32_t size;
    bool corrupt = false;

    c->call(MKPERF_OP_DRAIN); /* losses that had no room in the ring until now */
    if (mkperf_ring_peek(&c->ring, &size, &corrupt) != NULL) {
        return true;
    }
    c->running = false;
    c->stopping = false;
    mkperf_report_status(c, c->stop_request);
    return false;
}

/* Takes one record. */
static void take(struct mkperf_client *c, const uint64_t *record, unsigned size)
{
    if (c->announce) {
        c->announce = false;
        mkperf_report_hello(c, 0);
        mkperf_report_session(c, 0);
    }
    switch (mkperf_encoder_add(&c->encoder, record, size)) {
    case MKPERF_ENCODE_FULL:
        flush(c);
        return; /* the record stays for the next step */
    case MKPERF_ENCODE_BAD:
        c->corrupt++;
        break;
    case MKPERF_ENCODE_ADDED:
        break;
    }
    mkperf_ring_release(&c->ring, size);
}

/* One thing that is to be done. False: nothing is left. */
static bool step(struct mkperf_client *c)
{
    unsigned size;
    bool corrupt = false;

    if (c->listing) {
        list_events(c);
        return true;
    }
    if (c->new_epoch && c->running) {
        flush(c);
        c->new_epoch = false;
        mkperf_encoder_new_epoch(&c->encoder);
        c->announce = true;
        return true;
    }
    const uint64_t *record = mkperf_ring_peek(&c->ring, &size, &corrupt);
    c->corrupt += corrupt;
    if (record != NULL) {
        take(c, record, size);
        return true;
    }
    if (!mkperf_encoder_empty(&c->encoder)) {
        flush(c);
        return true;
    }
    return c->stopping && end_session(c);
}

void mkperf_client_pump(struct mkperf_client *c)
{
    for (unsigned i = 0; i < MAX_STEPS; i++) {
        if (mkperf_link_room(&c->link) < ANSWER_FRAMES + STEP_FRAMES || !step(c)) {
            break;
        }
    }
}
