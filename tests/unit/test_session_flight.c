/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole sessions on a simulated machine (sim_machine.h, sim_host.h): flight recordings, and
 * software events.
 */
#include "sim_host.h"

#include <mkperf/client.h>

enum { PERIOD = 20000, BYTES = 8192 };

static mkperf_ToTarget flight(uint32_t bytes)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    m.msg.configure.events_count = 1;
    m.msg.configure.events[0] = sim_event("cycles", PERIOD, 0);
    m.msg.configure.overwrite = true;
    m.msg.configure.overwrite_bytes = bytes;
    return m;
}

static void begin_recording(mkperf_ToTarget m)
{
    sim_ask(&m, mkperf_ToHost_session_tag);
    start_session();
    assert_true(got.last.msg.session.overwrite);
    assert_false(got.last.msg.session.running);
}

static const mkperf_Status *status(void)
{
    sim_command(mkperf_ToTarget_get_status_tag, mkperf_ToHost_status_tag);
    return &got.last.msg.status;
}

/* A whole dump; returns its unsolicited Status. */
static uint64_t dump(void)
{
    unsigned before = got.statuses;

    got.batch_samples = 0;
    sim_command(mkperf_ToTarget_dump_tag, mkperf_ToHost_session_tag);
    assert_true(got.last.msg.session.running);
    for (unsigned i = 0; i < 1000 && got.statuses == before; i++) {
        run_machine(1000);
    }
    assert_int_equal(got.statuses, before + 1);
    assert_false(got.after_status);
    return got.batch_samples;
}

static void test_keeps_the_newest(void **state)
{
    (void)state;
    begin_recording(flight(BYTES));
    run_machine(TICK_HZ / 2);
    assert_int_equal(got.batch_samples, 0);
    mkperf_Status s = *status();
    assert_int_equal(s.flight, mkperf_FlightState_FLIGHT_RECORDING);
    assert_true(s.overwritten > 10 * s.held && s.held > BYTES / 8 / 9 / 2);
    assert_int_equal(mkperf_status.captured, mkperf_status.overwritten + mkperf_status.held);
    assert_int_equal(got.batch_samples, 0);

    /* While it runs: all stored samples, and it continues. */
    uint64_t first = dump();
    assert_in_range(first, s.held - 5, s.held + 5);
    uint32_t session = got.last.msg.session.id;
    run_machine(TICK_HZ / 10);
    assert_in_range(dump(), first - 5, first + 5);
    assert_int_equal(got.last.msg.session.id, session + 1);
    assert_int_equal(status()->flight, mkperf_FlightState_FLIGHT_RECORDING);

    /* Held: the same as often as wanted. */
    sim_command(mkperf_ToTarget_stop_tag, mkperf_ToHost_status_tag);
    s = *status();
    assert_int_equal(s.flight, mkperf_FlightState_FLIGHT_HELD);
    run_machine(TICK_HZ / 10);
    assert_int_equal(dump(), s.held);
    assert_int_equal(dump(), s.held);
    assert_int_equal(status()->overwritten, s.overwritten);
    assert_int_equal(mkperf_status.captured, s.overwritten + s.held);
    assert_int_equal(mkperf_status.corrupt + sim_client.corrupt, 0);

    /* Until the next configuration; the ring is good for an ordinary session then. */
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);
    m.msg.configure.events_count = 1;
    m.msg.configure.events[0] = sim_event("cycles", PERIOD, 0);
    sim_ask(&m, mkperf_ToHost_session_tag);
    sim_command(mkperf_ToTarget_dump_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    start_session();
    run_machine(TICK_HZ / 10);
    s = *stop_session();
    assert_true(s.captured != 0);
    check_statistics(&s);
}

/* A request that a slow host repeats is answered again, and the dump continues: each sample once. The same number from
 * another program, which has said something else before, is a dump from the beginning. */
