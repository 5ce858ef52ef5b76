/* SPDX-License-Identifier: BSD-2-Clause */
/* The demand of PDs within a period: windows, passive PDs, throttled PDs, and budgets that suffice with two refills. */
#include "sched/analysis.h"

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
    assert_int_equal(
        mkperf_demand_budget(&d.pd[CLIENT], d.pd[CLIENT].period_ns, d.pd[CLIENT].worst_ns),
        5 * MS + 1000);
    /* The longest run is 3 ms. A period of 3 ms has no gap in which a refill could be waited for. */
    assert_int_equal(mkperf_demand_budget(&d.pd[CLIENT], 5 * MS, 0), 3 * MS + 1000);
    assert_int_equal(mkperf_demand_budget(&d.pd[CLIENT], 3 * MS, 0), 3 * MS);
    assert_int_equal(mkperf_demand_budget(&d.pd[CLIENT], 10 * MS, 0), 5 * MS + 1000);
    end();
}

/* A window that begins within a run has a part of it. A run that is longer than a period fills the window. */
static void parts_of_runs(void **state)
{
    (void)state;
    begin();
    work(CLIENT, 1000, 4000);
    work(CLIENT, 12000, 1000); /* the window from 3 to 13 ms has 2 + 1 ms */
    work(SERVER, 20000, 25000);
    story_end(&s);
    assert_int_equal(d.pd[CLIENT].worst_ns, 4 * MS);
    assert_int_equal(d.pd[SERVER].worst_ns, 10 * MS);
    assert_int_equal(
        mkperf_demand_budget(&d.pd[SERVER], d.pd[SERVER].period_ns, d.pd[SERVER].worst_ns),
        10 * MS);
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
    end();
}

/*
 * Two refills: a run of 3 ms every 30 ms and short runs of 100 us at 10 and 20 ms. By windows 3.1 ms in 10 ms suffice. But what
 * the run at 0 used is joined with what the short run at 10 used, and is refilled 10 ms after that, behind the one at 20.
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
    assert_true(mkperf_demand_budget(&d.pd[DRIVER], d.pd[DRIVER].period_ns, d.pd[DRIVER].worst_ns) >
                2 * d.pd[DRIVER].worst_ns);
    end();
}

/*
 * In microseconds: how long `need` waits for PDs above it that use their whole budgets as early as they can, from the same moment
 * on.
 */
static uint64_t simulated(const uint64_t *budget, const uint64_t *period, unsigned above,
                          uint64_t need)
{
    uint64_t at = 0, free_us = 0, busy = 0;

    for (; free_us < need && at < 100000; at++) {
        for (unsigned i = 0; i < above; i++) {
            busy += at % period[i] == 0 ? budget[i] : 0;
        }
        if (busy != 0) {
            busy--;
        } else {
            free_us++;
        }
    }
    return at - need;
}

static void scheduled(uint32_t pd, uint32_t priority, uint64_t budget_us, uint64_t period_us)
{
    a->pd[pd].scheduling = (struct mkperf_scheduling){
        .known = true, .priority = priority, .budget_us = budget_us, .period_us = period_us};
}

/* What happens to those below: the bounds are those of a simulation. */
static void those_below(void **state)
{
    const uint64_t us[] = {2500, 3500}, period[] = {10000, 14000};
    uint64_t budget[STORY_PDS] = {0}, all[STORY_PDS] = {0};

    (void)state;
    begin();
    scheduled(DRIVER, 30, 9000, 10000);
    scheduled(CLIENT, 20, 7000, 14000);
    scheduled(STORE, 10, 20000, 20000); /* it may always run, and has the default period */
    work(DRIVER, 1000, 2000);
    work(CLIENT, 4000, 3000);
    work(STORE, 9000, 9000);
    story_end(&s);
    budget[DRIVER] = us[0] * 1000;
    budget[CLIENT] = us[1] * 1000;
    budget[STORE] = all[STORE] = 10 * MS;
    all[DRIVER] = 9 * MS;
    all[CLIENT] = 7 * MS;
    assert_int_equal(mkperf_demand_left(&d, DRIVER, budget), 10 * MS);
    assert_int_equal(mkperf_demand_wait(&d, DRIVER, budget), 0);
    assert_int_equal(mkperf_demand_left(&d, CLIENT, budget), 14 * MS - 2 * budget[DRIVER]);
    assert_int_equal(mkperf_demand_wait(&d, CLIENT, budget), 1000 * simulated(us, period, 1, 3000));
    assert_int_equal(mkperf_demand_left(&d, STORE, budget),
                     10 * MS - budget[DRIVER] - budget[CLIENT]);
    assert_int_equal(mkperf_demand_wait(&d, STORE, budget), 1000 * simulated(us, period, 2, 9000));
    /* As they are now, they can keep it from running for good. */
    assert_int_equal(mkperf_demand_left(&d, STORE, all), 0);
    assert_true(mkperf_demand_wait(&d, STORE, all) == UINT64_MAX);
    /* mkperf's own PDs, and those of other cores, take nothing. */
    a->pd[DRIVER].profiler = true;
    a->pd[CLIENT].scheduling.cpu = 1;
    assert_int_equal(mkperf_demand_wait(&d, STORE, all), 0);
    end();
}

/* A passive PD of a high priority works for a PD of a low one: that one's budget delays those between. */
static void passive_above(void **state)
{
    uint64_t budget[STORY_PDS] = {0};

    (void)state;
    begin();
    scheduled(SERVER, 40, 1, 1);
    a->pd[SERVER].scheduling.passive = true;
    scheduled(CLIENT, 10, 1, 1);
    scheduled(DRIVER, 30, 1, 1);
    run(&s, 1 * MS, CLIENT, MKPERF_STOPPED_IDLE);
    run(&s, 2 * MS, SERVER, MKPERF_STOPPED_CALLED);
    run(&s, 5 * MS, CLIENT, MKPERF_STOPPED_REPLIED);
    run(&s, 6 * MS, DRIVER, MKPERF_STOPPED_WAIT_MESSAGE);
    run(&s, 7 * MS, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    story_end(&s);
    budget[CLIENT] = 5 * MS;
    assert_int_equal(d.pd[CLIENT].priority, 40);
    assert_int_equal(mkperf_demand_wait(&d, DRIVER, budget), 5 * MS);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worst_window), cmocka_unit_test(parts_of_runs),
        cmocka_unit_test(own_period),       cmocka_unit_test(passive_servers),
        cmocka_unit_test(throttled),        cmocka_unit_test(short_runs_use_up_refills),
        cmocka_unit_test(those_below),      cmocka_unit_test(passive_above),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
