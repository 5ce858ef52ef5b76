/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages to hosts.
 *
 * Owns: the encoding of everything but batches. Called by the client's other files. Most messages
 * are in the session page, written by the profiler PD, and are sent from there; the client adds its
 * own fields. nanopb refuses malformed ones, since the page belongs to another PD.
 */
#include <string.h>

#include <pb_encode.h>

#include <mkperf/frame.h>
#include <mkperf/version.h>

#include "../lib/text.h"
#include "control.h"

/* Encodes a message of type `which` of ToHost into c->message. Returns its length; 0: it does not
 * fit or is not well-formed. */
static size_t encode(struct mkperf_client *c, uint32_t request, pb_size_t which,
                     const pb_msgdesc_t *fields, const void *message)
{
    pb_ostream_t out = pb_ostream_from_buffer(c->message, sizeof c->message);
    bool ok = pb_encode_tag(&out, PB_WT_STRING, which) &&
              pb_encode_submessage(&out, fields, message) &&
              (request == 0 || (pb_encode_tag(&out, PB_WT_VARINT, mkperf_ToHost_request_tag) &&
                                pb_encode_varint(&out, request)));

    return ok ? out.bytes_written : 0;
}

static void send_message(struct mkperf_peer peer, pb_size_t which, const pb_msgdesc_t *fields,
                         const void *message)
{
    size_t n = encode(peer.c, peer.request, which, fields, message);

    if (n != 0) {
        mkperf_link_send(&peer.p->link, peer.c->message, n);
    }
}

