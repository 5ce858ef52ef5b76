/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions of the timer on the simulated machine: the information that the host must send
 * first, its results, and refusals. The rule of attribution has a separate test; counters that
 * are read in its samples: test_session_timer_reads.c.
 */
#include "session_timer.h"

static void test_shares(void **state)
{
    (void)state;
    tell(SIM_CHILDREN);
    configure_timer(0, 1000, mkperf_ToHost_session_tag);
    assert_int_equal(got.last.msg.session.source, mkperf_SampleSource_SOURCE_TIMER);
    for (unsigned i = 1; i <= 2; i++) {
        memset(got.weight, 0, sizeof got.weight);
        memset(got.of_thread, 0, sizeof got.of_thread);
        start_session();
        uint64_t began = sim.ticks;
        sim_running = 0;
        run_machine(TICK_HZ / 2);
        sim_running = 2;
        run_machine(TICK_HZ);
        sim_running = -1;
        run_machine(TICK_HZ / 2);
        const mkperf_Status *s = stop_session();
        check_statistics(s);
        uint64_t us = sim.ticks - began;
        assert_true(s->captured > 1900 && s->captured < 2100);
        assert_true(got.weight[0] <= us && got.weight[0] + 2000 > us);
        assert_true(got.of_thread[1] > 480 && got.of_thread[1] < 520);
        assert_true(got.of_thread[3] > 980 && got.of_thread[3] < 1020);
        assert_int_equal(s->attribution.proved + s->attribution.inferred + s->attribution.ambiguous,
                         s->captured);
        assert_true(s->attribution.inferred + s->attribution.ambiguous <= 3);
        assert_int_equal(s->attribution.right + s->attribution.wrong, 0);
    }
    /* And then the hook's again. */
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);
    m.msg.configure.events_count = 1;
    m.msg.configure.events[0] = sim_event("cycles", 100000, 0);
    sim_ask(&m, mkperf_ToHost_session_tag);
    assert_int_equal(got.last.msg.session.source, mkperf_SampleSource_SOURCE_HOOK);
    start_session();
    run_machine(TICK_HZ);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    assert_true(s->captured > 9000);
}

/* A stack in memory that the profiler PD maps, too: its frames, and nothing outside of it. */
static void test_walk(void **state)
{
    static uint64_t stack[8] __attribute__((aligned(16)));
    uint64_t frame[8];
    unsigned flags;

    (void)state;
    tell(0);
    mkperf_ToTarget m = observe(1, 0, 10);
    mkperf_stack2 = (uintptr_t)stack;
    mkperf_stack2_bytes = sizeof stack - 8; /* less than the host says: */
    m.msg.observe.stack_count = 1;
    m.msg.observe.stack[0] =
        (mkperf_StackWindow){.theirs = 0x20000000, .ours = (uintptr_t)stack, .bytes = sizeof stack};
    sim_ask(&m, mkperf_ToHost_ack_tag);
    struct mkperf_observed *t = &mkperf_seen.thread[0];
    assert_int_equal(t->windows, 0);
    mkperf_stack2_bytes = sizeof stack;
    tell(0);
    sim_ask(&m, mkperf_ToHost_ack_tag);
    assert_int_equal(t->windows, 1);
    stack[0] = 0x20000020; /* frame record: the caller's, the return address */
    stack[1] = 0x200100;
    stack[4] = 0;
    stack[5] = 0x200200;
    t->regs.x29 = 0x20000000;
    assert_int_equal(mkperf_observe_walk(0, frame, 8, &flags), 2);
    assert_int_equal(flags, 0);
    assert_int_equal(frame[0], 0x200100);
    assert_int_equal(frame[1], 0x200200);
    assert_int_equal(mkperf_observe_walk(0, frame, 1, &flags), 1);
    assert_int_equal(flags, MKPERF_SAMPLE_DEPTH_LIMIT);
    stack[4] = 0x20000000; /* the chain leads downwards and would be a circle */
    assert_int_equal(mkperf_observe_walk(0, frame, 8, &flags), 2);
    assert_int_equal(flags, MKPERF_SAMPLE_BAD_FP);
    stack[5] = 0; /* the frame of the start code */
    assert_int_equal(mkperf_observe_walk(0, frame, 8, &flags), 1);
    const uint64_t wild[] = {0x20000000 + sizeof stack - 8, 0x20000004, 0x1ffffff8, UINT64_MAX - 7,
                             0x20000000 + sizeof stack};
    for (unsigned i = 0; i < sizeof wild / sizeof *wild; i++) {
        t->regs.x29 = wild[i];
        assert_int_equal(mkperf_observe_walk(0, frame, 8, &flags), 0);
        assert_int_equal(flags, MKPERF_SAMPLE_BAD_FP);
    }
    t->windows = 0;
    assert_int_equal(mkperf_observe_walk(0, frame, 8, &flags), 0);
    assert_int_equal(flags, 0);
}

