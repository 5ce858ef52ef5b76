/* SPDX-License-Identifier: BSD-2-Clause */
/* How long PDs ran, of all the time and in slices of it: report -s time, -s util and --util. */
#include "story_recording.h"

#include "profile/scheduling.h"
#include "sched/analysis.h"

static struct story story;

/* A recording of only scheduling events: what `tell` passes to the story. */
static const char *record(const char *name, unsigned cores, void (*tell)(void))
{
    struct mkperf_session session = {.cores = cores};
    struct recording r;

    story_record(&story, &r, name, &session);
    tell();
    story_end(&story);
    recording_free(&r);
    return recording_path(name);
}

/* 40 rounds of 100 us from 1 ms on: client 9, server 13, store 20, driver 5, idle 53; the last idle
 * time is cut. */
static void rounds(void)
{
    story_rounds(&story, 40);
}

static void whole(void **state)
{
    const char *data = record("rounds.data", 1, rounds);
    int status;

    (void)state;
    char *text = RUN(report, &status, "--stdio", "--util", data);
    assert_int_equal(status, 0);
    has(text, "# Samples: 320 of event 'task-clock', period sum 3948000\n");
    has(text, "    52.38%       40          2068000  idle\n"
              "    20.26%       80           800000  store\n"
              "    13.17%       80           520000  server\n"
              "     9.12%       80           360000  client\n"
              "     5.07%       40           200000  driver\n");
    lacks(text, "# cost");
    lacks(text, "# gaps");
    text = RUN(report, &status, "--stdio", "--util", "-s", "pd,symbol,util", "--no-idle", data);
    assert_int_equal(status, 0);
    has(text, "    42.55%       80           800000  store   [.] [runs]  20.26%\n");
}

static void slices(void **state)
{
    const char *data = recording_path("rounds.data");
    int status;

    (void)state;
    char *text = RUN(report, &status, "--stdio", "--util", "-s", "time,pd,util", "--time-quantum",
                     "1ms", data);
    assert_int_equal(status, 0);
    has(text, "    13.42%       11           530000  0.001000  idle    53.00%\n"
              "     5.07%       20           200000  0.001000  store   20.00%\n"
              "     3.29%       20           130000  0.001000  server  13.00%\n"
              "     2.28%       20            90000  0.001000  client  9.00%\n"
              "     1.27%       10            50000  0.001000  driver  5.00%\n"
              "    13.42%");
    /* The last one ends with the recording. */
    has(text, "     5.07%       20           200000  0.004000  store   21.10%\n");
    /* A run is cut where a slice ends: the driver's from 1.228 to 1.233 ms. */
    text = RUN(report, &status, "--stdio", "--util", "-s", "time,pd,util", "--time-quantum", "30us",
               "--pd", "driver", data);
    has(text, "     0.05%        1             2000  0.001200  driver  6.67%\n"
              "     0.08%        1             3000  0.001230  driver  10.00%\n");
    text = RUN(report, &status, "--stdio", "--util", "-s", "pd,time", "--time-quantum", "2500us",
               "--percent-limit", "3", data);
    has(text, "     3.42%       30           135000  client  0.000000\n"
              "     5.70%       50           225000  client  0.002500\n"
              "     3.17%       25           125000  driver  0.002500\n");
    has(text, "# 1 row below 3 % is omitted");
    text = RUN(report, &status, "--util", "--hierarchy", "-s", "time,pd", "--time-quantum", "1ms",
               data);
    has(text, "    25.33%       81          1000000  0.001000\n"
              "    13.42%       11           530000    idle\n");
    has(text, "    24.01%       80           948000  0.004000\n");
}

/* The same rows for programs; -x puts a text with the separator in quotes. */
static void values(void **state)
{
    const char *data = recording_path("rounds.data");
    int status;

    (void)state;
    char *text = RUN(report, &status, "--util", "-s", "time,pd,util", "--time-quantum", "1ms", "-x",
                     ",", data);
    assert_int_equal(status, 0);
    has(text, "row,task-clock,5.0659,20,200000,1000000,store,20.0000,0\n");
    has(text, "\nevent,task-clock,323,3948000,323,3948000\n"
              "total,1000000,4948000,0,0,0,0,1\n");
    text = RUN(report, &status, "--util", "-s", "time,pd,util", "--time-quantum", "1ms", "--json",
               "--pd", "store", data);
    assert_int_equal(status, 0);
    has(text, "{\"type\":\"row\",\"event\":\"task-clock\",\"percent\":5.0659,\"samples\":20,"
              "\"period\":200000,\"time_ns\":2000000,\"pd\":\"store\",\"util_percent\":20.0000,"
              "\"unknown_ns\":0}\n");
    has(text, "\"shown_samples\":80,\"shown_period\":800000}\n");
    text = RUN(report, &status, "-s", "time,symbol", "--time-quantum", "5ms", "-x", "a",
               recording_path("samples.data"));
    assert_int_equal(status, 0);
    has(text, "rowacyclesa7.7323a1a907a5000000a\"[.] alpha\"\n");
}

