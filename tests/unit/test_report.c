/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkperf report against perf: the same recording must give the same numbers. The recording is made
 * from known samples with the writer; the ELFs are compiled here; perf is the distribution's.
 */
#include "recording.h"

#define REPORT(status, ...) RUN(report, status, "-i", recording_path("perf.data"), __VA_ARGS__)

static int setup(void **state)
{
    struct recording r;

    recording_setup(state);
    uint64_t deep[] = {recording_at.beta + 12,  recording_at.gamma + 20, recording_at.gamma + 20,
                       recording_at.gamma + 20, recording_at.start + 12, 0};
    recording_begin(&r, "perf.data");
    for (unsigned i = 0; i < 40; i++) {
        recording_put(&r, 0, 0, 0, 900 + 7 * i, recording_at.alpha + i % 3 * 4, deep);
        recording_put(&r, 1, 0, 0, 1003, recording_at.beta, deep + 1);
        recording_put(&r, 0, 1, 0, 5000 + i, recording_at.gamma, deep + 2);
    }
    for (unsigned i = 0; i < 25; i++) {
        recording_put(&r, 0, 0, MKPERF_SAMPLE_KERNEL, 1000 + i, recording_at.call, deep + 1);
        recording_put(&r, 2, 0, MKPERF_SAMPLE_KERNEL | MKPERF_SAMPLE_NO_USER, 999,
                      recording_at.idle, NULL);
    }
    recording_end_with(&r, (struct mkperf_totals){.lost = {[MKPERF_LOST_LINK] = 5},
                                                  .late_events = 77,
                                                  .unrepaired = 3,
                                                  .unread = 4,
                                                  .complete = true});
    return 0;
}

/* A table's rows without superfluous blanks, sorted; part of a format. */
#define ROWS "grep -v '^#' | grep %% | tr -s ' ' | sed 's/^ //; s/ *$//' | sort"

/* A report has the rows that perf report shows for the event. */
#define EQUALS_PERF(fields, event, ...)   \
    do {                                  \
        int status_;                      \
        REPORT(&status_, __VA_ARGS__);    \
        assert_int_equal(status_, 0);     \
        compare_with_perf(fields, event); \
    } while (0)

/* Compares the rows of the last command's output with those of perf. */
static void compare_with_perf(const char *fields, const char *event)
{
    char *mkperf = recording_shell("cat %s | " ROWS, recording_path("out"));
    char *perf = recording_shell("perf report -i %s --stdio -g none %s 2>/dev/null | "
                                 "awk '/of event/ {on = index($0, \"%s\") > 0} on' | "
                                 "sed 's/  *-  *-  *$//' | " ROWS,
                                 recording_path("perf.data"), fields, event);

    assert_true(strlen(perf) > 20);
    assert_string_equal(mkperf, perf);
    free(perf);
    free(mkperf);
}

static void test_self_equals_perf(void **state)
{
    (void)state;
    EQUALS_PERF("--no-children -F overhead,sample,period,comm,sym", "'cycles'", "--event",
                "cycles");
    EQUALS_PERF("--no-children -F overhead,sample,period,comm", "'instructions'", "--event",
                "instructions", "--sort", "pd");
    EQUALS_PERF("--no-children -F overhead,sample,period,cpu,sym", "'cycles'", "--event", "cycles",
                "--sort", "core,symbol");
    EQUALS_PERF("--no-children -F overhead,sample,period,time,comm --time-quantum 50ms", "'cycles'",
                "--event", "cycles", "--sort", "time,pd", "--time-quantum", "50ms");
}

static void test_children_equal_perf(void **state)
{
    (void)state;
    EQUALS_PERF("--children -F overhead_children,overhead,sample,period,comm,sym", "'cycles'",
                "--event", "cycles", "--children");
}

static void test_head(void **state)
{
    int status;
    char *text = REPORT(&status, "--stdio");

    (void)state;
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "pocket, cpu cortex-a53, 2 cores (samples from 2)"));
    assert_non_null(strstr(text, "cycles, period 1000: 130 samples"));
    assert_non_null(strstr(text, "lost        5 of 175 samples (2.86 %)"));
    assert_non_null(strstr(text, "WARNING: 2.86 %"));
    assert_non_null(strstr(text, "link too slow"));
    assert_non_null(strstr(text, "77 events"));
    assert_non_null(strstr(text, "of 3 samples"));
    assert_non_null(strstr(text, "unread      4 samples without"));
    assert_non_null(strstr(text, "jitter      on"));
    assert_null(strstr(text, "totals are incomplete"));
}