static void test_repeated_dump(void **state)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_dump_tag);

    (void)state;
    begin_recording(flight(MKPERF_OUTPUT_RING_BYTES));
    run_machine(TICK_HZ);
    uint64_t whole = dump();
    sim.line = 1;
    for (unsigned others = 0; others < 2; others++) {
        uint32_t asked = request + 1;
        sim_ask(&m, mkperf_ToHost_session_tag);
        uint32_t id = got.last.msg.session.id;
        while (got.batch_samples == 0) {
            run_machine(100);
        }
        assert_true(got.batch_samples < whole / 2);
        if (others) {
            status();
        }
        request = asked - 1;
        got.last.request = 0;
        sim_ask(&m, mkperf_ToHost_session_tag);
        assert_int_equal(got.last.msg.session.id == id, !others);
        for (unsigned i = 0; i < 1000 && got.batch_samples < whole - 5; i++) {
            run_machine(1000);
        }
        run_machine(50000); /* no record follows */
        assert_in_range(got.batch_samples, whole - 5, whole + 5);
    }
}

/* A line so slow that the core's ring overflows during the dump: counted, and the next is whole. */
static void test_slow_dump(void **state)
{
    (void)state;
    begin_recording(flight(MKPERF_OUTPUT_RING_BYTES));
    run_machine(TICK_HZ);
    sim.line = 1;
    sim.user_rate *= 30;
    uint64_t held = status()->held;
    assert_in_range(dump(), held, held + 100);
    sim.line = 1000;
    mkperf_Status s = *status();
    assert_true(s.lost_ring > 0);
    assert_int_equal(s.lost_ring, sim.hook_state.lost.samples);
    run_machine(5000);
    assert_true(dump() > 0);
    assert_int_equal(mkperf_status.captured, mkperf_status.overwritten + mkperf_status.held);
}

static void fault_now(uint64_t thread)
{
    mkperf_soft_fault(&sim.hook_state, (struct mkperf_identity){thread, 0}, 0x200040, 0x10);
}

static void test_fault_holds(void **state)
{
    mkperf_ToTarget m = flight(BYTES);

    (void)state;
    mock_features |= MKPERF_FEATURE_EVENTS;
    m.msg.configure.dump_on_fault_count = 1;
    m.msg.configure.dump_on_fault[0] = 3 + 2;
    begin_recording(m);
    run_machine(TICK_HZ / 10);
    fault_now(2); /* another's */
    run_machine(1000);
    assert_int_equal(status()->flight, mkperf_FlightState_FLIGHT_RECORDING);
    call(MKPERF_OP_DRAIN);
    uint64_t captured = mkperf_status.captured;
    fault_now(3);
    run_machine(1000);
    mkperf_Status s = *status();
    assert_int_equal(s.flight, mkperf_FlightState_FLIGHT_HELD);
    assert_int_equal(s.trigger, mkperf_FlightTrigger_FLIGHT_FAULT);
    assert_int_equal(s.trigger_thread, 3 + 2);
    /* the target answers at once */
    assert_in_range(mkperf_status.captured, captured, captured + 2);
    assert_int_equal(dump(), s.held);
    assert_int_equal(mkperf_counts_table()->total[MKPERF_SOFT_FAULT], 2);
}

static void test_mark_holds(void **state)
{
    uint64_t words[MKPERF_APP_MARK_WORDS] = {7, 0x657461 /* "ate" */};

    (void)state;
    assert_int_equal(mkperf_client_app(&sim_client, MKPERF_APP_DUMP, words, MKPERF_APP_MARK_WORDS),
                     MKPERF_APP_REFUSED);
    begin_recording(flight(BYTES));
    run_machine(TICK_HZ / 20);
    assert_int_equal(mkperf_client_app(&sim_client, MKPERF_APP_DUMP, words, 1),
                     MKPERF_APP_MALFORMED);
    assert_int_equal(mkperf_client_app(&sim_client, MKPERF_APP_DUMP, words, MKPERF_APP_MARK_WORDS),
                     MKPERF_APP_OK);
    mkperf_Status s = *status();
    assert_int_equal(s.trigger, mkperf_FlightTrigger_FLIGHT_MARK);
    assert_int_equal(dump(), s.held);
    assert_int_equal(sim_client.trigger.id, 7);
}