/* SEND(session, mkperf_Session, message): with the tag and the fields of that message. */
#define SEND(name, type, message) \
    send_message(peer, mkperf_ToHost_##name##_tag, type##_fields, message)

/* ---- the stamp: the image's table of programs ---- */

/* Returns bytes of the table; 0: the image is not stamped, or the table is damaged. */
static uint32_t table_bytes(const struct mkperf_client *c)
{
    if (c->stamp == NULL || c->stamp_reserved < MKPERF_STAMP_HEADER_BYTES ||
        memcmp(c->stamp, MKPERF_STAMP_MAGIC, MKPERF_STAMP_MAGIC_BYTES) != 0) {
        return 0;
    }
    const uint8_t *p = c->stamp + MKPERF_STAMP_SIZE_AT;
    uint32_t size = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    return size >= MKPERF_STAMP_HEADER_BYTES && size <= c->stamp_reserved ? size : 0;
}

/* ---- messages that are in the page ---- */

enum {
    /* An edge and a thread, each with its key and length. The schema has room for more than are sent. */
    ROW_BYTES = mkperf_Edge_size + 2 + mkperf_ThreadEvents_size + 2,
    ROWS_NOT_SENT = MKPERF_ROOM(mkperf_Interactions, edges) - MKPERF_EDGE_PART,
};
_Static_assert(mkperf_Interactions_size - ROWS_NOT_SENT * ROW_BYTES + 16 <= MKPERF_CONTENT_BYTES,
               "message size");

void mkperf_report_page(struct mkperf_peer peer, uint32_t which)
{
#define PAGE(name, type)                                                                      \
    {                                                                                         \
        mkperf_ToHost_##name##_tag, type##_fields, offsetof(struct mkperf_session_page, name) \
    }
    static const struct {
        uint32_t which;
        const pb_msgdesc_t *fields;
        size_t at;
    } messages[] = {
        PAGE(session, mkperf_Session), PAGE(observer, mkperf_Observer),
        PAGE(events, mkperf_Events),   PAGE(counts, mkperf_Counts),
        PAGE(latency, mkperf_Latency), PAGE(interactions, mkperf_Interactions),
        PAGE(error, mkperf_Error),
    };

    for (unsigned i = 0; i < sizeof messages / sizeof *messages; i++) {
        if (messages[i].which == which) {
            send_message(peer, (pb_size_t)which, messages[i].fields,
                         (const uint8_t *)peer.c->page + messages[i].at);
        }
    }
}

void mkperf_report_part(struct mkperf_peer peer, uint32_t which, uint32_t op, uint32_t part)
{
    peer.c->page->part = part;
    if (!mkperf_report_refusal(peer, peer.c->call(op))) {
        mkperf_report_page(peer, which);
    }
}

/* ---- other messages ---- */

void mkperf_report_hello(struct mkperf_peer peer)
{
    struct mkperf_client *c = peer.c;
    const struct mkperf_claim *claim = &peer.p->claim;
    mkperf_TargetHello *m = &c->out.hello;

    *m = c->page->hello;
    m->protocol = MKPERF_PROTOCOL;
    mkperf_text_copy(m->platform, c->platform, sizeof m->platform);
    mkperf_text_copy(m->version, MKPERF_VERSION, sizeof m->version);
    m->authentication = c->key != NULL ? mkperf_Authentication_AUTHENTICATION_KEY
                                       : mkperf_Authentication_AUTHENTICATION_NONE;
    m->stamp_bytes = table_bytes(c);
    m->image.size = m->stamp_bytes != 0 ? MKPERF_STAMP_IMAGE_BYTES : 0;
    if (m->image.size != 0) {
        memcpy(m->image.bytes, c->stamp + MKPERF_STAMP_IMAGE_AT, MKPERF_STAMP_IMAGE_BYTES);
    }
    m->nonce.size = 0;
    m->proof.size = 0;
    if (peer.request != 0 && claim->open) {
        m->nonce.size = MKPERF_NONCE_BYTES;
        memcpy(m->nonce.bytes, claim->hellos.target_nonce, MKPERF_NONCE_BYTES);
        m->proof.size = MKPERF_PROOF_BYTES;
        mkperf_auth_proof(claim->key, MKPERF_ROLE_TARGET, &claim->hellos, m->proof.bytes);
    }
    SEND(hello, mkperf_TargetHello, m);
}

void mkperf_report_status(struct mkperf_peer peer)
{
    struct mkperf_client *c = peer.c;
    const struct mkperf_connection *p = peer.p;
    mkperf_Status *m = &c->out.status;

    *m = c->page->status;
    m->sent = c->encoder.sent - p->lost;
    m->lost_link = p->lost + c->dropped;
    m->sched_sent = c->sched.sent - p->sched_lost;
    m->sched_lost_link = p->sched_lost + c->sched_dropped;
    m->corrupt += c->corrupt;
    m->bad_frames = p->link.bad_frames;
    m->bad_auth = c->bad_auth;
    m->refused = c->refused;
    m->connections = c->connections;
    m->links_lost = c->links_lost;
    m->marks_lost = c->marks_lost;
    m->ring_peak = c->ring_peak;
    m->ring_bytes = c->ring.size;
    SEND(status, mkperf_Status, m);
}

void mkperf_report_role(struct mkperf_peer peer)
{
    struct mkperf_client *c = peer.c;
    bool controlled = c->controller != MKPERF_NOBODY;
    uint32_t watchers = c->ready & ~(controlled ? UINT32_C(1) << c->controller : 0);
    mkperf_Role m = {
        .control = c->controller == peer.who,
        .controlled = controlled,
        .watchers = (uint32_t)__builtin_popcount(watchers),
        .you = peer.p->number,
    };

    if (controlled) {
        mkperf_text_copy(m.controller, c->connection[c->controller].name, sizeof m.controller);
    }
    SEND(role, mkperf_Role, &m);
}

void mkperf_report_gap(struct mkperf_peer peer)
{
    const struct mkperf_gap *gap = &peer.p->gap;
    mkperf_Gap m = {
        .session = peer.c->page->session.id,
        .first_sample = gap->first,
        .samples = gap->samples,
        .batches = gap->batches,
        .reason = gap->joined ? mkperf_GapReason_GAP_JOINED : mkperf_GapReason_GAP_SLOW,
    };

    SEND(gap, mkperf_Gap, &m);
}

void mkperf_report_mark(struct mkperf_client *c, const mkperf_Mark *mark)
{
    size_t n = encode(c, 0, mkperf_ToHost_mark_tag, mkperf_Mark_fields, mark);

    MKPERF_EACH_BIT (i, n != 0 ? c->ready : 0) {
        struct mkperf_link *l = &c->connection[i].link;
        if (mkperf_link_room(l) > MKPERF_ANSWER_FRAMES) {
            mkperf_link_send(l, c->message, n);
        } else {
            c->marks_lost++;
        }
    }
}

void mkperf_report_reply(struct mkperf_peer peer, bool ok, const char *text, bool more)
{
    mkperf_Reply *m = &peer.c->out.reply;

    if (!peer.p->framed) {
        mkperf_link_text(&peer.p->link, text, strlen(text));
    } else if (peer.request != 0) {
        m->ok = ok;
        m->more = more;
        mkperf_text_copy(m->text, text, sizeof m->text);
        SEND(reply, mkperf_Reply, m);
    }
}

void mkperf_report_result(struct mkperf_peer peer, uint32_t result)
{
    if (!mkperf_report_refusal(peer, result) && peer.request != 0) {
        mkperf_report_page(peer, mkperf_ToHost_session_tag);
    }
}

void mkperf_report_ack(struct mkperf_peer peer)
{
    SEND(ack, mkperf_Ack, &(mkperf_Ack)mkperf_Ack_init_zero);
}

void mkperf_report_error(struct mkperf_peer peer, uint32_t code, const char *text, ...)
{
    mkperf_Error *m = &peer.c->out.error;
    struct mkperf_text t = mkperf_text_begin(m->text, sizeof m->text);
    va_list values;

    va_start(values, text);
    mkperf_text_vprint(&t, text, values);
    va_end(values);
    m->code = (mkperf_ErrorCode)code;
    m->event = 0;
    if (peer.request != 0) {
        SEND(error, mkperf_Error, m);
    }
}

bool mkperf_report_refusal(struct mkperf_peer peer, uint32_t result)
{
    if (result == MKPERF_RESULT_OK) {
        return false;
    }
    if ((uint32_t)peer.c->page->error.code != result) {
        mkperf_report_error(peer, mkperf_ErrorCode_ERROR_INTERNAL,
                            "the profiler PD refused and gave no reason");
    } else if (peer.request != 0) {
        mkperf_report_page(peer, mkperf_ToHost_error_tag);
    }
    return true;
}

/* Queues a part of the image's table. The entries are not read here: the host that asked for them
 * checks them. */
void mkperf_report_stamp(struct mkperf_peer peer, uint32_t offset)
{
    struct mkperf_client *c = peer.c;
    uint32_t size = table_bytes(c);
    mkperf_Stamp *m = &c->out.stamp;

    if (size == 0) {
        mkperf_report_error(peer, mkperf_ErrorCode_ERROR_STATE,
                            "this image has no stamp: mkperf stamp writes one");
        return;
    }
    if (offset >= size) {
        mkperf_report_error(peer, mkperf_ErrorCode_ERROR_RANGE,
                            "the stamp ends before this offset");
        return;
    }
    uint32_t n = size - offset;
    n = n < MKPERF_STAMP_PART_BYTES ? n : MKPERF_STAMP_PART_BYTES;
    m->offset = offset;
    m->size = size;
    m->table.size = (pb_size_t)n;
    memcpy(m->table.bytes, c->stamp + offset, n);
    SEND(stamp, mkperf_Stamp, m);
}

void mkperf_report_events_text(struct mkperf_peer peer, bool more)
{
    static char answer[sizeof((mkperf_Reply *)0)->text]; /* too large for a PD's stack */
    const mkperf_Events *list = &peer.c->page->events;
    char name[sizeof list->events[0].name];
    char description[sizeof list->events[0].description];
    struct mkperf_text t = mkperf_text_begin(answer, sizeof answer);

    for (uint32_t i = 0; i < MKPERF_LIST_EVENTS && i < list->events_count; i++) {
        const mkperf_EventInfo *e = &list->events[i];
        if (!mkperf_page_bool(&e->supported)) {
            continue;
        }
        mkperf_text_copy(name, e->name, sizeof name);
        mkperf_text_copy(description, e->description, sizeof description);
        mkperf_text_print(&t, "%s  %s\n", name, description);
    }
    mkperf_report_reply(peer, true, answer, more);
}
