/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client PD with a profiler PD that always succeeds, and hosts that speak the protocol over
 * connections whose bytes the test moves. For tests/unit/test_client*.c.
 */
#ifndef MKPERF_TEST_CLIENT_HOSTS_H
#define MKPERF_TEST_CLIENT_HOSTS_H

#include <pb_decode.h>
#include <pb_encode.h>
#include <string.h>

#include <mkperf/client.h>
#include <mkperf/frame.h>

#include "pd/client/control.h"

enum { HOSTS = 40, RING = 64 * 1024 };

/* The host's end of a connection. */
struct test_host {
    struct mkperf_link link;
    int who; /* the client's index */
    uint32_t request;
    mkperf_ToHost last; /* the last message with a request's number */
    mkperf_Role role;
    mkperf_Gap gap;
    mkperf_Mark mark;
    mkperf_Status status;
    mkperf_Session session;
    unsigned roles, gaps, marks, statuses, sessions, hellos, batches, bad_macs;
    uint64_t samples; /* the stream's position, by Batch.first_sample */
    uint64_t received, missing;
    bool check; /* seals */
    char text[4096];
    size_t text_bytes;
    uint8_t said[MKPERF_FRAME_BYTES]; /* the last frame sent, for replays */
    size_t said_bytes;
};

static struct mkperf_client client;
static struct mkperf_connection places[MKPERF_CONNECTIONS];
static uint8_t queues[MKPERF_HOSTS][MKPERF_LINK_BYTES];
static struct test_host hosts[HOSTS];
static union {
    struct mkperf_session_page page;
    uint64_t words[MKPERF_SESSION_PAGE_BYTES / 8];
} page_memory;
static uint64_t ring_memory[(MKPERF_RING_HEADER_BYTES + RING) / 8];
static struct mkperf_ring_producer producer;
static uint64_t test_time;
static unsigned calls[16];
static uint32_t configure_result;
static const uint8_t test_key[MKPERF_KEY_BYTES] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

static uint64_t test_clock(void)
{
    return test_time;
}

static uint32_t test_call(uint32_t op)
{
    struct mkperf_session_page *p = &page_memory.page;

    calls[op]++;
    if (op == MKPERF_OP_INFO) {
        p->hello = (mkperf_TargetHello){.boot_id = 77, .counters = 6, .cores = 1};
    } else if (op == MKPERF_OP_CONFIGURE && configure_result == MKPERF_RESULT_OK) {
        p->session.events_count = p->request.configure.events_count;
        p->session.max_frames = p->request.configure.max_frames;
    } else if (op == MKPERF_OP_CONFIGURE) {
        p->error.code = (mkperf_ErrorCode)configure_result;
        strcpy(p->error.text, "refused");
        return configure_result;
    } else if (op == MKPERF_OP_START) {
        p->session.id++;
        p->session.running = true;
        p->tick_hz = 1000000;
        p->status = (mkperf_Status)mkperf_Status_init_zero;
    } else if (op == MKPERF_OP_STOP) {
        p->session.running = false;
    } else if (op == MKPERF_OP_LIST) {
        p->events = (mkperf_Events){.events_count = 1};
        strcpy(p->events.events[0].name, "cycles");
        p->events.events[0].supported = true;
    }
    p->status.session = p->session.id;
    p->status.running = p->session.running;
    return MKPERF_RESULT_OK;
}

static struct mkperf_shared_key key_list[3]; /* the first without a name */

