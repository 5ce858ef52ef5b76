/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole sessions on a simulated machine (sim_machine.h, sim_host.h): counting.
 */
#include "sim_host.h"

static bool latencies; /* wanted in addition to the counts */

/* Events of names, all to be counted; groups are those of `group`, if not NULL. */
static void configure_counting(const char *const *names, const uint32_t *group, unsigned n,
                               pb_size_t answer)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    m.msg.configure.events_count = (pb_size_t)n;
    m.msg.configure.per_pd = true;
    m.msg.configure.latency = latencies;
    for (unsigned i = 0; i < n; i++) {
        m.msg.configure.events[i] = sim_event(names[i], 0, 0);
        m.msg.configure.events[i].count = true;
        m.msg.configure.events[i].group = group != NULL ? group[i] : 0;
    }
    sim_ask(&m, answer);
}

static const mkperf_Counts *counts(uint32_t part)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_get_counts_tag);

    m.msg.get_counts.part = part;
    sim_ask(&m, mkperf_ToHost_counts_tag);
    return &got.last.msg.counts;
}

/* More than 2^32 events in each counter, exactly. */
static void test_counts_are_exact(void **state)
{
    static const char *const names[] = {"cycles", "instructions", "cache-misses"};
    uint64_t total[COUNTERS] = {0};

    (void)state;
    sim.user_rate = 40000;
    sim.kernel_rate = 100;
    configure_counting(names, NULL, 3, mkperf_ToHost_session_tag);
    start_session();
    assert_true(got.last.msg.session.events[0].count);
    run_machine(TICK_HZ / 5);
    const mkperf_Counts *c = counts(0);
    assert_true(c->running);
    assert_int_equal(c->slices, 1);
    assert_true(c->events[0].user > UINT32_MAX);
    stop_session();
    for (unsigned i = 0; i < COUNTERS; i++) {
        total[i] = sim.counter[i].total;
    }
    c = counts(0);
    assert_false(c->running);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(c->events[i].user, total[2 * i]);
        assert_int_equal(c->events[i].kernel, total[2 * i + 1]);
        assert_int_equal(c->events[i].running_ticks, c->enabled_ticks);
    }
    assert_in_range(c->enabled_ticks, TICK_HZ / 5, TICK_HZ / 5 + 10000);
    assert_int_equal(got.batch_samples, 0);
    check_statistics(&(mkperf_Status){0});
    assert_false(c->by_pd);
    assert_int_equal(c->parts, 1);
}

/* The same in addition to latencies, for which one counter is left over. */
static void test_counts_beside_latencies(void **state)
{
    static const char *const names[] = {"cycles", "instructions", "cache-misses"};
    uint64_t total[COUNTERS] = {0};

    (void)state;
    sim.user_rate = 40000;
    latencies = true;
    mock_features |= MKPERF_FEATURE_EVENTS;
    configure_counting(names, NULL, 3, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_COUNTERS, 0);
    configure_counting(names, NULL, 2, mkperf_ToHost_session_tag);
    latencies = false;
    start_session();
    run_machine(TICK_HZ / 5);
    mkperf_ToTarget m = message(mkperf_ToTarget_get_latency_tag);
    sim_ask(&m, mkperf_ToHost_latency_tag);
    const mkperf_Latency *l = &got.last.msg.latency;
    assert_int_equal(l->threads_count, 1); /* no other thread runs here */
    assert_int_equal(l->threads[0].run_ticks, l->enabled_ticks);
    assert_in_range(l->enabled_ticks, TICK_HZ / 5, TICK_HZ / 5 + 10000);
    stop_session();
    for (unsigned i = 0; i < COUNTERS; i++) {
        total[i] = sim.counter[i].total;
    }
    const mkperf_Counts *c = counts(0);
    assert_true(c->events[0].user > UINT32_MAX);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(c->events[i].user, total[2 * i]);
        assert_int_equal(c->events[i].kernel, total[2 * i + 1]);
    }
    check_statistics(&(mkperf_Status){0});
}

