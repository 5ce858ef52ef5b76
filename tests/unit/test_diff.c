/* SPDX-License-Identifier: BSD-2-Clause */
/* mkperf diff: shares that are known, deviations that chance explains or does not. */
#include "story_recording.h"

/* `alpha` samples in alpha (client) and `beta` in beta (server), with different weights. */
static void make(const char *name, unsigned alpha, unsigned beta, uint64_t weight, uint64_t lost)
{
    struct recording r;

    recording_begin(&r, name);
    for (unsigned i = 0; i < alpha; i++) {
        recording_put(&r, 0, 0, 0, weight, recording_at.alpha, NULL);
    }
    for (unsigned i = 0; i < beta; i++) {
        recording_put(&r, 1, 0, 0, 1000, recording_at.beta, NULL);
    }
    recording_end(&r, lost);
}

/* `alpha` samples in alpha, and 1000 - alpha of the idle thread. */
static void make_idle(const char *name, unsigned alpha)
{
    struct recording r;

    recording_begin(&r, name);
    for (unsigned i = 0; i < 1000; i++) {
        bool idle = i >= alpha;
        recording_put(&r, idle ? 2 : 0, 0, idle ? MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER : 0,
                      1000, idle ? recording_at.idle : recording_at.alpha, NULL);
    }
    recording_end(&r, 0);
}

static int setup(void **state)
{
    recording_setup(state);
    make("half", 500, 500, 1000, 7);
    make("more", 600, 400, 1000, 0);
    make("little", 510, 490, 1000, 0);
    make("few", 2, 8, 1000, 0);
    make("none", 0, 900, 1000, 0);
    make("heavy", 10, 590, 40000, 0);
    make_idle("busy", 800);
    make_idle("idle", 500);
    return 0;
}

static char *diff(int *status, const char *a, const char *b)
{
    return recording_run(
        &mkperf_diff_command, status,
        (const char *[]){"diff", "-e", "cycles", recording_path(a), recording_path(b), NULL});
}

static void test_significant(void **state)
{
    int status;
    char *text = diff(&status, "half", "more");

    (void)state;
    assert_int_equal(status, 0);
    /* z = 0.1 / sqrt(0.55 * 0.45 * 2 / 1000) = 4.4947: 6.967e-6. Two rows that are all of the time are one. */
    assert_non_null(
        strstr(text, "   50.00%    60.00%    +10.00%    7e-06     16%    client one  [.] alpha"));
    assert_non_null(
        strstr(text, "   50.00%    40.00%    -10.00%    7e-06     16%    server      [.] beta"));
    assert_non_null(strstr(text, "# 2 of the rows above differ significantly"));
    assert_non_null(strstr(text, "lost        7 of 1007 samples"));
    assert_non_null(strstr(text, "lost        0 of 1000 samples"));
}

static void test_chance(void **state)
{
    int status;
    char *text = diff(&status, "half", "little");

    (void)state;
    assert_non_null(strstr(text, "+1.00%"));
    assert_non_null(strstr(text, " ~ client one"));
    assert_non_null(strstr(text, "# 0 of the rows above differ significantly"));
    text = diff(&status, "half", "half");
    assert_non_null(strstr(text, "+0.00%        1     16%  ~ client one"));
    text = diff(&status, "half", "few"); /* too few for a claim */
    assert_non_null(strstr(text, "# 0 of the rows above"));
}

/*
 * Several recordings of a side. Shares of alpha: 50, 52 and 54 % before, 60, 62 and 64 % after. Student's t has four degrees of
 * freedom and is 0.1 / (0.02 * sqrt(2 / 3)) = 6.1237. Its probability is 0.0036; only by samples it would be 3e-14. t exceeds
 * 2.7764 with 0.05, so 100 * (2.7764 + 1.6449) * 0.01633 / 0.52 = 13.88 per cent would have been seen.
 */
