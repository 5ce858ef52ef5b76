/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PMU counters that are read in the timer's samples (pd/profiler/timer/timer_reads.c), on the simulated
 * machine: with the hook, and from user mode.
 */
#include "session_timer.h"

static mkperf_ToTarget with_timer_reads(unsigned n)
{
    static const char *const name[] = {"timer",    "cycles",    "instructions", "l1d_cache_refill",
                                       "branches", "l1d_cache", "l1d_tlb",      "mem_access"};
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    m.msg.configure.events_count = (pb_size_t)(1 + n);
    for (unsigned i = 0; i <= n; i++) {
        m.msg.configure.events[i] = sim_event(name[i], i == 0 ? 1000 : 0, 0);
        m.msg.configure.events[i].group = 1;
        m.msg.configure.events[i].read = i != 0;
    }
    return m;
}

/* What arrived of a counter is all that it counted until the last sample, over its coming round. */
static void check_rider(unsigned i, uint32_t rate)
{
    const struct sim_counter *c = &sim.counter[i - 1];
    const struct mkperf_timer_reads *r = &mkperf_timer_reads;
    uint32_t rest = r->count[i - 1] + (c->value - (r->hook ? MKPERF_COUNT_PERIOD : r->last[i - 1]));

    assert_int_equal(got.reads[i], c->total - rest);
    assert_true(rest <= 1200 * rate);
    assert_true(got.most_read[i] <= UINT64_C(1600) * rate);
}

static void timer_reads(void)
{
    mkperf_ToTarget m = with_timer_reads(3);

    tell(SIM_CHILDREN);
    m.msg.configure.events[1].user = true;
    m.msg.configure.events[2].kernel = true;
    sim_ask(&m, mkperf_ToHost_session_tag);
    const mkperf_Session *session = &got.last.msg.session;
    assert_int_equal(session->events_count, 4);
    assert_int_equal(session->events[1].user_counter, 2);
    assert_int_equal(session->events[1].kernel_counter, 0);
    assert_int_equal(session->events[3].user_counter, 4);
    assert_int_equal(session->events[3].kernel_counter, 4);
    assert_true(session->events[3].read);
    start_session();
    assert_int_equal(sim.counter[0].user + 2 * sim.counter[0].kernel, 1);
    assert_int_equal(sim.counter[1].user + 2 * sim.counter[1].kernel, 2);
    assert_int_equal(sim.counter[2].user + 2 * sim.counter[2].kernel, 3);
    sim_running = 1;
    run_machine(6 *
                TICK_HZ); /* 5.4 * 10^9 cycles: more than 32 bits, also of those that were sent */
    assert_true(got.reads[1] > UINT64_C(1) << 32);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    check_rider(1, 900);
    check_rider(2, 100);
    check_rider(3, 1000);
    assert_true(got.reads[3] != 0 && got.reads[3] < got.reads[1] / 50);
    assert_int_equal(got.of[0], s->sent);
    assert_int_equal(s->attribution.unread, 0);
    assert_false(sim.counter[0].on);
    /* Its PD did not run for longer than a counter can measure. */
    start_session();
    run_machine(100000);
    sim.asleep = true;
    run_machine(600000);
    sim.asleep = false;
    run_machine(100000);
    s = stop_session();
    check_statistics(s);
    assert_int_equal(s->attribution.unread, 1);
    /* And a session of only the timer. */
    uint64_t before = got.reads[1];
    configure_timer(1000, 0, mkperf_ToHost_session_tag);
    start_session();
    run_machine(100000);
    stop_session();
    assert_int_equal(got.reads[1], before);
}

static void test_timer_reads(void **state)
{
    (void)state;
    timer_reads();
}

/* The same without the hook, where the kernel lets user mode use the PMU. */
static void test_timer_reads_from_user_mode(void **state)
{
    (void)state;
    sim.hook = false;
    sim.exported = true;
    init();
    timer_reads();
}

static void refuse_timer_reads(mkperf_ToTarget m, mkperf_ErrorCode code, uint32_t about)
{
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(code, about);
}

static void test_timer_reads_refused(void **state)
{
    mkperf_ToTarget m;

    (void)state;
    tell(SIM_CHILDREN);
    m = with_timer_reads(6);
    sim_ask(&m, mkperf_ToHost_session_tag);
    refuse_timer_reads(with_timer_reads(7), mkperf_ErrorCode_ERROR_COUNTERS, 2);
    m = with_timer_reads(2);
    m.msg.configure.events[2].read = false;
    refuse_timer_reads(m, mkperf_ErrorCode_ERROR_RANGE, 3);
    m = with_timer_reads(2);
    m.msg.configure.events[2].group = 2;
    refuse_timer_reads(m, mkperf_ErrorCode_ERROR_RANGE, 3);
    m = with_timer_reads(1);
    m.msg.configure.events[1].group = m.msg.configure.events[0].group = 0;
    refuse_timer_reads(m, mkperf_ErrorCode_ERROR_RANGE, 2);
    m = with_timer_reads(2);
    m.msg.configure.events[0].period = 100001;
    refuse_timer_reads(m, mkperf_ErrorCode_ERROR_RANGE, 1);
    m = with_timer_reads(2);
    m.msg.configure.check = true;
    refuse_timer_reads(m, mkperf_ErrorCode_ERROR_COUNTERS, 2);
    m = with_timer_reads(2);
    m.msg.configure.events[2] = sim_event("context-switches", 0, 0);
    m.msg.configure.events[2].group = 1;
    m.msg.configure.events[2].read = true;
    refuse_timer_reads(m, mkperf_ErrorCode_ERROR_RANGE, 3);
    m = with_timer_reads(1);
    snprintf(m.msg.configure.events[1].name, sizeof m.msg.configure.events[1].name, "nonsense");
    refuse_timer_reads(m, mkperf_ErrorCode_ERROR_EVENT_UNKNOWN, 2);
    m.msg.configure.events[1].name[0] = '\0';
    m.msg.configure.events[1].raw = 0x23;
    refuse_timer_reads(m, mkperf_ErrorCode_ERROR_EVENT_UNSUPPORTED, 2);
    m.msg.configure.events[1].raw = 0xbad;
    sim_ask(&m, mkperf_ToHost_session_tag);
    sim_command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_EVENT_UNSUPPORTED, 2);
    m = with_timer_reads(1); /* the refused session changed nothing */
    sim_ask(&m, mkperf_ToHost_session_tag);
    start_session();
    run_machine(10000);
    stop_session();
}

/* Without the PMU's interrupt the counters are there; where user mode may not use them, not. */
static void test_timer_reads_alone(void **state)
{
    mkperf_ToTarget m = with_timer_reads(1);

    (void)state;
    sim.exported = true;
    tell(1);
    sim_ask(&m, mkperf_ToHost_session_tag);
    start_session();
    run_machine(10000);
    stop_session();
    assert_true(got.reads[1] > 7000000);
    sim.exported = false;
    m = with_timer_reads(1);
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_NO_PMU, 2);
    assert_string_equal(got.last.msg.error.text, "user mode may not");
}

static int boot_without_pmu(void **state)
{
    microkit_irqs = 4;
    sim_running = -1;
    return boot(state);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        TIMER_TEST(test_timer_reads),
        TIMER_TEST(test_timer_reads_from_user_mode),
        TIMER_TEST(test_timer_reads_refused),
        cmocka_unit_test_setup_teardown(test_timer_reads_alone, boot_without_pmu, halt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
