/* SPDX-License-Identifier: BSD-2-Clause */
/* The text commands: each one's effect, and that an error changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client_hosts.h"

static struct test_host *controller(void)
{
    begin_test(NULL);
    return join_host(0, false, "a");
}

static void settings(void **state)
{
    const struct mkperf_settings *s = &client.settings;
    struct test_host *h = controller();

    (void)state;
    assert_true(command(h, "timer period 500")->ok);
    assert_int_equal(s->period_us, 500);
    assert_true(command(h, "timer all on")->ok);
    assert_true(s->timer);
    assert_true(command(h, "  timer\t0   off ")->ok);
    assert_false(s->timer);
    assert_true(command(h, "prof_btdepth 0x20")->ok);
    assert_int_equal(s->request.configure.max_frames, 32);
    assert_true(command(h, "prof_qlimit 100")->ok);
    assert_int_equal(s->request.output_bytes, 64 * 1024);
    assert_true(command(h, "prof_cpubufsz 16")->ok);
    assert_true(command(h, "sched on")->ok);
    assert_non_null(strstr(command(h, "status")->text, "sched on"));
    assert_true(command(h, "sched off")->ok);
    assert_int_equal(s->request.core_bytes, 16 * 1024);
    assert_true(command(h, "events cycles:u 'r11',period=5000 instructions:kG,freq=99")->ok);
    assert_int_equal(s->request.configure.events_count, 3);
    assert_string_equal(s->request.configure.events[0].name, "cycles");
    assert_true(s->request.configure.events[0].user && !s->request.configure.events[0].kernel);
    assert_int_equal(s->request.configure.events[0].frequency, 2000);
    assert_int_equal(s->request.configure.events[1].raw, 0x11);
    assert_int_equal(s->request.configure.events[1].period, 5000);
    assert_int_equal(s->request.configure.events[2].frequency, 99);
    assert_true(s->request.configure.events[2].kernel && s->request.configure.events[2].guest &&
                !s->request.configure.events[2].host);
    assert_true(command(h, "timer all on")->ok);
    assert_true(command(h, "start")->ok);
    const struct mkperf_session_request *r = &page_memory.page.request;
    assert_int_equal(r->configure.events_count, 4);
    assert_string_equal(r->configure.events[3].name, "cycles");
    assert_int_equal(r->configure.events[3].frequency, 2000);
    assert_int_equal(r->configure.max_frames, 32);
    assert_int_equal(r->core_bytes, 16 * 1024);
}

static void sessions(void **state)
{
    struct test_host *h = controller();

    (void)state;
    assert_true(command(h, "stop")->ok); /* no session runs, so nothing happens */
    assert_int_equal(calls[MKPERF_OP_STOP], 0);
    assert_true(command(h, "start")->ok);
    assert_true(command(h, "start")->ok);
    assert_int_equal(calls[MKPERF_OP_START], 1);
    assert_int_equal(page_memory.page.request.configure.events[0].frequency, 1000);
    assert_false(command(h, "clear")->ok);
    sample(10);
    assert_true(command(h, "flush")->ok);
    assert_int_equal(calls[MKPERF_OP_DRAIN], 1);
    assert_int_equal(h->received, 10);
    assert_true(command(h, "stop")->ok);
    assert_false(client.running);
    sample(7);
    assert_string_equal(command(h, "clear")->text, "7 samples dropped\n");
    configure_result = MKPERF_RESULT_RANGE;
    assert_true(command(h, "timer all on")->ok);
    assert_false(command(h, "start")->ok);
    assert_false(client.running);
}

static void refused(void **state)
{
    static const char *const bad[] = {
        "",
        " ",
        "bogus",
        "START",
        "start now",
        "exit 'status",
        "timer",
        "timer all",
        "timer all maybe",
        "timer 1 on",
        "timer -1 on",
        "timer x on",
        "timer period",
        "timer period 0",
        "timer period 9",
        "timer period 1000001",
        "timer period 99999999999999999999",
        "timer period 100us",
        "timer all on off",
        "prof_btdepth",
        "prof_btdepth 65",
        "prof_btdepth -1",
        "prof_btdepth x",
        "prof_qlimit",
        "prof_qlimit 3",
        "prof_qlimit 513",
        "prof_qlimit 0xffffffffffffffff",
        "prof_qlimit 18014398509481984",
        "prof_cpubufsz 0",
        "sched",
        "sched maybe",
        "sched on off",
        "prof_cpubufsz 257",
        "prof_cpubufsz 64 64",
        "events cycles:",
        "events cycles:x",
        "events cycles,period=0",
        "events cycles,period=",
        "events cycles,freq=100001",
        "events :u",
        "events cycles cycles,",
        "events aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "events rffffffffff:u:u",
        "'start",
        "start\x01",
        "events a b c d e f g h i j k l m n o p",
        "a b c d e f g h i j k l m n o p q r s t u v w x y z",
    };
    struct test_host *h = controller();

    (void)state;
    assert_true(command(h, "timer period 700")->ok);
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct mkperf_settings before = client.settings;
        const mkperf_Reply *r = command(h, bad[i]);
        if (r->ok) {
            print_message("accepted: %s\n", bad[i]);
        }
        assert_false(r->ok);
        assert_true(strlen(r->text) > 3);
        assert_memory_equal(&before, &client.settings, sizeof before);
        assert_int_equal(calls[MKPERF_OP_START] + calls[MKPERF_OP_CONFIGURE], 0);
    }
    assert_non_null(strstr(command(h, "bogus")->text, "usage: help|connect|"));
    assert_string_equal(command(h, "sched maybe")->text,
                        "usage: sched on|off: records scheduling events\n");
    /* The list of commands fits into a reply. */
    assert_non_null(strstr(command(h, "help")->text, "exit: gives up control, and ends a "
                                                     "connection over TCP\n"));
}