static void test_several(void **state)
{
    char before[1024], after[1024], mixed[1024], text_of[64];
    int status;

    (void)state;
    before[0] = after[0] = '\0';
    for (unsigned i = 0; i < 3; i++) {
        snprintf(text_of, sizeof text_of, "run%u", i);
        make(text_of, 500 + 20 * i, 500 - 20 * i, 1000, 0);
        snprintf(before + strlen(before), sizeof before - strlen(before), "%s%s", i > 0 ? "," : "",
                 recording_path(text_of));
        snprintf(text_of, sizeof text_of, "later%u", i);
        make(text_of, 600 + 20 * i, 400 - 20 * i, 1000, 0);
        snprintf(after + strlen(after), sizeof after - strlen(after), "%s%s", i > 0 ? "," : "",
                 recording_path(text_of));
    }
    char *text = RUN(diff, &status, "-e", "cycles", before, after);
    assert_int_equal(status, 0);
    has(text, "   52.00%    62.00%    +10.00%   0.0036     14%    client one  [.] alpha");
    has(text, "# Shares are means of 3 recordings in A and 3 in B");
    /* One recording after: the variance is that before, and the degrees of freedom are two. t = 0.1 / (0.02 * sqrt(4 / 3)) =
     * 4.3301, whose probability is 0.04939. */
    text = RUN(diff, &status, "-e", "cycles", before, recording_path("later1"));
    has(text, "   52.00%    62.00%    +10.00%    0.049     26%    client one  [.] alpha");
    /* What differs as much within a side is no change between the sides. */
    snprintf(mixed, sizeof mixed, "%s,%s", recording_path("more"), recording_path("half"));
    text = RUN(diff, &status, "-e", "cycles", "--fail-above", "1", mixed, recording_path("more"));
    assert_int_equal(status, 0);
    has(text, "# 0 of the rows above differ significantly");
    snprintf(mixed, sizeof mixed, "%s,", recording_path("more"));
    RUN(diff, &status, mixed, recording_path("more"));
    assert_int_equal(status, MKPERF_ERR_INPUT);
}

/* Files for continuous integration. */
static void test_gate_files(void **state)
{
    char path[512];
    int status;
    char *text;

    (void)state;
    snprintf(path, sizeof path, "%s", recording_path("junit.xml"));
    text = RUN(diff, &status, "-e", "cycles", "--fail-above", "10", "--junit", path, "--markdown",
               recording_path("half"), recording_path("more"));
    assert_int_equal(status, 1);
    has(text, "| before | after | change | chance | PD | Symbol |\n|---:|---:|---:|---:|---|---|\n"
              "| 50.00 % | 60.00 % | +10.00 % | 7e-06 | client one | \\[.\\] alpha |\n");
    has(text, "\n2 of 2 rows differ significantly.\n");
    text = recording_shell("cat %s", path);
    has(text, "<testsuite name=\"mkperf diff\" tests=\"2\" failures=\"1\">\n");
    has(text, "<testcase classname=\"cycles\" name=\"client one [.] alpha\">\n      <failure "
              "message=\"from 50.00 % to 60.00 %, probability of chance 7e-06\"/>\n"
              "    </testcase>\n");
    has(text, "<testcase classname=\"cycles\" name=\"server [.] beta\"/>\n");
    free(text);
    text = recording_shell(
        "python3 -c \"import xml.dom.minidom; "
        "print(len(xml.dom.minidom.parse('%s').getElementsByTagName('testcase')))\"",
        path);
    has(text, "2\n");
    free(text);
    RUN(diff, &status, "--junit", "/nonexistent/x", recording_path("half"), recording_path("more"));
    assert_int_equal(status, MKPERF_ERR_OUTPUT);
}

/* A function that is in one recording only; and unequal weights, worth fewer samples. */
static void test_edges(void **state)
{
    int status;
    char *text = diff(&status, "half", "none");

    (void)state;
    assert_non_null(strstr(text, "   50.00%     0.00%    -50.00%"));
    text = diff(&status, "half", "heavy");
    /* (10 * 40000 + 590 * 1000)^2 / (10 * 40000^2 + 590 * 1000^2) = 59.1 */
    assert_non_null(strstr(text, "600 in B (59)"));
    assert_non_null(strstr(text, "   50.00%    40.40%     -9.60%"));
    assert_non_null(strstr(text, "# 0 of the rows above"));
}

/* Shares are those of mkperf report. */
static void test_equals_report(void **state)
{
    int status;
    char *text = RUN(report, &status, "--stdio", "-i", recording_path("heavy"), "-e", "cycles");

    (void)state;
    assert_non_null(strstr(text, "    40.40%       10           400000  client one  [.] alpha"));
}

/* Half of the interval of 500 of 1000 samples: 196 * sqrt(0.5 * 0.5 / 1004) = 3.093 per cent. */
static void test_interval(void **state)
{
    int status;
    char *text =
        RUN(report, &status, "--ci", "--stdio", "-i", recording_path("half"), "-e", "cycles");

    (void)state;
    has(text, "    50.00% ± 3.09      500           500000  client one  [.] alpha");
    text = RUN(report, &status, "--ci", "--json", "-i", recording_path("half"), "-e", "cycles");
    has(text, "\"symbol\":\"[.] alpha\",\"interval\":3.0929}");
    RUN(report, &status, "--ci", "--no-idle", "-i", recording_path("half"));
    assert_int_equal(status, MKPERF_ERR_USAGE);
}

