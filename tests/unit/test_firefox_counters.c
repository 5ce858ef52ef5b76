/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tracks of events over time in a Firefox Profiler profile (export/firefox_counters.c): a core whose kernel time
 * is counted in addition to its user time. One cycle is one nanosecond.
 */
#include "recording.h"

enum { ROUNDS = 60, USER = 30, US = 1000 };

/*
 * In each round 30 user samples of 970 us in 1000 us, because the kernel takes the rest, and then a kernel sample of
 * 30 * 30 us. So no two samples of one mode have the core's full rate between them.
 */
static void make(const char *name)
{
    struct recording r;

    recording_begin(&r, name);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i <= USER; i++) {
            bool kernel = i == USER;

            r.time -= kernel ? 1000 * US : 0; /* at the time of the last user sample */
            r.samples = 0;                    /* core 0 */
            recording_put(&r, 0, 0, kernel ? MKPERF_SAMPLE_KERNEL : 0, (kernel ? 900 : 970) * US,
                          kernel ? recording_at.call : recording_at.alpha, NULL);
        }
    }
    r.samples = ROUNDS * (USER + 1);
    recording_end(&r, 0);
}

static void no_step_has_more_cycles_than_the_core_counts(void **state)
{
    int status;
    double step_ns, most, sum;

    (void)state;
    make("counters.data");
    RUN(convert, &status, recording_path("counters.data"), "-o",
        recording_path("counters.firefox.json"));
    assert_int_equal(status, 0);
    char *text = recording_shell(
        "jq -r '[.counters[] | select(.name == \"cycles\").samples] | .[0].time[1] as $ms"
        " | (map(.count) | transpose | map(add)) as $all | [$ms * 1e6, ($all | max), ($all | add)] "
        "| map(tostring)"
        " | join(\" \")' %s",
        recording_path("counters.firefox.json"));
    assert_int_equal(sscanf(text, "%lf %lf %lf", &step_ns, &most, &sum), 3);
    free(text);
    assert_true(sum == (double)ROUNDS * (USER * 970 + 900) * US);
    assert_true(step_ns > 3e6); /* 1800 ms in 500 steps */
    assert_true(most <= step_ns);
    assert_true(most > 0.99 * step_ns); /* the core never idles */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_step_has_more_cycles_than_the_core_counts),
    };

    return cmocka_run_group_tests(tests, recording_setup, recording_teardown);
}
