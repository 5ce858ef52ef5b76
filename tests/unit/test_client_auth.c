/* SPDX-License-Identifier: BSD-2-Clause */
/* The handshake and the seals: wrong keys, replays, tampering, truncation, and the rate of tries.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client_hosts.h"

static const uint8_t other_key[MKPERF_KEY_BYTES] = {9, 9, 9};

static bool ended(const struct test_host *h)
{
    return mkperf_client_finished(&client, (unsigned)h->who);
}

static void right_key(void **state)
{
    (void)state;
    begin_test(test_key);
    struct test_host *h = connect_host(0);
    assert_int_equal(prove(h, test_key)->which_msg, mkperf_ToHost_ack_tag);
    assert_true(h->role.control);
    start(h);
    sample(1000);
    settle(h);
    assert_int_equal(ask_for(h, mkperf_ToTarget_stop_tag)->which_msg, mkperf_ToHost_status_tag);
    assert_int_equal(h->received, 1000);
    assert_int_equal(h->bad_macs, 0);
    assert_int_equal(h->status.bad_auth, 0);
    assert_int_equal(prove(h, test_key)->which_msg, mkperf_ToHost_ack_tag); /* again */
    assert_int_equal(ask_for(h, mkperf_ToTarget_get_status_tag)->which_msg,
                     mkperf_ToHost_status_tag);
}

/* Lost frames of either direction leave the seals in step, as on a serial line. */
static void lost_frames(void **state)
{
    (void)state;
    begin_test(test_key);
    struct test_host *h = connect_host(0);
    prove(h, test_key);
    for (unsigned i = 0; i < 3; i++) {
        mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_get_status_tag};
        make_frame(h, &m); /* this frame never arrives */
    }
    assert_int_equal(ask_for(h, mkperf_ToTarget_get_status_tag)->which_msg,
                     mkperf_ToHost_status_tag);
}

static void expect_refused(struct test_host *h, mkperf_ErrorCode code)
{
    assert_int_equal(h->last.which_msg, mkperf_ToHost_error_tag);
    assert_int_equal(h->last.msg.error.code, code);
    assert_true(ended(h));
    mkperf_client_closed(&client, (unsigned)h->who);
}

/* ---- hosts without the key keep no other host out: in the target's time ---- */

enum { PATIENCE_MS = 5000, PAUSE_MS = 100, TIMES = 20 };

typedef void attack_fn(unsigned ms);

static unsigned clock_ms;

static void pass(unsigned ms, attack_fn *attack)
{
    while (ms-- != 0) {
        test_time += client.clock_hz / 1000;
        attack(clock_ms++);
    }
}

/* A new connection, as over TCP. */
static struct test_host *arrive(unsigned i)
{
    int oldest = mkperf_client_least(&client);

    if (oldest >= 0) {
        mkperf_client_closed(&client, (unsigned)oldest);
    }
    return connect_host(i);
}

static bool is_there(const struct test_host *h, uint32_t number)
{
    const struct mkperf_connection *p = &places[h->who];

    return p->used && p->number == number;
}

/* Host 0, which has the key, is in before its patience is over; it tries again when it is cut. A
 * connection gets its place with the hello, so it is there for one round trip before the proof. */
static bool gets_in(attack_fn *attack, unsigned round_trip_ms)
{
    for (unsigned began = clock_ms; clock_ms - began < PATIENCE_MS; pass(PAUSE_MS, attack)) {
        mkperf_ToTarget m;
        struct test_host *h = arrive(0);
        uint32_t number = places[h->who].number;
        prepare_proof(h, test_key, &m);
        pass(round_trip_ms, attack);
        if (is_there(h, number) && ask(h, &m)->which_msg == mkperf_ToHost_ack_tag) {
            h->link.authenticated = true;
            return true;
        }
    }
    return false;
}