static void test_order_and_filter(void **state)
{
    int status;
    char *text = RUN(diff, &status, "-c", "delta", recording_path("more"), recording_path("half"));

    (void)state;
    assert_true(strstr(text, "[.] beta") < strstr(text, "[.] alpha"));
    text = RUN(diff, &status, "--pd", "server", recording_path("more"), recording_path("half"));
    assert_null(strstr(text, "alpha"));
    text =
        RUN(diff, &status, "--percent-limit", "55", recording_path("more"), recording_path("half"));
    assert_non_null(strstr(text, "# 1 row below 55 % is omitted"));
}

/* alpha grew by 20 % of its share, beyond chance. A growth by 2 % may be chance. */
static void test_fail_above(void **state)
{
    int status;
    char *text =
        RUN(diff, &status, "--fail-above", "10%", recording_path("half"), recording_path("more"));

    (void)state;
    assert_int_equal(status, 1);
    has(text, "mkperf diff: from 50.00 % to 60.00 % (20.0 % more): client one [.] alpha\n");
    has(text, "mkperf diff: 1 row grew by more than 10 %\n");
    RUN(diff, &status, "--fail-above", "25", recording_path("half"), recording_path("more"));
    assert_int_equal(status, 0);
    RUN(diff, &status, "--fail-above", "0", recording_path("half"), recording_path("little"));
    assert_int_equal(status, 0);
    text = RUN(diff, &status, "--fail-above", "5", recording_path("none"), recording_path("half"));
    assert_int_equal(status, 1);
    has(text, "mkperf diff: from 0.00 % to 50.00 %: client one [.] alpha\n");
    RUN(diff, &status, "--fail-above", "5", recording_path("busy"), recording_path("idle"));
    assert_int_equal(status, 0);
    text = RUN(diff, &status, "--fail-above", "5", recording_path("idle"), recording_path("busy"));
    has(text, "mkperf diff: 1 row grew by more than 5 %\n");
    RUN(diff, &status, "--fail-above", "-1", recording_path("half"), recording_path("more"));
    assert_int_equal(status, MKPERF_ERR_USAGE);
    RUN(diff, &status, "--fail-above", "5x", recording_path("half"), recording_path("more"));
    assert_int_equal(status, MKPERF_ERR_USAGE);
}

/*
 * The growth that would have been seen: two rows that are one, so the deviation that chance exceeds with 0.05 is 1.9600. Then
 * 100 * (1.9600 + 1.6449) * sqrt(0.5 * 0.5 * (1 / 1000 + 1 / 1000)) / 0.5 = 16.121.
 */
static void test_json(void **state)
{
    int status;
    char *text = RUN(diff, &status, "--json", recording_path("half"), recording_path("more"));

    (void)state;
    has(text,
        "{\"type\":\"change\",\"event\":\"cycles\",\"pd\":\"client one\",\"symbol\":\"[.] "
        "alpha\",\"before\":50.0000,\"after\":60.0000,\"interval\":4.3386,\"chance\":6.96793e-06,"
        "\"significant\":1,"
        "\"visible_growth\":16.12");
    has(text,
        "{\"type\":\"changes\",\"event\":\"cycles\",\"rows\":2,\"significant\":2,\"failed\":0}\n");
    text = RUN(diff, &status, recording_path("half"), recording_path("more"));
    has(text, "   50.00%    60.00%    +10.00%    7e-06     16%    client one  [.] alpha");
}

/* `samples` samples in alpha and in beta each, and `marks` marks. */
static void make_marked(const char *name, unsigned samples, unsigned marks)
{
    struct recording r;

    recording_begin(&r, name);
    for (unsigned i = 0; i < samples; i++) {
        recording_put(&r, 0, 0, 0, 1000, recording_at.alpha, NULL);
        recording_put(&r, 1, 0, 0, 1000, recording_at.beta, NULL);
    }
    for (unsigned i = 0; i < marks; i++) {
        recording_mark(&r, "request");
    }
    recording_end(&r, 0);
}

/*
 * Costs per mark. Shares are equal, and a mark costs twice as much. The pooled cost is 6666.7 cycles, which is 2/3 of A's 10000 and
 * 1/3 of B's 20000. Its error: sqrt(1e8 * 2/9 / 1000 + 66.67^2 + 4e8 * 2/9 / 1000 + 133.3^2) = 365.15. z = 13.69, and the probability in
 * any of two rows is 2.2e-42. Both rows may change, so the deviation that chance exceeds with 0.025 is 2.2414. Then
 * 100 * (2.2414 + 1.6449) * sqrt(1e8 / 4 / 1000 + 50^2 + 4e8 * 3/16 / 1000 + 100^2) / 5000 = 26 per cent would have been seen.
 */