/* What PD i may call: the pairs of channel and PD. */
static void tell_calls(uint32_t i, pb_size_t n, const uint32_t (*call)[2])
{
    mkperf_ToTarget m = observe(1 + i, i, 10 + i);

    m.msg.observe.call_count = n;
    for (unsigned k = 0; k < n; k++) {
        m.msg.observe.call[k] =
            (mkperf_ObservedCall){.channel = call[k][0], .thread = CHILD(call[k][1]) + 2};
    }
    sim_ask(&m, mkperf_ToHost_ack_tag);
}

/* Who called whom, as far as registers prove it. */
static void test_callers(void **state)
{
    const seL4_Word call = (seL4_Word)-1, wait = (seL4_Word)-7;
    mkperf_ToTarget m;

    (void)state;
    tell(0);
    tell_calls(0, 2, (const uint32_t[][2]){{5, 2}, {7, 3}});
    tell_calls(1, 1, (const uint32_t[][2]){{5, 2}});
    tell_calls(2, 1, (const uint32_t[][2]){{1, 3}});
    tell_calls(3, 0, NULL);
    for (unsigned i = 0; i < SIM_CHILDREN; i++) {
        sim_child[i] = (seL4_UserContext){.pc = SIM_SITE, .x7 = wait};
    }
    mkperf_observe_look();
    assert_int_equal(mkperf_observe_caller(CHILD(2)), -1); /* no PD calls */
    sim_child[0].x7 = call;
    sim_child[0].x0 = BASE_ENDPOINT_CAP + 5;
    mkperf_observe_look();
    assert_int_equal(mkperf_observe_caller(CHILD(2)), 0);
    assert_int_equal(mkperf_observe_caller(CHILD(3)), -1); /* the call is on another channel */
    assert_int_equal(mkperf_observe_caller(CHILD(0)), -1);
    sim_child[0].x0 = BASE_ENDPOINT_CAP + 6; /* a call to a PD that was not announced */
    mkperf_observe_look();
    assert_int_equal(mkperf_observe_caller(CHILD(2)), -1);
    sim_child[0].x0 = 0; /* the badge of a reply */
    mkperf_observe_look();
    assert_int_equal(mkperf_observe_caller(CHILD(2)), -1);
    sim_child[0].x0 = BASE_ENDPOINT_CAP + 7;
    sim_child[2] = sim_child[0];
    sim_child[2].x0 = BASE_ENDPOINT_CAP + 1;
    mkperf_observe_look();
    assert_int_equal(mkperf_observe_caller(CHILD(3)), -1); /* two PDs are in a call to it */
    sim_child[0].x0 = BASE_ENDPOINT_CAP + 5;
    mkperf_observe_look();
    assert_int_equal(mkperf_observe_caller(CHILD(3)), 2); /* 0 calls 2 calls 3 */
    assert_int_equal(mkperf_observe_caller(CHILD(2)), 0);
    sim_child[0].pc += 4; /* the PD is not at its system call */
    mkperf_observe_look();
    assert_int_equal(mkperf_observe_caller(CHILD(2)), -1);
    sim_child[0].pc -= 4;
    mkperf_seen.stopped = 1; /* it faulted there */
    mkperf_observe_look();
    assert_int_equal(mkperf_observe_caller(CHILD(2)), -1);
    mkperf_seen.stopped = 0;
    mkperf_seen.thread[1].child = SIM_CHILDREN; /* the registers of one cannot be read */
    mkperf_observe_look();
    assert_int_equal(mkperf_observe_caller(CHILD(2)), -1);
    mkperf_seen.thread[1].child = 1;
    mkperf_observe_look();
    assert_int_equal(mkperf_observe_caller(CHILD(2)), 0);
    /* More than there is room for. */
    tell(0);
    m = observe(1, 0, 10);
    m.msg.observe.site_count = 0;
    m.msg.observe.call_count = MKPERF_ROOM(mkperf_Observe, call);
    for (unsigned all = 0; all < MKPERF_ALL_CALLS; all += MKPERF_ROOM(mkperf_Observe, call)) {
        sim_ask(&m, mkperf_ToHost_ack_tag);
        m.msg.observe.part++;
    }
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 0);
}

