/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `mkperf stat` whose session another host ends: the counts until then are printed,
 * and said so, and nothing of another's session is in it.
 */
#include "one_target.h"
#include "recording.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Stores the fields of a line with -x ,: the first line with this PD ("": the system) and event. */
static bool counted(const char *text, const char *pd, uint64_t *count, uint64_t *time_ns)
{
    char wanted[64];

    snprintf(wanted, sizeof wanted, "%s%s", pd, *pd ? "," : "");
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, wanted, strlen(wanted)) == 0 &&
            sscanf(line + strlen(wanted), "%" SCNu64 ",,cycles,%" SCNu64, count, time_ns) == 2) {
            return true;
        }
    }
    return false;
}

static void check(const char *text, const char *pd, unsigned readings)
{
    uint64_t count, time_ns;

    if (!counted(text, pd, &count, &time_ns)) {
        fail_msg("no count: %s", text);
    }
    /* Whole readings of 10 ms, 7 events a microsecond: of this session, and of one moment. */
    assert_int_equal(time_ns, readings * UINT64_C(10000000));
    assert_int_equal(count, time_ns / 1000 * 7);
}

/* In every order of another host's session: our last reading counts. */
static void test_taken_over(void **state)
{
    (void)state;
    for (int how = BOB_CONFIGURES; how <= BOB_SAMPLES; how++) {
        int status;

        target_begin((struct how){.counts = how, .readings = 5});
        char *text =
            RUN(stat, &status, "-t", target_address, "-e", "cycles", "-x", ",", "--duration", "9");
        target_end();
        assert_int_equal(status, 0);
        check(text, "", 5);
        assert_non_null(strstr(text, "the session was ended by another host after 0.050 s: the "
                                     "counts are of this time"));
    }
}

/* The same, by PD: of the last reading that has them, the totals too. */
static void test_by_pd(void **state)
{
    (void)state;
    for (int how = BOB_CONFIGURES; how <= BOB_SAMPLES; how++) {
        uint64_t count, time_ns;
        int status;

        target_begin((struct how){.counts = how, .readings = 5});
        char *text = RUN(stat, &status, "-t", target_address, "-e", "cycles", "-x", ",",
                         "--duration", "9", "--per-pd");
        target_end();
        assert_int_equal(status, 0);
        assert_true(counted(text, "system", &count, &time_ns));
        check(text, "system", (unsigned)(time_ns / 10000000));
        check(text, "unknown-3", (unsigned)(time_ns / 10000000));
        assert_in_range(time_ns, 10000000, 50000000);
    }
}

/* Ended on the target: its counts are final. */
static void test_ended_on_target(void **state)
{
    int status;

    (void)state;
    target_begin((struct how){.counts = ENDED_HERE, .readings = 5});
    char *text = RUN(stat, &status, "-t", target_address, "-e", "cycles", "-x", ",", "--duration",
                     "9", "--per-pd");
    target_end();
    assert_int_equal(status, 0);
    check(text, "system", 6);
    check(text, "unknown-3", 6);
    assert_non_null(strstr(text, "ended on the target after 0.060 s"));
    target_begin((struct how){.counts = ENDED_HERE, .readings = 5});
    text = RUN(stat, &status, "-t", target_address, "-e", "cycles", "-x", "-", "--duration", "9",
               "--per-pd");
    target_end();
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "\nsystem-"));
    assert_non_null(strstr(text, "\n\"unknown-3\"-"));
}

