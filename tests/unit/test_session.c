/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole sessions on a simulated machine (sim_machine.h, sim_host.h): sampling, its losses, and what
 * adapts. Refusals: test_session_refusals.c.
 */
#include "session_one.h"

#include "pd/profiler/policy.h"

/* As run, with a host that asks for the status twice a second. */
static void run_asking(unsigned seconds)
{
    for (unsigned i = 0; i < 2 * seconds; i++) {
        run_machine(TICK_HZ / 2);
        sim_command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    }
}

static void test_hello(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_hello_tag);

    (void)state;
    m.msg.hello.protocol = MKPERF_PROTOCOL;
    sim_ask(&m, mkperf_ToHost_hello_tag);
    const mkperf_TargetHello *h = &got.last.msg.hello;
    assert_int_equal(h->protocol, MKPERF_PROTOCOL);
    assert_int_equal(h->counters, COUNTERS);
    assert_int_equal(h->cores, 1);
    assert_int_equal(h->target_cores, 1);
    assert_string_equal(h->platform, "test");
    assert_string_equal(h->cpu, "simulated");
    assert_true(h->boot_id != 0);
    uint64_t boot_id = h->boot_id;
    sim_ask(&m, mkperf_ToHost_hello_tag);
    assert_int_equal(got.last.msg.hello.boot_id, boot_id);
    m.msg.hello.protocol = MKPERF_PROTOCOL + 1;
    sim_ask(&m, mkperf_ToHost_error_tag);
    assert_int_equal(got.last.msg.error.code, mkperf_ErrorCode_ERROR_PROTOCOL);
}