static void nine_wrong_proofs_a_second(unsigned ms)
{
    if (ms % 111 == 0) {
        struct test_host *h = arrive(1);
        prove(h, other_key);
        assert_int_equal(h->last.msg.error.code, mkperf_ErrorCode_ERROR_AUTHENTICATION);
        assert_true(ended(h));
        mkperf_client_closed(&client, (unsigned)h->who);
    }
}

static void eight_silent_sockets(unsigned ms)
{
    static uint32_t number[8];

    for (unsigned i = 0; i < 8 && ms % 4400 == 0; i++) {
        if (is_there(&hosts[1 + i], number[i])) {
            mkperf_client_closed(&client, (unsigned)hosts[1 + i].who);
        }
        number[i] = places[arrive(1 + i)->who].number;
    }
}

static void a_thousand_connections_a_second(unsigned ms)
{
    struct test_host *h = arrive(1);

    if (ms % 3 == 0) {
        greet(h, false, "mallory");
    }
}

/* Each millisecond, the last hello that showed a key is sent again. */
static void replayed_hellos(unsigned ms)
{
    struct test_host *h = arrive(1);

    (void)ms;
    make_frame(h, &last_hello);
    say_bytes(h, h->said, h->said_bytes);
    settle(h);
    assert_int_equal(h->last.which_msg, mkperf_ToHost_hello_tag);
}

static void keeps_nobody_out_at(attack_fn *attack, unsigned round_trip_ms)
{
    begin_test(test_key);
    clock_ms = 0;
    pass(5000, attack);
    for (unsigned i = 0; i < TIMES; i++) {
        assert_true(gets_in(attack, round_trip_ms));
        pass(300, attack);
        assert_int_equal(ask_for(&hosts[0], mkperf_ToTarget_get_status_tag)->which_msg,
                         mkperf_ToHost_status_tag);
        mkperf_client_closed(&client, (unsigned)hosts[0].who); /* its link breaks */
    }
    assert_true(gets_in(attack, round_trip_ms));
    start(&hosts[0]);
    mkperf_client_closed(&client, (unsigned)hosts[0].who);
    assert_true(gets_in(attack, round_trip_ms));
    assert_true(client.running);
    assert_true(hosts[0].role.control);
    settle(&hosts[0]);
    unsigned roles = hosts[0].roles;
    pass(1000, attack);
    settle(&hosts[0]);
    assert_int_equal(hosts[0].roles, roles); /* a host does not hear of strangers */
}

static void keeps_nobody_out(attack_fn *attack)
{
    static const unsigned round_trips_ms[] = {20, 40, 600};

    for (unsigned i = 0; i < sizeof round_trips_ms / sizeof round_trips_ms[0]; i++) {
        keeps_nobody_out_at(attack, round_trips_ms[i]);
    }
}

static void wrong_proofs_keep_nobody_out(void **state)
{
    (void)state;
    keeps_nobody_out(nine_wrong_proofs_a_second);
    assert_true(client.bad_auth > 100);
}

static void silence_keeps_nobody_out(void **state)
{
    (void)state;
    keeps_nobody_out(eight_silent_sockets);
}

static void floods_keep_nobody_out(void **state)
{
    (void)state;
    keeps_nobody_out(a_thousand_connections_a_second);
}

static void replays_keep_nobody_out(void **state)
{
    (void)state;
    memset(&last_hello, 0, sizeof last_hello);
    last_hello = hello_of(false, "mallory");
    keeps_nobody_out(replayed_hellos);
}

