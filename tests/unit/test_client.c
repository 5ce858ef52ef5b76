/* SPDX-License-Identifier: BSD-2-Clause */
/* The client PD with several hosts: control, slow hosts, the cost of a lost link, marks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <mkperf/sched.h>

#include "client_hosts.h"

static void expect_error(const mkperf_ToHost *m, mkperf_ErrorCode code)
{
    assert_int_equal(m->which_msg, mkperf_ToHost_error_tag);
    assert_int_equal(m->msg.error.code, code);
    assert_true(m->msg.error.text[0] != '\0');
}

/* Begins a test with a running session. Returns the host that controls it. */
static struct test_host *begin_session(void)
{
    begin_test(NULL);
    struct test_host *a = join_host(0, false, "a");
    start(a);
    return a;
}

static void who_controls(void **state)
{
    (void)state;
    begin_test(NULL);
    struct test_host *a = connect_host(0);
    struct test_host *b = connect_host(1);
    struct test_host *w = connect_host(2);
    const mkperf_ToHost *m = greet(a, false, "alice");
    assert_int_equal(m->which_msg, mkperf_ToHost_hello_tag);
    assert_int_equal(m->msg.hello.authentication, mkperf_Authentication_AUTHENTICATION_NONE);
    assert_int_equal(m->msg.hello.nonce.size, 0);
    assert_true(a->role.control);
    greet(w, true, "watcher");
    greet(b, false, "bob");
    assert_false(b->role.control);
    assert_string_equal(b->role.controller, "alice");
    assert_int_equal(b->role.watchers, 2);
    expect_error(configure(b, false), mkperf_ErrorCode_ERROR_NOT_CONTROLLER);
    expect_error(ask_for(b, mkperf_ToTarget_take_control_tag),
                 mkperf_ErrorCode_ERROR_NOT_CONTROLLER);
    assert_int_equal(ask_for(b, mkperf_ToTarget_get_status_tag)->which_msg,
                     mkperf_ToHost_status_tag);
    assert_int_equal(b->status.refused, 2);
    start(a);
    mkperf_client_closed(&client, (unsigned)a->who);
    settle(b);
    assert_false(b->role.controlled); /* and the session continues */
    assert_true(client.running);
    assert_int_equal(ask_for(b, mkperf_ToTarget_take_control_tag)->which_msg,
                     mkperf_ToHost_role_tag);
    assert_true(b->last.msg.role.control);
    settle(w);
    assert_string_equal(w->role.controller, "bob");
    mkperf_ToTarget force = {.which_msg = mkperf_ToTarget_take_control_tag};
    force.msg.take_control.force = true;
    assert_true(ask(w, &force)->msg.role.control);
    expect_error(ask_for(b, mkperf_ToTarget_stop_tag), mkperf_ErrorCode_ERROR_NOT_CONTROLLER);
    settle(b);
    assert_string_equal(b->role.controller, "watcher");
    assert_int_equal(ask_for(w, mkperf_ToTarget_stop_tag)->which_msg, mkperf_ToHost_status_tag);
    assert_int_equal(w->status.links_lost, 1);
}

/* Hosts above the limit are refused; silent connections are closed, the oldest first. */
static void all_taken(void **state)
{
    (void)state;
    begin_test(NULL);
    for (unsigned i = 0; i < MKPERF_HOSTS; i++) {
        join_host(i, true, "a");
    }
    struct test_host *h = connect_host(MKPERF_HOSTS);
    expect_error(greet(h, false, "b"), mkperf_ErrorCode_ERROR_BUSY);
    assert_true(mkperf_client_finished(&client, (unsigned)h->who));
    mkperf_client_closed(&client, (unsigned)h->who);
    mkperf_client_closed(&client, 2);
    h = connect_host(2);
    assert_int_equal(greet(h, false, "c")->which_msg, mkperf_ToHost_hello_tag);
    assert_int_equal(h->who, 2);
}

static void oldest_makes_room(void **state)
{
    (void)state;
    begin_test(NULL);
    join_host(0, false, "a");
    for (unsigned i = 1; i < MKPERF_CONNECTIONS; i++) {
        assert_int_equal(mkperf_client_least(&client), -1); /* there are free places */
        connect_host(i);
    }
    assert_int_equal(mkperf_client_least(&client), 1);
    assert_int_equal(mkperf_client_open(&client, true), -1);
    mkperf_client_closed(&client, 1);
    connect_host(1);
    assert_int_equal(mkperf_client_least(&client), 2);
    greet(&hosts[2], true, "b");
    assert_int_equal(mkperf_client_least(&client), 3); /* an admitted host keeps its place */
    static const char line[] = "status\n";
    say_bytes(&hosts[3], (const uint8_t *)line, sizeof line - 1);
    assert_int_equal(mkperf_client_least(&client), 4); /* a person at a terminal sends text */
}