static void test_cost(void **state)
{
    int status;

    (void)state;
    make_marked("cheap", 500, 100);
    make_marked("dear", 500, 50);
    make_marked("unmarked", 500, 0);
    const char *a = recording_path("cheap"), *b = recording_path("dear");
    char *text = RUN(diff, &status, "--fail-above", "5", a, b);
    assert_int_equal(status, 0);
    text = RUN(diff, &status, "--fail-above", "50", "--per", "mark:request", a, b);
    assert_int_equal(status, 1);
    has(text, "# Costs: cycles per mark:request, of which there are 100 in A and 50 in B\n");
    has(text, "        5000        10000        +5000  2.2e-42     26%    client one  [.] alpha\n");
    has(text, "mkperf diff: from 5000 to 10000 (100.0 % more): client one [.] alpha\n");
    has(text, "mkperf diff: 2 rows grew by more than 50 %\n");
    RUN(diff, &status, "--fail-above", "100", "--per", "mark:request", a, b);
    assert_int_equal(status, 0);
    text = RUN(diff, &status, "--json", "--per", "event:cycles", a, b);
    has(text,
        "{\"type\":\"cost_change\",\"event\":\"cycles\",\"pd\":\"client one\",\"symbol\":\"[.] "
        "alpha\",\"before\":0.5,\"after\":0.5,");
    has(text, "\"failed\":0,\"per\":\"event:cycles\"}\n");
    text = RUN(explain, &status, "--why", "regression", "--per", "mark:request", a, b);
    has(text, "of cycles per mark:request: client one [.] alpha from 5000 to 10000, +100.0");
    text = RUN(diff, &status, "--per", "mark:request", a, recording_path("unmarked"));
    assert_int_equal(status, MKPERF_ERR_INPUT);
    has(text, "has no mark 'request'\n");
    text = RUN(diff, &status, "--per", "calls:server", a, b);
    assert_int_equal(status, MKPERF_ERR_INPUT);
    has(text, "has no call (record --sched counts them) of PD 'server'\n");
    RUN(diff, &status, "--per", "packets:server", a, b);
    assert_int_equal(status, MKPERF_ERR_INPUT);
    RUN(diff, &status, "--per", "mark:", a, b);
    assert_int_equal(status, MKPERF_ERR_USAGE);
}

/*
 * n calls of the server, of `us` and of `us` + 2 in turns, with a sample of the client and one of the server in each. More
 * than 1,000 calls do not fit into a story.
 */
static void make_calls(const char *name, unsigned n, unsigned us)
{
    static struct story story;
    struct mkperf_session session = {.nevents = 1};
    struct recording r;
    uint64_t t = 1000000;

    session.event[0] = (struct mkperf_event){
        .name = "cycles", .code = 0x11, .user = true, .kernel = true, .period = 1000};
    story_record(&story, &r, name, &session);
    run(&story, t, CLIENT, MKPERF_STOPPED_UNKNOWN);
    for (unsigned i = 0; i < n; i++) {
        run(&story, t += 1000, SERVER, MKPERF_STOPPED_CALLED);
        run(&story, t += (us + i % 2 * 2) * 1000, CLIENT, MKPERF_STOPPED_REPLIED);
        recording_put(&r, CLIENT, 0, 0, 1000, recording_at.alpha, NULL);
        recording_put(&r, SERVER, 0, 0, 500 * us, recording_at.beta, NULL);
    }
    irq(&story, t += 1000, 33, DRIVER);
    run(&story, t += 1000, DRIVER, MKPERF_STOPPED_PREEMPTED);
    story_end(&story);
    recording_free(&r);
}

/*
 * Mean latencies. 200 calls of 10 and 12 us have the mean 11 us, and of 20 and 22 us 21 us. The variance of buckets: 10000 is in
 * 9728..10239 and 12000 in 11776..12287, so their middles are 9984 and 12032 (each of width 512), 1016 and 1032 from the mean; 20000 is
 * in 19456..20479 and 22000 in 21504..22527, middles 19968 and 22016. Variances: (1016^2 + 1032^2) / 2 + 512^2 / 12 = 1070430 and
 * (1032^2 + 1016^2) / 2 + 1024^2 / 12 = 1135970. The interval of the change is 1.96 * sqrt((1.07043 + 1.13597) / 200) = 0.206 us, and
 * 100 * (1.9600 + 1.6449) * 0.105 / 11 = 3.4 per cent would have been seen.
 */