/* key: the one without a name; NULL: the target has none. */
static void begin_test(const uint8_t *key)
{
    struct mkperf_ring *r = (struct mkperf_ring *)ring_memory;

    memset(&client, 0, sizeof client);
    memset(places, 0, sizeof places);
    memset(hosts, 0, sizeof hosts);
    memset(&page_memory, 0, sizeof page_memory);
    memset(ring_memory, 0, sizeof ring_memory);
    memset(calls, 0, sizeof calls);
    configure_result = MKPERF_RESULT_OK;
    test_time = 1000;
    producer = (struct mkperf_ring_producer){.ring = r, .size = RING};
    client.platform = "test";
    client.key = key != NULL ? key_list : NULL;
    client.keys = key != NULL ? 3 : 0;
    if (key != NULL) {
        memcpy(key_list[0].bytes, key, MKPERF_KEY_BYTES);
        strcpy(key_list[1].name, "alice");
        memset(key_list[1].bytes, 0xa1, MKPERF_KEY_BYTES);
        strcpy(key_list[2].name, "bob");
        memset(key_list[2].bytes, 0xb0, MKPERF_KEY_BYTES);
    }
    client.page = &page_memory.page;
    client.ring = (struct mkperf_ring_consumer){.ring = r, .size = RING};
    client.call = test_call;
    client.clock = test_clock;
    client.clock_hz = 1000000;
    client.connection = places;
    client.places = MKPERF_CONNECTIONS;
    client.queue = queues;
    client.hosts = MKPERF_HOSTS;
    mkperf_client_init(&client);
}

/* n samples as the profiler PD would write them; samples that do not fit are its loss. */
static inline void sample(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t *w = mkperf_ring_reserve(&producer, 64);
        test_time += 10;
        if (w == NULL) {
            page_memory.page.status.lost_output++;
        } else {
            memset(w, 0, 64);
            w[0] = mkperf_record_header(MKPERF_RECORD_SAMPLE, 64, 0, 0, 0, 0);
            w[MKPERF_WORD_TIME] = test_time;
            w[MKPERF_WORD_THREAD] = 1 + i % 5;
            w[MKPERF_WORD_PERIOD] = 100;
            w[MKPERF_WORD_PC] = 0x200000 + 4 * i;
            mkperf_ring_commit(&producer, 64);
        }
        page_memory.page.status.captured++;
    }
}

static bool test_chain(pb_istream_t *stream, const pb_field_t *field, void **arg)
{
    static mkperf_Chain chain;

    (void)field;
    (void)arg;
    return pb_decode(stream, mkperf_Chain_fields, &chain);
}

static void take_batch(struct test_host *h, const uint8_t *message, size_t n)
{
    static mkperf_Batch b;
    pb_istream_t stream = pb_istream_from_buffer(message, n);
    pb_istream_t inner;
    pb_wire_type_t type;
    uint32_t tag;
    bool eof;

    b = (mkperf_Batch)mkperf_Batch_init_zero;
    b.chains.funcs.decode = test_chain;
    assert_true(pb_decode_tag(&stream, &type, &tag, &eof));
    assert_true(pb_make_string_substream(&stream, &inner));
    assert_true(pb_decode(&inner, mkperf_Batch_fields, &b));
    assert_true(b.first_sample >= h->samples);
    h->missing += b.first_sample - h->samples;
    h->samples = b.first_sample + b.pc_count;
    h->received += b.pc_count;
    h->batches++;
}

static void take_message(struct test_host *h, const uint8_t *message, size_t n)
{
    static mkperf_ToHost m;
    pb_istream_t stream = pb_istream_from_buffer(message, n);

    if (h->check && !mkperf_link_accept(&h->link, message, n)) {
        h->bad_macs++;
    }
    if (message[0] == (mkperf_ToHost_batch_tag << 3 | 2)) {
        take_batch(h, message, n);
        return;
    }
    m = (mkperf_ToHost)mkperf_ToHost_init_zero;
    assert_true(pb_decode(&stream, mkperf_ToHost_fields, &m));
    switch (m.which_msg) {
    case mkperf_ToHost_hello_tag:
        h->hellos++;
        break;
    case mkperf_ToHost_role_tag:
        h->role = m.msg.role;
        h->roles++;
        break;
    case mkperf_ToHost_gap_tag:
        h->gap = m.msg.gap;
        h->gaps++;
        break;
    case mkperf_ToHost_mark_tag:
        h->mark = m.msg.mark;
        h->marks++;
        break;
    case mkperf_ToHost_status_tag:
        h->status = m.msg.status;
        h->statuses++;
        break;
    case mkperf_ToHost_session_tag:
        h->session = m.msg.session;
        h->sessions++;
        break;
    }
    if (m.request != 0 || m.which_msg == mkperf_ToHost_error_tag) {
        h->last = m;
    }
}

