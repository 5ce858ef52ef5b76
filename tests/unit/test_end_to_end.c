/* SPDX-License-Identifier: BSD-2-Clause */
/* End-to-end paths: 10,000 interrupts of random known parts, and instances that end early, find a PD at work, or have a gap. */
#include "sched/end_to_end.h"

#include "sched_story.h"

static struct story s;
static struct mkperf_analysis *a;
static struct mkperf_routes r;
static struct mkperf_error e;
static uint64_t now;

static void begin(void)
{
    struct mkperf_session session = {.cores = 1};

    now = 1000;
    a = mkperf_analysis_new();
    mkperf_routes_attach(&r, a);
    story_begin(&s, mkperf_analysis_sink(a), &session);
}

static void measure(const char *path, struct mkperf_route_times *t)
{
    struct mkperf_route route;

    if (mkperf_route_parse(a, path, &route, &e) != MKPERF_OK) {
        fail_msg("%s", e.text);
    }
    mkperf_route_measure(&r, &route, t);
}

static void end(void)
{
    mkperf_routes_free(&r);
    mkperf_analysis_free(a);
}

/* `to` runs after ns. */
static void to_run(uint64_t ns, uint32_t to, enum mkperf_sched_reason reason)
{
    now += ns;
    s.events = 0; /* the story is longer than what it keeps */
    run(&s, now, to, reason);
}

enum { TIMES = 10000 };

struct truth {
    struct mkperf_log_histogram wall, part[4][MKPERF_STAGE_PARTS];
};

static void same(const struct mkperf_log_histogram *got, const struct mkperf_log_histogram *want)
{
    assert_int_equal(got->count, want->count);
    assert_int_equal(got->total, want->total);
    assert_int_equal(got->max, want->max);
    for (uint32_t i = 0; i < MKPERF_LOG_BUCKETS; i++) {
        assert_int_equal(i < got->room ? got->in[i] : 0, i < want->room ? want->in[i] : 0);
    }
}

/*
 * irq 33 -> driver -> server -> client. The driver waits for `store`, the server is preempted by the driver, and the client calls
 * `store`. Every part is right to its bucket.
 */