static void test_fixed_period(void **state)
{
    (void)state;
    configure_one(sim_event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    assert_false(got.last.msg.session.running);
    assert_int_equal(got.last.msg.session.events[0].user_counter, 1);
    assert_int_equal(got.last.msg.session.events[0].kernel_counter, 2);
    for (unsigned i = 1; i <= 3; i++) {
        memset(got.weight, 0, sizeof got.weight);
        memset(got.of, 0, sizeof got.of);
        start_session();
        assert_int_equal(got.last.msg.session.id, i);
        run_machine(2 * TICK_HZ); /* 1800 M events in user mode, 200 M in the kernel */
        const mkperf_Status *s = stop_session();
        check_statistics(s);
        check_events(s);
        assert_in_range(got.of[0], 17900, 18150);
        assert_in_range(got.of[1], 1970, 2030);
        assert_int_equal(s->lost_output + s->lost_ring, 0);
        assert_int_equal(s->spurious, 0);
        assert_in_range(s->wakeups, 20000 / MKPERF_WAKE_SAMPLES - 5,
                        20000 / MKPERF_WAKE_SAMPLES + 20);
        assert_int_equal(sim.hook_state.mask, 0);
    }
    assert_true(got.statuses > 3); /* some came unasked */
    assert_true(got.hellos >= 3);
}

/* Samples counted in windows: every event is in one, and Status counts them as any other samples. */
static void test_windows(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    (void)state;
    m.msg.configure.events_count = 1;
    m.msg.configure.events[0] = sim_event("cycles", 20000, 0);
    m.msg.configure.max_frames = 8;
    m.msg.configure.aggregate_ms = 99;
    sim_ask(&m, mkperf_ToHost_error_tag);
    m.msg.configure.aggregate_ms = 200;
    m.msg.configure.sched = true;
    sim_ask(&m, mkperf_ToHost_error_tag);
    m.msg.configure.sched = false;
    m.msg.configure.overwrite = true;
    sim_ask(&m, mkperf_ToHost_error_tag);
    m.msg.configure.overwrite = false;
    sim_ask(&m, mkperf_ToHost_session_tag);
    assert_int_equal(got.last.msg.session.aggregate_ms, 200);
    start_session();
    unsigned frames = got.frames;
    run_machine(TICK_HZ);
    frames = got.frames - frames;
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    check_events(s);
    assert_true(s->sent > 40000);
    assert_in_range(frames, 5, 60); /* five windows, chains, and a Status each second */
}

static void test_slow_line(void **state)
{
    (void)state;
    configure_one(sim_event("cycles", 20000, 0), mkperf_ToHost_session_tag);
    start_session();
    for (unsigned i = 0; i < 400; i++) {
        sim.line = 0;
        run_machine(5000);
        sim.line = 5;
        run_machine(100);
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
    configure_one(sim_event("cycles", 10000, 0), mkperf_ToHost_session_tag);
    start_session();
    for (unsigned i = 0; i < 5; i++) {
        sim.asleep = true;
        run_machine(TICK_HZ / 10);
        sim.asleep = false;
        run_machine(TICK_HZ / 10);
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
    configure_one(sim_event("cycles", 0, 1000), mkperf_ToHost_session_tag);
    assert_int_equal(got.last.msg.session.events[0].period, 0);
    start_session();
    for (unsigned i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        sim.user_rate = rates[i];
        sim.kernel_rate = rates[i] / 10;
        run_asking(5); /* finds the new rate, */
        uint64_t before = got.batch_samples;
        run_asking(2); /* the period stays */
        assert_in_range(got.batch_samples - before, 1600, 2400);
    }
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    check_events(s);
}

/* A fifth as many events as the first period is for: the right one is found in a tenth of a second. */
static void test_frequency_is_found_soon(void **state)
{
    (void)state;
    configure_one(sim_event("cycles", 0, 10000), mkperf_ToHost_session_tag);
    sim.user_rate = 180;
    sim.kernel_rate = 20;
    start_session();
    run_machine(TICK_HZ);
    stop_session();
    assert_in_range(got.batch_samples, 9000, 10300);
}

static void test_frequency_of_a_rare_event(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    (void)state;
    m.msg.configure.events_count = 2;
    m.msg.configure.events[0] = sim_event("cycles", 0, 500);
    m.msg.configure.events[1] = sim_event("cache-misses", 0, 500);
    sim_ask(&m, mkperf_ToHost_session_tag);
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
 * next GetStatus, which hosts send once per second, and then are all there.
 */
static void test_sudden_fall(void **state)
{
    (void)state;
    configure_one(sim_event("cycles", 1000, 0), mkperf_ToHost_session_tag);
    start_session();
    run_machine(TICK_HZ /
                10); /* a thousand samples a wake-up's tenth: the watermark is at its highest */
    sim.user_rate = sim.user_rate / 1000 != 0 ? sim.user_rate / 1000 : 1;
    sim.kernel_rate = 0;
    run_machine(TICK_HZ / 100); /* samples in transit arrive */
    uint64_t before = got.batch_samples;
    run_machine(TICK_HZ / 100); /* about ten more, without a wake-up */
    assert_int_equal(got.batch_samples, before);
    sim_command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    run_machine(TICK_HZ / 1000);
    assert_in_range(got.batch_samples - before, 1, MKPERF_WAKE_SAMPLES - 1);
    assert_int_equal(got.batch_samples, got.last.msg.status.captured);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    check_events(s);
}

/* Two hosts that ask for the status at the same time: no sample comes in between, and the period stays. */
static void test_asked_twice(void **state)
{
    (void)state;
    configure_one(sim_event("cycles", 0, 1000), mkperf_ToHost_session_tag);
    start_session();
    run_asking(3);
    uint64_t before = got.batch_samples;
    for (unsigned i = 0; i < 10; i++) {
        sim_command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
        sim_command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
        run_machine(TICK_HZ / 10);
    }
    stop_session();
    assert_in_range(got.batch_samples - before, 900, 1150);
}

/* An event that stops to come: the period is lowered when the host asks for the status. */
static void test_silence(void **state)
{
    (void)state;
    configure_one(sim_event("cycles", 0, 100), mkperf_ToHost_session_tag);
    start_session();
    run_machine(2 * TICK_HZ);
    uint32_t period = mkperf_pace[0][0].period;
    sim.user_rate = 1;
    sim.kernel_rate = 0;
    for (unsigned i = 0; i < 5; i++) {
        run_machine(TICK_HZ);
        sim_command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    }
    assert_true(mkperf_pace[0][0].period < period / 100);
    uint64_t before = got.batch_samples;
    run_machine(3 * TICK_HZ);
    assert_true(got.batch_samples - before > 150);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    check_events(s);
}

static void test_user_or_kernel(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    (void)state;
    m.msg.configure.events_count = 3;
    m.msg.configure.no_jitter = true;
    m.msg.configure.events[0] = sim_event("cycles", 50000, 0);
    m.msg.configure.events[0].kernel = true;
    m.msg.configure.events[1] = sim_event("instructions", 50000, 0);
    m.msg.configure.events[1].user = true;
    m.msg.configure.events[2] = sim_event("cache-misses", MKPERF_HOOK_MIN_PERIOD, 0);
    sim_ask(&m, mkperf_ToHost_session_tag);
    assert_int_equal(got.last.msg.session.events[0].user_counter, 0);
    assert_int_equal(got.last.msg.session.events[0].kernel_counter, 1);
    assert_int_equal(got.last.msg.session.events[1].user_counter, 2);
    assert_int_equal(got.last.msg.session.events[2].kernel_counter, 4);
    start_session();
    assert_int_equal(sim.hook_state.kernel_mask, 1 << 0 | 1 << 3);
    assert_int_equal(sim.hook_state.session.counter[0].jitter_mask, 0);
    run_machine(TICK_HZ);
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
    configure_one(sim_event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    start_session();
    run_machine(TICK_HZ / 10);
    unsigned hellos = got.hellos;
    uint32_t epoch = sim_client.encoder.epoch;
    sim_command(mkperf_ToTarget_reset_chains_tag, mkperf_ToHost_ack_tag);
    run_machine(TICK_HZ / 10);
    assert_int_equal(sim_client.encoder.epoch, epoch + 1);
    assert_int_equal(got.hellos, hellos + 1);
    mkperf_ToTarget m = message(0);
    sim_ask(&m, mkperf_ToHost_error_tag);
    assert_int_equal(got.last.msg.error.code, mkperf_ErrorCode_ERROR_MALFORMED);
    for (unsigned i = 0; i < sizeof noise; i++) {
        mkperf_client_byte(&sim_client, 0, noise[i]);
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
    run_machine(20000);
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
    assert_int_equal(mkperf_wake_samples(0, 7, TICK_HZ, TICK_HZ), 1);
    assert_int_equal(mkperf_wake_samples(0, 300, TICK_HZ, TICK_HZ), 75);
    assert_int_equal(mkperf_wake_samples(0, 1000, TICK_HZ, TICK_HZ), MKPERF_WAKE_SAMPLES);
    assert_int_equal(mkperf_wake_samples(0, UINT64_MAX, 1, UINT64_MAX), MKPERF_WAKE_SAMPLES);
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
                     MKPERF_HOOK_MIN_PERIOD);
    assert_int_equal(mkperf_min_period(MKPERF_RATE_RARE, true, 0, 0, 0, 1),
                     MKPERF_MIN_KERNEL_PERIOD);
    assert_true(mkperf_sample_cost(64, 0) > 1500 && mkperf_sample_cost(0, 4) > 500);
    assert_int_equal(mkperf_adapt_period(5000, 1000, 100, 0, 5, 5), 5000);
    assert_int_equal(mkperf_adapt_period(10000, 1000, 100, 1000000, TICK_HZ, TICK_HZ), 10000);
    assert_int_equal(mkperf_adapt_period(10000, 1000, 100, 1015000, TICK_HZ, TICK_HZ), 10000);
    assert_int_equal(mkperf_adapt_period(10000, 1000, 100, 986000, TICK_HZ, TICK_HZ), 10000);
    assert_int_equal(mkperf_adapt_period(10000, 1000, 100, 1020000, TICK_HZ, TICK_HZ), 10100);
    assert_int_equal(mkperf_adapt_period(10000, 1000, 100, 980000, TICK_HZ, TICK_HZ), 9900);
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
    configure_one(sim_event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    start_session();
    run_machine(TICK_HZ / 10);
    uint64_t wakeups = mkperf_status.wakeups;
    uint64_t captured = mkperf_status.captured;
    run_machine(TICK_HZ / 4); /* not once round the ring, where there may be a gap */
    assert_int_equal(mkperf_status.captured - captured,
                     MKPERF_WAKE_SAMPLES * (mkperf_status.wakeups - wakeups));
    check_statistics(stop_session());
}

/* Samples of two threads of three; filtered samples use no space and are no loss. */
static void test_filters(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    (void)state;
    m.msg.configure.events_count = 1;
    m.msg.configure.events[0] = sim_event("cycles", 10000, 0);
    m.msg.configure.only_count = 2;
    m.msg.configure.only[0] = 1 + 2;
    m.msg.configure.only[1] = 3 + 2;
    sim_ask(&m, mkperf_ToHost_session_tag);
    start_session();
    run_machine(TICK_HZ / 2);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    assert_in_range(s->captured, 50000 * 2 / 3 - 300, 50000 * 2 / 3 + 300);
    for (unsigned i = 0; i < MKPERF_CHAIN_SLOTS; i++) {
        assert_int_not_equal(sim_client.encoder.table.chain[i].thread,
                             2); /* a void chain has thread 0 */
    }
    configure_one(sim_event("cycles", 100000, 0), mkperf_ToHost_session_tag);
    start_session();
    assert_int_equal(sim.hook_state.session.filters, 0);
    run_machine(TICK_HZ / 10);
    stop_session();
}

static mkperf_EventSpec guest_event(bool user, bool kernel, bool guest)
{
    mkperf_EventSpec e = sim_event("cycles", 20000, 0);

    e.user = user;
    e.kernel = kernel;
    e.guest = guest;
    e.host = !guest;
    return e;
}

/* Samples are of guests only, or of none. What is left out is no loss, and what is left has the events of its part. */
static void test_guests(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);
    const uint32_t rate = 900;
    uint64_t user[MKPERF_MAX_COUNTERS] = {0};

    (void)state;
    configure_one(guest_event(false, false, true), mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_EVENT_UNSUPPORTED, 1);
    configure_one(guest_event(false, false, false), mkperf_ToHost_session_tag);
    assert_false(mkperf_plan.leaves_out);
    sim.guests = true;
    m.msg.configure.events_count = 5;
    m.msg.configure.events[0] = guest_event(false, false, true); /* :G, :uG, :kG, :H */
    m.msg.configure.events[1] = guest_event(true, false, true);
    m.msg.configure.events[2] = guest_event(false, true, true);
    m.msg.configure.events[3] = guest_event(false, false, false);
    m.msg.configure.events[4] = guest_event(true, false, false);
    sim_ask(&m, mkperf_ToHost_session_tag);
    assert_int_equal(mkperf_plan.session.slices, 1);
    for (unsigned i = 0; i < 5; i++) {
        static const uint32_t only[] = {4, 5, 6, 8, 9};
        assert_int_equal(got.last.msg.session.events[i].only, only[i]);
    }
    sim.user_rate = rate;
    sim.kernel_rate = 100;
    start_session();
    uint64_t from = sim.ticks;
    while (sim.ticks < from + TICK_HZ / 2) {
        uint32_t mode = sim_mode();
        user[0] += mode != MKPERF_GUEST_NONE ? rate : 0;
        user[1] += mode == MKPERF_GUEST_USER ? rate : 0;
        user[2] += mode == MKPERF_GUEST_KERNEL ? rate : 0;
        user[3] += mode == MKPERF_GUEST_NONE ? rate : 0;
        run_machine(1);
    }
    user[5] = user[3]; /* 4: the kernel's counter of :H */
    user[4] = 100 * (sim.ticks - from);
    check_statistics(stop_session());
    for (unsigned i = 0; i < 6; i++) {
        /* A change of threads, each 1000 ticks, is somewhere in an interval of 22 to 90. */
        assert_in_range(got.weight[i], user[i] * 95 / 100, user[i] * 105 / 100);
    }
    for (unsigned i = 0; i < MKPERF_CHAIN_SLOTS; i++) {
        uint32_t counter = got.chain_counter[i], mode = got.chain_flags[i] & MKPERF_GUEST_MASK;
        bool guest = counter < 3;
        if (got.chain_thread[i] != 0 && counter != 4) {
            assert_int_equal(mode != MKPERF_GUEST_NONE, guest);
            assert_true(counter != 1 || mode == MKPERF_GUEST_USER);
            assert_true(counter != 2 || mode == MKPERF_GUEST_KERNEL);
        }
    }
    configure_one(sim_event("cycles", 20000, 0), mkperf_ToHost_session_tag);
    start_session();
    assert_int_equal(sim.hook_state.session.guest_mask | sim.hook_state.session.host_mask, 0);
    stop_session();
    m.msg.configure.events_count = 2; /* a group read cannot leave anything out */
    m.msg.configure.events[0] = sim_event("cycles", 20000, 0);
    m.msg.configure.events[0].group = m.msg.configure.events[1].group = 1;
    m.msg.configure.events[1].read = true;
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 2);
}

/* A guest that runs seldom does not cost the PDs much more than the frequency that was requested. */
static void test_guests_frequency(void **state)
{
    mkperf_EventSpec e = guest_event(false, false, true);

    (void)state;
    sim.guests = true;
    sim.user_rate = 1000;
    e.period = 0;
    e.frequency = 1000;
    configure_one(e, mkperf_ToHost_session_tag);
    start_session();
    run_machine(2 * TICK_HZ);
    check_statistics(stop_session());
    assert_in_range(got.of[0], 600, 8000);
    assert_true(mkperf_pace[0][0].period >= 1000000 / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_hello),
        T(test_fixed_period),
        T(test_slow_line),
        T(test_windows),
        T(test_starved_profiler),
        T(test_frequency_follows),
        T(test_frequency_is_found_soon),
        T(test_frequency_of_a_rare_event),
        T(test_asked_twice),
        T(test_silence),
        T(test_sudden_fall),
        T(test_user_or_kernel),
        T(test_epochs_and_malformed),
        T(test_list),
        T(test_policy),
        T(test_wakes_at_the_most),
        T(test_filters),
        T(test_guests),
        T(test_guests_frequency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