/* What --time and --cpu leave out is in no share. */
static void filtered(void **state)
{
    const char *data = recording_path("rounds.data");
    int status;

    (void)state;
    char *text = RUN(report, &status, "--stdio", "--util", "-s", "pd,util", "--time",
                     "0.001030,0.001049999", data);
    assert_int_equal(status, 0);
    has(text, "    50.00%        1            10000  store   50.00%\n"
              "    15.00%        1             3000  driver  15.00%\n"
              "    15.00%        1             3000  server  15.00%\n"
              "    10.00%        1             2000  client  10.00%\n"
              "    10.00%        1             2000  idle    10.00%\n");
    RUN(report, &status, "--stdio", "--util", "--cpu", "1", data);
    assert_int_equal(status, 0);
}

static void with_gap(void)
{
    run(&story, 1000000, IDLE, MKPERF_STOPPED_UNKNOWN);
    run(&story, 1100000, CLIENT, MKPERF_STOPPED_IDLE);
    event(&story, 1400000, MKPERF_SCHED_NOTIFY, SERVER);
    gap(&story, 1400000, 1600000, 7);
    run(&story, 1600000, SERVER, MKPERF_STOPPED_UNKNOWN);
    run(&story, 1900000, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
    irq(&story, 2000000, 33, DRIVER);
}

/* It is in no share, and said: of all, and of each slice. */
static void gaps(void **state)
{
    const char *data = record("gap.data", 1, with_gap);
    int status;

    (void)state;
    char *text = RUN(report, &status, "--stdio", "--util", "-s", "pd,util", data);
    assert_int_equal(status, 0);
    has(text,
        "# gaps        1 in the scheduling events, 0.000200 s: how long PDs ran is a share of "
        "the rest\n");
    has(text, "    37.50%        1           300000  client  37.50%\n");
    has(text, "    25.00%        2           200000  idle    25.00%\n");
    const char *warning =
        "\"text\":\"scheduling events are missing for 0.000200 s: it is not known "
        "what ran then\"}\n";
    has(RUN(latency, &status, "--json", data), warning);
    has(RUN(budget, &status, "--json", data), warning);
    text = RUN(report, &status, "--stdio", "--util", "-s", "time,pd,util", "--time-quantum",
               "500us", data);
    has(text,
        "    37.50%        1           300000  0.001000  client  75.00% (0.000100 s unknown)\n"
        "    12.50%        1           100000  0.001000  idle    25.00% (0.000100 s unknown)\n"
        "    37.50%        1           300000  0.001500  server  75.00% (0.000100 s unknown)\n"
        "    12.50%        1           100000  0.001500  idle    25.00% (0.000100 s unknown)\n");
    /* A slice in which nothing is known has no row. */
    text = RUN(report, &status, "--util", "-s", "time,util", "--time-quantum", "100us", "-x", " ",
               data);
    has(text, " 1300000 100.0000 0\n");
    lacks(text, " 1400000 ");
    lacks(text, " 1500000 ");
    has(text, " 1600000 100.0000 0\n");
    has(text, "\ntotal 1000000 2000000 0 0 1 200000 1\n");
}

static void two_cores(void)
{
    on_core(&story, 0, 1000000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    on_core(&story, 1, 1000000, IDLE, MKPERF_STOPPED_UNKNOWN);
    on_core(&story, 1, 1200000, SERVER, MKPERF_STOPPED_IDLE);
    on_core(&story, 0, 1300000, IDLE, MKPERF_STOPPED_WAIT_MESSAGE);
    on_core(&story, 1, 1600000, IDLE, MKPERF_STOPPED_WAIT_MESSAGE);
    on_core(&story, 0, 2000000, CLIENT, MKPERF_STOPPED_IDLE);
    on_core(&story, 1, 2000000, SERVER, MKPERF_STOPPED_IDLE);
}

/* 100 % is one core. */
static void cores(void **state)
{
    const char *data = record("two.data", 2, two_cores);
    int status;

    (void)state;
    char *text = RUN(report, &status, "--stdio", "--util", "-s", "pd,util", data);
    assert_int_equal(status, 0);
    has(text, "    65.00%        3          1300000  idle    130.00%\n"
              "    20.00%        1           400000  server  40.00%\n"
              "    15.00%        1           300000  client  30.00%\n");
    text = RUN(report, &status, "--stdio", "--util", "-s", "core,pd", data);
    has(text, "    35.00%        1           700000  000   idle\n");
    has(text, "    30.00%        2           600000  001   idle\n");
    text = RUN(report, &status, "--stdio", "--util", "-s", "pd,util", "-C", "1", data);
    has(text, "    60.00%        2           600000  idle    60.00%\n"
              "    40.00%        1           400000  server  40.00%\n");
}

/* Threads that run and wait in any order, and gaps. */
static void any(uint32_t seed)
{
    uint64_t t = 1000;

    for (unsigned i = 0; i < 2000; i++) {
        t += story_draw(&seed, 50);
        if (story_draw(&seed, 100) == 0) {
            event(&story, t, MKPERF_SCHED_NOTIFY, CLIENT);
            gap(&story, t, t + 30, 1);
            t += 30;
        } else {
            run(&story, t, story_draw(&seed, STORY_PDS),
                story_draw(&seed, 2) == 0 ? MKPERF_STOPPED_PREEMPTED : MKPERF_STOPPED_WAIT_MESSAGE);
        }
    }
}

/* 20 random streams: each ns is in one slice, and the sums are those of the analysis. */
static void sums(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        struct mkperf_analysis *a = mkperf_analysis_new();
        const struct report_filter all = {.has_time = false};
        struct mkperf_time_slices time = {.quantum_ns = seed * 7};
        struct mkperf_error failed = {.status = MKPERF_OK};
        struct mkperf_utilisation u = {.filter = &all, .slices = &time, .failed = &failed};
        struct mkperf_session session = {.cores = 1};
        uint64_t ran[STORY_PDS] = {0}, unknown = 0;

        mkperf_utilisation_attach(&u, a);
        story_begin(&story, mkperf_analysis_sink(a), &session);
        any(seed);
        story_end(&story);
        mkperf_utilisation_end(&u);
        assert_int_equal(failed.status, MKPERF_OK);
        for (uint32_t i = 0; i < u.pds.count; i++) {
            ran[*mkperf_hash_key(&u.pds, i) & UINT32_MAX] += u.ran_ns[i];
            assert_true(u.ran_ns[i] <= time.quantum_ns);
        }
        for (uint32_t i = 0; i < time.numbers.count; i++) {
            assert_true(u.slice[i].known_ns + u.slice[i].unknown_ns <= time.quantum_ns);
            unknown += u.slice[i].unknown_ns;
        }
        for (uint32_t pd = 0; pd < IDLE; pd++) {
            assert_int_equal(ran[pd], a->pd[pd].in[MKPERF_PD_RUNNING]);
        }
        assert_int_equal(ran[IDLE], a->core[0].idle);
        assert_int_equal(unknown, a->core[0].unknown);
        mkperf_utilisation_free(&u);
        mkperf_hash_free(&time.numbers);
        mkperf_analysis_free(a);
    }
}

static void fails(const char *wanted, const char *const *words)
{
    int status;
    char *text = recording_run_once(&mkperf_report_command, &status, words);

    assert_true(status != 0);
    has(text, wanted);
}

#define FAILS(wanted, ...) fails(wanted, (const char *[]){"report", __VA_ARGS__, NULL})

static void errors(void **state)
{
    const char *data = recording_path("rounds.data"), *samples = recording_path("samples.data");
    int status;

    (void)state;
    FAILS("--time-quantum is for -s time", "--time-quantum", "1ms", data);
    FAILS("more than 1048576 of these", "--util", "-s", "time", "--time-quantum", "1ns", data);
    FAILS("a time with its unit", "-s", "time", "--time-quantum", "10", data);
    FAILS("a time with its unit", "-s", "time", "--time-quantum", "0ms", data);
    FAILS("a time with its unit", "-s", "time", "--time-quantum", "-1ms", data);
    FAILS("a time with its unit", "-s", "time", "--time-quantum", "18446744073710s", data);
    FAILS("exclude each other", "--util", "--charged", data);
    FAILS("exclude each other", "--util", "--off-cpu", data);
    FAILS("--util excludes --event", "--util", "-e", "cycles", data);
    FAILS("use --json with --header-only", "-x", ",", "--charged", data);
    FAILS("omit --dot, --hierarchy and -g", "-x", ",", "-g", data);
    FAILS("omit --dot, --hierarchy and -g", "--json", "--hierarchy", data);
    FAILS("no scheduling events were recorded", "--util", samples);
    FAILS("has no samples: mkperf latency and mkperf report --util", data);
    char *text = RUN(diff, &status, "-s", "pd,time", samples, samples);
    assert_int_equal(status, MKPERF_ERR_USAGE);
    has(text, "not time and util");
    text = RUN(report, &status, "--stdio", "-s", "pd,util", samples);
    assert_int_equal(status, 0);
    has(text, "server      -\n");
}

static void sample(uint64_t ns, uint32_t core, uint32_t pd)
{
    static const struct mkperf_chain none = {.n = 0};
    const struct mkperf_sample s = {.time_ns = ns,
                                    .period = 1000,
                                    .pd = pd,
                                    .core = core,
                                    .flags = MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER,
                                    .callers = &none};

    assert_int_equal(mkperf_sink_sample(&story.sink, &s, &story.e), MKPERF_OK);
}

/*
 * 100 ms of two cores, with a sample of each in each ms. The client runs for 80 ms on core 0, the server for the first 40 ms on core
 * 1. In 40 ms both work: half of the time is each one's. The client works alone for 40 ms, and for 20 ms nobody works. Of the
 * elapsed time 60 % are the client's, 20 % the server's and 20 % idle's; of the cores' time 40, 20 and 40 %.
 */
static void elapsed(void **state)
{
    struct mkperf_session session = {.cores = 2, .nevents = 1};
    struct recording r;
    int status;

    (void)state;
    session.event[0] = (struct mkperf_event){
        .name = "cycles", .code = 0x11, .user = true, .kernel = true, .period = 1000};
    story_record(&story, &r, "elapsed.data", &session);
    run(&story, 1000000, CLIENT, MKPERF_STOPPED_UNKNOWN);
    on_core(&story, 1, 1000000, SERVER, MKPERF_STOPPED_UNKNOWN);
    for (unsigned ms = 0; ms < 100; ms++) {
        uint64_t ns = 1000000 + ms * UINT64_C(1000000);

        if (ms == 40) {
            on_core(&story, 1, ns, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
        } else if (ms == 80) {
            run(&story, ns, IDLE, MKPERF_STOPPED_WAIT_NOTIFICATION);
        }
        sample(ns + 500, 0, ms < 80 ? CLIENT : IDLE);
        sample(ns + 600, 1, ms < 40 ? SERVER : IDLE);
    }
    story_end(&story);
    recording_free(&r);
    const char *data = recording_path("elapsed.data");
    char *text = RUN(report, &status, "--stdio", "-s", "pd", data);
    has(text, "    40.00%       80            80000  client\n");
    text = RUN(report, &status, "--latency", "--stdio", "-s", "pd", data);
    assert_int_equal(status, 0);
    has(text, "    60.00%       80            60000  client\n");
    has(text, "    20.00%       40            20000  server\n");
    has(text, "    20.00%       40            20000  idle\n");
    has(text, "# latency     100 % are the elapsed time");
    has(text, "#             0 samples with a core of which no event is known\n");
    text = RUN(report, &status, "--latency", "--util", data);
    assert_int_equal(status, MKPERF_ERR_USAGE);
    FAILS("no scheduling events were recorded", "--latency", recording_path("samples.data"));
}

static int setup(void **state)
{
    recording_setup(state);
    recording_make("samples.data", 3, 0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),    cmocka_unit_test(slices), cmocka_unit_test(values),
        cmocka_unit_test(filtered), cmocka_unit_test(gaps),   cmocka_unit_test(cores),
        cmocka_unit_test(sums),     cmocka_unit_test(errors), cmocka_unit_test(elapsed),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