/* A client that writes into the ring while it is the profiler's: nothing but its samples suffers.
 */
static void test_hostile_client(void **state)
{
    struct mkperf_ring *ring = mkperf_out.ring.ring;

    (void)state;
    begin_recording(flight(BYTES));
    for (unsigned i = 0; i < 50; i++) {
        run_machine(TICK_HZ / 100);
        memset(ring->data, i % 2 != 0 ? 0xff : 0, BYTES);
        ring->tail = i * UINT64_C(0x123456789);
        ring->head = ring->tail + i * 8;
    }
    assert_true(mkperf_status.corrupt > 0);
    assert_int_equal(mkperf_status.captured, mkperf_status.overwritten + mkperf_status.held);
    run_machine(TICK_HZ / 10);
    assert_true(dump() > 0);
}

static void test_flight_refusals(void **state)
{
    mkperf_ToTarget m = flight(3000);

    (void)state;
    sim_command(mkperf_ToTarget_dump_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 0);
    m = flight(0);
    m.msg.configure.events[0] = sim_event("cycles", 0, 0);
    m.msg.configure.events[0].count = true;
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 0);
    m = flight(0);
    m.msg.configure.overwrite = false;
    m.msg.configure.dump_on_fault_count = 1;
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 0);
    m = flight(0);
    m.msg.configure.stop_if_count = 1;
    sim_ask(&m, mkperf_ToHost_error_tag); /* the session has no scheduling events */
    refused(mkperf_ErrorCode_ERROR_RANGE, 0);
    m.msg.configure.sched = true;
    m.msg.configure.stop_if[0].ns = UINT64_C(10000000001);
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 0);
    /* A kernel without software events: an error and not a zero. */
    m = flight(0);
    m.msg.configure.interactions = true;
    sim_ask(&m, mkperf_ToHost_session_tag);
    sim_command(mkperf_ToTarget_start_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_NO_HOOK, 0);
    sim_command(mkperf_ToTarget_get_interactions_tag, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_STATE, 0);
}

static const mkperf_Interactions *interactions(uint32_t part)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_get_interactions_tag);

    m.msg.get_interactions.part = part;
    sim_ask(&m, mkperf_ToHost_interactions_tag);
    return &got.last.msg.interactions;
}

/* More edges and threads than the table holds: the reported ones add up, the rest is in the totals.
 */
