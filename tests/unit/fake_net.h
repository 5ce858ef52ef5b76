/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A target on the network, in another process, that behaves or misbehaves in one particular way.
 *
 * Owns: its side of a connection on loopback, and its process. It ends with an exit status if the
 * host violates the protocol. What it is like: fake_net_target.h.
 */
#ifndef MKPERF_TESTS_FAKE_NET_H
#define MKPERF_TESTS_FAKE_NET_H

#include "fake_net_requests.h"

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
