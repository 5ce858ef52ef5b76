/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A target on the network, in another process, that behaves or misbehaves in one particular way.
 *
 * Owns: its side of a connection on loopback. It ends with an exit status if the host
 * violates the protocol.
 */
#ifndef MKPERF_TESTS_FAKE_NET_H
#define MKPERF_TESTS_FAKE_NET_H

#include "fake_target.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pb_decode.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    DRAIN_BATCHES = 700
}; /* each takes a millisecond or more: longer than a request's repetition */

/* What the target is like. */
struct how {
    bool v6;             /* on ::1 */
    const char *between; /* bytes that come between the first connection's frames: `between_n` */
    size_t between_n;
    bool dials, has_key, reboots, replays, bob, bob_comes, other_events, marks, says;
    bool held; /* with bob: his flight recording has ended and is held */
    /* It counts by PD, and after `readings` of its totals another host ends the session. */
    enum { NOT_COUNTED, COUNTED, ENDED_HERE, BOB_CONFIGURES, BOB_STARTS, BOB_SAMPLES } counts;
    unsigned readings;
    uint32_t parts;    /* that it says its answers have; 0: two counts, no interactions */
    bool same_part;    /* and each is part 0 */
    bool abandoned;    /* an earlier host left a session, whose end takes some time */
    unsigned cut;      /* the first connection ends after so many frames; 0: never */
    bool cut_midframe; /* within the last of them */
    /* All its texts are NET_HOSTILE; the others: refuses the hello or each request with one. */
    enum { HONEST, HOSTILE, HOSTILE_HELLO, HOSTILE_REQUEST } texts;
};

/* A line of its own, a colour, a bell, the start of the line, an 8-bit escape, a bidirectional
 * override. */
#define NET_HOSTILE "\nF!\033[31m\a\r\x9b\xe2\x80\xae"

struct target {
    struct how how;
    int listener, fd;
    uint16_t port;
    struct fake out;
    uint64_t sent, boot;
    uint32_t session, epoch;
    bool latency; /* the session aggregates latencies */
    bool configured, running, new_epoch, greeted, proved, reported;
    unsigned connections, batches, of_session, readings, all_readings;
    uint32_t stop_request; /* to be answered when the last session's samples are out */
    unsigned draining;     /* batches until then */
    size_t replay_from, replay_n;
    uint8_t replay[MKPERF_FRAME_BYTES];
    uint8_t key[MKPERF_KEY_BYTES], mac_in[MKPERF_KEY_BYTES];
    struct mkperf_auth_hellos hellos;
    char name[32];
};

union net_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static inline union net_address net_loopback(const struct how *how, uint16_t port)
{
    union net_address a;

    memset(&a, 0, sizeof a);
    if (how->v6) {
        a.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(port)};
        a.v6.sin6_addr = in6addr_loopback;
    } else {
        a.v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
        a.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    return a;
}

/* What the target sends where an honest one sends `text`. */
static inline const char *net_text(const struct target *t, const char *text)
{
    return t->how.texts != HONEST ? NET_HOSTILE : text;
}

static inline void hang_up(struct target *t)
{
    close(t->fd);
    t->fd = -1;
    t->out.n = 0;
}

static inline void flush_out(struct target *t)
{
    size_t n = t->out.n;
    bool cut = t->how.cut != 0 && t->connections == 1 && t->out.frames >= t->how.cut;

    if (t->fd >= 0 && n > 0) {
        n -= cut && t->how.cut_midframe ? n / 3 : 0;
        if (write(t->fd, t->out.bytes, n) != (ssize_t)n) {
            hang_up(t);
        }
    }
    t->out.n = 0;
    if (cut && t->fd >= 0) {
        hang_up(t);
        t->sent += t->running ? 50 : 0; /* sampled, and lost in transit */
    }
}

static inline void send_message(struct target *t, mkperf_ToHost *m)
{
    fake_send(&t->out, m);
    flush_out(t);
}