static void nothing_before_the_proof(void **state)
{
    static const char line[] = "status\n";

    (void)state;
    begin_test(test_key);
    struct test_host *h = join_host(0, false, "alice");
    ask_for(h, mkperf_ToTarget_get_status_tag);
    expect_refused(h, mkperf_ErrorCode_ERROR_AUTHENTICATION);
    h = connect_host(0);
    ask_for(h, mkperf_ToTarget_prove_tag); /* without a challenge */
    expect_refused(h, mkperf_ErrorCode_ERROR_AUTHENTICATION);
    h = connect_host(0);
    say_bytes(h, (const uint8_t *)line, sizeof line - 1);
    settle(h);
    assert_non_null(strstr(h->text, "has a key"));
    assert_true(ended(h));
    mkperf_client_closed(&client, (unsigned)h->who);
    h = connect_host(0);
    mkperf_ToTarget m = hello_of(false, "alice");
    m.msg.hello.nonce.size = 15;
    assert_int_equal(ask(h, &m)->which_msg, mkperf_ToHost_hello_tag);
    assert_int_equal(h->last.msg.hello.authentication, mkperf_Authentication_AUTHENTICATION_KEY);
    assert_int_equal(h->last.msg.hello.proof.size, 0);
    assert_int_equal(client.refused, 1); /* the first, which closed without a proof */
    sample(100);                         /* and nothing is sent to it */
    settle(h);
    assert_int_equal(h->batches, 0);
}

/* All bytes of a host, replayed on another connection. */
static void replayed_handshake(void **state)
{
    uint8_t hello[MKPERF_FRAME_BYTES], proof[MKPERF_FRAME_BYTES];
    size_t hello_bytes, proof_bytes;

    (void)state;
    begin_test(test_key);
    struct test_host *h = connect_host(0);
    prove(h, test_key);
    memcpy(proof, h->said, h->said_bytes);
    proof_bytes = h->said_bytes;
    struct test_host *again = connect_host(1);
    make_frame(again, &last_hello);
    memcpy(hello, again->said, again->said_bytes);
    hello_bytes = again->said_bytes;
    say_bytes(again, hello, hello_bytes);
    say_bytes(again, proof, proof_bytes);
    settle(again);
    expect_refused(again, mkperf_ErrorCode_ERROR_AUTHENTICATION);
    assert_int_equal(client.bad_auth, 1);
    assert_int_equal(ask_for(h, mkperf_ToTarget_get_status_tag)->which_msg,
                     mkperf_ToHost_status_tag); /* the true one is not disturbed */
}

static struct test_host *proven(unsigned i)
{
    struct test_host *h = connect_host(i);

    assert_int_equal(prove(h, test_key)->which_msg, mkperf_ToHost_ack_tag);
    return h;
}

/* All places of hosts are taken: the fifth learns that after its proof, and one without the key never. */
static void fifth_host(void **state)
{
    (void)state;
    begin_test(test_key);
    for (unsigned i = 0; i < MKPERF_HOSTS; i++) {
        proven(i);
    }
    struct test_host *h = connect_host(MKPERF_HOSTS);
    const mkperf_ToHost *answer = prove(h, test_key);
    assert_int_equal(answer->which_msg, mkperf_ToHost_error_tag);
    assert_int_equal(answer->msg.error.code, mkperf_ErrorCode_ERROR_BUSY);
    assert_true(mkperf_client_finished(&client, (unsigned)h->who));
    uint8_t wrong[MKPERF_KEY_BYTES] = {1};
    h = connect_host(MKPERF_HOSTS + 1);
    answer = prove(h, wrong);
    assert_int_equal(answer->which_msg, mkperf_ToHost_error_tag);
    assert_int_equal(answer->msg.error.code, mkperf_ErrorCode_ERROR_AUTHENTICATION);
}

static void expect_thrown_out(struct test_host *h, unsigned bad)
{
    unsigned statuses = h->statuses;

    settle(h);
    assert_int_equal(h->statuses, statuses);
    assert_true(ended(h));
    assert_int_equal(client.bad_auth, bad);
    mkperf_client_closed(&client, (unsigned)h->who);
}

static void replayed_message(void **state)
{
    (void)state;
    begin_test(test_key);
    struct test_host *h = proven(0);
    assert_int_equal(ask_for(h, mkperf_ToTarget_get_status_tag)->which_msg,
                     mkperf_ToHost_status_tag);
    say_bytes(h, h->said, h->said_bytes);
    expect_thrown_out(h, 1);
}

