/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unsolicited messages: records as batches, periodic status, roles, and the end of a session.
 *
 * Owns: the pace. The stream is encoded once for all connections; it advances while the
 * controller's link has space, or without a controller while any link has. A connection that is
 * full when a batch is sent misses it, and everything up to the next epoch: its gap.
 */
#include "control.h"

#include "../lib/text.h"

enum {
    /* Frames that one step may queue: hello, session, gap and status before records; scheduling
     * events and a batch. */
    STEP_FRAMES = 6,
    MAX_STEPS = 16384, /* steps of one call; the queues and the ring are exhausted earlier */
    REJOIN_FRAMES = MKPERF_ANSWER_FRAMES + STEP_FRAMES + 8, /* space that ends a gap */
};

static bool peer_has_room(const struct mkperf_client *c, unsigned who)
{
    return mkperf_link_room(&c->connection[who].link) >= MKPERF_ANSWER_FRAMES + STEP_FRAMES;
}

/* Returns whether a connection gets a frame of a step. One that had room for the step at its
 * beginning has it for each of its frames. */
static bool accepts(const struct mkperf_connection *p)
{
    return mkperf_link_room(&p->link) > MKPERF_ANSWER_FRAMES;
}

/* Returns whether the link that sets the pace accepts a step's frames. */
static bool may_go_on(const struct mkperf_client *c)
{
    if (c->controller != MKPERF_NOBODY && mkperf_connection_ready(c, c->controller)) {
        return peer_has_room(c, c->controller);
    }
    MKPERF_EACH_BIT (i, c->ready) {
        if (peer_has_room(c, i)) {
            return true;
        }
    }
    return false;
}

void mkperf_stream_join(struct mkperf_peer peer)
{
    struct mkperf_client *c = peer.c;
    struct mkperf_connection *p = peer.p;

    p->gap = (struct mkperf_gap){.open = c->running, .joined = true, .samples = c->encoder.sent};
    p->lost = 0;
    p->sched_lost = 0;
    c->new_epoch |= c->running && peer.who == c->controller;
}

static void open_gap(struct mkperf_connection *p, uint64_t first)
{
    if (!p->gap.open) {
        p->gap = (struct mkperf_gap){.open = true, .first = first};
    }
}

/* Returns whether a connection in a gap, with an empty queue, needs an epoch. A controller gets it
 * at once, a watcher after MKPERF_WATCHER_EPOCH messages. */
static bool epoch_wanted(const struct mkperf_client *c)
{
    uint32_t sent = c->encoder.batches + c->sched.messages;

    MKPERF_EACH_BIT (i, c->ready) {
        if ((c->connection[i].gap.open || c->connection[i].wants_epoch) &&
            mkperf_link_room(&c->connection[i].link) >= REJOIN_FRAMES &&
            (sent >= MKPERF_WATCHER_EPOCH || i == c->controller)) {
            return true;
        }
    }
    return false;
}

/* Sends a status to all connections that have space. Called only while the ring has records: the
 * request makes the profiler PD add its latest samples, which would otherwise be a batch of their
 * own. */
static void tell_status(struct mkperf_client *c)
{
    c->status_due = false;
    if (c->stopping) {
        return;
    }
    c->call(MKPERF_OP_STATUS);
    MKPERF_EACH_BIT (i, c->ready) {
        if (peer_has_room(c, i)) {
            mkperf_report_status(mkperf_peer(c, i, 0));
        }
    }
    c->ring_peak = 0;
}

/* Sends the n bytes in c->message to all connections without a gap: scheduling events, or a batch of
 * samples of which the first has the number `first`. time: of the last one. A status is due once a second
 * of the target's time. */
