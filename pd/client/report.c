/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages to the host about what the profiler PD left in the session page.
 *
 * Owns: the translation from the page to the wire. Called by control.c. Strings and counts are cut
 * to their bounds: the page belongs to another PD.
 */
#include <string.h>

#include <pb_common.h>
#include <pb_encode.h>

#include <mkperf/frame.h>
#include <mkperf/version.h>

#include "../lib/text.h"
#include "control.h"

_Static_assert((int)MKPERF_RESULT_INTERNAL == (int)mkperf_ErrorCode_ERROR_INTERNAL, "codes");
_Static_assert((int)MKPERF_RESULT_NO_HOOK == (int)mkperf_ErrorCode_ERROR_NO_HOOK, "codes");
_Static_assert((int)MKPERF_RESULT_STATE == (int)mkperf_ErrorCode_ERROR_STATE, "codes");

static uint32_t at_most(uint32_t value, uint32_t limit)
{
    return value < limit ? value : limit;
}

/*
 * c->out into c->message; its length, 0 if it does not fit. The outer message is written here: to
 * learn a part's length nanopb encodes it twice.
 */
static size_t encode(struct mkperf_client *c, uint32_t request, pb_size_t which)
{
    enum { LENGTH = 2, TAIL = 6 }; /* a length of two bytes whatever it is; the request behind */
    pb_field_iter_t part;
    pb_ostream_t head = pb_ostream_from_buffer(c->message, sizeof c->message);

    if (!pb_field_iter_begin(&part, mkperf_ToHost_fields, &c->out) ||
        !pb_field_iter_find(&part, which)) {
        return 0;
    }
    if (!pb_encode_tag(&head, PB_WT_STRING, which)) {
        return 0;
    }
    uint8_t *at = c->message + head.bytes_written;
    size_t room = sizeof c->message - head.bytes_written - LENGTH - TAIL;
    pb_ostream_t inner = pb_ostream_from_buffer(at + LENGTH, room);
    if (!pb_encode(&inner, part.submsg_desc, part.pData)) {
        return 0;
    }
    at[0] = (uint8_t)(inner.bytes_written | 0x80);
    at[1] = (uint8_t)(inner.bytes_written >> 7);
    size_t n = head.bytes_written + LENGTH + inner.bytes_written;
    pb_ostream_t rest = pb_ostream_from_buffer(c->message + n, TAIL);
    if (request != 0 && (!pb_encode_tag(&rest, PB_WT_VARINT, mkperf_ToHost_request_tag) ||
                         !pb_encode_varint(&rest, request))) {
        return 0;
    }
    return n + rest.bytes_written;
}

static bool send(struct mkperf_client *c, unsigned who, uint32_t request, pb_size_t which)
{
    size_t n = encode(c, request, which);

    return n != 0 && mkperf_link_send(&c->connection[who].link, c->message, n);
}

bool mkperf_report_send(struct mkperf_client *c, unsigned who, uint32_t request, pb_size_t which)
{
    return send(c, who, request, which);
}

bool mkperf_report_hello(struct mkperf_client *c, unsigned who, uint32_t request)
{
    const struct mkperf_session_info *info = &c->page->info;
    const struct mkperf_connection *p = &c->connection[who];
    mkperf_TargetHello *m = &c->out.msg.hello;

    *m = (mkperf_TargetHello)mkperf_TargetHello_init_zero;
    m->protocol = MKPERF_PROTOCOL;
    m->boot_id = info->boot_id;
    struct mkperf_text platform = mkperf_text_begin(m->platform, sizeof m->platform);
    mkperf_text_put(&platform, c->platform);
    mkperf_text_copy(m->cpu, info->cpu, sizeof m->cpu);
    mkperf_text_copy(m->pmu, info->pmu, sizeof m->pmu);
    m->counters = info->counters;
    m->cores = info->cores;
    struct mkperf_text version = mkperf_text_begin(m->version, sizeof m->version);
    mkperf_text_put(&version, MKPERF_VERSION);
    m->authentication = c->key != NULL ? mkperf_Authentication_AUTHENTICATION_KEY
                                       : mkperf_Authentication_AUTHENTICATION_NONE;
    mkperf_client_stamp_hello(c, m);
    m->nonce.size = 0;
    m->proof.size = 0;
    if (request != 0 && p->challenged) {
        m->nonce.size = MKPERF_NONCE_BYTES;
        memcpy(m->nonce.bytes, p->hellos.target_nonce, MKPERF_NONCE_BYTES);
        m->proof.size = MKPERF_PROOF_BYTES;
        mkperf_auth_proof(c->key, MKPERF_ROLE_TARGET, &p->hellos, m->proof.bytes);
    }
    return send(c, who, request, mkperf_ToHost_hello_tag);
}