static void watchers(void **state)
{
    struct test_host *a = controller();
    struct test_host *w = connect_host(1);

    (void)state;
    greet(w, true, "w");
    assert_false(command(w, "start")->ok);
    assert_false(command(w, "timer all on")->ok);
    assert_false(command(w, "events cycles")->ok);
    assert_true(command(w, "status")->ok);
    assert_true(command(w, "help")->ok);
    assert_true(command(w, "events")->ok);
    assert_non_null(strstr(w->last.msg.reply.text, "cycles"));
    assert_non_null(strstr(command(w, "connect")->text, "another controls"));
    assert_true(command(a, "exit")->ok);
    assert_true(mkperf_client_finished(&client, (unsigned)a->who));
    settle(w);
    assert_false(w->role.controlled);
}

static const char *type(struct test_host *h, const char *line)
{
    memset(h->text, 0, sizeof h->text);
    h->text_bytes = 0;
    say_bytes(h, (const uint8_t *)line, strlen(line));
    settle(h);
    return h->text;
}

/* Without a key, a terminal will do; after a frame it will not. */
static void plain_text(void **state)
{
    begin_test(NULL);
    struct test_host *h = connect_host(0);

    (void)state;
    assert_string_equal(type(h, "timer period 2000\r\n"), "ok\n");
    assert_int_equal(client.settings.period_us, 2000);
    assert_string_equal(type(h, "\r\n\n"), "");
    assert_non_null(strstr(type(h, "events\n"), "cycles"));
    assert_non_null(strstr(type(h, "start\nstatus\n"), "session 1, runs"));
    struct test_host *b = connect_host(1);
    assert_non_null(strstr(type(b, "stop\n"), "does not control"));
    greet(h, false, "a");
    uint32_t period = client.settings.period_us;
    say_bytes(h, (const uint8_t *)"timer period 3000\n", 18);
    assert_int_equal(client.settings.period_us, period);
    char big[3000];
    memset(big, 'a', sizeof big);
    say_bytes(b, (const uint8_t *)big, sizeof big);
    assert_string_equal(type(b, "\n"), ""); /* too long for anything */
}

/* A host's request has no effect on text commands: what they do not set has its default. */
static void nothing_left_of_a_host(void **state)
{
    struct test_host *h = controller();
    mkperf_ToTarget m = mkperf_ToTarget_init_zero;

    (void)state;
    m.which_msg = mkperf_ToTarget_configure_tag;
    m.msg.configure.events_count = 1;
    strcpy(m.msg.configure.events[0].name, "cycles");
    m.msg.configure.events[0].period = 1000;
    m.msg.configure.only_count = 1;
    m.msg.configure.only[0] = 5 + 2;
    m.msg.configure.dump_on_fault_count = 1;
    m.msg.configure.dump_on_fault[0] = 5 + 2;
    m.msg.configure.check = true;
    m.msg.configure.per_pd = true;
    m.msg.configure.no_jitter = true;
    m.msg.configure.overwrite = true;
    m.msg.configure.overwrite_bytes = 8192;
    m.msg.configure.interactions = true;
    ask(h, &m);
    const struct mkperf_session_request *r = &page_memory.page.request;
    assert_int_equal(r->configure.only_count, 1);
    assert_int_equal(r->output_bytes, 8192);
    assert_true(command(h, "events instructions")->ok);
    assert_true(command(h, "start")->ok);
    mkperf_Configure wanted = mkperf_Configure_init_zero;
    wanted.events_count = 1;
    strcpy(wanted.events[0].name, "instructions");
    wanted.events[0].frequency = 1000;
    wanted.max_frames = 16;
    assert_memory_equal(&r->configure, &wanted, sizeof wanted);
    assert_int_equal(r->output_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings),   cmocka_unit_test(sessions),
        cmocka_unit_test(refused),    cmocka_unit_test(watchers),
        cmocka_unit_test(plain_text), cmocka_unit_test(nothing_left_of_a_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
