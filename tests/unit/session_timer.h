/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session of the timer on the simulated machine, for test_session_timer.c and
 * test_session_timer_reads.c: what the host must send first, and the configuration.
 */
#ifndef TESTS_UNIT_SESSION_TIMER_H
#define TESTS_UNIT_SESSION_TIMER_H

#include "sim_host.h"

#define CHILD(i) ((UINT64_C(1) + (i)) << 8)

static int boot_with_timer(void **state)
{
    microkit_irqs = 5;
    sim_running = -1;
    sim_stuck = -1;
    return boot(state);
}

static mkperf_ToTarget observe(uint32_t part, uint32_t child, uint32_t priority)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_observe_tag);
    mkperf_Observe *o = &m.msg.observe;

    o->part = part;
    o->child = child;
    o->priority = priority;
    o->thread = part == 0 ? 14 << 8 : CHILD(child) + 2;
    if (part != 0) {
        o->site_count = 2;
        o->site[0] = SIM_SITE / 4;
        o->site[1] = 100;
    }
    return m;
}

static void tell(unsigned children)
{
    mkperf_ToTarget m = observe(0, 0, 0);

    sim_ask(&m, mkperf_ToHost_observer_tag);
    assert_string_equal(got.last.msg.observer.pd, "profiler");
    assert_string_equal(got.last.msg.observer.timer, "simulated");
    for (uint32_t i = 0; i < children; i++) {
        m = observe(1 + i, i, 10 + i);
        sim_ask(&m, mkperf_ToHost_ack_tag);
        sim_ask(&m, mkperf_ToHost_ack_tag); /* the answer was lost */
    }
}

static void configure_timer(uint64_t period, uint32_t frequency, pb_size_t answer)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    m.msg.configure.events_count = 1;
    m.msg.configure.events[0] = sim_event("timer", period, frequency);
    m.msg.configure.max_frames = 8;
    sim_ask(&m, answer);
}

#define TIMER_TEST(test) cmocka_unit_test_setup_teardown(test, boot_with_timer, halt)

#endif
