/* SPDX-License-Identifier: BSD-2-Clause */
/* Latencies, exits of guests and run times, which the profiler PD aggregates from scheduling events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "pd/profiler/latency.h"

static struct mkperf_latency latency;

static void event(unsigned kind, unsigned reason, uint64_t thread, uint64_t time)
{
    mkperf_latency_event(&latency, 0, mkperf_sched_header(kind, reason, 0), thread, time);
}

/* from: 0 for an interrupt. */
static const struct mkperf_latency_pair *pair_of(mkperf_LatencyKind kind, uint64_t from,
                                                 uint64_t to)
{
    for (unsigned i = 0; i < MKPERF_LATENCY_PAIRS; i++) {
        const struct mkperf_latency_pair *p = &latency.pair[i];
        mkperf_LatencyPair e;
        mkperf_latency_ends(&latency, p, &e);
        if (p->key != 0 && e.kind == kind && e.to == mkperf_thread_to_wire(to) &&
            e.from == (kind == mkperf_LatencyKind_LATENCY_IRQ ? 0 : mkperf_thread_to_wire(from))) {
            return p;
        }
    }
    return NULL;
}

static void assert_pair(mkperf_LatencyKind kind, uint64_t from, uint64_t to, uint64_t count,
                        uint64_t total, uint64_t max, uint64_t max_at)
{
    const struct mkperf_latency_pair *p = pair_of(kind, from, to);

    assert_non_null(p);
    assert_int_equal(p->count, count);
    assert_int_equal(p->total, total);
    assert_int_equal(p->max, max);
    assert_int_equal(p->max_at, max_at);
}

static void test_buckets(void **state)
{
    (void)state;
    for (uint64_t v = 0; v < 5000; v++) {
        unsigned b = mkperf_log_bucket(v);
        assert_true(b == mkperf_log_bucket(v + 1) || b + 1 == mkperf_log_bucket(v + 1));
    }
    assert_int_equal(mkperf_log_bucket(15), 15);
    assert_int_equal(mkperf_log_bucket(16), 16);
    assert_int_equal(mkperf_log_bucket(32), 32);
    assert_int_equal(mkperf_log_bucket(33), 32);
    assert_int_equal(mkperf_log_bucket(UINT64_MAX), MKPERF_LOG_BUCKETS - 1);
}

static void test_latencies(void **state)
{
    (void)state;
    mkperf_latency_begin(&latency);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_UNKNOWN, 1, 100);
    /* 1 calls 2, at once; 2 calls 3; replies. */
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_CALLED, 2, 110);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_CALLED, 3, 130);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_REPLIED, 2, 160);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_REPLIED, 1, 170);
    assert_pair(mkperf_LatencyKind_LATENCY_CALL, 1, 2, 1, 60, 60, 170);
    assert_pair(mkperf_LatencyKind_LATENCY_CALL, 2, 3, 1, 30, 30, 160);
    /* 1 calls 2, which another thread keeps from running; the reply comes without a switch. */
    event(MKPERF_SCHED_CALL, 0, 2, 200);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_CALLED, 9, 201);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_WAIT_NOTIFICATION, 2, 250);
    event(MKPERF_SCHED_REPLY, 0, 1, 300);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_WAIT_MESSAGE, 1, 301);
    assert_pair(mkperf_LatencyKind_LATENCY_CALL, 1, 2, 2, 160, 100, 300);
    /* 2 is busy when 1 calls. */
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_QUEUED, 2, 400);
    event(MKPERF_SCHED_RECEIVE, 0, 1, 450);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_REPLIED, 1, 500);
    assert_pair(mkperf_LatencyKind_LATENCY_CALL, 1, 2, 3, 260, 100, 300);
    /* 1 notifies 9, which waits, twice: it is ready after the first. Then an interrupt. */
    event(MKPERF_SCHED_NOTIFY, 0, 9, 600);
    event(MKPERF_SCHED_NOTIFY, 0, 9, 610);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_PREEMPTED, 9, 640);
    assert_pair(mkperf_LatencyKind_LATENCY_NOTIFY, 1, 9, 1, 40, 40, 640);
    event(MKPERF_SCHED_NOTIFY, 0, 9, 650); /* it runs, or is ready: no latency */
    event(MKPERF_SCHED_NOTIFY, 0, 7, 651); /* what thread 7 does is unknown */
    assert_int_equal(pair_of(mkperf_LatencyKind_LATENCY_NOTIFY, 9, 9)->busy, 1);
    assert_int_equal(pair_of(mkperf_LatencyKind_LATENCY_NOTIFY, 1, 9)->busy, 1);
    assert_null(pair_of(mkperf_LatencyKind_LATENCY_NOTIFY, 9, 7));
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_WAIT_NOTIFICATION, 1, 660);
    mkperf_latency_event(&latency, 0, mkperf_sched_header(MKPERF_SCHED_IRQ, 0, 79), 9, 700);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_PREEMPTED, 9, 709);
    assert_pair(mkperf_LatencyKind_LATENCY_IRQ, 0, 9, 1, 9, 9, 709);
    mkperf_LatencyPair ends;
    mkperf_latency_ends(&latency, pair_of(mkperf_LatencyKind_LATENCY_IRQ, 0, 9), &ends);
    assert_int_equal(ends.irq, 79);
    /* What began before a gap is not measured. */
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_CALLED, 2, 800);
    mkperf_latency_gap(&latency);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_REPLIED, 9, 900);
    assert_null(pair_of(mkperf_LatencyKind_LATENCY_CALL, 9, 2));
    assert_int_equal(latency.dropped, 0);
}

