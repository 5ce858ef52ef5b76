/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the target of fake_net.h is like, its connection, and the handshake.
 *
 * Owns: struct how, struct target, the messages out.
 */
#ifndef MKPERF_TESTS_FAKE_NET_TARGET_H
#define MKPERF_TESTS_FAKE_NET_TARGET_H

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
    bool held; /* with bob: its flight recording has ended and is held */
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

#endif