/* -I: the interval that was begun is closed. -r: a run that was cut short is in no mean. */
static void test_intervals_and_runs(void **state)
{
    int status;

    (void)state;
    target_begin((struct how){.counts = BOB_STARTS, .readings = 5});
    char *text = RUN(stat, &status, "-t", target_address, "-e", "cycles", "-x", ",", "-I", "30");
    target_end();
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "0.030000000,210000,,cycles,30000000,"));
    assert_non_null(strstr(text, "0.050000000,140000,,cycles,20000000,"));
    assert_null(strstr(text, "0.060000000,"));

    /* The last interval of a duration ends with the session: there is none of a few microseconds behind it. */
    target_begin((struct how){.counts = COUNTED});
    text =
        RUN(stat, &status, "-t", target_address, "-e", "cycles", "-I", "30", "--duration", "0.06");
    target_end();
    assert_int_equal(status, 0);
    const char *titles = strstr(text, "#           time              counts      events\n");
    assert_non_null(titles);
    const char *first = strstr(titles, "     0.030000000             210,000      cycles ");
    assert_non_null(first);
    const char *last = strstr(first, "     0.060020000             210,140      cycles ");
    assert_non_null(last);
    assert_string_equal(strchr(last, '\n'), "\n");
    assert_ptr_equal(strchr(first, '\n') + 1, last);

    target_begin((struct how){.counts = BOB_STARTS, .readings = 5});
    text = RUN(stat, &status, "-t", target_address, "-e", "cycles", "-x", ",", "-r", "9",
               "--duration", "0.03");
    target_end();
    assert_int_equal(status, 0);
    check(text, "", 3);
    assert_non_null(strstr(text, "run 2 and later runs are omitted"));
}

/* Nothing at all: an error, not zeros. */
static void test_nothing(void **state)
{
    int status;

    (void)state;
    target_begin((struct how){.counts = BOB_STARTS, .readings = 0});
    char *text = RUN(stat, &status, "-t", target_address, "-e", "cycles", "--duration", "9");
    target_end();
    assert_int_equal(status, MKPERF_ERR_REFUSED);
    assert_non_null(strstr(text, "the session was ended before anything was counted"));
}

/* A target that states how many parts an answer has is not asked for ever. */
static void test_parts(void **state)
{
    int status;

    (void)state;
    target_begin((struct how){.counts = COUNTED, .parts = UINT32_MAX});
    char *text =
        RUN(stat, &status, "-t", target_address, "-e", "cycles", "--duration", "0.03", "--per-pd");
    target_end();
    assert_int_equal(status, MKPERF_ERR_INPUT);
    assert_non_null(strstr(text, "an answer that is not to GetCounts"));
}

/* -o: no file has the name if the disk is full, or if nothing was counted. */
static void test_output(void **state)
{
    const char *out = recording_path("counts");
    struct rlimit limit, small;
    int status;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = (struct rlimit){.rlim_cur = 200, .rlim_max = limit.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    target_begin((struct how){.counts = COUNTED});
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    (void)RUN(stat, &status, "-t", target_address, "-e", "cycles", "-x", ",", "-I", "10",
              "--duration", "0.08", "-o", out);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    target_end();
    assert_int_equal(status, MKPERF_ERR_OUTPUT);
    assert_int_equal(access(out, F_OK), -1);
    char *lines = recording_shell("grep -c 0000000,70000, %s.partial; rm %s.partial", out, out);
    assert_in_range(atoi(lines), 2, 8); /* what was counted until then is there */
    free(lines);
    target_begin((struct how){.counts = BOB_STARTS, .readings = 0});
    (void)RUN(stat, &status, "-t", target_address, "-e", "cycles", "--duration", "9", "-o", out);
    target_end();
    assert_int_equal(status, MKPERF_ERR_REFUSED);
    lines = recording_shell("ls %s*", out);
    assert_string_equal(lines, "");
    free(lines);
    target_begin((struct how){.counts = COUNTED});
    (void)RUN(stat, &status, "-t", target_address, "-e", "cycles", "--duration", "0.02", "-o", out);
    target_end();
    assert_int_equal(status, 0);
    lines = recording_shell("grep -c ' cycles ' %s; ls %s*", out, out);
    assert_int_equal(atoi(lines), 1);
    assert_null(strstr(lines, "partial"));
    free(lines);
}

static int setup(void **state)
{
    (void)state;
    return mkdtemp(recording_dir) != NULL ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taken_over),      cmocka_unit_test(test_by_pd),
        cmocka_unit_test(test_ended_on_target), cmocka_unit_test(test_intervals_and_runs),
        cmocka_unit_test(test_nothing),         cmocka_unit_test(test_parts),
        cmocka_unit_test(test_output),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