static void send_stream(struct mkperf_client *c, size_t n, uint64_t time, uint64_t first,
                        uint64_t samples, uint64_t events)
{
    MKPERF_EACH_BIT (i, n != 0 ? c->ready : 0) {
        struct mkperf_connection *p = &c->connection[i];
        if (!p->gap.open && accepts(p) && mkperf_link_send(&p->link, c->message, n)) {
            continue;
        }
        open_gap(p, first);
        p->gap.samples += samples;
        p->gap.batches += events == 0;
        p->lost += p->gap.joined ? 0 : samples; /* samples before it joined are no loss */
        p->sched_lost += p->gap.joined ? 0 : events;
    }
    if (n == 0) {
        return;
    }
    c->new_epoch |= c->encoder.batches >= MKPERF_EPOCH_BATCHES ||
                    c->sched.messages >= MKPERF_EPOCH_BATCHES || epoch_wanted(c);
    if (c->status_time == 0) {
        c->status_time = time;
    }
    if ((int64_t)(time - c->status_time) >= (int64_t)c->encoder.tick_hz) {
        c->status_time = time;
        c->status_due = true;
    }
}

static void flush_sched(struct mkperf_client *c)
{
    uint64_t time = c->sched.last_time;
    uint64_t events = c->sched.events;
    size_t n = mkperf_sched_encoder_finish(&c->sched, c->message);

    send_stream(c, n, time, c->encoder.sent, 0, events);
}

/* Sends the events and the batch, also partial ones. */
void mkperf_stream_flush(struct mkperf_client *c)
{
    flush_sched(c);
    uint64_t time = c->encoder.last_time;
    uint64_t first = c->encoder.sent;
    size_t n = mkperf_encoder_finish(&c->encoder, c->message);

    send_stream(c, n, time, first, c->encoder.sent - first, 0);
}

uint64_t mkperf_stream_clear(struct mkperf_client *c)
{
    uint64_t before = c->dropped;
    const uint64_t *record;
    bool corrupt = false;
    unsigned size;

    while ((record = mkperf_ring_peek(&c->ring, &size, &corrupt)) != NULL) {
        unsigned type = mkperf_record_type(record[MKPERF_WORD_HEADER]);
        c->dropped += type == MKPERF_RECORD_SAMPLE;
        c->sched_dropped += type == MKPERF_RECORD_SCHED || type == MKPERF_RECORD_WORDS;
        mkperf_ring_release(&c->ring, size);
    }
    c->corrupt += corrupt;
    return c->dropped - before;
}

/* Announces the new epoch of chains to all connections with room. Their gaps end here. */
static void announce(struct mkperf_client *c)
{
    c->announce = false;
    MKPERF_EACH_BIT (i, c->ready) {
        struct mkperf_peer peer = mkperf_peer(c, i, 0);
        struct mkperf_connection *p = peer.p;
        if (!peer_has_room(c, i)) {
            open_gap(p, c->encoder.sent);
            continue;
        }
        p->wants_epoch = false;
        mkperf_report_hello(peer);
        mkperf_report_page(peer, mkperf_ToHost_session_tag);
        p->tell_session = false;
        if (p->gap.open && p->gap.samples != 0) {
            mkperf_report_gap(peer);
        }
        p->gap = (struct mkperf_gap){0};
    }
}

void mkperf_stream_list(struct mkperf_peer peer, bool text)
{
    peer.p->listing = true;
    peer.p->list_text = text;
    peer.p->list_request = peer.request;
    peer.p->list_next = 0;
}

static void list_events(struct mkperf_peer peer)
{
    struct mkperf_connection *p = peer.p;
    struct mkperf_session_page *page = peer.c->page;

    page->part = p->list_next;
    peer.c->call(MKPERF_OP_LIST);
    p->list_next += MKPERF_LIST_EVENTS;
    p->listing = mkperf_page_bool(&page->events.more) && p->list_next < UINT16_MAX;
    peer.request = p->list_request;
    if (p->list_text) {
        mkperf_report_events_text(peer, p->listing);
    } else {
        mkperf_report_page(peer, mkperf_ToHost_events_tag);
    }
}

