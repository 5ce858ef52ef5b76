/* SPDX-License-Identifier: BSD-2-Clause */
/* The demand of PDs within a period: windows, passive PDs, throttled PDs, and budgets that suffice with two refills. */
#include "sched/demand.h"

#include "sched_story.h"

enum { MS = 1000000 };

static struct story s;
static struct mkperf_analysis *a;
static struct mkperf_demand d;

static void begin(void)
{
    struct mkperf_session session = {.cores = 1};

    a = mkperf_analysis_new();
    d = (struct mkperf_demand){.default_ns = 10 * MS};
    mkperf_demand_attach(&d, a);
    story_begin(&s, mkperf_analysis_sink(a), &session);
}

static void end(void)
{
    mkperf_analysis_free(a);
    mkperf_demand_free(&d);
}

/* `pd` runs for `us`, at `at` microseconds; then nobody runs. */
static void work(uint32_t pd, uint64_t at, uint64_t us)
{
    run(&s, at * 1000, pd, MKPERF_STOPPED_IDLE);
    run(&s, (at + us) * 1000, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
}

/* 2 + 3 ms within 10. The third run is in no window with the first one. A budget must be greater than what is used of it. */
static void the_worst_window(void **state)
{
    (void)state;
    begin();
    work(CLIENT, 1000, 2000);
    work(CLIENT, 6000, 3000);
    work(CLIENT, 17000, 1000);
    story_end(&s);
    assert_int_equal(d.pd[CLIENT].worst_ns, 5 * MS);
    assert_int_equal(d.pd[CLIENT].used_ns, 6 * MS);
    assert_int_equal(d.pd[CLIENT].period_ns, 10 * MS);
    assert_int_equal(mkperf_demand_budget(&d.pd[CLIENT]), 5 * MS + 1000);
    /* The longest run is 3 ms. A period of 3 ms has no gap in which a refill could be waited for. */
    assert_int_equal(mkperf_demand_budget_of(&d.pd[CLIENT], 5 * MS), 3 * MS + 1000);
    assert_int_equal(mkperf_demand_budget_of(&d.pd[CLIENT], 3 * MS), 3 * MS);
    assert_int_equal(mkperf_demand_budget_of(&d.pd[CLIENT], 10 * MS), 5 * MS + 1000);
    end();
}

/* A window that begins within a run has a part of it. A run that is longer than a period fills the window. */
static void parts_of_runs(void **state)
{
    (void)state;
    begin();
    work(CLIENT, 1000, 4000);
    work(CLIENT, 12000, 1000); /* from 3 to 13 ms: 2 + 1 */
    work(SERVER, 20000, 25000);
    story_end(&s);
    assert_int_equal(d.pd[CLIENT].worst_ns, 4 * MS);
    assert_int_equal(d.pd[SERVER].worst_ns, 10 * MS);
    assert_int_equal(mkperf_demand_budget(&d.pd[SERVER]), 10 * MS);
    end();
}

/* The period of a PD with a budget is its own. */
static void own_period(void **state)
{
    (void)state;
    begin();
    a->pd[DRIVER].scheduling.period_us = 20000;
    work(DRIVER, 1000, 1000);
    work(DRIVER, 15000, 1000);
    story_end(&s);
    assert_int_equal(d.pd[DRIVER].period_ns, 20 * MS);
    assert_int_equal(d.pd[DRIVER].worst_ns, 2 * MS);
    end();
}

/* A passive server runs on its client's budget: all of the call is the client's. */
static void passive_servers(void **state)
{
    (void)state;
    begin();
    a->pd[SERVER].scheduling = (struct mkperf_scheduling){.known = true, .passive = true};
    run(&s, 1 * MS, CLIENT, MKPERF_STOPPED_IDLE);
    run(&s, 2 * MS, SERVER, MKPERF_STOPPED_CALLED);
    run(&s, 5 * MS, CLIENT, MKPERF_STOPPED_REPLIED);
    run(&s, 6 * MS, IDLE, MKPERF_STOPPED_WAIT_MESSAGE);
    story_end(&s);
    assert_int_equal(d.pd[CLIENT].used_ns, 5 * MS);
    assert_int_equal(d.pd[CLIENT].for_ns, 3 * MS);
    assert_int_equal(d.pd[CLIENT].worst_ns, 5 * MS);
    assert_true(d.npds <= SERVER || d.pd[SERVER].used_ns == 0);
    end();
}

static void throttled(void **state)
{
    (void)state;
    begin();
    run(&s, 1 * MS, DRIVER, MKPERF_STOPPED_IDLE);
    run(&s, 3 * MS, IDLE, MKPERF_STOPPED_BUDGET);
    event(&s, 11 * MS, MKPERF_SCHED_WAKE, DRIVER);
    run(&s, 11 * MS, DRIVER, MKPERF_STOPPED_IDLE);
    run(&s, 12 * MS, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    story_end(&s);
    assert_int_equal(d.pd[DRIVER].throttled, 1);
    assert_int_equal(d.pd[DRIVER].throttled_ns, 8 * MS);
    end();
}

/*
 * Two refills: a run of 3 ms every 30 ms and short runs of 100 us at 10 and 20 ms. By windows 3.1 ms in 10 ms suffice. But what
 * the run at 0 used is joined with what the short run at 10 used, and comes back 10 ms after that, behind the one at 20.
 */
static void short_runs_use_up_refills(void **state)
{
    (void)state;
    begin();
    a->pd[DRIVER].scheduling =
        (struct mkperf_scheduling){.known = true, .budget_us = 10000, .period_us = 20000};
    for (uint64_t at = 1000; at < 600000; at += 30000) {
        work(DRIVER, at, 3000);
        work(DRIVER, at + 10000, 100);
        work(DRIVER, at + 20000, 100);
    }
    story_end(&s);
    assert_int_equal(d.pd[DRIVER].worst_ns, 3100000);
    assert_true(mkperf_demand_budget(&d.pd[DRIVER]) > 2 * d.pd[DRIVER].worst_ns);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worst_window), cmocka_unit_test(parts_of_runs),
        cmocka_unit_test(own_period),       cmocka_unit_test(passive_servers),
        cmocka_unit_test(throttled),        cmocka_unit_test(short_runs_use_up_refills),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