static inline void send_role(struct target *t, bool control, const char *who)
{
    static mkperf_ToHost m;

    memset(&m, 0, sizeof m);
    m.which_msg = mkperf_ToHost_role_tag;
    m.msg.role.control = control;
    m.msg.role.controlled = true;
    snprintf(m.msg.role.controller, sizeof m.msg.role.controller, "%s", net_text(t, who));
    send_message(t, &m);
}

static inline void send_session(struct target *t, uint32_t request)
{
    if (t->latency || (t->how.other_events && t->session > 1)) {
        static mkperf_ToHost m;
        mkperf_Session *s = &m.msg.session;
        memset(&m, 0, sizeof m);
        m.request = request;
        m.which_msg = mkperf_ToHost_session_tag;
        *s = (mkperf_Session){
            .id = t->session, .running = t->running, .events_count = 1, .latency = t->latency};
        strcpy(s->events[0].name, net_text(t, "instructions"));
        s->events[0].user_counter = 1;
        s->events[0].period = 777;
        fake_send(&t->out, &m);
    } else if (t->how.texts != HONEST) {
        fake_session_of(&t->out, request, t->session, t->running, NET_HOSTILE);
    } else {
        fake_session(&t->out, request, t->session, t->running);
    }
    flush_out(t);
}

static inline void after_hello(struct target *t)
{
    bool control = !t->how.bob;

    t->greeted = true;
    send_role(t, control, control ? t->name : "bob@desk");
    if (t->configured) {
        send_session(t, 0);
    }
    t->new_epoch = true; /* as after ResetChains: a new connection has no chains */
    t->epoch++;
}

static inline void on_hello(struct target *t, uint32_t request, const mkperf_HostHello *hello)
{
    static mkperf_ToHost m;
    mkperf_TargetHello *h = &m.msg.hello;
    uint8_t proof[MKPERF_PROOF_BYTES];

    memset(&m, 0, sizeof m);
    m.request = request;
    m.which_msg = mkperf_ToHost_hello_tag;
    *h = (mkperf_TargetHello){
        .protocol = MKPERF_PROTOCOL, .boot_id = t->boot, .platform = "fake", .cores = 1};
    if (t->how.texts != HONEST) {
        strcpy(h->platform, NET_HOSTILE);
        strcpy(h->cpu, NET_HOSTILE);
        strcpy(h->pmu, NET_HOSTILE);
        strcpy(h->version, NET_HOSTILE);
    }
    strcpy(t->name, hello->name);
    if (t->how.has_key && hello->nonce.size == MKPERF_NONCE_BYTES) {
        t->hellos = (struct mkperf_auth_hellos){.boot_id = t->boot,
                                                .watch = hello->watch,
                                                .name = t->name,
                                                .name_bytes = strlen(t->name)};
        memcpy(t->hellos.host_nonce, hello->nonce.bytes, MKPERF_NONCE_BYTES);
        memset(t->hellos.target_nonce, (int)(0x20 + t->connections), MKPERF_NONCE_BYTES);
        mkperf_auth_proof(t->key, MKPERF_ROLE_TARGET, &t->hellos, proof);
        h->nonce.size = MKPERF_NONCE_BYTES;
        memcpy(h->nonce.bytes, t->hellos.target_nonce, MKPERF_NONCE_BYTES);
        h->proof.size = sizeof proof;
        memcpy(h->proof.bytes, proof, sizeof proof);
    }
    h->authentication = t->how.has_key ? mkperf_Authentication_AUTHENTICATION_KEY
                                       : mkperf_Authentication_AUTHENTICATION_NONE;
    send_message(t, &m);
    if (!t->how.has_key && t->fd >= 0) {
        after_hello(t);
    }
}

static inline void acknowledge(struct target *t, uint32_t request)
{
    static mkperf_ToHost m;

    memset(&m, 0, sizeof m);
    m.request = request;
    m.which_msg = mkperf_ToHost_ack_tag;
    send_message(t, &m);
}