static void assert_ran(uint64_t time, uint64_t thread, uint64_t ticks, uint64_t runs)
{
    mkperf_LatencyThread run[MKPERF_LATENCY_THREADS];
    unsigned n = mkperf_latency_runs(&latency, time, run);

    for (unsigned i = 0; i < n; i++) {
        if (run[i].thread == mkperf_thread_to_wire(thread)) {
            assert_int_equal(run[i].run_ticks, ticks);
            assert_int_equal(run[i].runs, runs);
            return;
        }
    }
    fail_msg("no thread %u", (unsigned)thread);
}

static void exit_event(unsigned kind, unsigned number, uint64_t thread, uint64_t time)
{
    mkperf_latency_event(&latency, 0, mkperf_sched_header(kind, 0, number), thread, time);
}

/* Exits of the guest of virtual CPU 5, whose monitor is 6: until the guest runs again, by reason and page. */
static void test_exits(void **state)
{
    const unsigned accessed = 0x9001;

    (void)state;
    mkperf_latency_begin(&latency);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_UNKNOWN, 6, 90);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_WAIT_MESSAGE, 5, 100);
    for (unsigned i = 0; i < 2; i++) {
        exit_event(MKPERF_SCHED_PAGE, accessed >> 12, 6, 110);
        exit_event(MKPERF_SCHED_PAGE, accessed & 0xfff, 6, 110);
        exit_event(MKPERF_SCHED_FAULT, MKPERF_EXIT_ACCESS, 6, 110);
        event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_FAULTED, 6, 120);
        event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_WAIT_MESSAGE, 5, 150);
    }
    assert_pair(mkperf_LatencyKind_LATENCY_EXIT, 5, 6, 2, 80, 40, 150);
    mkperf_LatencyPair ends;
    mkperf_latency_ends(&latency, pair_of(mkperf_LatencyKind_LATENCY_EXIT, 5, 6), &ends);
    assert_int_equal(ends.irq, MKPERF_EXIT_ACCESS | accessed << 8);
    /* Another reason is another row. The monitor calls 7 for it, and that is a call. */
    mkperf_latency_begin(&latency);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_UNKNOWN, 5, 200);
    exit_event(MKPERF_SCHED_FAULT, MKPERF_EXIT_HVC, 6, 210);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_FAULTED, 6, 211);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_CALLED, 7, 220);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_REPLIED, 6, 230);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_WAIT_MESSAGE, 5, 260);
    assert_pair(mkperf_LatencyKind_LATENCY_EXIT, 5, 6, 1, 50, 50, 260);
    assert_pair(mkperf_LatencyKind_LATENCY_CALL, 6, 7, 1, 10, 10, 230);
    mkperf_latency_ends(&latency, pair_of(mkperf_LatencyKind_LATENCY_EXIT, 5, 6), &ends);
    assert_int_equal(ends.irq, MKPERF_EXIT_HVC);
    /* The monitor is busy on another core, and takes the exit later. A fault of a thread is no exit. */
    mkperf_latency_begin(&latency);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_UNKNOWN, 5, 300);
    mkperf_latency_event(&latency, 1, mkperf_sched_header(MKPERF_SCHED_SWITCH, 0, 0), 6, 301);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_FAULTED, MKPERF_THREAD_IDLE, 310);
    mkperf_latency_event(&latency, 1, mkperf_sched_header(MKPERF_SCHED_RECEIVE, 0, MKPERF_EXIT_WFX),
                         5, 330);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_IDLE, 5, 345);
    assert_pair(mkperf_LatencyKind_LATENCY_EXIT, 5, 6, 1, 35, 35, 345);
    exit_event(MKPERF_SCHED_FAULT, MKPERF_FAULT_THREAD, 6, 350);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_FAULTED, 9, 351);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_PREEMPTED, 5, 360);
    assert_pair(mkperf_LatencyKind_LATENCY_EXIT, 5, 6, 1, 35, 35, 345);
}

