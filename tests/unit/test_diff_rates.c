/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf diff as a gate: how often equal systems differ for it, and how often it finds a growth of 2 % with as many samples as
 * it asks for. Samples are drawn independently, by a generator with a fixed seed, so that the counts are always the same.
 * Environment: MKPERF_COMPARISONS, their number (100).
 */
#include "recording.h"

enum { ROWS = 5, FEW = 1000, MANY = 9950, MARKS = 500 };

static uint64_t state_of_draws = 88172645463325252;

static double draw(void)
{
    state_of_draws ^= state_of_draws << 13;
    state_of_draws ^= state_of_draws >> 7;
    state_of_draws ^= state_of_draws << 17;
    return (double)(state_of_draws >> 11) / 9007199254740992.0;
}

/* n samples in functions of two PDs and in idle, of these shares. */
static void make(const char *name, unsigned n, const double share[ROWS])
{
    const uint64_t at[ROWS] = {recording_at.alpha, recording_at.beta, recording_at.gamma,
                               recording_at.alpha, recording_at.start};
    struct recording r;

    recording_begin(&r, name);
    for (unsigned i = 0; i < n; i++) {
        double left = draw();
        unsigned row = 0;

        while (row + 1 < ROWS && left >= share[row]) {
            left -= share[row++];
        }
        recording_put(&r, row < 3 ? 0 : 1, 0, 0, 1000, at[row], NULL);
    }
    for (unsigned i = 0; i < MARKS; i++) {
        recording_mark(&r, "request");
    }
    recording_end(&r, 0);
}

/* Of `times` comparisons, those with a significant row. */
static unsigned count_found(unsigned times, unsigned n, const double before[ROWS],
                            const double after[ROWS], const char *option, double *visible)
{
    unsigned found = 0;
    int status;

    *visible = 0;
    for (unsigned i = 0; i < times; i++) {
        make("before", n, before);
        make("after", n, after);
        char *text = RUN(diff, &status, option, "--json", "-e", "cycles", recording_path("before"),
                         recording_path("after"));
        char *end = strstr(text, "\"type\":\"changes\"");

        assert_int_equal(status, 0);
        assert_non_null(end);
        found += strstr(end, "\"significant\":0") == NULL;
        char *largest = strstr(text, "[.] alpha");
        assert_non_null(largest);
        *visible += strtod(strstr(largest, "\"visible_growth\":") + 17, NULL) / times;
    }
    return found;
}

static unsigned comparisons(void)
{
    const char *set = getenv("MKPERF_COMPARISONS");

    return set != NULL ? (unsigned)strtoul(set, NULL, 10) : 100;
}

static void test_equal(void **state)
{
    static const double share[ROWS] = {.4, .25, .2, .1, .05};
    double visible;
    unsigned n = comparisons(),
             found = count_found(n, FEW, share, share, "--confidence=95", &visible);

    (void)state;
    printf("%u of %u comparisons of equal systems differ\n", found, n);
    assert_in_range(found, 1, n * 64 / 1000 + 3);
}

/* A row grows from 90 % to 91.8 %. */
static void test_planted(void **state)
{
    static const double before[ROWS] = {.9, .04, .03, .02, .01},
                        after[ROWS] = {.918, .0328, .0246, .0164, .0082};
    double visible;
    unsigned n = comparisons(),
             found = count_found(n, MANY, before, after, "--confidence=95", &visible);

    (void)state;
    printf("a growth of 2 %% found in %u of %u comparisons; %.3f %% would have been seen\n", found,
           n, visible);
    assert_true(visible > 1.9 && visible < 2);
    assert_true(found >= n * 95 / 100);
}

/* Costs of equal systems, which have five rows that are independent of each other. */
static void test_costs(void **state)
{
    static const double share[ROWS] = {.4, .25, .2, .1, .05};
    double visible;
    unsigned n = comparisons(),
             found = count_found(n, FEW, share, share, "--per=mark:request", &visible);

    (void)state;
    printf("%u of %u comparisons of equal costs differ\n", found, n);
    assert_in_range(found, 0, n * 64 / 1000 + 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_planted),
        cmocka_unit_test(test_costs),
    };

    return cmocka_run_group_tests(tests, recording_setup, recording_teardown);
}