/* The kernel counts by thread: the threads' sum is the total, and each has its share. */
static void test_counts_by_thread(void **state)
{
    static const char *const names[] = {"cycles", "instructions"};
    uint64_t user[4] = {0}, kernel[4] = {0};

    (void)state;
    mock_features |= MKPERF_FEATURE_EVENTS;
    sim.user_rate = 40000;
    configure_counting(names, NULL, 2, mkperf_ToHost_session_tag);
    start_session();
    run_machine(300000);
    stop_session();
    const mkperf_Counts *c = counts(0);
    uint64_t total_user = c->events[1].user, total_kernel = c->events[1].kernel;
    uint32_t parts = c->parts;
    assert_true(c->by_pd);
    for (uint32_t part = 1; part < parts; part++) {
        c = counts(part);
        for (unsigned i = 0; i < c->threads_count; i++) {
            assert_in_range(c->threads[i].thread, 1 + 2, 3 + 2);
            user[c->threads[i].thread - 2] += c->threads[i].user[1];
            kernel[c->threads[i].thread - 2] += c->threads[i].kernel[1];
        }
    }
    assert_int_equal(user[1] + user[2] + user[3], total_user);
    assert_int_equal(kernel[1] + kernel[2] + kernel[3], total_kernel);
    for (unsigned i = 1; i <= 3; i++) {
        assert_in_range(user[i], total_user / 100 * 32, total_user / 100 * 35);
    }
    mkperf_ToTarget m = message(mkperf_ToTarget_get_counts_tag);
    m.msg.get_counts.part = parts;
    sim_ask(&m, mkperf_ToHost_error_tag);
}

/* Events for eight counters on six: two slices, a group never split, scaled right. */
static void test_counts_are_multiplexed(void **state)
{
    static const char *const names[] = {"cycles", "instructions", "cycles", "instructions"};
    static const uint32_t group[] = {0, 3, 3, 0};

    (void)state;
    mock_features |= MKPERF_FEATURE_EVENTS;
    configure_counting(names, group, 4, mkperf_ToHost_session_tag);
    assert_int_equal(mkperf_plan.session.slices, 3);
    assert_int_equal(mkperf_plan.event[1].slice, mkperf_plan.event[2].slice);
    start_session();
    run_machine(2 * TICK_HZ);
    stop_session();
    assert_true(mkperf_in.rotated > 300);
    const mkperf_Counts *c = counts(0);
    uint64_t all = 0;
    for (unsigned i = 0; i < 4; i++) {
        double share = (double)c->events[i].running_ticks / (double)c->enabled_ticks;
        double scaled = (double)c->events[i].user / share;
        assert_in_range((uint64_t)(share * 1000), 313, 353);
        assert_in_range((uint64_t)(scaled / (900.0 * (double)c->enabled_ticks) * 1000), 990, 1010);
        all += i != 2 ? c->events[i].running_ticks : 0;
    }
    assert_int_equal(c->events[1].running_ticks, c->events[2].running_ticks);
    assert_int_equal(c->events[1].user, c->events[2].user);
    assert_in_range(all, c->enabled_ticks - 20, c->enabled_ticks + 20);
    assert_int_equal(mkperf_status.spurious, 0);
}

static void test_counting_refusals(void **state)
{
    static const char *const names[] = {"cycles", "cycles", "cycles", "cycles"};
    static const uint32_t group[] = {0, 2, 2, 2};
    mkperf_ToTarget m = message(mkperf_ToTarget_get_counts_tag);

    (void)state;
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    configure_counting(names, group, 4, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_COUNTERS, 2);
    assert_non_null(strstr(got.last.msg.error.text, "needs 6 counters"));
    m = message(mkperf_ToTarget_configure_tag);
    m.msg.configure.events_count = 2;
    m.msg.configure.events[0] = sim_event("cycles", 100000, 0);
    m.msg.configure.events[1] = sim_event("instructions", 0, 0);
    m.msg.configure.events[1].count = true;
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 2);
}

/* Counts in guests and outside of them: the parts of what each counter counted. */
static void test_counts_of_guests(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);
    uint64_t total[COUNTERS] = {0};

    (void)state;
    sim.guests = true;
    sim.user_rate = 40000;
    m.msg.configure.events_count = 4; /* :G, :uG, :kG, :H */
    for (unsigned i = 0; i < 4; i++) {
        mkperf_EventSpec *e = &m.msg.configure.events[i];
        *e = sim_event("cycles", 0, 0);
        e->count = true;
        e->guest = i < 3;
        e->host = i == 3;
        e->user = i == 1;
        e->kernel = i == 2;
    }
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_NO_HOOK, 0);
    mock_features |= MKPERF_FEATURE_EVENTS;
    init(); /* another boot, with that kernel */
    sim_ask(&m, mkperf_ToHost_session_tag);
    start_session();
    run_machine(300000);
    stop_session();
    for (unsigned i = 0; i < COUNTERS; i++) {
        total[i] = sim.counter[i].total;
    }
    const mkperf_Counts *c = counts(0);
    assert_false(c->by_pd);
    assert_int_equal(c->parts, 1);
    assert_in_range(c->events[0].user, total[0] / 100 * 32, total[0] / 100 * 35);
    assert_int_equal(c->events[1].user + c->events[2].user, c->events[0].user);
    assert_int_equal(c->events[2].user, total[2]);
    assert_int_equal(c->events[3].user + c->events[1].user, total[3]);
    assert_int_equal(c->events[3].kernel, total[4]);
    m.msg.configure.per_pd = true;
    sim_ask(&m, mkperf_ToHost_session_tag);
    start_session();
    run_machine(30000);
    stop_session();
    uint32_t parts = counts(0)->parts;
    assert_int_equal(parts, 2);
    c = counts(1);
    assert_int_equal(c->threads_count, 3);
    for (unsigned i = 0; i < 3; i++) {
        bool guest = mkperf_thread_is_vcpu(mkperf_thread_from_wire(c->threads[i].thread));
        assert_int_equal(c->threads[i].user[0] != 0, guest);
        assert_int_equal(c->threads[i].user[3] != 0, !guest);
    }
}