static void every_part(void **state)
{
    static struct truth truth;
    static const char path[] = "irq 33 -> driver ->server-> client";
    struct mkperf_route_times t;
    uint32_t seed = 1;

    (void)state;
    begin();
    for (uint32_t pd = 0; pd <= IDLE; pd++) { /* all PDs wait at first */
        to_run(10, pd, MKPERF_STOPPED_WAIT_NOTIFICATION);
    }
    for (unsigned i = 0; i < TIMES; i++) {
        uint64_t part[4][MKPERF_STAGE_PARTS] = {{0}}, wall = 0;
        uint64_t d[12];
        for (unsigned k = 0; k < 12; k++) {
            d[k] = 1 + story_draw(&seed, 1U << (4 + k));
        }
        now += d[11];
        irq(&s, now, 33, DRIVER);
        to_run(d[0], DRIVER, MKPERF_STOPPED_PREEMPTED);
        part[1][MKPERF_STAGE_WAITED] = d[0];
        now += d[1];
        event(&s, now, MKPERF_SCHED_NOTIFY, SERVER);
        part[1][MKPERF_STAGE_OWN] = d[1];
        to_run(d[2], SERVER, MKPERF_STOPPED_WAIT_NOTIFICATION);
        part[2][MKPERF_STAGE_WAITED] = d[2];
        to_run(d[3], STORE, MKPERF_STOPPED_PREEMPTED);
        to_run(d[4], SERVER, MKPERF_STOPPED_WAIT_NOTIFICATION);
        now += d[5];
        event(&s, now, MKPERF_SCHED_NOTIFY, CLIENT);
        part[2][MKPERF_STAGE_OWN] = d[3] + d[5];
        part[2][MKPERF_STAGE_PREEMPTED] = d[4];
        to_run(d[6], CLIENT, MKPERF_STOPPED_WAIT_MESSAGE);
        part[3][MKPERF_STAGE_WAITED] = d[6];
        to_run(d[7], STORE, MKPERF_STOPPED_CALLED);
        to_run(d[8], CLIENT, MKPERF_STOPPED_REPLIED);
        part[3][MKPERF_STAGE_CALLS] = d[8];
        to_run(d[9], IDLE, MKPERF_STOPPED_BUDGET);
        now += d[10];
        event(&s, now, MKPERF_SCHED_WAKE, CLIENT);
        to_run(d[9], CLIENT, MKPERF_STOPPED_IDLE);
        to_run(d[7], IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
        part[3][MKPERF_STAGE_PREEMPTED] = d[9];
        part[3][MKPERF_STAGE_BUDGET] = d[10];
        part[3][MKPERF_STAGE_OWN] = 2 * d[7] + d[9];
        for (unsigned k = 1; k < 4; k++) {
            for (unsigned p = 0; p < MKPERF_STAGE_PARTS; p++) {
                mkperf_log_add(&truth.part[k][p], part[k][p], 1);
                wall += part[k][p];
            }
        }
        mkperf_log_add(&truth.wall, wall, 1);
    }
    to_run(10, IDLE, MKPERF_STOPPED_IDLE);
    story_end(&s);
    mkperf_routes_sort(&r);
    measure(path, &t);
    assert_int_equal(t.wall.count, TIMES);
    same(&t.wall, &truth.wall);
    for (unsigned k = 1; k < 4; k++) {
        for (unsigned p = 0; p < MKPERF_STAGE_PARTS; p++) {
            same(&t.stage[k].part[p], &truth.part[k][p]);
            mkperf_log_free(&truth.part[k][p]);
        }
    }
    mkperf_log_free(&truth.wall);
    assert_int_equal(t.instance[0].ns, t.wall.max);
    assert_int_equal(t.open + t.gaps + t.stage[1].ended + t.stage[2].ended, 0);
    mkperf_route_times_free(&t);

    struct mkperf_route found[8];
    char text[128];
    assert_int_equal(mkperf_routes_find(&r, found, 8), 1);
    mkperf_route_text(a, &found[0], text, sizeof text);
    assert_string_equal(text, "irq 33 -> driver -> server -> client -> store");
    assert_int_equal(found[0].times, TIMES);
    end();
}

/* An interrupt that makes the driver do nothing more, one that finds the server at work, and one in a gap. */
static void others(void **state)
{
    struct mkperf_route_times t;

    (void)state;
    begin();
    for (uint32_t pd = 0; pd <= IDLE; pd++) {
        to_run(10, pd, MKPERF_STOPPED_WAIT_NOTIFICATION);
    }
    irq(&s, now += 10, 33, DRIVER); /* the driver waits again */
    to_run(0, DRIVER, MKPERF_STOPPED_IDLE);
    to_run(100, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    irq(&s, now += 10, 33, DRIVER);
    to_run(0, DRIVER, MKPERF_STOPPED_IDLE);
    event(&s, now += 100, MKPERF_SCHED_NOTIFY, SERVER);
    to_run(0, SERVER, MKPERF_STOPPED_WAIT_NOTIFICATION);
    irq(&s, now += 50, 33, DRIVER);
    to_run(0, DRIVER, MKPERF_STOPPED_PREEMPTED);
    event(&s, now += 100, MKPERF_SCHED_NOTIFY, SERVER); /* the server is at work */
    to_run(0, SERVER, MKPERF_STOPPED_WAIT_NOTIFICATION);
    to_run(300, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    irq(&s, now += 10, 33, DRIVER);
    to_run(0, DRIVER, MKPERF_STOPPED_IDLE);
    gap(&s, now + 5, now + 50, 3);
    now += 50;
    to_run(10, IDLE, MKPERF_STOPPED_UNKNOWN);
    irq(&s, now += 10, 33, STORE); /* the state of the store is not known */
    story_end(&s);
    mkperf_routes_sort(&r);
    measure("irq 33 -> driver -> server", &t);
    assert_int_equal(t.wall.count, 2);
    assert_int_equal(t.stage[1].ended, 1);
    assert_int_equal(t.stage[2].busy, 1);
    assert_int_equal(t.gaps, 1);
    assert_int_equal(t.instance[0].ns, 550);
    assert_int_equal(t.instance[1].ns, 400);
    assert_int_equal(t.stage[2].part[MKPERF_STAGE_PREEMPTED].total, 100);
    mkperf_route_times_free(&t);
    measure("irq 34 -> driver", &t);
    assert_int_equal(t.wall.count + t.gaps + t.open, 0);
    mkperf_route_times_free(&t);
    end();
}

static void refused(void **state)
{
    static const char *const wrong[] = {"",
                                        "driver",
                                        "irq 33",
                                        "irq -> driver",
                                        "irq 3x -> driver",
                                        "driver -> nobody",
                                        "driver ->",
                                        "-> driver",
                                        "server -> irq 33"};
    struct mkperf_route route;

    (void)state;
    begin();
    story_end(&s);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(mkperf_route_parse(a, wrong[i], &route, &e), MKPERF_ERR_USAGE);
    }
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part),
        cmocka_unit_test(others),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
