/* SPDX-License-Identifier: BSD-2-Clause */
/* When a recording ends: by the target's time, and by the host's if no samples come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "link/connection.h"

static struct mkperf_deadline d;

/* Returns whether the duration is over if no new sample arrived. */
static bool over(double now_s)
{
    return mkperf_deadline_over(&d, d.has_samples, d.target_s, now_s);
}

static void no_duration(void **state)
{
    (void)state;
    mkperf_deadline_begin(&d, 0, 100);
    (void)mkperf_deadline_over(&d, true, 1e6, 101);
    assert_false(over(1e9));
}

static void target_time(void **state)
{
    (void)state;
    mkperf_deadline_begin(&d, 5, 100);
    (void)mkperf_deadline_over(&d, true, 4.9, 103); /* a target that runs faster than the host */
    assert_false(over(103));
    (void)mkperf_deadline_over(&d, true, 5, 103.1);
    assert_true(over(103.1));
}

static void slow_target(void **state)
{
    (void)state;
    mkperf_deadline_begin(&d, 5, 100);
    for (int i = 0; i <= 400; i++) { /* ten host seconds for one of the target */
        (void)mkperf_deadline_over(&d, true, i * 0.01, 100 + i * 0.1);
        assert_false(over(100 + i * 0.1));
    }
    /* samples stop: two of its seconds are twenty of the host */
    assert_false(over(140 + 19.9));
    assert_true(over(140 + 20.1));
}

/* As long as samples arrive, there is no limit in host time: 2 s of a target can take 70 s. */
static void very_slow_target(void **state)
{
    (void)state;
    mkperf_deadline_begin(&d, 2, 100);
    for (int i = 0; i <= 699; i++) {
        (void)mkperf_deadline_over(&d, true, i / 350.0, 100 + i * 0.1);
        assert_false(over(100 + i * 0.1));
    }
    (void)mkperf_deadline_over(&d, true, 2, 170);
    assert_true(over(170));
}

static void no_samples(void **state)
{
    (void)state;
    mkperf_deadline_begin(&d, 5, 100);
    (void)mkperf_deadline_over(&d, false, 0, 104);
    assert_false(over(104.9));
    assert_true(over(105));
    mkperf_deadline_begin(&d, 1, 100); /* shorter than the grace period */
    assert_false(over(101.9));
    assert_true(over(102));
}

static void one_sample(void **state)
{
    (void)state;
    mkperf_deadline_begin(&d, 3, 100);
    (void)mkperf_deadline_over(&d, true, 0, 101); /* the target does not report how slow it is */
    assert_false(over(120.9));
    assert_true(over(121.1));
    mkperf_deadline_begin(&d, 3, 100);
    (void)mkperf_deadline_over(&d, true, 2, 102);
    (void)mkperf_deadline_over(&d, true, 2, 103); /* the samples show no progress */
    assert_false(over(103.9));
    assert_true(over(104));
}

static void link_that_comes_back(void **state)
{
    (void)state;
    mkperf_deadline_begin(&d, 5, 100);
    (void)mkperf_deadline_over(&d, true, 3, 103);
    d.progress_s = 120;
    assert_false(over(121));
    assert_true(over(120 + 2.0 * 20 / 3 + 0.1)); /* 20 host s for 3 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_duration),          cmocka_unit_test(target_time),
        cmocka_unit_test(slow_target),          cmocka_unit_test(very_slow_target),
        cmocka_unit_test(no_samples),           cmocka_unit_test(one_sample),
        cmocka_unit_test(link_that_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
