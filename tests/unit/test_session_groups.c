/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole sessions on a simulated machine (sim_machine.h, sim_host.h): group reads in the
 * samples of the leader, and multiplexed events.
 */
#include "sim_host.h"

enum { CYCLES = 0x11, INSTRUCTIONS = 0x08, MISSES = 0x03, BRANCHES = 0x0c, BUS_CYCLES = 0x1d };

static mkperf_ToTarget configuration(const mkperf_EventSpec *events, unsigned n)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    m.msg.configure.events_count = (pb_size_t)n;
    for (unsigned i = 0; i < n; i++) {
        m.msg.configure.events[i] = events[i];
    }
    return m;
}

/* A group of `n` names: the first samples, the others are read. */
static mkperf_ToTarget group_of(const char *const *names, unsigned n, uint64_t period)
{
    mkperf_EventSpec events[MKPERF_MAX_EVENTS];

    for (unsigned i = 0; i < n; i++) {
        events[i] = sim_event(names[i], i == 0 ? period : 0, 0);
        events[i].group = 1;
        events[i].read = i != 0;
    }
    return configuration(events, n);
}

/* All counts of a counter were read in a sample, except those after the last sample. */
static void test_values_ride(void **state)
{
    static const char *const names[] = {"cycles", "instructions", "cache-misses"};
    mkperf_ToTarget m = group_of(names, 3, 100000);

    (void)state;
    m.msg.configure.no_jitter = true;
    sim_ask(&m, mkperf_ToHost_session_tag);
    assert_true(got.last.msg.session.events[1].read);
    assert_false(got.last.msg.session.events[0].read);
    assert_int_equal(got.last.msg.session.events[1].period, 0);
    assert_int_equal(got.last.msg.session.slices, 1);
    start_session();
    run_machine(TICK_HZ);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    assert_int_equal(s->spurious, 0);
    for (unsigned mode = 0; mode < 2; mode++) {
        assert_true(got.of[mode] > 900);
        assert_int_equal(got.of[2 + mode] + got.of[4 + mode], 0);
        /* Cycles and instructions come at the same rate here. */
        assert_int_equal(got.weight[mode], got.of[mode] * 100000);
        assert_in_range(got.reads[2 + mode], got.weight[mode], got.weight[mode] + 1000);
        uint64_t later = sim.counted[INSTRUCTIONS][mode] - got.reads[2 + mode];
        assert_in_range(later, 0, 100000 + 1000);
        later = sim.counted[MISSES][mode] - got.reads[4 + mode];
        assert_in_range(later, 0, 100000 + 1000);
    }
}

/* More than 2^33 events from one sample to the next. */
static void test_values_do_not_wrap(void **state)
{
    static const char *const names[] = {"cache-misses", "cycles"};
    mkperf_ToTarget m = group_of(names, 2, 100000000);

    (void)state;
    sim.user_rate = 10000000; /* misses come every 100 ticks */
    sim.kernel_rate = 3;
    sim_ask(&m, mkperf_ToHost_session_tag);
    start_session();
    run_machine(30000);
    check_statistics(stop_session());
    assert_in_range(got.of[0], 25, 32);
    assert_int_equal(got.of[2], 0);
    assert_true(got.most_read[2] > UINT64_C(1) << 33);
    uint64_t later = sim.counted[CYCLES][0] - got.reads[2];
    assert_in_range(later, 0, UINT64_C(14000000000));
}

/* The values of many events in samples of a rare one. */
static void test_values_of_frequent_events(void **state)
{
    static const char *const names[] = {"cache-misses", "cycles"};
    mkperf_ToTarget m = group_of(names, 2, 1000000);

    (void)state;
    sim_ask(&m, mkperf_ToHost_session_tag);
    start_session();
    sim.user_rate = 150000; /* 100 times as many cycles as misses */
    run_machine(300000);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    assert_true(got.of[0] > 100);
    assert_in_range(got.reads[2], got.weight[0] * 95, got.weight[0] * 105);
    assert_true(got.most_read[2] > 90000000);
}