/* What one host sent is put into another's connection. */
static void crossed_message(void **state)
{
    (void)state;
    begin_test(test_key);
    struct test_host *a = proven(0);
    struct test_host *b = proven(1);
    mkperf_ToTarget m = {.which_msg = mkperf_ToTarget_get_status_tag};
    make_frame(a, &m);
    say_bytes(b, a->said, a->said_bytes);
    expect_thrown_out(b, 1);
}

/* One bit of a message's bytes changed (with a right CRC), or some of its end gone. */
static void tampered(void **state)
{
    static const size_t lengths[] = {14, 13, 4, 0};
    uint8_t frame[MKPERF_FRAME_BYTES];
    unsigned bad = 0;

    (void)state;
    begin_test(test_key);
    for (unsigned i = 0; i < 14 * 8 + sizeof lengths / sizeof lengths[0]; i++) {
        uint8_t message[MKPERF_MESSAGE_BYTES] = {0x08, 0x05, 0x32, 0x00};
        struct test_host *h = proven(0);
        uint64_t number = h->link.number;
        size_t n = mkperf_auth_mac(h->link.out_key, number, message, 4);
        if (i < 14 * 8) {
            message[i / 8] ^= (uint8_t)(1 << i % 8);
        } else {
            n = lengths[i - 14 * 8];
        }
        bool whole = n == 14 && i >= 14 * 8;
        say_bytes(h, frame, mkperf_frame_encode(frame, (uint16_t)number, message, n));
        settle(h);
        if (whole) {
            assert_int_equal(h->last.which_msg, mkperf_ToHost_status_tag);
        } else {
            assert_true(ended(h));
            assert_int_not_equal(h->last.which_msg, mkperf_ToHost_status_tag);
        }
        assert_true(client.bad_auth >= bad);
        bad = client.bad_auth;
        mkperf_client_closed(&client, (unsigned)h->who);
    }
    assert_true(bad > 50);
}

/* A line never ends: invalid messages are counted and dropped. */
static struct test_host *begin_line(void)
{
    begin_test(test_key);
    hosts[0].who = mkperf_client_open(&client, false);
    return &hosts[0];
}

static void serial_line(void **state)
{
    (void)state;
    struct test_host *h = begin_line();
    assert_int_equal(prove(h, other_key)->which_msg, mkperf_ToHost_error_tag);
    h->link.authenticated = false;
    h->check = false;
    assert_int_equal(prove(h, test_key)->which_msg, mkperf_ToHost_ack_tag);
    assert_int_equal(ask_for(h, mkperf_ToTarget_get_status_tag)->which_msg,
                     mkperf_ToHost_status_tag);
    say_bytes(h, h->said, h->said_bytes);
    settle(h);
    assert_false(ended(h));
    assert_int_equal(ask_for(h, mkperf_ToTarget_get_status_tag)->which_msg,
                     mkperf_ToHost_status_tag);
    assert_int_equal(h->status.bad_auth, 2);
}

/* Another program on the line sends a hello, with a wrong proof or none: the host is not disturbed. */
static void hello_on_a_line(void **state)
{
    struct test_host *other = &hosts[1];
    mkperf_ToTarget m = hello_of(true, "mallory");

    (void)state;
    struct test_host *h = begin_line();
    assert_int_equal(prove(h, test_key)->which_msg, mkperf_ToHost_ack_tag);
    start(h);
    for (unsigned i = 0; i < 3; i++) {
        make_frame(other, &m);
        say_bytes(h, other->said, other->said_bytes);
        sample(10);
        settle(h);
        assert_true(h->bad_macs == 1 + i * 2); /* the target's answer to the other's hello */
        mkperf_ToTarget proof = {.which_msg = mkperf_ToTarget_prove_tag};
        make_frame(other, &proof);
        say_bytes(h, other->said, other->said_bytes);
        assert_int_equal(ask_for(h, mkperf_ToTarget_get_status_tag)->which_msg,
                         mkperf_ToHost_status_tag);
        assert_int_equal(h->bad_macs, 2 + i * 2);
    }
    assert_true(h->status.running);
    assert_int_equal(h->status.bad_auth, 3);
    assert_true(h->role.control);
    assert_string_equal(h->role.controller, "alice");
    assert_int_equal(ask_for(h, mkperf_ToTarget_stop_tag)->which_msg, mkperf_ToHost_status_tag);
    assert_int_equal(h->received, 30);
}

