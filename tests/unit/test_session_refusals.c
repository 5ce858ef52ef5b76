/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions that are refused or end, on a simulated machine: no hook, no interrupt, no PMU, requests out of
 * range, a PMU that another program changes, a client PD that writes anything.
 */
#include "session_one.h"

/* A kernel without the extension: the acknowledgement is an ordinary one. */
static void test_no_hook(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_hello_tag);

    (void)state;
    sim.hook = false;
    init();
    mkperf_client_init(&sim_client);
    m.msg.hello.protocol = MKPERF_PROTOCOL;
    sim_ask(&m, mkperf_ToHost_hello_tag);
    assert_int_equal(got.last.msg.hello.counters, 0);
    configure_one(sim_event("cycles", 100000, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_NO_HOOK, 0);
    assert_non_null(strstr(got.last.msg.error.text, "extension"));
    sim_command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_NO_HOOK, 0);
    assert_true(sim.acks >= 1);
    for (unsigned c = 0; c < COUNTERS; c++) {
        assert_false(sim.counter[c].on);
    }
}

/* The extension is there, but no interrupt, or counters that stand still. */
static void test_no_interrupt(void **state)
{
    (void)state;
    configure_one(sim_event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    for (unsigned i = 0; i < 2; i++) {
        sim.interrupts = false;
        sim.counts = i == 0;
        sim_command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
        refused(i == 0 ? mkperf_ErrorCode_ERROR_NO_HOOK : mkperf_ErrorCode_ERROR_NO_PMU, 0);
        assert_int_equal(sim.hook_state.mask, 0);
        assert_int_equal(sim.overflow, 0);
        assert_false(mkperf_kernel.session);
        for (unsigned c = 0; c < COUNTERS; c++) {
            assert_false(sim.counter[c].on);
        }
    }
    sim.interrupts = sim.counts = true; /* a valid session is possible now */
    start_session();
    run_machine(TICK_HZ / 10);
    check_statistics(stop_session());
}

static void test_no_pmu(void **state)
{
    (void)state;
    microkit_irqs = 0;
    init();
    configure_one(sim_event("cycles", 100000, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_NO_PMU, 0);
    assert_non_null(strstr(got.last.msg.error.text, "interrupt (channel 0)"));
    sim_command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_NO_PMU, 0);
    microkit_irqs = 1;
}

/* Other software changes the PMU: the hook detects and repairs it, and the session reports it. */
static void test_disturbed(void **state)
{
    (void)state;
    configure_one(sim_event("cycles", 20000, 0), mkperf_ToHost_session_tag);
    start_session();
    run_machine(TICK_HZ / 10);
    sim_command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    assert_int_equal(mkperf_status.disturbed, 0);
    sim.counter[0].on = false;
    run_machine(TICK_HZ / 10);
    sim_command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    assert_int_equal(mkperf_status.disturbed, 1);
    assert_true(sim.counter[0].on);
    sim.counter[0].code = 8;       /* another event */
    sim.counter[1].value = 123456; /* far from its overflow */
    run_machine(TICK_HZ / 10);
    sim_command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    assert_in_range(mkperf_status.disturbed, 3, 4);
    assert_int_equal(sim.counter[0].code, 0x11);
    uint64_t before = got.of[0];
    run_machine(TICK_HZ / 10);
    const mkperf_Status *s = stop_session();
    assert_in_range(got.of[0] - before, 4400, 4600);
    check_statistics(s);
    assert_in_range(mkperf_status.disturbed, 3, 4);
    start_session(); /* the next session has none of these */
    run_machine(TICK_HZ / 100);
    stop_session();
    assert_int_equal(mkperf_status.disturbed, 0);
}

/* The hook takes more time than it leaves: the session ends, and shows why. */
static void test_storm(void **state)
{
    (void)state;
    configure_one(sim_event("cycles", 1000, 0), mkperf_ToHost_session_tag);
    start_session();
    run_machine(TICK_HZ / 10);
    assert_true(mkperf_kernel.session);
    sim.slow = 3; /* ticks a sample; there is one each tick */
    run_machine(TICK_HZ / 100);
    sim_command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    assert_true(got.last.msg.status.storm);
    assert_false(mkperf_kernel.session);
    run_machine(TICK_HZ / 100); /* the client notices, and reports the end of the session */
    sim_command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    assert_true(got.last.msg.status.storm);
    assert_false(got.last.msg.status.running);
    assert_int_equal(got.last.msg.status.captured, got.last.msg.status.sent);
    assert_false(sim.counter[0].on || sim.counter[1].on);
    assert_int_equal(sim.hook_state.mask, 0);
    sim.slow = 0;
    start_session();
    run_machine(TICK_HZ / 10);
    check_statistics(stop_session());
    assert_false(mkperf_status.storm);
}

/* An interrupt of an unowned counter is handled as an ordinary one, and the session continues. */
static void test_spurious(void **state)
{
    (void)state;
    configure_one(sim_event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    start_session();
    run_machine(TICK_HZ / 10);
    for (unsigned i = 0; i < 5; i++) {
        sim.counter[5].interrupts = true;
        sim.overflow |= 1 << 5;
        interrupt();
        assert_true(sim.masked && sim.woken);
        sim.overflow &= ~(UINT32_C(1) << 5);
        run_machine(TICK_HZ / 100);
        assert_false(sim.masked);
    }
    const mkperf_Status *s = stop_session();
    assert_int_equal(s->spurious, 5);
    check_statistics(s);
    check_events(s);
}

static void test_refusals(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);
    mkperf_EventSpec raw = sim_event("", 5000, 0);

    (void)state;
    sim_command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    sim_command(mkperf_ToTarget_stop_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    sim_ask(&m, mkperf_ToHost_error_tag); /* a request without an event */
    refused(mkperf_ErrorCode_ERROR_RANGE, 0);
    configure_one(sim_event("cycles", 5000, 0), mkperf_ToHost_session_tag);
    configure_one(sim_event("cyc", 5000, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_EVENT_UNKNOWN, 1);
    configure_one(sim_event("stall_frontend", 5000, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_EVENT_UNSUPPORTED, 1);
    configure_one(sim_event("cycles", 999, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    configure_one(sim_event("cycles", UINT64_C(0x80000000), 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    configure_one(sim_event("cycles", 0, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    configure_one(sim_event("cycles", 0, 100001), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    m.msg.configure.events_count = 16;
    for (unsigned i = 0; i < 16; i++) {
        m.msg.configure.events[i] = sim_event("instructions", 50000, 0);
    }
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_COUNTERS, 0);
    assert_non_null(strstr(got.last.msg.error.text, "more than 31 counters"));
    m.msg.configure.events_count = 3; /* the events need all counters */
    m.msg.configure.words_count = 1;
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_COUNTERS, 0);
    assert_non_null(strstr(got.last.msg.error.text, "need an unused counter"));
    m.msg.configure.words_count = 0;
    m.msg.configure.events_count = 4;
    for (unsigned i = 0; i < 3; i++) {
        m.msg.configure.events[i].group = 1;
    }
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_COUNTERS, 1);
    assert_non_null(strstr(got.last.msg.error.text, "needs 6 counters at the same time"));
    m.msg.configure.max_frames = 65;
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 0);
    assert_string_equal(mkperf_plan.session.events[0].name, "cycles"); /* the old one stays */
    snprintf(raw.name, sizeof raw.name, "a_name_of_the_hosts");
    raw.raw = 0xc3; /* for names that only the host knows */
    configure_one(raw, mkperf_ToHost_session_tag);
    assert_int_equal(got.last.msg.session.events[0].code, 0xc3);
    assert_string_equal(got.last.msg.session.events[0].name, raw.name);
    raw.name[0] = '\0';
    raw.raw = 0xbad;
    configure_one(raw, mkperf_ToHost_session_tag);
    sim_command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_EVENT_UNSUPPORTED, 1);
}

static void test_refusals_while_running(void **state)
{
    (void)state;
    configure_one(sim_event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    start_session();
    configure_one(sim_event("cycles", 5000, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    sim_command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    run_machine(TICK_HZ / 10);
    check_statistics(stop_session());
}

/* A client PD that writes anything into the page: refused, or used with valid values. */
static void test_hostile_client(void **state)
{
    struct mkperf_session_request *r = &sim_client.page->request;
    mkperf_Configure *c = &r->configure;
    pb_size_t *const counts[] = {&c->events_count, &c->only_count, &c->dump_on_fault_count,
                                 &c->stop_if_count, &c->words_count};

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        *r = MKPERF_SESSION_REQUEST_ZERO;
        c->events_count = 1;
        c->events[0] = sim_event("cycles", 100000, 0);
        *counts[i] = UINT16_MAX;
        assert_int_equal(call(MKPERF_OP_CONFIGURE), MKPERF_RESULT_MALFORMED);
        assert_int_equal(sim_client.page->error.code, MKPERF_RESULT_MALFORMED);
    }
    memset(r, 0xff, sizeof *r); /* no bool is 1, no string ends */
    c->only_count = c->dump_on_fault_count = c->stop_if_count = c->words_count = 0;
    c->events_count = 1;
    c->max_frames = 0;
    assert_int_equal(call(MKPERF_OP_CONFIGURE), MKPERF_RESULT_RANGE);
    sim_client.page->part = UINT32_MAX;
    assert_int_equal(call(MKPERF_OP_LIST), MKPERF_RESULT_OK);
    assert_int_equal(sim_client.page->events.events_count, 1);
    assert_false(sim_client.page->events.more);
    assert_int_equal(call(MKPERF_OP_COUNTS), MKPERF_RESULT_STATE);
    memset(&sim_client.page->observe, 0xff, sizeof sim_client.page->observe);
    assert_int_not_equal(call(MKPERF_OP_OBSERVE), MKPERF_RESULT_OK);
    assert_int_equal(sim_client.page->session.events_count, 0); /* nothing was configured */
    for (uint32_t op = 0; op < 40; op++) {
        call(op);
    }
    /* the profiler continues to work */
    configure_one(sim_event("cycles", 100000, 0), mkperf_ToHost_session_tag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_no_hook),        T(test_no_interrupt),
        T(test_no_pmu),         T(test_disturbed),
        T(test_storm),          T(test_spurious),
        T(test_refusals),       T(test_refusals_while_running),
        T(test_hostile_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