/* Moves at most n bytes from the client to the host. */
static void hear(struct test_host *h, size_t n)
{
    struct mkperf_link *from = &client.connection[h->who].link;

    while (n > 0) {
        size_t there;
        const uint8_t *message;
        const uint8_t *bytes = mkperf_link_out(from, &there);
        if (there == 0) {
            return;
        }
        if (client.connection[h->who].framed ||
            mkperf_connection_ready(&client, (unsigned)h->who)) {
            int length = mkperf_link_byte(&h->link, *bytes, &message);
            if (length >= 0) {
                take_message(h, message, (size_t)length);
            }
        } else if (h->text_bytes + 1 < sizeof h->text) {
            h->text[h->text_bytes++] = (char)*bytes;
        }
        mkperf_link_sent(from, 1);
        n--;
    }
}

/* Moves all bytes that can be moved. */
static void settle(struct test_host *h)
{
    for (unsigned i = 0; i < 50; i++) {
        mkperf_client_pump(&client);
        hear(h, SIZE_MAX);
    }
}

static void say_bytes(struct test_host *h, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        mkperf_client_byte(&client, (unsigned)h->who, bytes[i]);
    }
}

/* Queues the message and remembers the frame. */
static void make_frame(struct test_host *h, mkperf_ToTarget *m)
{
    uint8_t message[MKPERF_MESSAGE_BYTES];
    pb_ostream_t stream = pb_ostream_from_buffer(message, sizeof message);
    size_t n;

    m->request = ++h->request;
    assert_true(pb_encode(&stream, mkperf_ToTarget_fields, m));
    assert_true(mkperf_link_send(&h->link, message, stream.bytes_written));
    h->said_bytes = 0;
    while (mkperf_link_out(&h->link, &n), n != 0) {
        h->said[h->said_bytes++] = *mkperf_link_out(&h->link, &n);
        mkperf_link_sent(&h->link, 1);
    }
}

static const mkperf_ToHost *ask(struct test_host *h, mkperf_ToTarget *m)
{
    h->last = (mkperf_ToHost)mkperf_ToHost_init_zero;
    make_frame(h, m);
    say_bytes(h, h->said, h->said_bytes);
    settle(h);
    return &h->last;
}

static inline const mkperf_ToHost *ask_for(struct test_host *h, pb_size_t which)
{
    mkperf_ToTarget m = mkperf_ToTarget_init_zero;

    m.which_msg = which;
    return ask(h, &m);
}

static struct test_host *connect_host(unsigned i)
{
    struct test_host *h = &hosts[i];

    memset(h, 0, sizeof *h);
    h->who = mkperf_client_open(&client, true);
    assert_true(h->who >= 0);
    return h;
}

static mkperf_ToTarget hello_of(bool watch, const char *name)
{
    static uint32_t hellos;
    mkperf_ToTarget m = mkperf_ToTarget_init_zero;

    m.which_msg = mkperf_ToTarget_hello_tag;
    m.msg.hello.protocol = MKPERF_PROTOCOL;
    m.msg.hello.watch = watch;
    m.msg.hello.nonce.size = MKPERF_NONCE_BYTES;
    memset(m.msg.hello.nonce.bytes, 0x5a, MKPERF_NONCE_BYTES);
    hellos++;
    memcpy(m.msg.hello.nonce.bytes, &hellos, sizeof hellos);
    strcpy(m.msg.hello.name, name);
    return m;
}