static void test_latency(void **state)
{
    int status;

    (void)state;
    make_calls("quick", 200, 10);
    make_calls("slow", 200, 20);
    make_calls("rare", 50, 20);
    const char *a = recording_path("quick"), *b = recording_path("slow");
    char *text = RUN(diff, &status, "--latency", "--fail-above", "5%", a, b);
    assert_int_equal(status, 1);
    has(text, "mkperf diff: from 11 us to 21 us (90.9 % more): call client -> server\n");
    has(text, "mkperf diff: 1 row grew by more than 5 %\n");
    has(text, "# Mean latencies, in us\n");
    has(text,
        "          11           21          +10        0    3.4%    call  client -> server\n");
    has(text, " ~ irq   irq 33 -> driver\n");
    RUN(diff, &status, "--latency", "--fail-above", "95%", a, b);
    assert_int_equal(status, 0);
    RUN(diff, &status, "--latency", "--fail-above", "5%", b, a);
    assert_int_equal(status, 0);
    text = RUN(diff, &status, "--latency", "--fail-above", "5%", a, recording_path("rare"));
    assert_int_equal(status, 0); /* 50 calls are too few for a claim */
    has(text, "        1       -  ~ call  client -> server\n");
    text = RUN(diff, &status, "--latency", "--json", a, b);
    has(text,
        "{\"type\":\"latency_change\",\"event\":\"latency\",\"kind\":\"call\",\"pair\":\"client "
        "-> server\",\"before\":11,\"after\":21,\"interval\":0.20");
    char *checked =
        recording_shell("grep '^{' %s | tests/tool/check-json latency_change 2>&1 || echo failed",
                        recording_path("out"));
    assert_string_equal(checked, "");
    free(checked);
    text = RUN(diff, &status, "--latency", "--markdown", a, b);
    has(text, "| 11 us | 21 us | +10 us | 0 | call | client -\\> server |\n");
    text = RUN(diff, &status, "--latency", a, recording_path("half"));
    assert_int_equal(status, MKPERF_ERR_INPUT);
    has(text, "has no scheduling events, by which latencies are known (mkperf record --sched)\n");
    RUN(diff, &status, "--latency", "--per", "calls:server", a, b);
    assert_int_equal(status, MKPERF_ERR_USAGE);
}

/* Costs per call: the server takes twice the cycles in half the calls, so its share hardly differs, and a call costs twice. */
static void test_calls(void **state)
{
    int status;

    (void)state;
    make_calls("many", 400, 10);
    make_calls("half_as_many", 200, 20);
    const char *a = recording_path("many"), *b = recording_path("half_as_many");
    char *text = RUN(diff, &status, "--per", "calls:server", "--fail-above", "50", a, b);
    assert_int_equal(status, 1);
    has(text, "# Costs: cycles per calls:server, of which there are 400 in A and 200 in B\n");
    has(text, "mkperf diff: from 5000 to 10000 (100.0 % more): server ");
    has(text, "mkperf diff: 1 row grew by more than 50 %\n");
    RUN(diff, &status, "--per", "calls:server", "--fail-above", "0", a, a);
    assert_int_equal(status, 0);
}

static void test_bad_input(void **state)
{
    char *text;
    int status;

    (void)state;
    RUN(diff, &status, recording_path("half"));
    assert_int_equal(status, MKPERF_ERR_USAGE);
    text = RUN(diff, &status, recording_path("half"), recording_cut("more", 3000));
    assert_int_equal(status, MKPERF_ERR_INPUT);
    assert_non_null(strstr(text, "offset "));
    RUN(diff, &status, "-e", "nothing", recording_path("half"), recording_path("more"));
    assert_int_equal(status, MKPERF_ERR_USAGE);
    RUN(diff, &status, "-c", "ratio", recording_path("half"), recording_path("more"));
    assert_int_equal(status, MKPERF_ERR_USAGE);
    RUN(diff, &status, "--pd", "nobody", recording_path("half"), recording_path("more"));
    assert_int_equal(status, MKPERF_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latency),     cmocka_unit_test(test_calls),
        cmocka_unit_test(test_significant), cmocka_unit_test(test_chance),
        cmocka_unit_test(test_several),     cmocka_unit_test(test_gate_files),
        cmocka_unit_test(test_edges),       cmocka_unit_test(test_equals_report),
        cmocka_unit_test(test_interval),    cmocka_unit_test(test_order_and_filter),
        cmocka_unit_test(test_fail_above),  cmocka_unit_test(test_json),
        cmocka_unit_test(test_cost),        cmocka_unit_test(test_bad_input),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