/* A host that was killed; the next one proves itself while the target still sends to the first. */
static void next_host_on_a_line(void **state)
{
    (void)state;
    struct test_host *h = begin_line();
    assert_int_equal(prove(h, test_key)->which_msg, mkperf_ToHost_ack_tag);
    start(h);
    uint16_t sequence = h->link.sequence;
    memset(h, 0, sizeof *h);
    h->link.sequence = sequence;
    sample(1000);
    mkperf_client_pump(&client);
    assert_int_equal(prove(h, test_key)->which_msg, mkperf_ToHost_ack_tag);
    assert_int_equal(ask_for(h, mkperf_ToTarget_stop_tag)->which_msg, mkperf_ToHost_status_tag);
    assert_true(h->role.control);
    assert_int_equal(client.bad_auth, 0);
}

/* Keys by name: each opens with its own name alone, and one that is not in the list with none. */
static void keys_by_name(void **state)
{
    static const char *const names[] = {"", "alice", "bob"};

    (void)state;
    begin_test(test_key);
    for (unsigned i = 0; i < 9; i++) {
        struct test_host *h = connect_host(0);
        key_name = names[i / 3];
        bool ok = prove(h, key_list[i % 3].bytes)->which_msg == mkperf_ToHost_ack_tag;
        key_name = "";
        assert_int_equal(ok, i / 3 == i % 3);
        assert_int_equal(ended(h), !ok);
        mkperf_client_closed(&client, (unsigned)h->who);
    }
    client.keys = 2; /* bob's key was withdrawn */
    struct test_host *h = connect_host(0);
    mkperf_ToTarget m = hello_of(false, "bob@desk");
    strcpy(m.msg.hello.key, "bob");
    ask(h, &m);
    expect_refused(h, mkperf_ErrorCode_ERROR_AUTHENTICATION);
    assert_non_null(strstr(h->last.msg.error.text, "no key of the name"));
}

static void nonces_differ(void **state)
{
    uint8_t nonce[20][MKPERF_NONCE_BYTES];

    (void)state;
    begin_test(test_key);
    struct test_host *h = connect_host(0);
    for (unsigned i = 0; i < 20; i++) {
        memcpy(nonce[i], greet(h, false, "alice")->msg.hello.nonce.bytes, sizeof nonce[i]);
        for (unsigned k = 0; k < i; k++) {
            assert_memory_not_equal(nonce[i], nonce[k], sizeof nonce[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_key),
        cmocka_unit_test(lost_frames),
        cmocka_unit_test(wrong_proofs_keep_nobody_out),
        cmocka_unit_test(silence_keeps_nobody_out),
        cmocka_unit_test(floods_keep_nobody_out),
        cmocka_unit_test(replays_keep_nobody_out),
        cmocka_unit_test(hello_on_a_line),
        cmocka_unit_test(next_host_on_a_line),
        cmocka_unit_test(nothing_before_the_proof),
        cmocka_unit_test(replayed_handshake),
        cmocka_unit_test(fifth_host),
        cmocka_unit_test(replayed_message),
        cmocka_unit_test(crossed_message),
        cmocka_unit_test(tampered),
        cmocka_unit_test(serial_line),
        cmocka_unit_test(nonces_differ),
        cmocka_unit_test(keys_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