static void test_trees(void **state)
{
    int status;
    char *text = REPORT(&status, "-g", "--event", "instructions");

    (void)state;
    assert_non_null(strstr(text, "|--100.00%-- gamma_\n"));
    assert_non_null(strstr(text, "|--100.00%-- _start\n"));
    text = REPORT(&status, "-g", "callee", "--children", "--event", "instructions");
    assert_non_null(strstr(text, "|--100.00%-- gamma_\n"));
}

/* The callers of a function that was asked for are shown, however small its part is. */
static void test_trees_of_small_rows(void **state)
{
    const uint64_t callers[] = {recording_at.gamma + 20, recording_at.start + 12, 0};
    struct recording r;
    int status;

    (void)state;
    recording_begin(&r, "small.data");
    for (unsigned i = 0; i < 300; i++) {
        recording_put(&r, 0, 0, 0, 1000, recording_at.alpha, NULL);
    }
    recording_put(&r, 0, 0, 0, 1000, recording_at.beta, callers);
    recording_end(&r, 0);
    char *text = RUN(report, &status, "--stdio", "-g", "-S", "beta", recording_path("small.data"));
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "|--0.33%-- gamma_\n"));
    assert_non_null(strstr(text, "|--0.33%-- _start\n"));
    text = RUN(report, &status, "--stdio", "-g", recording_path("small.data"));
    assert_null(strstr(text, "|--"));
}

static void test_filters_and_lines(void **state)
{
    int status;
    char *text = REPORT(&status, "--pd", "server", "--event", "cycles");

    (void)state;
    assert_non_null(strstr(text, "in PD server: 40 samples, period sum 40120"));
    assert_null(strstr(text, "client one"));
    text = REPORT(&status, "--sort", "line", "--event", "cycles");
    assert_non_null(strstr(text, "one.c:2"));
    text = REPORT(&status, "--percent-limit", "50");
    assert_non_null(strstr(text, "rows below 50 % are omitted"));
    text = REPORT(&status, "--sort", "mode", "--event", "cycles");
    assert_non_null(strstr(text, "[k]"));
}

static void test_errors(void **state)
{
    int status;
    char *text = REPORT(&status, "--pd", "nobody");

    (void)state;
    assert_int_equal(status, MKPERF_ERR_USAGE);
    assert_non_null(strstr(text, "no sample of a PD 'nobody'"));
    text = REPORT(&status, "-C", "9");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    assert_non_null(strstr(text, "no sample of core 9\n"));
    assert_null(strstr(text, "Overhead"));
    text = REPORT(&status, "--time", "1000000,1000001");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    assert_non_null(strstr(text, "no sample in that time (the first is at "));
    text = REPORT(&status, "-S", "nothing", "--pd", "server");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    assert_non_null(strstr(text, "no sample hit a function nothing in PD server"));
    assert_null(strstr(text, "Overhead"));
    REPORT(&status, "--sort", "colour");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    REPORT(&status, "--percent-limit", "x");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    REPORT(&status, "--event");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    text = RUN(report, &status, "-i", "/nowhere/perf.data");
    assert_int_equal(status, MKPERF_ERR_INPUT);
    assert_non_null(strstr(text, "/nowhere/perf.data: No such file"));
}

/* The ELF is gone: addresses instead of names, and the head shows why. */
static void test_missing_elf(void **state)
{
    struct recording r;
    const char *gone = recording_path("gone.elf");
    char *text;
    int status;

    (void)state;
    free(recording_shell("cp %s %s", recording_path("one.elf"), gone));
    recording_open(&r, "gone.data", NULL);
    recording_pd(&r, 0, 1, "client", gone);
    recording_pd(&r, 1, 2, "silent", gone);
    recording_put(&r, 0, 0, 0, 1000, 0x400123, NULL);
    recording_end_with(&r, (struct mkperf_totals){.complete = false});
    assert_int_equal(unlink(gone), 0);
    text = RUN(report, &status, "-i", recording_path("gone.data"));
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "no symbols for client:"));
    assert_non_null(strstr(text, "[unknown] 0x400000-0x400fff"));
    assert_non_null(strstr(text, "totals are incomplete"));
    /* A PD without samples: it needs no symbols, and there is nothing to show of it. */
    assert_null(strstr(text, "silent"));
    text = RUN(report, &status, "-i", recording_path("gone.data"), "--pd", "silent");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    assert_non_null(strstr(text, "no sample of a PD 'silent'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_self_equals_perf),
        cmocka_unit_test(test_children_equal_perf),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_trees_of_small_rows),
        cmocka_unit_test(test_filters_and_lines),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_missing_elf),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
