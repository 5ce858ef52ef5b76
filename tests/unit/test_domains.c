/* SPDX-License-Identifier: BSD-2-Clause */
/* The windows of a domain schedule: lengths, use, slack, who was cut, who ran when one was too long, and missing events. */
#include "sched/analysis.h"

#include "fixtures/sched_story.h"

enum { US = 1000 };

static struct story s;
static struct mkperf_analysis *a;
static struct mkperf_domains d;

static void begin(const char *windows)
{
    struct mkperf_session session = {.cores = 1, .windows = windows};

    a = mkperf_analysis_new();
    mkperf_domains_attach(&d, a);
    story_begin(&s, mkperf_analysis_sink(a), &session);
}

static void end(void)
{
    story_end(&s);
    mkperf_analysis_free(a);
    mkperf_domains_free(&d);
}

/* A window begins at `us`; `to` is the first to run in it. */
static void window(uint64_t us, uint32_t number, uint32_t to)
{
    story_pass(&s, (struct mkperf_sched){.time_ns = us * US,
                                         .kind = MKPERF_SCHED_WINDOW,
                                         .from = s.running[0],
                                         .to = to,
                                         .irq = number});
}

/* The client uses its window, and is in the way of the next one for 500 us. The server leaves time, and wakes up late in it. */
static void frames(void **state)
{
    (void)state;
    begin("1 2000 us a|2 3000 us b");
    run(&s, 9000 * US, IDLE, MKPERF_STOPPED_UNKNOWN);
    window(10000, 1, CLIENT);
    run(&s, 10000 * US, CLIENT, MKPERF_STOPPED_IDLE);
    window(12500, 2, SERVER);
    run(&s, 12500 * US, SERVER, MKPERF_STOPPED_PREEMPTED);
    run(&s, 13500 * US, IDLE, MKPERF_STOPPED_WAIT_MESSAGE);
    window(15000, 1, CLIENT);
    run(&s, 15000 * US, CLIENT, MKPERF_STOPPED_IDLE);
    run(&s, 15500 * US, IDLE, MKPERF_STOPPED_WAIT_MESSAGE);
    window(17000, 2, IDLE);
    run(&s, 19000 * US, SERVER, MKPERF_STOPPED_IDLE);
    run(&s, 19500 * US, STORE,
        MKPERF_STOPPED_PREEMPTED); /* the server is ready, and the store runs */
    window(20000, 1, CLIENT);
    run(&s, 20000 * US, CLIENT, MKPERF_STOPPED_PREEMPTED);
    assert_int_equal(d.n, 2);
    assert_int_equal(d.frame_ns, 5000 * US);
    const struct mkperf_domain_window *first = &d.window[0], *second = &d.window[1];
    assert_string_equal(first->domain, "a");
    assert_true(first->number == 1 && first->duration_ns == 2000 * US && first->count == 2);
    assert_true(first->least_ns == 2000 * US && first->most_ns == 2500 * US);
    assert_true(first->length_ns == 4500 * US && first->slack_ns == 1500 * US &&
                first->least_slack_ns == 0);
    assert_true(first->over_ns == 500 * US && first->over_at == 12500 * US);
    assert_int_equal(first->over_pd, CLIENT);
    assert_true(first->intervals == 2 && first->least_interval_ns == 5000 * US &&
                first->most_interval_ns == 5000 * US);
    assert_int_equal(first->npds, 1);
    assert_true(first->pd[0].pd == CLIENT && first->pd[0].used_ns == 3000 * US &&
                first->pd[0].cut == 1);
    assert_true(second->count == 2 && second->length_ns == 5500 * US &&
                second->slack_ns == 3500 * US && second->over_ns == 0);
    assert_int_equal(second->npds, 2);
    assert_true(second->pd[0].pd == SERVER && second->pd[0].used_ns == 1500 * US &&
                second->pd[0].most_ns == 1000 * US && second->pd[0].cut == 1);
    assert_true(second->pd[1].pd == STORE && second->pd[1].cut == 1);
    assert_true(a->pd[CLIENT].domain == 1 && a->pd[SERVER].domain == 2);
    end();
}

/* A window with missing events does not count, nor does the interval between the begins around them. */
static void missing(void **state)
{
    (void)state;
    begin("1 2000 us a|2 3000 us b");
    run(&s, 9000 * US, IDLE, MKPERF_STOPPED_UNKNOWN);
    window(10000, 1, IDLE);
    window(12000, 2, IDLE); /* a window begins without a switch */
    gap(&s, 13000 * US, 14000 * US, 3);
    run(&s, 14000 * US, CLIENT, MKPERF_STOPPED_UNKNOWN);
    window(15000, 1, CLIENT);
    window(17000, 2, CLIENT);
    assert_int_equal(d.window[0].count, 2);
    assert_int_equal(d.window[1].count, 0);
    assert_int_equal(d.window[0].intervals, 0);
    assert_int_equal(d.window[0].pd[0].used_ns, 2000 * US);
    end();
}

/* Without a schedule windows have their numbers, and no durations; one in ticks is as unknown. */
static void unknown(void **state)
{
    (void)state;
    begin(NULL);
    run(&s, 9000 * US, IDLE, MKPERF_STOPPED_UNKNOWN);
    window(10000, 5, IDLE);
    window(12000, 6, IDLE);
    assert_true(d.n == 2 && d.frame_ns == 0 && d.window[0].number == 5);
    assert_string_equal(d.window[0].domain, "?");
    assert_true(d.window[0].count == 1 && d.window[0].over_ns == 0);
    end();
    begin("5 2000 us a|6 100 ticks b");
    run(&s, 9000 * US, IDLE, MKPERF_STOPPED_UNKNOWN);
    window(10000, 6, IDLE);
    window(12000, 5, IDLE);
    assert_true(d.n == 2 && d.frame_ns == 0 && d.window[1].count == 1 && d.window[1].over_ns == 0);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames),
        cmocka_unit_test(missing),
        cmocka_unit_test(unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