/* Run times of two cores add up to their time without gaps; idle is one thread. */
static void test_run_times(void **state)
{
    (void)state;
    mkperf_latency_begin(&latency);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_UNKNOWN, 1, 100);
    mkperf_latency_event(&latency, 1, mkperf_sched_header(MKPERF_SCHED_SWITCH, 0, 0),
                         MKPERF_THREAD_IDLE, 110);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_WAIT_MESSAGE, 2, 150);
    event(MKPERF_SCHED_NOTIFY, 0, 1, 170);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_PREEMPTED, 1, 180);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_WAIT_MESSAGE, MKPERF_THREAD_IDLE, 200);
    assert_ran(300, 1, 50 + 20, 1); /* the first run began before the session */
    assert_ran(300, 2, 30, 1);
    assert_ran(300, MKPERF_THREAD_IDLE, 100 + 190, 1);
    mkperf_latency_gap(&latency);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_PREEMPTED, 2, 400);
    assert_ran(410, 2, 40, 2);
    assert_ran(410, MKPERF_THREAD_IDLE, 0, 1); /* when it stopped, in the gap, is unknown */
    latency.end = 420;                         /* the session ends, other threads continue */
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_PREEMPTED, 1, 500);
    assert_ran(600, 1, 50 + 20, 2);
    assert_ran(600, 2, 50, 2);
}

/* Buckets hold what pairs count, sorted; more pairs and threads than there is room for are counted. */
static void test_latency_limits(void **state)
{
    uint64_t time = 0;
    uint64_t calls = 0;
    uint64_t seed = 1;

    (void)state;
    mkperf_latency_begin(&latency);
    event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_UNKNOWN, 1, 0);
    for (unsigned n = 0; n < 50000; n++, calls++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
        event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_CALLED, 2 + (seed >> 33) % 60, time);
        time += (seed >> 20) % 100000;
        event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_REPLIED, 1, time);
    }
    uint64_t counted = 0;
    for (unsigned i = 0; i < MKPERF_LATENCY_PAIRS; i++) {
        counted += latency.pair[i].count;
    }
    assert_int_equal(counted + latency.dropped, calls);
    for (unsigned i = 0; i < MKPERF_LATENCY_PAIRS; i++) {
        uint64_t sum = 0;
        for (unsigned bucket = 0; bucket < MKPERF_LOG_BUCKETS; bucket++) {
            sum += mkperf_latency_count(&latency, i, bucket);
        }
        assert_int_equal(sum, latency.pair[i].count);
    }
    mkperf_latency_begin(&latency);
    for (uint64_t i = 0; i < 1000; i++) {
        event(MKPERF_SCHED_SWITCH, MKPERF_STOPPED_CALLED, i, i);
    }
    assert_true(latency.dropped > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buckets),        cmocka_unit_test(test_latencies),
        cmocka_unit_test(test_exits),          cmocka_unit_test(test_run_times),
        cmocka_unit_test(test_latency_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
