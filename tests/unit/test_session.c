/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole sessions on a simulated machine (sim_machine.h, sim_host.h): sampling, its losses, its
 * refusals, and what adapts.
 */
#include "sim_host.h"

static void configure_one(mkperf_EventSpec e, pb_size_t answer)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    m.msg.configure.events_count = 1;
    m.msg.configure.events[0] = e;
    m.msg.configure.max_frames = 8;
    ask(&m, answer);
}

/* Every event that a counter saw is in a sample, in a loss, or still in the counter. */
static void check_events(const mkperf_Status *s)
{
    uint64_t counted = 0;
    uint64_t told = got.loss_events;

    (void)s;
    for (unsigned i = 0; i < COUNTERS; i++) {
        if (profiler.plan.counter_mask >> i & 1) {
            uint32_t left = 0 - sim.counter[i].value;
            told += got.weight[i] + (sim.hook_state.counter[i].armed - left);
            counted += sim.counter[i].total;
        }
    }
    assert_int_equal(told, counted);
}

/* As run, with a host that asks for the status twice a second. */
static void run_asking(unsigned seconds)
{
    for (unsigned i = 0; i < 2 * seconds; i++) {
        run(TICK_HZ / 2);
        command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    }
}

static void test_hello(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_hello_tag);

    (void)state;
    m.msg.hello.protocol = MKPERF_PROTOCOL;
    ask(&m, mkperf_ToHost_hello_tag);
    const mkperf_TargetHello *h = &got.last.msg.hello;
    assert_int_equal(h->protocol, MKPERF_PROTOCOL);
    assert_int_equal(h->counters, COUNTERS);
    assert_int_equal(h->cores, 1);
    assert_int_equal(h->target_cores, 1);
    assert_string_equal(h->platform, "test");
    assert_string_equal(h->cpu, "simulated");
    assert_true(h->boot_id != 0);
    uint64_t boot_id = h->boot_id;
    ask(&m, mkperf_ToHost_hello_tag);
    assert_int_equal(got.last.msg.hello.boot_id, boot_id);
    m.msg.hello.protocol = MKPERF_PROTOCOL + 1;
    ask(&m, mkperf_ToHost_error_tag);
    assert_int_equal(got.last.msg.error.code, mkperf_ErrorCode_ERROR_PROTOCOL);
}