/* Samples continue in the caller, and in its caller, as many as the session wants. */
static void test_inferred_callers(void **state)
{
    (void)state;
    for (uint32_t callers = 0; callers <= 2; callers++) {
        mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);
        const uint64_t *record;
        unsigned size;
        bool corrupt = false;

        tell(0);
        tell_calls(0, 1, (const uint32_t[][2]){{5, 1}});
        tell_calls(1, 1, (const uint32_t[][2]){{6, 2}});
        tell_calls(2, 0, NULL);
        m.msg.configure.events_count = 1;
        m.msg.configure.events[0] = sim_event("timer", 1000, 0);
        m.msg.configure.max_frames = 8;
        m.msg.configure.callers = callers;
        sim_ask(&m, mkperf_ToHost_session_tag);
        assert_int_equal(got.last.msg.session.callers, callers);
        start_session();
        struct mkperf_ticks *t = &mkperf_ticks;
        for (unsigned i = 0; i < 2; i++) {
            sim_child[i] = (seL4_UserContext){
                .pc = SIM_SITE, .x7 = (seL4_Word)-1, .x0 = BASE_ENDPOINT_CAP + 5 + i, .x30 = 7 + i};
        }
        sim_child[2] = (seL4_UserContext){.pc = 0x200000};
        mkperf_observe_look();
        sim_child[2].pc += 4;
        t->due = t->from + 1000;
        t->left = 0;
        struct mkperf_ring_consumer c = {
            .ring = t->ring.ring, .size = t->ring.size, .tail = t->ring.head};
        mkperf_ticks_take(sim.ticks, NULL);
        record = mkperf_ring_peek(&c, &size, &corrupt);
        assert_non_null(record);
        unsigned n = mkperf_record_nframes(record[0]);
        const uint64_t *w = record + MKPERF_SAMPLE_FIXED_WORDS;
        assert_int_equal(record[MKPERF_WORD_THREAD], CHILD(2));
        assert_int_equal(n, callers == 0 ? 0 : 5 * callers + 1);
        assert_int_equal(size, 8 * (MKPERF_SAMPLE_FIXED_WORDS + n));
        assert_int_equal(!(mkperf_record_flags(record[0]) & MKPERF_SAMPLE_CALLERS), callers == 0);
        assert_int_equal(mkperf_confidence(mkperf_record_flags(record[0])), MKPERF_PROVED);
        for (unsigned i = 0; i < callers; i++, w += MKPERF_CALLER_WORDS) {
            assert_int_equal(mkperf_thread_of(w[MKPERF_CALLER_THREAD], w[MKPERF_CALLER_SC]),
                             CHILD(1 - i));
            assert_int_equal(w[MKPERF_CALLER_LR], 8 - i);
            assert_int_equal(w[MKPERF_CALLER_PC], SIM_SITE + 4);
            assert_int_equal(w[MKPERF_CALLER_FRAMES] & 0xff, 0);
        }
        stop_session();
    }
}

/* More samples than the line carries: losses are reported. */
static void test_losses(void **state)
{
    (void)state;
    tell(SIM_CHILDREN);
    configure_timer(100, 0, mkperf_ToHost_session_tag);
    start_session();
    sim.line = 0;
    sim_running = 1;
    run_machine(8 * TICK_HZ);
    sim.line = 1000;
    run_machine(TICK_HZ);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    assert_true(s->lost_output + s->lost_link > 0);
}

/* The profiler PD did not get to run: the weight is in the sample, and it shows that it is late. */
static void test_late(void **state)
{
    (void)state;
    tell(SIM_CHILDREN);
    configure_timer(1000, 0, mkperf_ToHost_session_tag);
    start_session();
    uint64_t began = sim.ticks;
    run_machine(100000);
    sim.asleep = true;
    run_machine(50000);
    sim.asleep = false;
    run_machine(100000);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    assert_true(s->late_events > 45000 && s->late_events < 55000);
    uint64_t us = sim.ticks - began;
    assert_true(got.weight[0] <= us && got.weight[0] + 2000 > us);
}

static void test_fault(void **state)
{
    microkit_msginfo reply;

    (void)state;
    tell(SIM_CHILDREN);
    configure_timer(1000, 0, mkperf_ToHost_session_tag);
    start_session();
    sim_running = 3;
    run_machine(5000);
    assert_int_equal(fault(3, microkit_msginfo_new(seL4_Fault_VMFault, 4), &reply), seL4_False);
    const mkperf_Status *s = stop_session();
    assert_int_equal(s->attribution.faults, 1);
    assert_true(mkperf_seen.stopped == 8);
    assert_false(fault(200, microkit_msginfo_new(seL4_Fault_UserException, 5), &reply));
}