/* Only a hello is accepted before the hello; an invalid message ends only its connection. */
static void malformed(void **state)
{
    static const uint8_t bad[] = {0x0a, 0xff, 0xff, 0xff};
    uint8_t frame[MKPERF_FRAME_BYTES];

    (void)state;
    begin_test(NULL);
    struct test_host *a = connect_host(0);
    struct test_host *b = connect_host(1);
    struct test_host *early = connect_host(2);
    greet(a, false, "a");
    greet(b, true, "b");
    expect_error(ask_for(early, mkperf_ToTarget_get_status_tag), mkperf_ErrorCode_ERROR_PROTOCOL);
    assert_true(mkperf_client_finished(&client, (unsigned)early->who));
    struct test_host *noisy = connect_host(3);
    size_t n = mkperf_frame_encode(frame, 0, bad, sizeof bad);
    frame[n / 2] ^= 0x40; /* what is left is no frame */
    say_bytes(noisy, frame, n);
    assert_true(mkperf_client_finished(&client, (unsigned)noisy->who));
    say_bytes(b, frame, mkperf_frame_encode(frame, 9, bad, sizeof bad));
    settle(b);
    assert_true(mkperf_client_finished(&client, (unsigned)b->who));
    assert_false(mkperf_client_finished(&client, (unsigned)a->who));
    assert_int_equal(client.refused, 2);
    assert_int_equal(ask_for(a, mkperf_ToTarget_get_status_tag)->which_msg,
                     mkperf_ToHost_status_tag);
    expect_error(ask_for(a, 0), mkperf_ErrorCode_ERROR_MALFORMED);
    assert_true(mkperf_client_finished(&client, (unsigned)a->who));
}

static void check_statistics(const struct test_host *h)
{
    assert_int_equal(h->status.captured,
                     h->status.sent + h->status.lost_output + h->status.lost_link);
}

/* A watcher that does not read: the controller gets all, the watcher the number it missed. */
static void slow_watcher(void **state)
{
    (void)state;
    begin_test(NULL);
    struct test_host *a = join_host(0, false, "a");
    struct test_host *w = join_host(1, true, "w");
    start(a);
    settle(w);
    for (unsigned i = 0; i < 3000; i++) {
        sample(37);
        mkperf_client_pump(&client);
        hear(a, SIZE_MAX);
        if (i % 500 > 400) {
            hear(w, 200);
        }
    }
    hear(w, SIZE_MAX);
    for (unsigned i = 0; i < 40; i++) {
        sample(37);
        settle(a);
        settle(w);
    }
    assert_int_equal(ask_for(a, mkperf_ToTarget_stop_tag)->which_msg, mkperf_ToHost_status_tag);
    settle(w);
    assert_int_equal(a->received, 37 * 3040);
    assert_int_equal(a->missing, 0);
    assert_int_equal(a->gaps, 0);
    assert_true(w->gaps >= 1);
    assert_int_equal(w->gap.reason, mkperf_GapReason_GAP_SLOW);
    assert_true(w->missing > 1000);
    assert_int_equal(w->missing, w->status.lost_link);
    assert_int_equal(w->received, w->status.sent);
    assert_int_equal(a->status.sent, a->received);
    assert_int_equal(a->status.lost_link, 0);
    check_statistics(a);
    check_statistics(w);
}

/* Samples and scheduling events in one session, over a link that is almost always full: who sets the pace
 * loses nothing. */