/* Samples of other threads are left out, and their events with them. */
static void test_values_and_filters(void **state)
{
    static const char *const names[] = {"cycles", "instructions"};
    mkperf_ToTarget m = group_of(names, 2, 20000);

    (void)state;
    m.msg.configure.no_jitter = true;
    m.msg.configure.only_count = 1;
    m.msg.configure.only[0] = 2 + 2;
    sim_ask(&m, mkperf_ToHost_session_tag);
    start_session();
    run_machine(300000);
    check_statistics(stop_session());
    assert_in_range(got.of[0], 13500 / 3 - 200, 13500 / 3 + 200);
    assert_in_range(got.reads[2], got.weight[0] - 2000, got.weight[0] + 2000);
    assert_true(got.most_read[2] < 23000);
}

/* A ring that overflows loses values with their samples, and no others. */
static void test_values_and_losses(void **state)
{
    static const char *const names[] = {"cycles", "instructions"};
    mkperf_ToTarget m = group_of(names, 2, 10000);

    (void)state;
    sim_ask(&m, mkperf_ToHost_session_tag);
    start_session();
    for (unsigned i = 0; i < 3; i++) {
        sim.asleep = true;
        run_machine(TICK_HZ / 10);
        sim.asleep = false;
        run_machine(TICK_HZ / 20);
    }
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    assert_true(s->lost_ring > 1000);
    assert_in_range(got.reads[2], got.weight[0] / 1000 * 995, got.weight[0] / 1000 * 1005);
    assert_true(got.most_read[2] < 15000);
}

/* One mode of the leader reads both of the others. */
static void test_leader_of_one_mode(void **state)
{
    static const char *const names[] = {"cycles", "instructions", "branches"};
    mkperf_ToTarget m = group_of(names, 3, 50000);

    (void)state;
    m.msg.configure.events[0].user = true;
    m.msg.configure.events[2].kernel = true;
    sim_ask(&m, mkperf_ToHost_session_tag);
    start_session();
    run_machine(TICK_HZ / 2);
    check_statistics(stop_session());
    assert_true(got.of[0] > 8000);
    assert_in_range(got.reads[1], got.weight[0] - 2000, got.weight[0] + 2000);
    assert_in_range(got.reads[2], got.weight[0] / 9 - 2000, got.weight[0] / 9 + 2000);
    assert_int_equal(got.reads[2], got.reads[3]);
}

static void test_refusals(void **state)
{
    static const char *const names[] = {"cycles", "instructions"};
    mkperf_ToTarget m = group_of(names, 2, 100000);

    (void)state;
    m.msg.configure.events[0].read = true;
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    m = group_of(names, 2, 100000);
    m.msg.configure.events[0].group = 0;
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 2);
    m = group_of(names, 2, 100000);
    m.msg.configure.events[0].count = m.msg.configure.events[1].count = true;
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 2);
    m = group_of(names, 2, 600);
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    assert_non_null(strstr(got.last.msg.error.text, "must be from 1000 to 2147483647 events; a "
                                                    "sample costs about 565 instructions"));
    m.msg.configure.events[0] = sim_event("cycles", 1900, 0);
    m.msg.configure.events[0].kernel = true;
    m.msg.configure.events_count = 1;
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
}

/* ---- multiplexing
 * ---------------------------------------------------------------------------------- */

/* A counter's counts since its last sample, or since the last sample that read it. */
static uint64_t pending(unsigned event, unsigned mode)
{
    const struct mkperf_plan_event *e = &mkperf_plan.event[event];
    const mkperf_SessionEvent *shown = &mkperf_plan.session.events[event];
    uint32_t c = (mode == 0 ? e->user_counter : e->kernel_counter) - 1;
    uint32_t number = (mode == 0 ? shown->user_counter : shown->kernel_counter) - 1;

    if (e->slice != mkperf_in.slice) {
        return sim_stopped(number, shown->read);
    }
    if (shown->read) {
        return sim.counter[c].value - MKPERF_COUNT_PERIOD - sim.stopped.counter[c].read;
    }
    return sim.stopped.counter[c].interval - (0 - sim.counter[c].value);
}

