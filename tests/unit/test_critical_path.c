/* SPDX-License-Identifier: BSD-2-Clause */
/* Timeline and critical path of known stories: each step, each sum, and any events. */
#include "sched_story.h"

#include "sched/critical_path.h"

static struct mkperf_analysis *a;
static struct mkperf_timeline timeline;
static struct mkperf_path path;
static struct story story;

static int begin(void **state)
{
    struct mkperf_session session = {.nevents = 0};

    (void)state;
    a = mkperf_analysis_new();
    mkperf_timeline_attach(&timeline, a, 0, UINT64_MAX);
    story_begin(&story, mkperf_analysis_sink(a), &session);
    return 0;
}

static int end(void **state)
{
    (void)state;
    mkperf_path_free(&path);
    mkperf_timeline_free(&timeline);
    mkperf_analysis_free(a);
    return 0;
}

/* The steps are without a hole, and their sum is the whole time. */
static void find(uint32_t pd, uint64_t from, uint64_t to)
{
    uint64_t at = from;

    mkperf_path_free(&path);
    mkperf_path_find(&path, &timeline, pd, from, to);
    for (size_t i = 0; i < path.n; i++) {
        assert_int_equal(path.step[i].what.from, at);
        assert_true(path.step[i].what.to > at);
        at = path.step[i].what.to;
    }
    assert_int_equal(at, to);
}

static void step(size_t i, uint32_t pd, enum mkperf_pd_state state, uint64_t ns, uint32_t other,
                 enum mkperf_sched_kind entered)
{
    assert_true(i < path.n);
    const struct mkperf_path_step *s = &path.step[i];

    assert_int_equal(s->what.pd, pd);
    assert_int_equal(s->what.state, state);
    assert_int_equal(s->what.to - s->what.from, ns);
    assert_int_equal(state == MKPERF_PD_RUNNING ? s->what.serving : s->what.by, other);
    assert_int_equal(s->entered, entered);
}

#define NOBODY MKPERF_SCHED_NOBODY
#define SAME MKPERF_SCHED_SWITCH

static void a_call(void **state)
{
    (void)state;
    story_rounds(&story, 2);
    story_end(&story);
    find(SERVER, 1008000, 1046000);
    assert_int_equal(path.n, 5);
    step(0, SERVER, MKPERF_PD_RUNNING, 10000, CLIENT, SAME);
    step(1, STORE, MKPERF_PD_RUNNING, 10000, SERVER, MKPERF_SCHED_CALL);
    step(2, STORE, MKPERF_PD_READY, 5000, DRIVER, SAME);
    step(3, STORE, MKPERF_PD_RUNNING, 10000, SERVER, SAME);
    step(4, SERVER, MKPERF_PD_RUNNING, 3000, CLIENT, MKPERF_SCHED_REPLY);
    /* From the client's wait to its next call: nothing in the recording explains the wait. */
    find(CLIENT, 1047000, 1108000);
    assert_int_equal(path.n, 3);
    step(0, CLIENT, MKPERF_PD_RUNNING, 1000, NOBODY, SAME);
    step(1, CLIENT, MKPERF_PD_WAITING, 53000, NOBODY, SAME);
    step(2, CLIENT, MKPERF_PD_RUNNING, 7000, NOBODY, SAME);
    /* The driver's interrupt. */
    find(DRIVER, 1100000, 1133000);
    assert_int_equal(path.n, 3);
    step(0, DRIVER, MKPERF_PD_WAITING, 27000, NOBODY, SAME);
    assert_true(path.step[0].irq_known);
    assert_int_equal(path.step[0].irq, 33);
    step(1, DRIVER, MKPERF_PD_READY, 1000, STORE, SAME);
    step(2, DRIVER, MKPERF_PD_RUNNING, 5000, NOBODY, SAME);
}