static void samples_and_events(void **state)
{
    (void)state;
    struct test_host *a = begin_session();
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t *w = mkperf_ring_reserve(&producer, 8 * MKPERF_SCHED_OUTPUT_WORDS);
        if (w != NULL) {
            w[0] = mkperf_record_header(MKPERF_RECORD_SCHED, 8 * MKPERF_SCHED_OUTPUT_WORDS,
                                        MKPERF_SCHED_NOTIFY, 0, 0, 0);
            w[MKPERF_WORD_TIME] = test_time;
            w[MKPERF_SCHED_IDENTITY] = UINT64_C(1000003) * i; /* a code of its own: long messages */
            mkperf_ring_commit(&producer, 8 * MKPERF_SCHED_OUTPUT_WORDS);
        }
        sample(1 + i % 3);
        mkperf_client_pump(&client);
        hear(a, 12);
    }
    assert_int_equal(ask_for(a, mkperf_ToTarget_stop_tag)->which_msg, mkperf_ToHost_status_tag);
    assert_true(page_memory.page.status.lost_output > 1000); /* the link was full */
    assert_int_equal(a->gaps, 0);
    assert_int_equal(a->missing, 0);
    assert_int_equal(a->status.lost_link, 0);
    assert_int_equal(a->status.sched_lost_link, 0);
}

/* A window ends when its time is over, also without samples, before a new epoch, and at the end of the session. A host
 * that joins gets the windows after its epoch. */
static void windows(void **state)
{
    (void)state;
    begin_test(NULL);
    struct test_host *a = join_host(0, false, "a");
    page_memory.page.session.aggregate_ms = 10; /* 10000 ticks */
    start(a);
    sample(500); /* 5000 ticks */
    settle(a);
    assert_int_equal(a->received, 0);
    test_time += 6000;
    settle(a);
    assert_int_equal(a->received, 500);
    sample(300);
    settle(a);
    assert_int_equal(a->received, 500);
    assert_int_equal(ask_for(a, mkperf_ToTarget_reset_chains_tag)->which_msg,
                     mkperf_ToHost_ack_tag);
    settle(a);
    assert_int_equal(a->received, 800);
    for (unsigned i = 0; i < 20; i++) {
        sample(200);
        settle(a);
    }
    assert_in_range(a->received, 800 + 3000, 800 + 4000);
    struct test_host *w = join_host(1, true, "w");
    sample(100);
    assert_int_equal(ask_for(a, mkperf_ToTarget_stop_tag)->which_msg, mkperf_ToHost_status_tag);
    settle(w);
    assert_int_equal(a->received, 4900);
    assert_int_equal(a->missing, 0);
    assert_int_equal(a->status.sent, 4900);
    check_statistics(a);
    check_statistics(w);
}

/* The link breaks: samples wait in the ring, the rest is lost_output, and the next host has it all.
 */
static void lost_link(void **state)
{
    (void)state;
    struct test_host *a = begin_session();
    sample(500);
    settle(a);
    assert_int_equal(a->received, 500);
    mkperf_client_closed(&client, (unsigned)a->who);
    uint64_t before = client.encoder.sent;
    for (unsigned i = 0; i < 10; i++) {
        sample(300);
        mkperf_client_pump(&client);
    }
    assert_int_equal(client.encoder.sent, before); /* no host: nothing is sent */
    assert_true(page_memory.page.status.lost_output > 0);
    struct test_host *b = join_host(1, false, "b");
    assert_true(b->role.control);
    assert_true(b->session.running);
    settle(b);
    assert_int_equal(b->gap.reason, mkperf_GapReason_GAP_JOINED);
    assert_int_equal(b->gap.samples, 500);
    assert_int_equal(b->missing, 500);
    sample(10);
    assert_int_equal(ask_for(b, mkperf_ToTarget_stop_tag)->which_msg, mkperf_ToHost_status_tag);
    assert_int_equal(b->received + 500, b->status.sent);
    check_statistics(b);
    assert_int_equal(b->status.captured, 3510);
    assert_int_equal(b->status.links_lost, 1);
}

/* The highest fill level of the output ring since the last unsolicited status. */
static void ring_fill(void **state)
{
    (void)state;
    struct test_host *a = begin_session();
    sample(500);
    settle(a);
    sample(3);
    for (unsigned i = 0; i < 2; i++) { /* asking changes nothing */
        ask_for(a, mkperf_ToTarget_get_status_tag);
        assert_int_equal(a->status.ring_peak, 500 * 64);
        assert_int_equal(a->status.ring_bytes, RING);
    }
    unsigned statuses = a->statuses;
    test_time += 1000000;
    sample(100);
    settle(a);
    assert_int_equal(a->statuses, statuses); /* the status is sent with the next records */
    sample(1);
    settle(a);
    assert_int_equal(a->statuses, statuses + 1);
    assert_int_equal(a->status.ring_peak, 500 * 64);
    test_time += 1000000;
    sample(100);
    settle(a);
    sample(1);
    settle(a);
    assert_int_equal(a->statuses, statuses + 2);
    assert_int_equal(a->status.ring_peak, 100 * 64);
    sample(2 * RING / 64); /* the ring is exactly full */
    ask_for(a, mkperf_ToTarget_stop_tag);
    assert_int_equal(a->status.ring_peak, RING);
    assert_true(a->status.lost_output > 0);
    assert_int_equal(configure(a, false)->which_msg, mkperf_ToHost_session_tag);
    start(a);
    ask_for(a, mkperf_ToTarget_get_status_tag);
    assert_int_equal(a->status.ring_peak, 0); /* the session is another one */
}

