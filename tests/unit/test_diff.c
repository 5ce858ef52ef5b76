/* SPDX-License-Identifier: BSD-2-Clause */
/* mkperf diff: shares that are known, deviations that chance explains or does not. */
#include "recording.h"

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

static int setup(void **state)
{
    (void)state;
    recording_setup();
    make("half", 500, 500, 1000, 7);
    make("more", 600, 400, 1000, 0);
    make("little", 510, 490, 1000, 0);
    make("few", 2, 8, 1000, 0);
    make("none", 0, 900, 1000, 0);
    make("heavy", 10, 590, 40000, 0);
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
    /* z = 0.1 / sqrt(0.55 * 0.45 * 2 / 1000) = 4.4947; two rows: 2 * 6.967e-6 */
    assert_non_null(
        strstr(text, "   50.00%    60.00%    +10.00%  1.4e-05    client one  [.] alpha"));
    assert_non_null(
        strstr(text, "   50.00%    40.00%    -10.00%  1.4e-05    server      [.] beta"));
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
    assert_non_null(strstr(text, "+0.00%        1  ~ client one"));
    text = diff(&status, "half", "few"); /* too few for a claim */
    assert_non_null(strstr(text, "# 0 of the rows above"));
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
    assert_non_null(strstr(text, "# 1 rows below 55 % are omitted"));
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
        cmocka_unit_test(test_significant),
        cmocka_unit_test(test_chance),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_equals_report),
        cmocka_unit_test(test_order_and_filter),
        cmocka_unit_test(test_bad_input),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
