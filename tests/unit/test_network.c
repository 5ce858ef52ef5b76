/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `mkperf record` over TCP, on loopback, against a target in another process: who may connect, who
 * controls, and connections that break at each message, between hosts and targets of all kinds.
 */
#include "fake_target.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <pb_decode.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "decode/perfdata.h"
#include "key.h"
#include "source/address.h"

static char directory[] = "/tmp/mkperf-network-XXXXXX";

/* What the target is like. */
struct how {
    bool dials, has_key, reboots, replays, bob, bob_comes, other_events, marks;
    unsigned cut;      /* the first connection ends after so many frames; 0: never */
    bool cut_midframe; /* within the last of them */
};

struct target {
    struct how how;
    int listener, fd;
    uint16_t port;
    struct fake out;
    uint64_t sent, boot;
    uint32_t session, epoch;
    bool configured, running, new_epoch, greeted, proved, told;
    unsigned connections, batches, of_session;
    size_t replay_from, replay_n;
    uint8_t replay[MKPERF_FRAME_BYTES];
    uint8_t key[MKPERF_KEY_BYTES], seal_in[MKPERF_KEY_BYTES];
    struct mkperf_auth_hellos hellos;
    char name[32];
};

static const char *in_directory(const char *name)
{
    static char path[4][96];
    static unsigned i;

    i = (i + 1) % 4;
    snprintf(path[i], sizeof path[i], "%s/%s", directory, name);
    return path[i];
}

/* ---- the target ---- */

static void hang_up(struct target *t)
{
    close(t->fd);
    t->fd = -1;
    t->out.n = 0;
}

static void flush_out(struct target *t)
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
        t->sent += t->running ? 50 : 0; /* sampled, and lost on the way */
    }
}

static void send_message(struct target *t, mkperf_ToHost *m)
{
    fake_send(&t->out, m);
    flush_out(t);
}

static void send_role(struct target *t, bool control, const char *who)
{
    static mkperf_ToHost m;

    memset(&m, 0, sizeof m);
    m.which_msg = mkperf_ToHost_role_tag;
    m.msg.role.control = control;
    m.msg.role.controlled = true;
    snprintf(m.msg.role.controller, sizeof m.msg.role.controller, "%s", who);
    send_message(t, &m);
}

static void send_session(struct target *t, uint32_t request)
{
    if (t->how.other_events && t->session > 1) {
        static mkperf_ToHost m;
        mkperf_Session *s = &m.msg.session;
        memset(&m, 0, sizeof m);
        m.request = request;
        m.which_msg = mkperf_ToHost_session_tag;
        *s = (mkperf_Session){.id = t->session, .running = t->running, .events_count = 1};
        strcpy(s->events[0].name, "instructions");
        s->events[0].user_counter = 1;
        s->events[0].period = 777;
        fake_send(&t->out, &m);
    } else {
        fake_session(&t->out, request, t->session, t->running);
    }
    flush_out(t);
}

static void after_hello(struct target *t)
{
    bool control = !t->how.bob;

    t->greeted = true;
    send_role(t, control, control ? t->name : "bob@desk");
    if (t->configured) {
        send_session(t, 0);
    }
    t->new_epoch = true; /* as after ResetChains: a new connection knows nothing */
    t->epoch++;
}