bool mkperf_report_session(struct mkperf_client *c, unsigned who, uint32_t request)
{
    const struct mkperf_session_state *s = &c->page->state;
    mkperf_Session *m = &c->out.msg.session;

    m->id = s->id;
    m->running = s->running != 0;
    m->max_frames = s->max_frames;
    m->no_jitter = s->no_jitter != 0;
    m->overwrite = s->overwrite != 0;
    m->turns = s->turns;
    m->source = s->timer ? mkperf_SampleSource_SOURCE_TIMER : mkperf_SampleSource_SOURCE_HOOK;
    m->events_count = (pb_size_t)at_most(s->events, MKPERF_MAX_EVENTS);
    for (unsigned i = 0; i < m->events_count; i++) {
        const struct mkperf_session_event *e = &s->event[i];
        mkperf_text_copy(m->events[i].name, e->name, sizeof e->name);
        m->events[i].code = e->code;
        m->events[i].user_counter = e->user_counter;
        m->events[i].kernel_counter = e->kernel_counter;
        m->events[i].period = e->period;
        m->events[i].frequency = e->frequency;
        m->events[i].count = e->count != 0;
        m->events[i].group = e->group;
        m->events[i].read = e->read != 0;
    }
    return send(c, who, request, mkperf_ToHost_session_tag);
}

_Static_assert((int)MKPERF_FLIGHT_HELD == (int)mkperf_FlightState_FLIGHT_HELD, "states");
_Static_assert((int)MKPERF_FLIGHT_FAULT == (int)mkperf_FlightTrigger_FLIGHT_FAULT, "triggers");

static void fill_flight(const struct mkperf_session_flight *f, mkperf_Status *m)
{
    m->flight = (mkperf_FlightState)at_most(f->state, MKPERF_FLIGHT_HELD);
    m->overwritten = f->overwritten;
    m->held = f->samples;
    m->trigger = (mkperf_FlightTrigger)at_most(f->why, MKPERF_FLIGHT_FAULT);
    m->trigger_thread = f->why == MKPERF_FLIGHT_FAULT ? f->thread + 2 : 0;
}

bool mkperf_report_status(struct mkperf_client *c, unsigned who, uint32_t request)
{
    const struct mkperf_session_status *s = &c->page->status;
    const struct mkperf_session_state *state = &c->page->state;
    const struct mkperf_connection *p = &c->connection[who];
    mkperf_Status *m = &c->out.msg.status;

    *m = (mkperf_Status)mkperf_Status_init_zero;
    m->session = state->id;
    m->running = state->running != 0;
    m->captured = s->captured;
    m->sent = c->encoder.sent - p->lost;
    m->lost_ring = s->lost_ring;
    m->lost_output = s->lost_output;
    m->lost_link = p->lost + c->dropped;
    m->late_events = s->late_events;
    m->spurious = s->spurious;
    m->corrupt = s->corrupt + c->corrupt;
    m->bad_frames = p->link.bad_frames;
    m->wakeups = s->wakeups;
    m->period_count = (pb_size_t)at_most(state->events, MKPERF_MAX_EVENTS);
    for (unsigned i = 0; i < m->period_count; i++) {
        m->period[i] = s->period[i];
    }
    m->tick_hz = state->tick_hz;
    m->enabled_ticks = s->enabled;
    m->running_ticks_count = state->turns > 1 ? m->period_count : 0;
    for (unsigned i = 0; i < m->running_ticks_count; i++) {
        m->running_ticks[i] = s->running[i];
    }
    m->bad_auth = c->bad_auth;
    m->refused = c->refused;
    m->rate_limited = c->rate_limited;
    m->connections = c->connections;
    m->links_lost = c->links_lost;
    m->marks_lost = c->marks_lost;
    m->ring_peak = c->ring_peak;
    m->ring_bytes = c->ring.size;
    fill_flight(&c->page->flight, m);
    m->has_attribution = state->timer != 0;
    m->attribution = (mkperf_Attribution){
        .proved = s->attribution.proved,
        .inferred = s->attribution.inferred,
        .ambiguous = s->attribution.ambiguous,
        .right = s->attribution.right,
        .wrong = s->attribution.wrong,
        .marked = s->attribution.marked,
        .faults = s->attribution.faults,
        .cost_ns = s->attribution.cost_ns,
        .spent_us = s->attribution.spent_us,
        .unread = s->attribution.unread,
    };
    return send(c, who, request, mkperf_ToHost_status_tag);
}

bool mkperf_report_observer(struct mkperf_client *c, unsigned who, uint32_t request)
{
    const struct mkperf_observer *o = &c->page->observer;
    mkperf_Observer *m = &c->out.msg.observer;

    mkperf_text_copy(m->pd, o->pd, sizeof m->pd);
    mkperf_text_copy(m->timer, o->timer, sizeof m->timer);
    return send(c, who, request, mkperf_ToHost_observer_tag);
}

