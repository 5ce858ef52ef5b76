/* SPDX-License-Identifier: BSD-2-Clause */
/* A session with one event, for test_session.c and test_session_refusals.c. */
#ifndef TESTS_UNIT_SESSION_ONE_H
#define TESTS_UNIT_SESSION_ONE_H

#include "sim_host.h"

static inline void configure_one(mkperf_EventSpec e, pb_size_t answer)
{
    mkperf_ToTarget m = message(mkperf_ToTarget_configure_tag);

    m.msg.configure.events_count = 1;
    m.msg.configure.events[0] = e;
    m.msg.configure.max_frames = 8;
    sim_ask(&m, answer);
}

/* Every event that a counter saw is in a sample, in a loss, or still in the counter. */
static void check_events(const mkperf_Status *s)
{
    uint64_t counted = 0;
    uint64_t reported = got.loss_events;

    (void)s;
    for (unsigned i = 0; i < COUNTERS; i++) {
        if (mkperf_plan.counter_mask >> i & 1) {
            uint32_t left = 0 - sim.counter[i].value;
            reported += got.weight[i] + (sim.stopped.counter[i].interval - left);
            counted += sim.counter[i].total;
        }
    }
    assert_int_equal(reported, counted);
}

#endif