static void reconfigured_while_running(void **state)
{
    (void)state;
    begin_test(NULL);
    struct test_host *a = join_host(0, false, "a");
    join_host(1, true, "w");
    start(a);
    sample(300);
    settle(a);
    unsigned statuses = a->statuses;
    assert_int_equal(configure(a, true)->which_msg, mkperf_ToHost_session_tag);
    assert_int_equal(a->last.msg.session.id, 2);
    assert_true(a->last.msg.session.running);
    assert_int_equal(a->statuses, statuses + 1);
    assert_int_equal(a->status.session, 1);
    configure_result = MKPERF_RESULT_RANGE;
    expect_error(configure(a, true), mkperf_ErrorCode_ERROR_RANGE);
    assert_true(client.running);
    assert_int_equal(page_memory.page.session.id, 3); /* keeps the old configuration */
}

static void marks(void **state)
{
    uint64_t words[MKPERF_APP_MARK_WORDS] = {UINT64_C(1) << 32 | 42, 0x6573616870 /* phase */};

    (void)state;
    begin_test(NULL);
    struct test_host *a = join_host(0, true, "a");
    assert_int_equal(mkperf_client_app(&client, MKPERF_APP_STOP, NULL, 0), MKPERF_APP_OK);
    assert_int_equal(mkperf_client_app(&client, MKPERF_APP_START, NULL, 0), MKPERF_APP_OK);
    assert_int_equal(mkperf_client_app(&client, MKPERF_APP_START, NULL, 0), MKPERF_APP_OK);
    assert_int_equal(calls[MKPERF_OP_START], 1);
    words[5] = 0x6f686365; /* echo */
    assert_int_equal(mkperf_client_app(&client, MKPERF_APP_MARK, words, MKPERF_APP_MARK_WORDS),
                     MKPERF_APP_OK);
    settle(a);
    assert_int_equal(a->marks, 1);
    assert_string_equal(a->mark.name, "phase");
    assert_string_equal(a->mark.pd, "echo");
    assert_int_equal(a->mark.kind, mkperf_MarkKind_MARK_BEGIN);
    assert_int_equal(a->mark.id, 42);
    assert_int_equal(a->mark.time_ticks, test_time);
    assert_int_equal(a->mark.session, 1);
    memset(words, 0xff, sizeof words);
    assert_int_equal(mkperf_client_app(&client, MKPERF_APP_MARK, words, MKPERF_APP_MARK_WORDS),
                     MKPERF_APP_MALFORMED);
    words[0] = 0;
    for (unsigned i = 0; i < 2000; i++) {
        mkperf_client_app(&client, MKPERF_APP_MARK, words, MKPERF_APP_MARK_WORDS);
    }
    settle(a);
    assert_int_equal(a->marks + client.marks_lost, 2001);
    assert_true(client.marks_lost > 0);
    assert_int_equal(mkperf_client_app(&client, MKPERF_APP_MARK, words, 3), MKPERF_APP_MALFORMED);
    assert_int_equal(mkperf_client_app(&client, 99, words, 0), MKPERF_APP_MALFORMED);
    assert_int_equal(mkperf_client_app(&client, MKPERF_APP_STOP, NULL, 0), MKPERF_APP_OK);
    settle(a);
    assert_false(client.running);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_controls),
        cmocka_unit_test(all_taken),
        cmocka_unit_test(oldest_makes_room),
        cmocka_unit_test(malformed),
        cmocka_unit_test(slow_watcher),
        cmocka_unit_test(samples_and_events),
        cmocka_unit_test(windows),
        cmocka_unit_test(lost_link),
        cmocka_unit_test(ring_fill),
        cmocka_unit_test(reconfigured_while_running),
        cmocka_unit_test(marks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