bool mkperf_report_events(struct mkperf_client *c, unsigned who, uint32_t request)
{
    const struct mkperf_session_list *list = &c->page->list;
    mkperf_Events *m = &c->out.msg.events;

    m->more = list->more != 0;
    m->events_count = (pb_size_t)at_most(list->events, MKPERF_LIST_EVENTS);
    for (unsigned i = 0; i < m->events_count; i++) {
        mkperf_EventInfo *e = &m->events[i];
        mkperf_text_copy(e->name, list->event[i].name, sizeof e->name);
        mkperf_text_copy(e->description, list->event[i].description, sizeof e->description);
        e->code = list->event[i].code;
        e->supported = list->event[i].supported != 0;
    }
    return send(c, who, request, mkperf_ToHost_events_tag);
}

static void fill_threads(const struct mkperf_session_counts *counts, mkperf_Counts *m)
{
    m->threads_count = (pb_size_t)at_most(counts->threads, MKPERF_COUNT_PART);
    for (unsigned i = 0; i < m->threads_count; i++) {
        mkperf_ThreadCount *t = &m->threads[i];
        t->thread = counts->thread[i].thread + 2;
        t->user_count = t->kernel_count = (pb_size_t)at_most(counts->events, MKPERF_MAX_EVENTS);
        for (unsigned e = 0; e < t->user_count; e++) {
            t->user[e] = counts->thread[i].user[e];
            t->kernel[e] = counts->thread[i].kernel[e];
        }
    }
}

/* Asks the profiler PD for the part, too. */
bool mkperf_report_counts(struct mkperf_client *c, unsigned who, uint32_t request, uint32_t part)
{
    const struct mkperf_session_counts *counts = &c->page->counts;
    mkperf_Counts *m = &c->out.msg.counts;

    c->page->request.counts_part = part;
    uint32_t result = c->call(MKPERF_OP_COUNTS);
    if (result != MKPERF_RESULT_OK) {
        return mkperf_report_refusal(c, who, request, result);
    }
    *m = (mkperf_Counts)mkperf_Counts_init_zero;
    m->session = c->page->state.id;
    m->running = c->page->state.running != 0;
    m->tick_hz = c->page->state.tick_hz;
    m->enabled_ticks = counts->enabled;
    m->part = part;
    m->parts = counts->parts;
    m->turns = counts->turns;
    m->by_pd = counts->by_thread != 0;
    m->events_count = part == 0 ? (pb_size_t)at_most(counts->events, MKPERF_MAX_EVENTS) : 0;
    for (unsigned i = 0; i < m->events_count; i++) {
        m->events[i].user = counts->event[i].user;
        m->events[i].kernel = counts->event[i].kernel;
        m->events[i].running_ticks = counts->event[i].running;
    }
    fill_threads(counts, m);
    return send(c, who, request, mkperf_ToHost_counts_tag);
}

_Static_assert(mkperf_Interactions_size + 16 <= MKPERF_CONTENT_BYTES, "message size");

static void fill_edges(const struct mkperf_session_edges *from, mkperf_Interactions *m)
{
    m->edges_count = (pb_size_t)at_most(from->edges, MKPERF_EDGE_PART);
    for (unsigned i = 0; i < m->edges_count; i++) {
        m->edges[i].from = from->edge[i].from + 2;
        m->edges[i].to = from->edge[i].to + 2;
        m->edges[i].calls = from->edge[i].calls;
        m->edges[i].notifications = from->edge[i].notifications;
    }
    m->threads_count = (pb_size_t)at_most(from->threads, MKPERF_EDGE_PART);
    for (unsigned i = 0; i < m->threads_count; i++) {
        m->threads[i].thread = from->thread[i].thread + 2;
        m->threads[i].count_count = MKPERF_SOFT_KINDS;
        for (unsigned kind = 0; kind < MKPERF_SOFT_KINDS; kind++) {
            m->threads[i].count[kind] = from->thread[i].count[kind];
        }
    }
}

/* Asks the profiler PD for the part, too. */
bool mkperf_report_interactions(struct mkperf_client *c, unsigned who, uint32_t request,
                                uint32_t part)
{
    const struct mkperf_session_edges *from = &c->page->edges;
    mkperf_Interactions *m = &c->out.msg.interactions;

    c->page->request.counts_part = part;
    uint32_t result = c->call(MKPERF_OP_EDGES);
    if (result != MKPERF_RESULT_OK) {
        return mkperf_report_refusal(c, who, request, result);
    }
    *m = (mkperf_Interactions)mkperf_Interactions_init_zero;
    m->session = c->page->state.id;
    m->tick_hz = c->page->state.tick_hz;
    m->enabled_ticks = from->enabled;
    m->part = part;
    m->parts = from->parts;
    m->records_dropped = from->records_dropped;
    m->total_count = MKPERF_SOFT_KINDS;
    for (unsigned kind = 0; kind < MKPERF_SOFT_KINDS; kind++) {
        m->total[kind] = from->total[kind];
    }
    fill_edges(from, m);
    return send(c, who, request, mkperf_ToHost_interactions_tag);
}