/* The same PDs by capabilities of a cspace. Such a PD's faults are another's to handle: one that
 * is stopped in the middle of its code may have been stopped there. */
static void test_shared(void **state)
{
    mkperf_ToTarget m;

    (void)state;
    tell(0);
    for (uint32_t i = 0; i < SIM_CHILDREN; i++) {
        m = observe(1 + i, i, 10 + i);
        m.msg.observe.child = 0;
        m.msg.observe.slot = i + 1;
        sim_ask(&m, mkperf_ToHost_ack_tag);
    }
    configure_timer(0, 1000, mkperf_ToHost_session_tag);
    start_session();
    sim_running = 2;
    run_machine(TICK_HZ);
    sim_running = -1;
    sim_stuck = 3;
    run_machine(TICK_HZ / 2);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    assert_true(s->captured > 1450 && s->captured < 1550);
    assert_true(got.of_thread[3] > 980 && got.of_thread[3] < 1020);
    assert_true(s->attribution.ambiguous > 480 && s->attribution.ambiguous < 520);
    m = observe(0, 0, 0);
    sim_ask(&m, mkperf_ToHost_observer_tag);
    m = observe(1, 0, 10);
    m.msg.observe.slot = SIM_CHILDREN + 1; /* nothing is there */
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 0);
}

static void test_refusals(void **state)
{
    mkperf_ToTarget m;

    (void)state;
    configure_timer(1000, 0, mkperf_ToHost_error_tag); /* no PD to observe */
    refused(mkperf_ErrorCode_ERROR_NO_TIMER, 1);
    m = observe(1, 0, 10); /* part 0 is missing */
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    tell(1);
    m = observe(3, 1, 10); /* part 2 is missing */
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_MALFORMED, 0);
    tell(1);
    m = observe(2, SIM_CHILDREN, 10); /* no such child */
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 0);
    tell(1);
    m = observe(2, 0, 10); /* addresses continue from the part before */
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_MALFORMED, 0);
    configure_timer(1000, 0, mkperf_ToHost_error_tag); /* the earlier information is now invalid */
    refused(mkperf_ErrorCode_ERROR_NO_TIMER, 1);
    tell(1);
    configure_timer(99, 0, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    configure_timer(0, 20000, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    configure_timer(1000001, 0, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    configure_timer(0, 0, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    configure_timer(1000, 0, mkperf_ToHost_session_tag);
    start_session();
    m = observe(0, 0, 0); /* a session is running */
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    stop_session();
}

static void test_too_many_sites(void **state)
{
    mkperf_ToTarget m = observe(1, 0, 10);
    uint32_t part = 1;

    (void)state;
    tell(0);
    m.msg.observe.site_count = MKPERF_ROOM(mkperf_Observe, site);
    for (unsigned i = 0; i < MKPERF_ROOM(mkperf_Observe, site); i++) {
        m.msg.observe.site[i] = 1;
    }
    for (unsigned all = 0; all < MKPERF_ALL_SITES; all += MKPERF_ROOM(mkperf_Observe, site)) {
        m.msg.observe.site[0] = 1 + all;
        m.msg.observe.part = part++;
        sim_ask(&m, mkperf_ToHost_ack_tag);
    }
    m.msg.observe.site[0] = 1 + MKPERF_ALL_SITES;
    m.msg.observe.part = part;
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 0);
}

static void test_no_interrupt(void **state)
{
    (void)state;
    mkperf_ToTarget m = observe(0, 0, 0);
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_NO_TIMER, 0);
    configure_timer(1000, 0, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_NO_TIMER, 0);
}

static int boot_without_timer(void **state)
{
    microkit_irqs = 1;
    return boot(state);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        TIMER_TEST(test_shares),
        TIMER_TEST(test_losses),
        TIMER_TEST(test_walk),
        TIMER_TEST(test_callers),
        TIMER_TEST(test_inferred_callers),
        TIMER_TEST(test_late),
        TIMER_TEST(test_fault),
        TIMER_TEST(test_shared),
        TIMER_TEST(test_refusals),
        TIMER_TEST(test_too_many_sites),
        cmocka_unit_test_setup_teardown(test_no_interrupt, boot_without_timer, halt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