static mkperf_ToTarget beside(mkperf_EventSpec event)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    m.msg.configure.per_pd = true;
    m.msg.configure.events_count = 1;
    m.msg.configure.events[0] = event;
    return m;
}

/* More than 2^33 events in addition to their samples, by thread and to the event. The sum of the periods lacks what has come since
 * the last sample. */
static void test_counts_beside_samples(void **state)
{
    mkperf_ToTarget m = beside(sim_event("cycles", 100000000, 0));
    mkperf_ToTarget ask = message(mkperf_ToTarget_get_counts_tag);
    uint64_t threads = 0;

    (void)state;
    mock_features |= MKPERF_FEATURE_EVENTS;
    init(); /* another boot, with that kernel */
    sim.user_rate = 1000000;
    sim_ask(&m, mkperf_ToHost_session_tag);
    assert_true(got.last.msg.session.counts);
    start_session();
    run_machine(10000);
    sim_ask(&ask, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    check_statistics(stop_session());
    assert_true(got.of[0] > 80 && got.of[2] == 0);
    const mkperf_Counts *c = counts(0);
    uint64_t all = c->events[0].user;
    uint32_t parts = c->parts;
    assert_true(c->by_pd && all > UINT64_C(1) << 33);
    assert_int_equal(all, sim.counter[2].total);
    assert_int_equal(all, sim.counter[0].total);
    assert_int_equal(c->events[0].kernel, 0);
    assert_in_range(c->enabled_ticks, 10000, 15000); /* with the time of the refused request */
    assert_in_range(all - got.weight[0], 0, 150000000);
    for (uint32_t part = 1; part < parts; part++) {
        c = counts(part);
        for (unsigned i = 0; i < c->threads_count; i++) {
            assert_in_range(c->threads[i].user[0], all / 100 * 32, all / 100 * 35);
            threads += c->threads[i].user[0];
        }
    }
    assert_int_equal(threads, all);
}

/* What cannot be counted in addition to samples is refused, and a session without such counts has none. */
static void test_no_counts_beside_samples(void **state)
{
    mkperf_ToTarget m = beside(sim_event("cycles", 100000, 0));
    mkperf_ToTarget ask = message(mkperf_ToTarget_get_counts_tag);

    (void)state;
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_NO_HOOK, 0);
    assert_non_null(strstr(got.last.msg.error.text, "sampled events cannot be counted"));
    mock_features |= MKPERF_FEATURE_EVENTS;
    init(); /* another boot, with that kernel */
    m.msg.configure.events[0].kernel = true;
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    m.msg.configure.events[0].kernel = false;
    m.msg.configure.overwrite = true;
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
    m.msg.configure.overwrite = false;
    m.msg.configure.events[1] = sim_event("instructions", 100000, 0);
    m.msg.configure.events[2] = sim_event("branches", 100000, 0);
    m.msg.configure.events_count = 3;
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_COUNTERS, 0);
    assert_non_null(strstr(got.last.msg.error.text, "need 9 counters"));
    m.msg.configure.events_count = 2;
    sim_ask(&m, mkperf_ToHost_session_tag); /* all six counters */
    m.msg.configure.per_pd = false;
    sim_ask(&m, mkperf_ToHost_session_tag);
    assert_false(got.last.msg.session.counts);
    sim_ask(&ask, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_counts_are_exact),       T(test_counts_beside_latencies),  T(test_counts_by_thread),
        T(test_counts_are_multiplexed), T(test_counting_refusals),        T(test_counts_of_guests),
        T(test_counts_beside_samples),  T(test_no_counts_beside_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