bool mkperf_report_role(struct mkperf_client *c, unsigned who, uint32_t request)
{
    mkperf_Role *m = &c->out.msg.role;

    *m = (mkperf_Role){
        .control = c->controller == who,
        .controlled = c->controller != MKPERF_NOBODY,
        .watchers = mkperf_peer_watchers(c),
        .you = c->connection[who].number,
    };
    if (m->controlled) {
        mkperf_text_copy(m->controller, c->connection[c->controller].name, sizeof m->controller);
    }
    return send(c, who, request, mkperf_ToHost_role_tag);
}

bool mkperf_report_gap(struct mkperf_client *c, unsigned who)
{
    const struct mkperf_gap *gap = &c->connection[who].gap;

    c->out.msg.gap = (mkperf_Gap){
        .session = c->page->state.id,
        .first_sample = gap->first,
        .samples = gap->samples,
        .batches = gap->batches,
        .reason = gap->joined ? mkperf_GapReason_GAP_JOINED : mkperf_GapReason_GAP_SLOW,
    };
    return send(c, who, 0, mkperf_ToHost_gap_tag);
}

bool mkperf_report_mark(struct mkperf_client *c, const mkperf_Mark *mark)
{
    c->out.msg.mark = *mark;
    size_t n = encode(c, 0, mkperf_ToHost_mark_tag);
    if (n != 0) {
        mkperf_stream_mark(c, n);
    }
    return n != 0;
}

bool mkperf_report_reply(struct mkperf_client *c, unsigned who, uint32_t request, bool ok,
                         const char *text, bool more)
{
    mkperf_Reply *m = &c->out.msg.reply;
    size_t n = 0;

    while (text[n] != '\0') {
        n++;
    }
    if (!c->connection[who].framed) {
        return mkperf_link_text(&c->connection[who].link, text, n);
    }
    if (request == 0) {
        return true; /* no answer wanted */
    }
    m->ok = ok;
    m->more = more;
    struct mkperf_text t = mkperf_text_begin(m->text, sizeof m->text);
    mkperf_text_put(&t, text);
    return send(c, who, request, mkperf_ToHost_reply_tag);
}

bool mkperf_report_result(struct mkperf_client *c, unsigned who, uint32_t request, uint32_t result)
{
    if (request == 0) {
        return true;
    }
    return result == MKPERF_RESULT_OK ? mkperf_report_session(c, who, request)
                                      : mkperf_report_refusal(c, who, request, result);
}

bool mkperf_report_ack(struct mkperf_client *c, unsigned who, uint32_t request)
{
    return send(c, who, request, mkperf_ToHost_ack_tag);
}

static bool report_error(struct mkperf_client *c, unsigned who, uint32_t request, uint32_t code,
                         uint32_t event, const char *text, size_t n)
{
    mkperf_Error *m = &c->out.msg.error;

    if (request == 0) {
        return true; /* no answer wanted */
    }
    m->code = (mkperf_ErrorCode)code;
    m->event = event;
    mkperf_text_copy(m->text, text, n < sizeof m->text ? n : sizeof m->text);
    return send(c, who, request, mkperf_ToHost_error_tag);
}

bool mkperf_report_error(struct mkperf_client *c, unsigned who, uint32_t request, uint32_t code,
                         const char *text)
{
    size_t n = 1;

    while (text[n - 1] != '\0' && n < MKPERF_TEXT_BYTES) {
        n++;
    }
    return report_error(c, who, request, code, 0, text, n);
}

bool mkperf_report_refusal(struct mkperf_client *c, unsigned who, uint32_t request, uint32_t result)
{
    const struct mkperf_session_error *e = &c->page->error;

    if (e->code != result) {
        return mkperf_report_error(c, who, request, mkperf_ErrorCode_ERROR_INTERNAL,
                                   "the profiler PD refused and gave no reason");
    }
    return report_error(c, who, request, e->code, e->event, e->text, sizeof e->text);
}

size_t mkperf_report_busy(struct mkperf_client *c, uint8_t *frame)
{
    mkperf_Error *m = &c->out.msg.error;
    struct mkperf_text text = mkperf_text_begin(m->text, sizeof m->text);

    m->code = mkperf_ErrorCode_ERROR_BUSY;
    m->event = 0;
    mkperf_text_put(&text, "as many hosts are connected as there can be");
    return mkperf_frame_encode(frame, 0, c->message, encode(c, 0, mkperf_ToHost_error_tag));
}