/* The callee serves another one first. */
static void a_call_that_waits(void **state)
{
    (void)state;
    run(&story, 1000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    run(&story, 2000, SERVER, MKPERF_STOPPED_CALLED);
    event(&story, 3000, MKPERF_SCHED_WAKE, DRIVER);
    run(&story, 3000, DRIVER, MKPERF_STOPPED_PREEMPTED);
    run(&story, 4000, SERVER, MKPERF_STOPPED_QUEUED);
    event(&story, 6000, MKPERF_SCHED_REPLY, CLIENT);
    event(&story, 6000, MKPERF_SCHED_RECEIVE, DRIVER);
    event(&story, 9000, MKPERF_SCHED_REPLY, DRIVER);
    run(&story, 9500, DRIVER, MKPERF_STOPPED_WAIT_MESSAGE);
    run(&story, 10000, IDLE, MKPERF_STOPPED_WAIT_MESSAGE);
    story_end(&story);
    find(SERVER, 4000, 9000);
    assert_int_equal(path.n, 2);
    step(0, SERVER, MKPERF_PD_RUNNING, 2000, CLIENT, SAME);
    step(1, SERVER, MKPERF_PD_RUNNING, 3000, DRIVER, SAME);
}

/* The caller still runs for a moment after its call was delivered. The time is its own, unless the path begins there. */
static void a_slow_switch(void **state)
{
    (void)state;
    run(&story, 1000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    event(&story, 2000, MKPERF_SCHED_CALL, SERVER);
    run(&story, 2096, SERVER, MKPERF_STOPPED_CALLED);
    event(&story, 4000, MKPERF_SCHED_REPLY, CLIENT);
    run(&story, 4000, CLIENT, MKPERF_STOPPED_REPLIED);
    run(&story, 5000, IDLE, MKPERF_STOPPED_WAIT_MESSAGE);
    story_end(&story);
    find(SERVER, 1500, 4000);
    assert_int_equal(path.n, 2);
    step(0, CLIENT, MKPERF_PD_RUNNING, 596, NOBODY, SAME);
    step(1, SERVER, MKPERF_PD_RUNNING, 1904, CLIENT, MKPERF_SCHED_CALL);
    find(SERVER, 2000, 4000);
    assert_int_equal(path.n, 2);
    step(0, SERVER, MKPERF_PD_READY, 96, CLIENT, SAME);
    step(1, SERVER, MKPERF_PD_RUNNING, 1904, CLIENT, SAME);
}

/* Client, server and store, each notified by the one before: what each did before it waited is not
 * in the path. */
static void notifications(void **state)
{
    (void)state;
    run(&story, 1000, STORE, MKPERF_STOPPED_UNKNOWN);
    run(&story, 2000, SERVER, MKPERF_STOPPED_WAIT_NOTIFICATION);
    run(&story, 3000, CLIENT, MKPERF_STOPPED_WAIT_NOTIFICATION);
    event(&story, 5000, MKPERF_SCHED_NOTIFY, SERVER);
    run(&story, 6000, SERVER, MKPERF_STOPPED_WAIT_NOTIFICATION);
    event(&story, 8000, MKPERF_SCHED_NOTIFY, STORE);
    run(&story, 11000, STORE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    run(&story, 12000, IDLE, MKPERF_STOPPED_BUDGET);
    event(&story, 20000, MKPERF_SCHED_WAKE, STORE);
    run(&story, 20000, STORE, MKPERF_STOPPED_IDLE);
    run(&story, 21000, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    story_end(&story);
    find(STORE, 1500, 21000);
    assert_int_equal(path.n, 8);
    step(0, CLIENT, MKPERF_PD_UNKNOWN, 1500, NOBODY, SAME); /* before its first event */
    step(1, CLIENT, MKPERF_PD_RUNNING, 2000, NOBODY, SAME);
    step(2, SERVER, MKPERF_PD_READY, 1000, CLIENT, MKPERF_SCHED_NOTIFY);
    step(3, SERVER, MKPERF_PD_RUNNING, 2000, NOBODY, SAME);
    step(4, STORE, MKPERF_PD_READY, 3000, SERVER, MKPERF_SCHED_NOTIFY);
    step(5, STORE, MKPERF_PD_RUNNING, 1000, NOBODY, SAME);
    step(6, STORE, MKPERF_PD_THROTTLED, 8000, NOBODY, SAME);
    step(7, STORE, MKPERF_PD_RUNNING, 1000, NOBODY, SAME);
}

/* Two cores: the callee is on the other one. */
static void two_cores(void **state)
{
    (void)state;
    on_core(&story, 0, 1000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    on_core(&story, 1, 1000, SERVER, MKPERF_STOPPED_UNKNOWN);
    on_core(&story, 1, 2000, DRIVER, MKPERF_STOPPED_WAIT_MESSAGE);
    story_pass(&story,
               (struct mkperf_sched){
                   .time_ns = 3000, .kind = MKPERF_SCHED_CALL, .from = CLIENT, .to = SERVER});
    on_core(&story, 0, 3000, IDLE, MKPERF_STOPPED_CALLED);
    on_core(&story, 1, 4000, SERVER, MKPERF_STOPPED_PREEMPTED);
    story_pass(
        &story,
        (struct mkperf_sched){
            .time_ns = 6000, .core = 1, .kind = MKPERF_SCHED_REPLY, .from = SERVER, .to = CLIENT});
    on_core(&story, 1, 6500, DRIVER, MKPERF_STOPPED_WAIT_MESSAGE);
    on_core(&story, 0, 7000, CLIENT, MKPERF_STOPPED_IDLE);
    on_core(&story, 0, 9000, IDLE, MKPERF_STOPPED_WAIT_MESSAGE);
    story_end(&story);
    find(CLIENT, 2000, 9000);
    assert_int_equal(path.n, 5);
    step(0, CLIENT, MKPERF_PD_RUNNING, 1000, NOBODY, SAME);
    step(1, SERVER, MKPERF_PD_READY, 1000, DRIVER, MKPERF_SCHED_CALL);
    step(2, SERVER, MKPERF_PD_RUNNING, 2000, CLIENT, SAME);
    step(3, CLIENT, MKPERF_PD_READY, 1000, IDLE, MKPERF_SCHED_REPLY);
    step(4, CLIENT, MKPERF_PD_RUNNING, 2000, NOBODY, SAME);
}

static void a_gap(void **state)
{
    (void)state;
    run(&story, 1000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    gap(&story, 2500, 8000, 5);
    run(&story, 8000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    run(&story, 9000, IDLE, MKPERF_STOPPED_WAIT_MESSAGE);
    story_end(&story);
    find(CLIENT, 1000, 9000);
    assert_int_equal(path.n, 3);
    step(0, CLIENT, MKPERF_PD_RUNNING, 1500, NOBODY, SAME);
    step(1, CLIENT, MKPERF_PD_UNKNOWN, 5500, NOBODY, SAME);
    step(2, CLIENT, MKPERF_PD_RUNNING, 1000, NOBODY, SAME);
}

/* Windows and arrows of a timeline. */
static void windows(void **state)
{
    const struct mkperf_interval *i;
    const struct mkperf_woken *w;
    size_t n = 0;

    (void)state;
    story_rounds(&story, 3);
    story_end(&story);
    assert_int_equal(mkperf_timeline_intervals(&timeline, STORE, 1028000, 1043000, &i), 2);
    assert_int_equal(i[0].state, MKPERF_PD_READY);
    assert_int_equal(i[0].by, DRIVER);
    assert_int_equal(i[1].to, 1043000);
    assert_int_equal(mkperf_timeline_intervals(&timeline, STORE, 1027999, 1043001, &i), 4);
    assert_int_equal(mkperf_timeline_intervals(&timeline, STORE, 1028000, 1028000, &i), 0);
    assert_int_equal(mkperf_timeline_intervals(&timeline, IDLE, 0, 2000000, &i), 0);
    assert_int_equal(mkperf_timeline_intervals(&timeline, 99, 0, 2000000, &i), 0);
    for (w = timeline.arrow; w->time < 1018000; w++) {
    }
    while (w + n < timeline.arrow + timeline.narrows && w[n].time < 1046001) {
        n++;
    }
    assert_int_equal(n, 3);
    assert_int_equal(w[0].kind, MKPERF_SCHED_CALL);
    assert_int_equal(w[0].from, SERVER);
    assert_int_equal(w[0].to, STORE);
    assert_int_equal(w[2].kind, MKPERF_SCHED_REPLY);
    assert_int_equal(w[2].to, CLIENT);
}

/* Any events: each PD's intervals are without a hole, and every path adds up. */
static void any_events(void **state)
{
    for (uint32_t round = 0; round < 60; round++) {
        end(state);
        begin(state);
        story_any(&story, round, 1500);
        story_end(&story);
        for (uint32_t pd = 0; pd < IDLE; pd++) {
            const struct mkperf_lane *lane = &timeline.lane[pd];
            uint64_t at = a->first_ns, in[MKPERF_PD_STATES] = {0};

            for (size_t i = 0; i < lane->n; i++) {
                assert_int_equal(lane->interval[i].from, at);
                at = lane->interval[i].to;
                in[lane->interval[i].state] += at - lane->interval[i].from;
            }
            assert_int_equal(at, a->last_ns);
            assert_memory_equal(in, a->pd[pd].in, sizeof in);
            for (unsigned k = 0; k < 20; k++) {
                uint64_t span = a->last_ns - a->first_ns;
                find(pd, a->first_ns + span * k / 40, a->last_ns - span * k / 50);
            }
        }
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_call), TEST(a_call_that_waits), TEST(notifications), TEST(two_cores),
        TEST(a_gap),  TEST(windows),           TEST(any_events),    TEST(a_slow_switch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