/* Every event counted in its slices is in a sample, or in transit. */
static void check_multiplexed(uint32_t code, unsigned event)
{
    for (unsigned mode = 0; mode < 2; mode++) {
        unsigned number = 2 * event + mode;

        assert_true(sim.counted[code][mode] > 0);
        assert_int_equal(sim.counted[code][mode],
                         got.weight[number] + got.reads[number] + pending(event, mode));
    }
}

static void check_times(const mkperf_Status *s, unsigned slices)
{
    uint64_t sum = 0;

    assert_int_equal(s->tick_hz, TICK_HZ);
    assert_true(s->enabled_ticks > 0);
    for (unsigned i = 0; i < s->running_ticks_count; i++) {
        assert_in_range(s->running_ticks[i], s->enabled_ticks / slices * 8 / 10,
                        s->enabled_ticks / slices * 12 / 10);
        sum += s->running_ticks[i];
    }
    assert_in_range(sum, s->enabled_ticks * 9 / 10 * s->running_ticks_count / slices,
                    s->enabled_ticks * s->running_ticks_count / slices);
}

static void test_multiplexing(void **state)
{
    const mkperf_EventSpec events[] = {
        sim_event("cycles", 100000, 0), sim_event("instructions", 70000, 0),
        sim_event("branches", 50000, 0), sim_event("cache-misses", 4000, 0)};
    mkperf_ToTarget m = configuration(events, 4);

    (void)state;
    sim_ask(&m, mkperf_ToHost_session_tag);
    assert_int_equal(got.last.msg.session.slices, 2);
    for (unsigned i = 0; i < 4; i++) { /* each has different numbers */
        assert_int_equal(got.last.msg.session.events[i].user_counter, 2 * i + 1);
        assert_int_equal(got.last.msg.session.events[i].kernel_counter, 2 * i + 2);
    }
    start_session();
    run_machine(3 * TICK_HZ);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    assert_int_equal(s->lost_ring + s->lost_output + s->late_events, 0);
    assert_true(mkperf_in.rotated > 100);
    check_times(s, 2);
    check_multiplexed(CYCLES, 0);
    check_multiplexed(INSTRUCTIONS, 1);
    check_multiplexed(BRANCHES, 2);
    check_multiplexed(MISSES, 3);
    for (unsigned mode = 0; mode < 2; mode++) {
        assert_true(got.of[mode] > 100 && got.of[4 + mode] > 100);
    }
    /* Scaled, it equals the events: 900 of each in a tick. */
    uint64_t scaled = got.weight[0] / 1000 * s->enabled_ticks / (s->running_ticks[0] / 1000);
    assert_in_range(scaled, 2700 * (uint64_t)1000000 / 100 * 96,
                    2700 * (uint64_t)1000000 / 100 * 104);
}

static void test_multiplexing_with_a_frequency(void **state)
{
    const mkperf_EventSpec events[] = {
        sim_event("cycles", 0, 1000), sim_event("instructions", 0, 1000),
        sim_event("branches", 0, 1000), sim_event("bus-cycles", 0, 500)};
    mkperf_ToTarget m = configuration(events, 4);

    (void)state;
    sim_ask(&m, mkperf_ToHost_session_tag);
    start_session();
    for (unsigned i = 0; i < 12;
         i++) { /* so that counters are set forward in the middle of a slice */
        sim.user_rate = i % 2 != 0 ? 900 : 10;
        run_machine(TICK_HZ / 2);
    }
    run_machine(2 * TICK_HZ);
    uint64_t before = got.of[0] + got.of[1];
    run_machine(2 * TICK_HZ);
    /* While it has its turn. */
    assert_in_range(got.of[0] + got.of[1] - before, 800, 1250);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    check_multiplexed(CYCLES, 0);
    check_multiplexed(INSTRUCTIONS, 1);
    check_multiplexed(BRANCHES, 2);
    check_multiplexed(BUS_CYCLES, 3);
}