static inline void on_prove(struct target *t, uint32_t request, const mkperf_Prove *prove)
{
    uint8_t proof[MKPERF_PROOF_BYTES];

    mkperf_auth_proof(t->key, MKPERF_ROLE_HOST, &t->hellos, proof);
    if (prove->proof.size != sizeof proof || memcmp(prove->proof.bytes, proof, sizeof proof) != 0) {
        _exit(8);
    }
    mkperf_auth_mac_key(t->key, MKPERF_ROLE_TARGET, &t->hellos, t->out.mac_key);
    mkperf_auth_mac_key(t->key, MKPERF_ROLE_HOST, &t->hellos, t->mac_in);
    t->out.authenticated = t->proved = true;
    acknowledge(t, request);
    if (t->fd >= 0) {
        after_hello(t);
    }
}

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
 * is seen from FAKE_BOBS on.
 */
enum { FAKE_COUNTS_HZ = 1000000, FAKE_READING_TICKS = 10000, FAKE_BOBS = 1000000000 };

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
    *c = (mkperf_Counts){.session = t->session,
                         .running = t->running,
                         .tick_hz = FAKE_COUNTS_HZ,
                         .enabled_ticks = (uint64_t)t->readings * FAKE_READING_TICKS,
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

static inline void on_frame(struct target *t, uint8_t *p, size_t n)
{
    static mkperf_ToTarget m;
    uint16_t sequence;
    int length = mkperf_frame_decode(p, n, &sequence);
    pb_istream_t in = pb_istream_from_buffer(p + 2, length > 0 ? (size_t)length : 0);

    if (length < 0 || !pb_decode(&in, mkperf_ToTarget_fields, &m) ||
        (t->proved && !mkperf_auth_verify(t->mac_in, sequence, p + 2, (size_t)length))) {
        _exit(9);
    }
    on_request(t, &m);
}

static inline void send_mark(struct target *t)
{
    static mkperf_ToHost m;

    memset(&m, 0, sizeof m);
    m.which_msg = mkperf_ToHost_mark_tag;
    m.msg.mark = (mkperf_Mark){.session = t->session,
                               .tick_hz = FAKE_HZ,
                               .time_ticks = 1000000 + t->sent * 1000,
                               .thread = 3 + 2,
                               .kind = mkperf_MarkKind_MARK_BEGIN,
                               .id = 7,
                               .name = "request"};
    strcpy(m.msg.mark.name, net_text(t, "request"));
    if (t->how.texts != HONEST) { /* a PD that only its name tells */
        m.msg.mark.thread = 0;
        strcpy(m.msg.mark.pd, NET_HOSTILE);
    }
    send_message(t, &m);
}

/* What this target does besides sending samples. */
static inline void behave(struct target *t)
{
    if (t->draining != 0 && --t->draining == 0) {
        t->running = t->how.abandoned = false;
        fake_status(&t->out, t->stop_request, t->session, false, t->sent, 0);
        flush_out(t);
    }
    if (t->how.marks && t->batches % 8 == 1) {
        send_mark(t);
    }
    if (t->how.says && t->batches % 8 == 1) {
        fake_text(&t->out, "hello ");
        fake_text(&t->out, net_text(t, "world"));
        fake_text(&t->out, "\n");
        flush_out(t);
    }
    if (t->how.bob_comes && t->batches == 10) {
        t->how.bob = true;
        send_role(t, false, "bob@desk");
    }
    if (t->how.other_events && t->batches == 10) { /* reconfigured, by a program on the target */
        fake_status(&t->out, 0, t->session, false, t->sent, 0);
        start(t, 0);
    }
    if (t->how.between != NULL && t->connections == 1 && t->batches == 10) {
        memcpy(t->out.bytes, t->how.between, t->how.between_n);
        t->out.n = t->how.between_n;
        flush_out(t);
    }
    if (t->how.replays && t->connections == 1 && t->batches == 10) {
        memcpy(t->out.bytes, t->replay, t->replay_n);
        t->out.n = t->replay_n;
        flush_out(t);
    }
}

static inline void send_samples(struct target *t)
{
    struct fake_batch b;

    fake_batch_init(&b, t->sent, 100, 1000000 + (t->sent + t->session * UINT64_C(100000)) * 1000);
    b.batch.epoch = t->epoch;
    b.batch.session = t->session;
    if (t->new_epoch) {
        fake_hello(&t->out, 0, t->boot, MKPERF_PROTOCOL);
        send_session(t, 0);
        fake_chain(&b, 0, 0, 3, 0x200000);
    }
    if (t->fd < 0) {
        return;
    }
    t->new_epoch = false;
    t->sent += 100;
    t->batches++;
    fake_batch(&t->out, &b);
    if (t->out.n <= sizeof t->replay) {
        memcpy(t->replay, t->out.bytes, t->replay_n = t->out.n);
    }
    flush_out(t);
    behave(t);
}

static inline void greet_again(struct target *t)
{
    int on = 1;
    union net_address a = net_loopback(&t->how, t->port);

    while (t->how.dials) {
        t->fd = socket(a.any.sa_family, SOCK_STREAM, 0);
        if (connect(t->fd, &a.any, sizeof a) == 0) {
            break;
        }
        close(t->fd);
        usleep(20000);
    }
    if (!t->how.dials) {
        t->fd = accept(t->listener, NULL, NULL);
    }
    setsockopt(t->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (t->connections++ > 0 && t->how.reboots) {
        t->boot++;
        t->configured = t->running = false;
        t->session = 0;
    }
    t->out.sequence = 0;
    t->out.authenticated = t->greeted = t->proved = false;
    t->out.frames = 0;
}

static inline void serve(struct target *t)
{
    static uint8_t chunk[4096];
    size_t n = 0;

    for (t->fd = -1;;) {
        uint8_t byte;
        if (t->fd < 0) {
            greet_again(t);
            n = 0;
        }
        struct pollfd ready = {.fd = t->fd, .events = POLLIN};
        if (poll(&ready, 1, t->running && t->greeted ? 1 : 20) > 0) {
            if (read(t->fd, &byte, 1) != 1) {
                hang_up(t);
            } else if (byte != 0) {
                chunk[n++ % sizeof chunk] = byte;
            } else if (n > 0) {
                on_frame(t, chunk, n);
                n = 0;
            }
        } else if (t->running && t->greeted && !t->how.counts) {
            send_samples(t);
        }
    }
}

static inline pid_t start_target(struct how how, uint16_t *port)
{
    static struct target t;
    static unsigned tried;
    bool bound = false;

    memset(&t, 0, sizeof t);
    t.how = how;
    t.listener = socket(how.v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
    /* Below the ephemeral ports: one of those might be in use, even by our own connect(), before
     * the host listens on it. */
    for (unsigned i = 0; i < 10000 && !bound; i++) {
        t.port = *port = (uint16_t)(20000 + ((unsigned)getpid() + 7 * tried++) % 10000);
        union net_address a = net_loopback(&how, t.port);
        bound = bind(t.listener, &a.any, sizeof a) == 0;
    }
    assert_true(bound);
    if (how.dials) {
        close(t.listener);
    } else {
        assert_int_equal(listen(t.listener, 4), 0);
    }
    t.boot = 77;
    for (unsigned i = 0; i < MKPERF_KEY_BYTES; i++) {
        t.key[i] = (uint8_t)i;
    }
    if (how.bob || how.abandoned) {
        t.configured = t.new_epoch = true;
        t.running = !how.held;
        t.session = t.epoch = 1;
    }
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails does not reap it */
        serve(&t);
    }
    close(t.listener);
    return child;
}

#endif