static void on_hello(struct target *t, uint32_t request, const mkperf_HostHello *hello)
{
    static mkperf_ToHost m;
    mkperf_TargetHello *h = &m.msg.hello;
    uint8_t proof[MKPERF_PROOF_BYTES];

    memset(&m, 0, sizeof m);
    m.request = request;
    m.which_msg = mkperf_ToHost_hello_tag;
    *h = (mkperf_TargetHello){
        .protocol = MKPERF_PROTOCOL, .boot_id = t->boot, .platform = "fake", .cores = 1};
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

static void acknowledge(struct target *t, uint32_t request)
{
    static mkperf_ToHost m;

    memset(&m, 0, sizeof m);
    m.request = request;
    m.which_msg = mkperf_ToHost_ack_tag;
    send_message(t, &m);
}

static void on_prove(struct target *t, uint32_t request, const mkperf_Prove *prove)
{
    uint8_t proof[MKPERF_PROOF_BYTES];

    mkperf_auth_proof(t->key, MKPERF_ROLE_HOST, &t->hellos, proof);
    if (prove->proof.size != sizeof proof || memcmp(prove->proof.bytes, proof, sizeof proof) != 0) {
        _exit(8);
    }
    mkperf_auth_seal_key(t->key, MKPERF_ROLE_TARGET, &t->hellos, t->out.seal_key);
    mkperf_auth_seal_key(t->key, MKPERF_ROLE_HOST, &t->hellos, t->seal_in);
    t->out.sealed = t->proved = true;
    acknowledge(t, request);
    if (t->fd >= 0) {
        after_hello(t);
    }
}

static void refuse_control(struct target *t, uint32_t request)
{
    fake_error(&t->out, request, mkperf_ErrorCode_ERROR_NOT_CONTROLLER, 0, "bob@desk controls");
    flush_out(t);
}

static void start(struct target *t, uint32_t request)
{
    t->running = t->new_epoch = true;
    t->epoch++;
    t->session++;
    t->sent = t->of_session = 0;
    send_session(t, request);
}

static void on_request(struct target *t, const mkperf_ToTarget *m)
{
    bool controls = m->which_msg == mkperf_ToTarget_configure_tag ||
                    m->which_msg == mkperf_ToTarget_start_tag ||
                    m->which_msg == mkperf_ToTarget_stop_tag;

    if (m->which_msg == mkperf_ToTarget_hello_tag) {
        on_hello(t, m->request, &m->msg.hello);
    } else if (m->which_msg == mkperf_ToTarget_prove_tag) {
        on_prove(t, m->request, &m->msg.prove);
    } else if (!t->greeted) {
        _exit(7);
    } else if (controls && t->how.bob) {
        refuse_control(t, m->request);
    } else if (m->which_msg == mkperf_ToTarget_configure_tag) {
        t->configured = true;
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

static void on_frame(struct target *t, uint8_t *p, size_t n)
{
    static mkperf_ToTarget m;
    uint16_t sequence;
    int length = mkperf_frame_decode(p, n, &sequence);
    pb_istream_t in = pb_istream_from_buffer(p + 2, length > 0 ? (size_t)length : 0);

    if (length < 0 || !pb_decode(&in, mkperf_ToTarget_fields, &m) ||
        (t->proved && !mkperf_auth_sealed(t->seal_in, sequence, p + 2, (size_t)length))) {
        _exit(9);
    }
    on_request(t, &m);
}

static void send_mark(struct target *t)
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
    send_message(t, &m);
}

/* What this target does besides sending samples. */
static void behave(struct target *t)
{
    if (t->how.marks && t->batches % 8 == 1) {
        send_mark(t);
    }
    if (t->how.bob_comes && t->batches == 10) {
        t->how.bob = true;
        send_role(t, false, "bob@desk");
    }
    if (t->how.other_events && t->batches == 10) { /* reconfigured, by a program on the target */
        fake_status(&t->out, 0, t->session, false, t->sent, 0);
        start(t, 0);
    }
    if (t->how.replays && t->connections == 1 && t->batches == 10) {
        memcpy(t->out.bytes, t->replay, t->replay_n);
        t->out.n = t->replay_n;
        flush_out(t);
    }
}

static void send_samples(struct target *t)
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

static void greet_again(struct target *t)
{
    int on = 1;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(t->port)};

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    while (t->how.dials) {
        t->fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(t->fd, (struct sockaddr *)&a, sizeof a) == 0) {
            break;
        }
        close(t->fd);
        usleep(20000);
    }
    if (!t->how.dials) {
        t->fd = accept(t->listener, NULL, NULL);
    }
    setsockopt(t->fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &on, sizeof on);
    if (t->connections++ > 0 && t->how.reboots) {
        t->boot++;
        t->configured = t->running = false;
        t->session = 0;
    }
    t->out.sequence = 0;
    t->out.sealed = t->greeted = t->proved = false;
    t->out.frames = 0;
}