/* Two groups that do not fit together, one with group reads, and only some threads. */
static void test_multiplexing_of_groups(void **state)
{
    mkperf_EventSpec events[] = {sim_event("cycles", 50000, 0), sim_event("instructions", 0, 0),
                                 sim_event("branches", 30000, 0), sim_event("cache-misses", 0, 0)};
    uint64_t counted[2];

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        events[i].group = 1 + i / 2;
        events[i].read = i % 2 != 0;
    }
    mkperf_ToTarget m = configuration(events, 4);
    sim_ask(&m, mkperf_ToHost_session_tag);
    assert_int_equal(got.last.msg.session.slices, 2);
    start_session();
    run_machine(2 * TICK_HZ);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    check_times(s, 2);
    check_multiplexed(CYCLES, 0);
    check_multiplexed(INSTRUCTIONS, 1);
    check_multiplexed(BRANCHES, 2);
    check_multiplexed(MISSES, 3);
    for (unsigned mode = 0; mode < 2; mode++) {
        counted[mode] = got.reads[2 + mode];
        assert_in_range(got.reads[2 + mode], got.weight[mode] - 3000, got.weight[mode] + 3000);
    }
    assert_true(counted[0] > 7 * counted[1]);
}

static void test_multiplexing_and_filters(void **state)
{
    const mkperf_EventSpec events[] = {
        sim_event("cycles", 20000, 0), sim_event("instructions", 20000, 0),
        sim_event("branches", 20000, 0), sim_event("bus-cycles", 20000, 0)};
    mkperf_ToTarget m = configuration(events, 4);

    (void)state;
    m.msg.configure.only_count = 1;
    m.msg.configure.only[0] = 3 + 2;
    sim_ask(&m, mkperf_ToHost_session_tag);
    start_session();
    run_machine(3 * TICK_HZ);
    const mkperf_Status *s = stop_session();
    check_statistics(s);
    check_times(s, 2);
    /* Each event has a third of the time, half of it in user mode. */
    for (unsigned i = 0; i < 4; i++) {
        assert_in_range(got.weight[2 * i], 400000000, 500000000);
    }
}

/* Where the kernel has followers, events that sample leave one counter over for each of their
 * counters of user events; those that are read or count leave none. */
static void test_followers(void **state)
{
    static const char *const names[] = {"cycles", "instructions", "cache-misses"};
    mkperf_EventSpec events[3];

    (void)state;
    mkperf_cpu.followers = true;
    for (unsigned i = 0; i < 3; i++) {
        events[i] = sim_event(names[i], 100000, 0);
    }
    mkperf_ToTarget m = configuration(events, 2);
    sim_ask(&m, mkperf_ToHost_session_tag);
    assert_int_equal(got.last.msg.session.slices, 1);
    assert_int_equal(got.last.msg.session.events[1].user_counter, 3); /* numbers have no gaps */
    start_session();
    assert_int_equal(__builtin_popcount(mkperf_plan.slice[0].counter_mask), 4);
    run_machine(TICK_HZ);
    check_statistics(stop_session());
    assert_true(got.of[0] > 900 && got.of[2] > 900);

    m = configuration(events, 3);
    sim_ask(&m, mkperf_ToHost_session_tag);
    /* one of the 6 counters is the clock of slices */
    assert_int_equal(got.last.msg.session.slices, 3);
    for (unsigned i = 0; i < 3; i++) {
        m.msg.configure.events[i].kernel = true;
    }
    sim_ask(&m, mkperf_ToHost_session_tag);
    assert_int_equal(got.last.msg.session.slices, 1);
    m = group_of(names, 2, 100000);
    sim_ask(&m, mkperf_ToHost_session_tag);
    assert_int_equal(__builtin_popcount(mkperf_plan.slice[0].counter_mask), 4);
    for (unsigned i = 0; i < 3; i++) {
        events[i].count = true;
        events[i].period = 0;
    }
    m = configuration(events, 3);
    sim_ask(&m, mkperf_ToHost_session_tag);
    assert_int_equal(got.last.msg.session.slices, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_values_ride),
        T(test_values_do_not_wrap),
        T(test_values_of_frequent_events),
        T(test_values_and_filters),
        T(test_values_and_losses),
        T(test_leader_of_one_mode),
        T(test_refusals),
        T(test_multiplexing),
        T(test_followers),
        T(test_multiplexing_with_a_frequency),
        T(test_multiplexing_of_groups),
        T(test_multiplexing_and_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