static const mkperf_ToHost *greet(struct test_host *h, bool watch, const char *name)
{
    mkperf_ToTarget m = hello_of(watch, name);

    return ask(h, &m);
}

static const char *key_name = "";  /* in hellos */
static mkperf_ToTarget last_hello; /* that showed a key */

/* The handshake with a key as far as the target's hello: *m is the host's proof, with the keys that
 * it is followed by in h->link. */
static inline void prepare_proof(struct test_host *h, const uint8_t key[MKPERF_KEY_BYTES],
                                 mkperf_ToTarget *m)
{
    struct mkperf_auth_hellos a = {.name = "alice", .name_bytes = 5};
    uint8_t proof[MKPERF_PROOF_BYTES];
    mkperf_ToTarget hello = hello_of(false, "alice");

    strcpy(hello.msg.hello.key, key_name);
    memcpy(a.host_nonce, hello.msg.hello.nonce.bytes, sizeof a.host_nonce);
    hello.msg.hello.proof.size = MKPERF_PROOF_BYTES;
    mkperf_auth_hello_proof(key, &a, hello.msg.hello.proof.bytes);
    last_hello = hello;
    const mkperf_ToHost *answer = ask(h, &hello);
    assert_int_equal(answer->which_msg, mkperf_ToHost_hello_tag);
    assert_int_equal(answer->msg.hello.nonce.size, MKPERF_NONCE_BYTES);
    memcpy(a.target_nonce, answer->msg.hello.nonce.bytes, sizeof a.target_nonce);
    a.boot_id = answer->msg.hello.boot_id;
    mkperf_auth_proof(key, MKPERF_ROLE_TARGET, &a, proof);
    if (key == test_key) {
        assert_memory_equal(proof, answer->msg.hello.proof.bytes, sizeof proof);
    }
    *m = (mkperf_ToTarget)mkperf_ToTarget_init_zero;
    m->which_msg = mkperf_ToTarget_prove_tag;
    m->msg.prove.proof.size = MKPERF_PROOF_BYTES;
    mkperf_auth_proof(key, MKPERF_ROLE_HOST, &a, m->msg.prove.proof.bytes);
    mkperf_auth_mac_key(key, MKPERF_ROLE_HOST, &a, h->link.out_key);
    mkperf_auth_mac_key(key, MKPERF_ROLE_TARGET, &a, h->link.in_key);
    h->link.accepted = h->link.sequence;
    h->link.authenticated = false;
    h->check = true;
}

/* The whole handshake; the answer to Prove. */
static inline const mkperf_ToHost *prove(struct test_host *h, const uint8_t key[MKPERF_KEY_BYTES])
{
    mkperf_ToTarget m;

    prepare_proof(h, key, &m);
    const mkperf_ToHost *answer = ask(h, &m);
    h->link.authenticated = true;
    return answer;
}

static inline const mkperf_ToHost *configure(struct test_host *h, bool restart)
{
    mkperf_ToTarget m = mkperf_ToTarget_init_zero;

    m.which_msg = mkperf_ToTarget_configure_tag;
    m.msg.configure.events_count = 1;
    m.msg.configure.events[0].frequency = 1000;
    m.msg.configure.restart = restart;
    return ask(h, &m);
}

static inline void start(struct test_host *h)
{
    configure(h, false);
    const mkperf_ToHost *answer = ask_for(h, mkperf_ToTarget_start_tag);
    assert_int_equal(answer->which_msg, mkperf_ToHost_session_tag);
    assert_true(answer->msg.session.running);
    h->samples = 0;
}

static inline const mkperf_Reply *command(struct test_host *h, const char *text)
{
    mkperf_ToTarget m = mkperf_ToTarget_init_zero;

    m.which_msg = mkperf_ToTarget_command_tag;
    strcpy(m.msg.command.text, text);
    const mkperf_ToHost *answer = ask(h, &m);
    assert_int_equal(answer->which_msg, mkperf_ToHost_reply_tag);
    return &answer->msg.reply;
}

#endif