/* Sends a pending message to a single connection. False: there is none. */
static bool serve_connection(struct mkperf_peer peer)
{
    struct mkperf_connection *p = peer.p;
    bool ready = mkperf_connection_ready(peer.c, peer.who);

    if (!accepts(p)) {
        return false;
    }
    if (ready && p->tell_role) {
        p->tell_role = false;
        mkperf_report_role(peer);
    } else if (ready && p->tell_session) {
        p->tell_session = false;
        const mkperf_Session *s = &peer.c->page->session;
        if (s->events_count != 0 || mkperf_page_bool(&s->sched) || mkperf_page_bool(&s->latency)) {
            mkperf_report_page(peer, mkperf_ToHost_session_tag);
        }
    } else if (p->listing) {
        list_events(peer);
    } else {
        return false;
    }
    return true;
}

/* Ends the session: the output ring is empty, and the last batch was sent. After a Configure with `restart`, the
 * next session begins. */
static bool end_session(struct mkperf_client *c)
{
    unsigned size;
    bool corrupt = false;

    c->call(MKPERF_OP_DRAIN); /* losses that did not fit into the ring until now */
    if (mkperf_ring_peek(&c->ring, &size, &corrupt) != NULL) {
        return true;
    }
    c->running = false;
    c->stopping = false;
    if (c->dumping && c->trigger_there) {
        mkperf_report_mark(c, &c->trigger);
    }
    c->dumping = false;
    MKPERF_EACH_BIT (i, c->ready) {
        bool asked = i == c->stop_by && !c->restarting;
        mkperf_report_status(mkperf_peer(c, i, asked ? c->stop_request : 0));
    }
    if (!c->restarting) {
        return true;
    }
    c->restarting = false;
    unsigned by = c->stop_request != 0 ? c->stop_by : MKPERF_NOBODY; /* who gets an answer */
    uint32_t result = c->call(MKPERF_OP_CONFIGURE);
    if (result != MKPERF_RESULT_OK && by != MKPERF_NOBODY) {
        mkperf_report_refusal(mkperf_peer(c, by, c->stop_request), result);
        by = MKPERF_NOBODY;
    }
    result = mkperf_control_start(c);
    if (by != MKPERF_NOBODY) {
        mkperf_report_result(mkperf_peer(c, by, c->stop_request), result);
    }
    return true;
}

/* Makes a mark of a fault that the kernel recorded, after the samples before it. */
static void take_fault(struct mkperf_client *c, const uint64_t *record)
{
    mkperf_Mark m = {
        .session = c->page->session.id,
        .tick_hz = c->encoder.tick_hz,
        .time_ticks = record[MKPERF_WORD_TIME],
        .thread = mkperf_thread_to_wire(record[MKPERF_WORD_THREAD]),
    };
    struct mkperf_text name = mkperf_text_begin(m.name, sizeof m.name);

    mkperf_text_print(&name, "fault at 0x%lx", record[MKPERF_FAULT_PC]);
    mkperf_stream_flush(c);
    mkperf_report_mark(c, &m);
}

/* Consumes one record. False: frames were queued, and the step ends; if a message was full, the
 * record stays for the next one. */
static inline bool take_record(struct mkperf_client *c, struct mkperf_ring_consumer *ring,
                               const uint64_t *record, unsigned size)
{
    unsigned type = mkperf_record_type(record[MKPERF_WORD_HEADER]);
    bool sched = type == MKPERF_RECORD_SCHED || type == MKPERF_RECORD_SCHED_LOSS ||
                 type == MKPERF_RECORD_WORDS;
    bool fault = type == MKPERF_RECORD_FAULT && size == 8 * MKPERF_FAULT_WORDS;
    enum mkperf_encode_result result = MKPERF_ENCODE_ADDED;

    if (fault) {
        take_fault(c, record);
    } else {
        result = sched ? mkperf_sched_encoder_add(&c->sched, record, size)
                       : mkperf_encoder_add(&c->encoder, record, size);
    }
    if (result == MKPERF_ENCODE_FULL) {
        if (sched) {
            flush_sched(c);
        } else {
            mkperf_stream_flush(c);
        }
        return false;
    }
    c->corrupt += result == MKPERF_ENCODE_BAD;
    mkperf_ring_release(ring, size);
    return !fault;
}