static void serve(struct target *t)
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
        } else if (t->running && t->greeted) {
            send_samples(t);
        }
    }
}

static pid_t start_target(struct how how, uint16_t *port)
{
    static struct target t;
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t n = sizeof a;

    memset(&t, 0, sizeof t);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    t.listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(t.listener, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(getsockname(t.listener, (struct sockaddr *)&a, &n), 0);
    t.port = *port = ntohs(a.sin_port);
    if (how.dials) {
        close(t.listener);
    } else {
        assert_int_equal(listen(t.listener, 4), 0);
    }
    t.how = how;
    t.boot = 77;
    for (unsigned i = 0; i < MKPERF_KEY_BYTES; i++) {
        t.key[i] = (uint8_t)i;
    }
    if (how.bob) {
        t.configured = t.running = t.new_epoch = true;
        t.session = t.epoch = 1;
    }
    pid_t child = fork();
    if (child == 0) {
        serve(&t);
    }
    close(t.listener);
    return child;
}

/* ---- the host ---- */

static char said[1 << 16];

static int record(const char *arguments)
{
    char copy[1024], *argv[40] = {(char[]){"record"}};
    int argc = 1, saved = dup(STDERR_FILENO);

    snprintf(copy, sizeof copy, "%s", arguments);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    assert_non_null(freopen(in_directory("stderr"), "w", stderr));
    int status = mkperf_cmd_record(argc, argv);
    assert_int_equal(fflush(stderr), 0);
    dup2(saved, STDERR_FILENO);
    close(saved);
    FILE *f = fopen(in_directory("stderr"), "r");
    assert_non_null(f);
    said[fread(said, 1, sizeof said - 1, f)] = '\0';
    assert_int_equal(fclose(f), 0);
    return status;
}

/* Records from such a target; it must not have seen what it cannot bear. */
static int record_from(struct how how, const char *more)
{
    char arguments[512];
    uint16_t port;
    pid_t child = start_target(how, &port);
    int ended;

    snprintf(arguments, sizeof arguments, "-t %s:127.0.0.1:%u -o %s --duration 0.05 %s",
             how.dials ? "listen" : "tcp", port, in_directory("out.data"), more);
    unlink(in_directory("out.data"));
    int status = record(arguments);
    kill(child, SIGKILL);
    waitpid(child, &ended, 0);
    if (!WIFSIGNALED(ended)) {
        fail_msg("the target gave up with %d: %s", WEXITSTATUS(ended), said);
    }
    return status;
}

static void expect(int status, int wanted, const char *text)
{
    if (status != wanted || strstr(said, text) == NULL) {
        fail_msg("exit status %d (want %d, \"%s\"): %s", status, wanted, text, said);
    }
}

static void write_key(const char *name, const char *text, mode_t mode)
{
    int fd = open(in_directory(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static const char right_key[] =
    "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F\n";

static const char *key_option(const char *name)
{
    static char text[128];

    snprintf(text, sizeof text, "--key-file %s", in_directory(name));
    return text;
}

/* What the file has. */
struct content {
    unsigned nevents, marks;
    uint64_t samples, of_event[MKPERF_MODEL_EVENTS], lost, restarts, last_ns;
    bool complete;
    char mark[64];
};

static enum mkperf_status on_begin(void *self, const struct mkperf_session *s,
                                   struct mkperf_error *e)
{
    (void)e;
    ((struct content *)self)->nevents = s->nevents;
    return MKPERF_OK;
}

static enum mkperf_status on_sample(void *self, const struct mkperf_sample *s,
                                    struct mkperf_error *e)
{
    struct content *c = self;

    (void)e;
    assert_true(s->time_ns >= c->last_ns); /* over restarts, too */
    c->last_ns = s->time_ns;
    c->samples++;
    c->of_event[s->event]++;
    return MKPERF_OK;
}

static enum mkperf_status on_mark(void *self, const struct mkperf_mark *m, struct mkperf_error *e)
{
    struct content *c = self;

    (void)e;
    c->marks++;
    snprintf(c->mark, sizeof c->mark, "%d %u %s", (int)m->kind, m->id, m->name);
    return MKPERF_OK;
}

static enum mkperf_status on_lost(void *self, const struct mkperf_lost *l, struct mkperf_error *e)
{
    (void)e;
    ((struct content *)self)->lost += l->samples;
    return MKPERF_OK;
}

static enum mkperf_status on_end(void *self, const struct mkperf_totals *t, struct mkperf_error *e)
{
    struct content *c = self;

    (void)e;
    c->complete = t->complete;
    c->restarts = t->restarts;
    return MKPERF_OK;
}

static struct content read_back(void)
{
    static const struct mkperf_sink_ops ops = {.name = "test",
                                               .begin = on_begin,
                                               .sample = on_sample,
                                               .mark = on_mark,
                                               .lost = on_lost,
                                               .end = on_end};
    struct content c = {.nevents = 0};
    struct mkperf_error e = {.text = ""};
    struct mkperf_sink sink = {&ops, &c};

    if (mkperf_perfdata_read(in_directory("out.data"), &sink, &e) != MKPERF_OK) {
        fail_msg("%s", e.text);
    }
    return c;
}

static void both_ways(void **state)
{
    struct how how = {.dials = false};

    (void)state;
    expect(record_from(how, ""), 0, " 0 lost");
    expect(0, 0, "the target has no key");
    assert_true(read_back().complete);
    how.dials = true;
    expect(record_from(how, ""), 0, " 0 lost");
    expect(0, 0, "listening on port");
    expect(0, 0, "connection from 127.0.0.1");
    assert_true(read_back().complete);
}

/* Cut off after each frame of a session's beginning, and in the midst of it: nothing is unknown. */
static void cuts(void **state)
{
    struct how how = {.cut = 1};

    (void)state;
    for (; how.cut <= 14; how.cut++) {
        how.cut_midframe = how.cut % 2 == 0;
        how.has_key = how.cut % 3 == 0;
        expect(record_from(how, how.has_key ? key_option("key") : ""), 0, "samples in");
        struct content c = read_back();
        if (!c.complete || c.samples < 1000) {
            fail_msg("cut after %u frames: %s", how.cut, said);
        }
        if (how.cut > 8) {
            expect(0, 0, "connected again after");
            assert_true(c.lost >= 50); /* the file has them */
        }
    }
}

static void no_second_try(void **state)
{
    struct how how = {.cut = 20};

    (void)state;
    expect(record_from(how, "--no-reconnect"), MKPERF_ERR_LINK, "closed the connection");
    assert_true(read_back().samples > 0);
}

static void reboots(void **state)
{
    struct how how = {.cut = 20, .reboots = true};

    (void)state;
    expect(record_from(how, "--duration 0.4"), 0, "the target was restarted");
    struct content c = read_back();
    assert_int_equal(c.restarts, 1);
    assert_false(c.complete);
    assert_true(c.samples > 2000);
}

static void keys(void **state)
{
    struct how how = {.has_key = true};

    (void)state;
    write_key("wrong", "ff0102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F", 0600);
    write_key("open", right_key, 0644);
    write_key("short", "0011", 0600);
    expect(record_from(how, key_option("key")), 0, " 0 lost");
    assert_null(strstr(said, "no key"));
    expect(record_from(how, ""), MKPERF_ERR_REFUSED, "the target wants a key: --key-file");
    expect(record_from(how, key_option("wrong")), MKPERF_ERR_REFUSED, "wrong key");
    expect(record_from(how, key_option("open")), MKPERF_ERR_INPUT, "others can read");
    expect(record_from(how, key_option("short")), MKPERF_ERR_INPUT, "want 32 bytes");
    how.has_key = false;
    expect(record_from(how, key_option("key")), MKPERF_ERR_REFUSED, "the target has no key");
}

static void replayed_message(void **state)
{
    struct how how = {.has_key = true, .replays = true};

    (void)state;
    expect(record_from(how, key_option("key")), 0, "without the right seal");
    expect(0, 0, "connected again");
    assert_true(read_back().complete);
}

static void watchers(void **state)
{
    struct how how = {.bob = true};

    (void)state;
    expect(record_from(how, ""), MKPERF_ERR_REFUSED, "bob@desk controls the target");
    expect(record_from(how, "--watch"), 0, "watching");
    assert_true(read_back().samples > 1000);
    expect(record_from(how, "--take-over"), 0, " 0 lost");
    how = (struct how){.bob_comes = true};
    expect(record_from(how, ""), 0, "bob@desk took over control");
    assert_true(read_back().samples > 2000);
}

static void other_events_and_marks(void **state)
{
    struct how how = {.other_events = true, .marks = true};
    struct content c;

    (void)state;
    expect(record_from(how, "--duration 2"), 0, " 0 lost");
    c = read_back();
    assert_true(c.complete);
    assert_int_equal(c.nevents, 2);
    assert_int_equal(c.of_event[0], 1000);
    assert_true(c.of_event[1] > 1000);
    assert_true(c.marks > 2);
    assert_string_equal(c.mark, "1 7 request");
}

static void nobody_there(void **state)
{
    char arguments[128];
    uint16_t port;
    pid_t child = start_target((struct how){.dials = true}, &port);

    (void)state;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    snprintf(arguments, sizeof arguments, "-t tcp:127.0.0.1:%u --timeout 0.3 -o %s", port,
             in_directory("out.data"));
    expect(record(arguments), MKPERF_ERR_LINK, "Connection refused");
    expect(record("-t tcp:no.such.host.invalid"), MKPERF_ERR_INPUT, "no.such.host.invalid");
}

static void addresses(void **state)
{
    static const struct {
        const char *text;
        bool lone_port, ok;
        const char *host, *port;
    } cases[] = {
        {"board", false, true, "board", "1236"},
        {"board:99", false, true, "board", "99"},
        {"::1", false, true, "::1", "1236"},
        {"[::1]:7", false, true, "::1", "7"},
        {"[::1]", false, true, "::1", "1236"},
        {"99", true, true, "", "99"},
        {"10.0.0.1:9", true, true, "10.0.0.1", "9"},
        {"[::]:9", true, true, "::", "9"},
        {"", false, false, "", ""},
        {"board:", false, false, "", ""},
        {"board:65536", false, false, "", ""},
        {"board:0", false, false, "", ""},
        {"[::1", false, false, "", ""},
        {"[::1]9", false, false, "", ""},
        {"board", true, false, "", ""},
        {"a b", false, false, "", ""},
        {"::1", true, false, "", ""},
        {"x:-1", false, false, "", ""},
    };
    struct mkperf_address a;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (mkperf_address_parse(cases[i].text, cases[i].lone_port, &a) != cases[i].ok) {
            fail_msg("\"%s\"", cases[i].text);
        }
        if (cases[i].ok) {
            assert_string_equal(a.host, cases[i].host);
            assert_string_equal(a.port, cases[i].port);
        }
    }
}

static int setup(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    write_key("key", right_key, 0600);
    return 0;
}

static int teardown(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),
        cmocka_unit_test(both_ways),
        cmocka_unit_test(cuts),
        cmocka_unit_test(no_second_try),
        cmocka_unit_test(reboots),
        cmocka_unit_test(keys),
        cmocka_unit_test(replayed_message),
        cmocka_unit_test(watchers),
        cmocka_unit_test(other_events_and_marks),
        cmocka_unit_test(nobody_there),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