static void test_interactions(void **state)
{
    mkperf_ToTarget m = flight(BYTES);
    uint64_t calls = 0, by_threads = 0;
    unsigned edges = 0;
    enum { THREADS = 70, CALLEES = 20 };

    (void)state;
    mock_features |= MKPERF_FEATURE_EVENTS;
    m.msg.configure.overwrite = false;
    m.msg.configure.overwrite_bytes = 0;
    m.msg.configure.interactions = true;
    sim_ask(&m, mkperf_ToHost_session_tag);
    start_session();
    for (unsigned round = 0; round < 3; round++) {
        for (uint64_t from = 1; from <= THREADS; from++) {
            for (uint64_t to = 1; to <= CALLEES; to++) {
                mkperf_soft_event(&sim.hook_state, MKPERF_SOFT_PPCALL,
                                  (struct mkperf_identity){from, 7},
                                  (struct mkperf_identity){to, 8});
            }
        }
    }
    stop_session();
    const mkperf_Interactions *i = interactions(0);
    uint32_t parts = i->parts;
    assert_int_equal(i->total[MKPERF_SOFT_PPCALL], 3 * THREADS * CALLEES);
    assert_int_equal(i->total[MKPERF_SOFT_NOTIFICATION], 0);
    assert_in_range(i->enabled_ticks, 1, TICK_HZ);
    for (uint32_t part = 0; part < parts; part++) {
        i = interactions(part);
        assert_int_equal(i->part, part);
        for (unsigned e = 0; e < i->edges_count; e++) {
            assert_in_range(i->edges[e].from, 1 + 2, THREADS + 2);
            assert_in_range(i->edges[e].to, 1 + 2, CALLEES + 2);
            assert_int_equal(i->edges[e].calls, 3); /* a place is found each time, or never */
            calls += i->edges[e].calls;
            edges++;
        }
        for (unsigned t = 0; t < i->threads_count; t++) {
            assert_int_equal(i->threads[t].count[MKPERF_SOFT_PPCALL], 3 * CALLEES);
            by_threads += i->threads[t].count[MKPERF_SOFT_PPCALL];
        }
    }
    assert_in_range(edges, MKPERF_SOFT_EDGES * 9 / 10, MKPERF_SOFT_EDGES);
    assert_int_equal(calls, 3 * edges);
    assert_int_equal(by_threads, 3 * CALLEES * MKPERF_COUNT_THREADS);
    m = message(mkperf_ToTarget_get_interactions_tag);
    m.msg.get_interactions.part = parts;
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 0);
}

/* Counted in addition to a counter, by thread too; and without any counter. */
static void test_software_events_are_counted(void **state)
{
    static const char *const names[] = {"cycles", "cs", "notifications"};
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    (void)state;
    mock_features |= MKPERF_FEATURE_EVENTS;
    for (unsigned first = 0; first < 2; first++) {
        m.msg.configure.events_count = (pb_size_t)(3 - first);
        m.msg.configure.per_pd = true;
        for (unsigned i = first; i < 3; i++) {
            m.msg.configure.events[i - first] = sim_event(names[i], 0, 0);
            m.msg.configure.events[i - first].count = true;
        }
        sim_ask(&m, mkperf_ToHost_session_tag);
        start_session();
        for (unsigned i = 0; i < 10; i++) {
            mkperf_soft_event(&sim.hook_state, MKPERF_SOFT_SWITCH,
                              (struct mkperf_identity){1 + i % 2, 0},
                              (struct mkperf_identity){0, 0});
        }
        run_machine(10000);
        stop_session();
        mkperf_ToTarget c = message(mkperf_ToTarget_get_counts_tag);
        sim_ask(&c, mkperf_ToHost_counts_tag);
        const mkperf_Counts *counts = &got.last.msg.counts;
        assert_int_equal(counts->events[1 - first].kernel, 10);
        assert_int_equal(counts->events[1 - first].user, 0);
        assert_int_equal(counts->events[1 - first].running_ticks, counts->enabled_ticks);
        assert_int_equal(counts->events[2 - first].kernel, 0);
        assert_true(counts->by_pd);
        if (first == 1) {
            c.msg.get_counts.part = 1;
            sim_ask(&c, mkperf_ToHost_counts_tag);
            uint64_t of[4] = {0}; /* counts by thread */
            assert_int_equal(got.last.msg.counts.threads_count, 3);
            for (unsigned i = 0; i < 3; i++) {
                of[got.last.msg.counts.threads[i].thread - 2] =
                    got.last.msg.counts.threads[i].kernel[0];
            }
            assert_true(of[1] == 5 && of[2] == 5 && of[3] == 0);
        }
    }
    m.msg.configure.events[0].user = true;
    sim_ask(&m, mkperf_ToHost_error_tag);
    refused(mkperf_ErrorCode_ERROR_RANGE, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_keeps_the_newest), T(test_repeated_dump), T(test_slow_dump),
        T(test_fault_holds),      T(test_mark_holds),    T(test_hostile_client),
        T(test_flight_refusals),  T(test_interactions),  T(test_software_events_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
