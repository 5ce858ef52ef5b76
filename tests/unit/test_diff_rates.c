/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf diff as a gate: how often equal systems differ for it, and how often it finds a growth of 2 % with as many samples as
 * it asks for. Samples are drawn independently, by a generator with a fixed seed, so that the counts are always the same.
 * Environment: MKPERF_COMPARISONS, their number (100).
 */
#include "story_recording.h"

enum { ROWS = 5, FEW = 1000, MANY = 9950, MARKS = 500, CALLS = 400, SIDE_RUNS = 3 };

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
        char *text = RUN_ONCE(diff, &status, option, "--json", "-e", "cycles",
                              recording_path("before"), recording_path("after"));
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

/* Calls of the server, each of 5 to 15 us times `slower`; one in 16 takes four times as long. */
static void make_calls(const char *name, double slower)
{
    static struct story story;
    struct mkperf_session session = {.cores = 1};
    struct recording r;
    uint64_t t = 1000000;

    story_record(&story, &r, name, &session);
    run(&story, t, CLIENT, MKPERF_STOPPED_UNKNOWN);
    for (unsigned i = 0; i < CALLS; i++) {
        double us = (5 + 10 * draw()) * (draw() < 1 / 16. ? 4 : 1) * slower;

        run(&story, t += 1000, SERVER, MKPERF_STOPPED_CALLED);
        run(&story, t += (uint64_t)(1000 * us), CLIENT, MKPERF_STOPPED_REPLIED);
    }
    story_end(&story);
    recording_free(&r);
}

/* Of `times` comparisons of latencies, with `runs` recordings of a side, those that fail. Recordings of one side differ by up to
 * `vary` of their latencies. */
static unsigned count_slower(unsigned times, unsigned runs, double slower, double vary)
{
    unsigned failed = 0;
    int status;

    for (unsigned i = 0; i < times; i++) {
        char side[2][4096] = {"", ""};

        for (unsigned n = 0; n < 2 * runs; n++) {
            char name[16], *list = side[n / runs];

            snprintf(name, sizeof name, "calls%u", n);
            make_calls(name, (n < runs ? 1 : slower) * (1 + vary * (2 * draw() - 1)));
            snprintf(list + strlen(list), sizeof side[0] - strlen(list), "%s%s",
                     n % runs == 0 ? "" : ",", recording_path(name));
        }
        RUN_ONCE(diff, &status, "--latency", "--fail-above", "2", side[0], side[1]);
        assert_true(status == 0 || status == 1);
        failed += status == 1;
    }
    return failed;
}

/* The mean of a call: equal systems, one that is 30 % slower, and the same where recordings of one side differ by up to 20 %. */
static void test_latencies(void **state)
{
    unsigned n = comparisons(), few = n / 4 != 0 ? n / 4 : 1;
    unsigned equal = count_slower(n, 1, 1, 0), slower = count_slower(n, 1, 1.3, 0);
    unsigned varied = count_slower(few, SIDE_RUNS, 1, .2);
    unsigned tripled = count_slower(few, SIDE_RUNS, 3, .2);

    (void)state;
    printf("%u of %u comparisons of equal latencies fail, %u of 30 %% more; of %u with runs that "
           "differ %u and %u\n",
           equal, n, slower, few, varied, tripled);
    assert_in_range(equal, 0, n * 32 / 1000 + 3); /* half of 5 %, because only growth fails */
    assert_true(slower >= n * 95 / 100);
    assert_in_range(varied, 0, few * 32 / 1000 + 3);
    assert_true(tripled >= few * 95 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_planted),
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_latencies),
    };

    return cmocka_run_group_tests(tests, recording_setup, recording_teardown);
}