/* Notes the fill level before records are consumed. Less than a step's records are added between
 * two calls. */
static void note_fill(struct mkperf_client *c)
{
    uint64_t head = __atomic_load_n(&c->ring.ring->head, __ATOMIC_RELAXED);
    uint64_t used = head - c->ring.tail;

    if (used > c->ring_peak && used <= c->ring.size) {
        c->ring_peak = used;
    }
}

/* Consumes records, at most those of a batch. False: the ring is empty. */
static bool take_records(struct mkperf_client *c)
{
    /* A copy that stays in registers while records are consumed. */
    struct mkperf_ring_consumer ring = c->ring;
    bool corrupt = false;
    unsigned size;
    const uint64_t *record = mkperf_ring_peek(&ring, &size, &corrupt);
    bool any = record != NULL;

    if (any && c->announce) {
        announce(c);
    }
    if (any && c->status_due) {
        tell_status(c);
    }
    for (unsigned i = 0; i < MKPERF_BATCH_SAMPLES && record != NULL; i++) {
        if (!take_record(c, &ring, record, size)) {
            break;
        }
        /* The records that follow are often ordinary samples. */
        uint64_t bytes;
        uint64_t head = __atomic_load_n(&ring.ring->head, __ATOMIC_ACQUIRE);
        const uint64_t *run = mkperf_ring_stretch(&ring, head, &bytes);
        mkperf_ring_release(&ring, (unsigned)mkperf_encoder_add_run(&c->encoder, run, bytes));
        record = mkperf_ring_peek(&ring, &size, &corrupt);
    }
    c->ring = ring;
    c->corrupt += corrupt;
    return any;
}

/* Performs one pending task for all connections. False: nothing is left. */
static bool take_step(struct mkperf_client *c)
{
    const struct mkperf_window *w = &c->encoder.window;

    if (c->new_epoch && c->running) {
        mkperf_encoder_end_window(&c->encoder);
        mkperf_stream_flush(c);
        if (!mkperf_encoder_empty(&c->encoder)) {
            return true;
        }
        c->new_epoch = false;
        mkperf_encoder_new_epoch(&c->encoder);
        mkperf_sched_encoder_new_epoch(&c->sched);
        c->announce = true;
        return true;
    }
    note_fill(c);
    if (take_records(c)) {
        return true;
    }
    /* The ring is empty. What a window counts waits for its end. */
    if (c->stopping || (c->clock != NULL && mkperf_client_now(c) - w->begin >= w->ticks)) {
        mkperf_encoder_end_window(&c->encoder);
    }
    if (c->sched.events != 0 ||
        (!mkperf_encoder_empty(&c->encoder) && (w->over || w->ticks == 0))) {
        mkperf_stream_flush(c);
        return true;
    }
    if (c->running && !c->stopping && mkperf_page_bool(&c->page->status.storm) &&
        !mkperf_page_bool(&c->page->session.running)) { /* The hook has ended it. */
        c->stopping = true;
        c->stop_by = MKPERF_NOBODY;
    }
    return c->stopping && end_session(c);
}

void mkperf_client_pump(struct mkperf_client *c)
{
    c->calls++;
    note_fill(c);
    MKPERF_EACH_BIT (who, c->admitted) {
        for (unsigned n = 0; n < MAX_STEPS && serve_connection(mkperf_peer(c, who, 0)); n++) {
        }
    }
    for (unsigned i = 0; i < MAX_STEPS; i++) {
        if (!may_go_on(c) || !take_step(c)) {
            break;
        }
    }
}