static void test_fixed_period(void **state)
{
    (void)state;
    configure_one(event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    assert_false(got.last.msg.session.running);
    assert_int_equal(got.last.msg.session.events[0].user_counter, 1);
    assert_int_equal(got.last.msg.session.events[0].kernel_counter, 2);
    for (unsigned i = 1; i <= 3; i++) {
        memset(got.weight, 0, sizeof got.weight);
        memset(got.of, 0, sizeof got.of);
        start_session();
        assert_int_equal(got.last.msg.session.id, i);
        run(2 * TICK_HZ); /* 1800 M events in user mode, 200 M in the kernel */
        const mkperf_Status *s = stop_session();
        check_statistics(s);
        check_events(s);
        assert_in_range(got.of[0], 17900, 18150);
        assert_in_range(got.of[1], 1970, 2030);
        assert_int_equal(s->lost_output + s->lost_ring, 0);
        assert_int_equal(s->spurious, 0);
        assert_in_range(s->wakeups, 20000 / MKPERF_WAKE_SAMPLES_FAST - 5,
                        20000 / MKPERF_WAKE_SAMPLES_FAST + 20);
        assert_int_equal(sim.hook_state.mask, 0);
    }
    assert_true(got.statuses > 3); /* some came unasked */
    assert_true(got.hellos >= 3);
}

static void test_slow_line(void **state)
{
    (void)state;
    configure_one(event("cycles", 20000, 0), mkperf_ToHost_session_tag);
    start_session();
    for (unsigned i = 0; i < 400; i++) {
        sim.line = 0;
        run(5000);
        sim.line = 5;
        run(100);
    }
    sim.line = 1000;
    const mkperf_Status *s = stop_session();
    assert_true(s->lost_output > 1000);
    assert_true(s->sent > 1000);
    check_statistics(s);
    check_events(s);
}

static void test_starved_profiler(void **state)
{
    (void)state;
    configure_one(event("cycles", 10000, 0), mkperf_ToHost_session_tag);
    start_session();
    for (unsigned i = 0; i < 5; i++) {
        sim.asleep = true;
        run(TICK_HZ / 10);
        sim.asleep = false;
        run(TICK_HZ / 10);
    }
    const mkperf_Status *s = stop_session();
    assert_true(s->lost_ring > 1000);
    check_statistics(s);
    check_events(s);
}

static void test_frequency_follows(void **state)
{
    static const uint32_t rates[] = {900, 90, 2000, 3, 900};

    (void)state;
    configure_one(event("cycles", 0, 1000), mkperf_ToHost_session_tag);
    assert_int_equal(got.last.msg.session.events[0].period, 0);
    start_session();
    for (unsigned i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        sim.user_rate = rates[i];
        sim.kernel_rate = rates[i] / 10;
        run_asking(5); /* finds the new rate, */
        uint64_t before = got.batch_samples;
        run_asking(2); /* and stays there */
        assert_in_range(got.batch_samples - before, 1600, 2400);
    }
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    check_events(s);
}

static void test_frequency_of_a_rare_event(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    (void)state;
    m.msg.configure.events_count = 2;
    m.msg.configure.events[0] = event("cycles", 0, 500);
    m.msg.configure.events[1] = event("cache-misses", 0, 500);
    ask(&m, mkperf_ToHost_session_tag);
    start_session();
    run_asking(3);
    uint64_t before = got.of[2] + got.of[3];
    run_asking(2);
    assert_in_range(got.of[2] + got.of[3] - before, 800, 1200);
    sim.user_rate = 30; /* 30 times rarer; what is left to count would take a second */
    sim.kernel_rate = 0;
    run_asking(6);
    before = got.of[2];
    run_asking(2);
    assert_in_range(got.of[2] - before, 350, 1200);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    check_events(s);
}

/*
 * A rate that falls from one wake-up in a hundred samples: fewer than that wait in the ring for the
 * next GetStatus, which hosts send once a second, and then are all there.
 */
static void test_sudden_fall(void **state)
{
    (void)state;
    configure_one(event("cycles", 1000, 0), mkperf_ToHost_session_tag);
    start_session();
    run(TICK_HZ / 10); /* a thousand samples a wake-up's tenth: the watermark is at its highest */
    sim.user_rate = sim.user_rate / 1000 != 0 ? sim.user_rate / 1000 : 1;
    sim.kernel_rate = 0;
    run(TICK_HZ / 100); /* samples in transit arrive */
    uint64_t before = got.batch_samples;
    run(TICK_HZ / 100); /* about ten more, without a wake-up */
    assert_int_equal(got.batch_samples, before);
    command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    run(TICK_HZ / 1000);
    assert_in_range(got.batch_samples - before, 1, MKPERF_WAKE_SAMPLES_FAST - 1);
    assert_int_equal(got.batch_samples, got.last.msg.status.captured);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    check_events(s);
}

/* An event that stops to come: the period is lowered when the host asks for the status. */
static void test_silence(void **state)
{
    (void)state;
    configure_one(event("cycles", 0, 100), mkperf_ToHost_session_tag);
    start_session();
    run(2 * TICK_HZ);
    uint32_t period = profiler.core[0].pace[0].period;
    sim.user_rate = 1;
    sim.kernel_rate = 0;
    for (unsigned i = 0; i < 5; i++) {
        run(TICK_HZ);
        command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    }
    assert_true(profiler.core[0].pace[0].period < period / 100);
    uint64_t before = got.batch_samples;
    run(3 * TICK_HZ);
    assert_true(got.batch_samples - before > 150);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    check_events(s);
}

/* A kernel without the extension: the acknowledgement is an ordinary one. */
static void test_no_hook(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_hello_tag);

    (void)state;
    sim.hook = false;
    init();
    mkperf_client_init(&client);
    m.msg.hello.protocol = MKPERF_PROTOCOL;
    ask(&m, mkperf_ToHost_hello_tag);
    assert_int_equal(got.last.msg.hello.counters, 0);
    configure_one(event("cycles", 100000, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_NO_HOOK, 0);
    assert_non_null(strstr(got.last.msg.error.text, "extension"));
    command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
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
    configure_one(event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    for (unsigned i = 0; i < 2; i++) {
        sim.interrupts = false;
        sim.counts = i == 0;
        command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
        refused(i == 0 ? mkperf_ErrorCode_ERROR_NO_HOOK : mkperf_ErrorCode_ERROR_NO_PMU, 0);
        assert_int_equal(sim.hook_state.mask, 0);
        assert_int_equal(sim.overflow, 0);
        assert_false(profiler.running);
        for (unsigned c = 0; c < COUNTERS; c++) {
            assert_false(sim.counter[c].on);
        }
    }
    sim.interrupts = sim.counts = true; /* and nothing stands in the way of a good one */
    start_session();
    run(TICK_HZ / 10);
    check_statistics(stop_session());
}

static void test_no_pmu(void **state)
{
    (void)state;
    microkit_irqs = 0;
    init();
    configure_one(event("cycles", 100000, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_NO_PMU, 0);
    assert_non_null(strstr(got.last.msg.error.text, "interrupt (channel 0)"));
    command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_NO_PMU, 0);
    microkit_irqs = 1;
}

/* Somebody else has the PMU, too: it is found out and put right, and the session says so. */
static void test_disturbed(void **state)
{
    (void)state;
    configure_one(event("cycles", 20000, 0), mkperf_ToHost_session_tag);
    start_session();
    run(TICK_HZ / 10);
    command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    assert_int_equal(profiler.statistics.disturbed, 0);
    sim.counter[0].on = false;
    run(TICK_HZ / 10);
    command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    assert_int_equal(profiler.statistics.disturbed, 1);
    assert_true(sim.counter[0].on);
    sim.counter[0].code = 8;       /* another event */
    sim.counter[1].value = 123456; /* far from its overflow */
    run(TICK_HZ / 10);
    command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    assert_in_range(profiler.statistics.disturbed, 3, 4);
    assert_int_equal(sim.counter[0].code, 0x11);
    uint64_t before = got.of[0];
    run(TICK_HZ / 10);
    const mkperf_Status *s = stop_session();
    assert_in_range(got.of[0] - before, 4400, 4600);
    check_statistics(s);
    assert_in_range(profiler.statistics.disturbed, 3, 4);
    start_session(); /* of the next one nothing */
    run(TICK_HZ / 100);
    stop_session();
    assert_int_equal(profiler.statistics.disturbed, 0);
}

/* The hook takes more time than it leaves: the session ends, and says why. */
static void test_storm(void **state)
{
    (void)state;
    configure_one(event("cycles", 1000, 0), mkperf_ToHost_session_tag);
    start_session();
    run(TICK_HZ / 10);
    assert_true(profiler.running);
    sim.slow = 3; /* ticks a sample; there is one each tick */
    run(TICK_HZ / 100);
    command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    assert_true(got.last.msg.status.storm);
    assert_false(profiler.running);
    run(TICK_HZ / 100); /* the client notices, and tells the end of the session */
    command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    assert_true(got.last.msg.status.storm);
    assert_false(got.last.msg.status.running);
    assert_int_equal(got.last.msg.status.captured, got.last.msg.status.sent);
    assert_false(sim.counter[0].on || sim.counter[1].on);
    assert_int_equal(sim.hook_state.mask, 0);
    sim.slow = 0;
    start_session();
    run(TICK_HZ / 10);
    check_statistics(stop_session());
    assert_false(profiler.statistics.storm);
}

/* An interrupt of the PMU that is nobody's goes the ordinary way, and the session goes on. */
static void test_spurious(void **state)
{
    (void)state;
    configure_one(event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    start_session();
    run(TICK_HZ / 10);
    for (unsigned i = 0; i < 5; i++) {
        sim.counter[5].interrupts = true;
        sim.overflow |= 1 << 5;
        interrupt();
        assert_true(sim.masked && sim.woken);
        sim.overflow &= ~(UINT32_C(1) << 5);
        run(TICK_HZ / 100);
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
    mkperf_EventSpec raw = event("", 5000, 0);

    (void)state;
    command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    command(mkperf_ToTarget_stop_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    ask(&m, mkperf_ToHost_error_tag); /* no event */
    refused(mkperf_ErrorCode_ERROR_RANGE, 0);
    configure_one(event("cycles", 5000, 0), mkperf_ToHost_session_tag);
    configure_one(event("cyc", 5000, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_EVENT_UNKNOWN, 1);
    configure_one(event("stall_frontend", 5000, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_EVENT_UNSUPPORTED, 1);
    configure_one(event("cycles", 999, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    configure_one(event("cycles", UINT64_C(0x80000000), 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    configure_one(event("cycles", 0, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    configure_one(event("cycles", 0, 100001), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    m.msg.configure.events_count = 16;
    for (unsigned i = 0; i < 16; i++) {
        m.msg.configure.events[i] = event("instructions", 50000, 0);
    }
    ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_COUNTERS, 0);
    assert_non_null(strstr(got.last.msg.error.text, "more than 31 counters"));
    m.msg.configure.events_count = 4;
    for (unsigned i = 0; i < 3; i++) {
        m.msg.configure.events[i].group = 1;
    }
    ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_COUNTERS, 1);
    assert_non_null(strstr(got.last.msg.error.text, "needs 6 counters at the same time"));
    m.msg.configure.max_frames = 65;
    ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 0);
    assert_string_equal(profiler.plan.event[0].name, "cycles"); /* the old one stays */
    snprintf(raw.name, sizeof raw.name, "a_name_of_the_hosts");
    raw.raw = 0xc3; /* for names that only the host knows */
    configure_one(raw, mkperf_ToHost_session_tag);
    assert_int_equal(got.last.msg.session.events[0].code, 0xc3);
    assert_string_equal(got.last.msg.session.events[0].name, raw.name);
    raw.name[0] = '\0';
    raw.raw = 0xbad;
    configure_one(raw, mkperf_ToHost_session_tag);
    command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_EVENT_UNSUPPORTED, 1);
}

static void test_refusals_while_running(void **state)
{
    (void)state;
    configure_one(event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    start_session();
    configure_one(event("cycles", 5000, 0), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    run(TICK_HZ / 10);
    check_statistics(stop_session());
}

static void test_user_or_kernel(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    (void)state;
    m.msg.configure.events_count = 3;
    m.msg.configure.no_jitter = true;
    m.msg.configure.events[0] = event("cycles", 50000, 0);
    m.msg.configure.events[0].kernel = true;
    m.msg.configure.events[1] = event("instructions", 50000, 0);
    m.msg.configure.events[1].user = true;
    m.msg.configure.events[2] = event("cache-misses", 500, 0);
    ask(&m, mkperf_ToHost_session_tag);
    assert_int_equal(got.last.msg.session.events[0].user_counter, 0);
    assert_int_equal(got.last.msg.session.events[0].kernel_counter, 1);
    assert_int_equal(got.last.msg.session.events[1].user_counter, 2);
    assert_int_equal(got.last.msg.session.events[2].kernel_counter, 4);
    start_session();
    assert_int_equal(sim.hook_state.kernel_mask, 1 << 0 | 1 << 3);
    assert_int_equal(sim.hook_state.counter[0].jitter_mask, 0);
    run(TICK_HZ);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    check_events(s);
    assert_in_range(got.of[0], 1990, 2015);
    assert_in_range(got.of[1], 17990, 18050);
    assert_int_equal(got.weight[1], got.of[1] * 50000);
}

static void test_epochs_and_malformed(void **state)
{
    static const uint8_t noise[] = {0, 3, 0x11, 0x22, 1, 0};

    (void)state;
    configure_one(event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    start_session();
    run(TICK_HZ / 10);
    unsigned hellos = got.hellos;
    uint32_t epoch = client.encoder.epoch;
    command(mkperf_ToTarget_reset_chains_tag, mkperf_ToHost_ack_tag);
    run(TICK_HZ / 10);
    assert_int_equal(client.encoder.epoch, epoch + 1);
    assert_int_equal(got.hellos, hellos + 1);
    mkperf_ToTarget m = message(0);
    ask(&m, mkperf_ToHost_error_tag);
    assert_int_equal(got.last.msg.error.code, mkperf_ErrorCode_ERROR_MALFORMED);
    for (unsigned i = 0; i < sizeof noise; i++) {
        mkperf_client_byte(&client, 0, noise[i]);
    }
    const mkperf_Status *s = stop_session();
    assert_int_equal(s->bad_frames, 2);
    assert_int_equal(s->captured, s->sent);
}

static void test_list(void **state)
{
    unsigned all = MKPERF_SOFT_KINDS + 1; /* software events, the timer */

    (void)state;
    for (const struct mkperf_pmu_event *e = mkperf_armv8_events; e->name != NULL; e++) {
        all++;
    }
    say(&(mkperf_ToTarget){.which_msg = mkperf_ToTarget_list_events_tag});
    run(20000);
    assert_int_equal(got.events, all);
    assert_false(got.last.msg.events.more);
    assert_int_equal(got.last.request, request);
}

static void test_policy(void **state)
{
    (void)state;
    assert_int_equal(mkperf_jitter_mask(1000000), (1 << 19) - 1);
    assert_int_equal(mkperf_jitter_mask(MKPERF_MAX_PERIOD), INT32_MAX);
    for (uint32_t p = 2; p < 100000; p++) {
        uint32_t mask = mkperf_jitter_mask(p);
        assert_int_equal(mask & (mask + 1), 0);
        assert_true(mask <= p && 2 * mask + 1 > p);
    }
    assert_int_equal(mkperf_wake_samples(0, 0, 0, TICK_HZ), 1);
    assert_int_equal(mkperf_wake_samples(0, 10, TICK_HZ, TICK_HZ), 1);
    assert_int_equal(mkperf_wake_samples(0, 300, TICK_HZ, TICK_HZ), 30);
    assert_int_equal(mkperf_wake_samples(0, 1000, TICK_HZ, TICK_HZ), MKPERF_WAKE_SAMPLES);
    assert_int_equal(mkperf_wake_samples(0, 2000, TICK_HZ, TICK_HZ), MKPERF_WAKE_SAMPLES);
    assert_int_equal(mkperf_wake_samples(0, 2600, TICK_HZ, TICK_HZ), 130);
    assert_int_equal(mkperf_wake_samples(0, 4000, TICK_HZ, TICK_HZ), MKPERF_WAKE_SAMPLES_FAST);
    assert_int_equal(mkperf_wake_samples(0, UINT64_MAX, 1, UINT64_MAX), MKPERF_WAKE_SAMPLES_FAST);
    assert_int_equal(mkperf_wake_samples(200, 1, 1, 1), 200);
    assert_int_equal(mkperf_watermark(64, 136, 262144), 64 * 136);
    assert_int_equal(mkperf_watermark(1, 0, 262144), 8 * MKPERF_SAMPLE_FIXED_WORDS);
    assert_int_equal(mkperf_watermark(UINT32_MAX, 568, 262144), 131072);
    assert_int_equal(mkperf_first_period(1000, 1000, MKPERF_RATE_BUSY), 1000000);
    assert_int_equal(mkperf_first_period(1000, 100, MKPERF_RATE_RARE), 100);
    assert_int_equal(mkperf_min_period(MKPERF_RATE_BUSY, false, 16, 0, 0, 1), 1000);
    assert_int_equal(mkperf_min_period(MKPERF_RATE_BUSY, false, 16, MKPERF_DEFAULT_CALLERS, 0, 1),
                     1000);
    assert_int_equal(mkperf_min_period(MKPERF_RATE_BUSY, false, 16, 0, 0, 3),
                     3 * mkperf_sample_cost(16, 0));
    assert_int_equal(mkperf_min_period(MKPERF_RATE_BUSY, false, 64, 0, 0, 0),
                     mkperf_sample_cost(64, 0));
    assert_int_equal(mkperf_min_period(MKPERF_RATE_BUSY, true, 64, 0, 0, 9),
                     MKPERF_MIN_KERNEL_PERIOD);
    assert_int_equal(mkperf_min_period(MKPERF_RATE_RARE, false, 0, 0, 0, 9),
                     MKPERF_HOOK_SAMPLE_COST);
    assert_int_equal(mkperf_min_period(MKPERF_RATE_RARE, true, 0, 0, 0, 1),
                     MKPERF_MIN_KERNEL_PERIOD);
    assert_true(mkperf_sample_cost(64, 0) > 1500 && mkperf_sample_cost(0, 4) > 500);
    assert_int_equal(mkperf_adapt_period(5000, 1000, 100, 0, 5, 5), 5000);
    assert_int_equal(mkperf_adapt_period(10000, 1000, 100, 1000000, TICK_HZ, TICK_HZ), 10000);
    assert_int_equal(mkperf_adapt_period(10000, 1000, 100, 2000000, TICK_HZ, TICK_HZ), 15000);
    assert_int_equal(mkperf_adapt_period(10000, 1000, 100, UINT64_MAX, 1, TICK_HZ), 40000);
    assert_int_equal(mkperf_adapt_period(10000, 1000, 100, 1, UINT64_MAX, TICK_HZ), 2500);
    assert_int_equal(mkperf_adapt_period(1000, 1000, 100, 1, TICK_HZ, TICK_HZ), 1000);
    assert_int_equal(mkperf_adapt_period(MKPERF_MAX_PERIOD, 1000, 1, UINT64_MAX, 1, UINT64_MAX),
                     MKPERF_MAX_PERIOD);
    assert_int_equal(mkperf_starved_period(100000, 1000), 25000);
    assert_int_equal(mkperf_starved_period(2000, 1000), 1000);
}

/* A watermark for so many records of one size wakes with exactly the last of them. */
static void test_wakes_at_the_most(void **state)
{
    (void)state;
    sim.kernel_rate = 0;
    configure_one(event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    start_session();
    run(TICK_HZ / 10);
    uint64_t wakeups = profiler.statistics.wakeups;
    uint64_t captured = profiler.statistics.captured;
    run(TICK_HZ / 4); /* not once round the ring, where there may be a gap */
    assert_int_equal(profiler.statistics.captured - captured,
                     MKPERF_WAKE_SAMPLES_FAST * (profiler.statistics.wakeups - wakeups));
    check_statistics(stop_session());
}

/* Samples of two threads of three; filtered samples use no space and are no loss. */
static void test_filters(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    (void)state;
    m.msg.configure.events_count = 1;
    m.msg.configure.events[0] = event("cycles", 10000, 0);
    m.msg.configure.only_count = 2;
    m.msg.configure.only[0] = 1 + 2;
    m.msg.configure.only[1] = 3 + 2;
    ask(&m, mkperf_ToHost_session_tag);
    start_session();
    run(TICK_HZ / 2);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    assert_in_range(s->captured, 50000 * 2 / 3 - 300, 50000 * 2 / 3 + 300);
    for (unsigned i = 0; i < MKPERF_CHAIN_SLOTS; i++) {
        assert_int_not_equal(client.encoder.table.chain[i].thread, 2); /* one that is void has 0 */
    }
    configure_one(event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    start_session();
    assert_int_equal(sim.hook_state.session.filters, 0);
    run(TICK_HZ / 10);
    stop_session();
}

/* A client PD that writes anything into the page: refused, or used with valid values. */
static void test_hostile_client(void **state)
{
    struct mkperf_session_request *r = &client.page->request;
    mkperf_Configure *c = &r->configure;
    pb_size_t *const counts[] = {&c->events_count, &c->only_count, &c->dump_on_fault_count};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        *r = MKPERF_SESSION_REQUEST_ZERO;
        c->events_count = 1;
        c->events[0] = event("cycles", 100000, 0);
        *counts[i] = UINT16_MAX;
        assert_int_equal(call(MKPERF_OP_CONFIGURE), MKPERF_RESULT_MALFORMED);
        assert_int_equal(client.page->error.code, MKPERF_RESULT_MALFORMED);
    }
    memset(r, 0xff, sizeof *r); /* no bool is 1, no string ends */
    c->only_count = c->dump_on_fault_count = 0;
    c->events_count = 1;
    c->max_frames = 0;
    assert_int_equal(call(MKPERF_OP_CONFIGURE), MKPERF_RESULT_RANGE);
    client.page->part = UINT32_MAX;
    assert_int_equal(call(MKPERF_OP_LIST), MKPERF_RESULT_OK);
    assert_int_equal(client.page->events.events_count, 1);
    assert_false(client.page->events.more);
    assert_int_equal(call(MKPERF_OP_COUNTS), MKPERF_RESULT_STATE);
    memset(&client.page->observe, 0xff, sizeof client.page->observe);
    assert_int_not_equal(call(MKPERF_OP_OBSERVE), MKPERF_RESULT_OK);
    assert_int_equal(client.page->session.events_count, 0); /* nothing was configured */
    for (uint32_t op = 0; op < 40; op++) {
        call(op);
    }
    configure_one(event("cycles", 100000, 0), mkperf_ToHost_session_tag); /* and works on */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_hello),
        T(test_fixed_period),
        T(test_slow_line),
        T(test_starved_profiler),
        T(test_frequency_follows),
        T(test_frequency_of_a_rare_event),
        T(test_silence),
        T(test_sudden_fall),
        T(test_no_hook),
        T(test_no_interrupt),
        T(test_no_pmu),
        T(test_disturbed),
        T(test_storm),
        T(test_spurious),
        T(test_refusals),
        T(test_refusals_while_running),
        T(test_user_or_kernel),
        T(test_epochs_and_malformed),
        T(test_list),
        T(test_policy),
        T(test_wakes_at_the_most),
        T(test_hostile_client),
        T(test_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
