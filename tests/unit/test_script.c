/* SPDX-License-Identifier: BSD-2-Clause */
/* mkperf script against perf script: the same recording, the same lines. */
#include "recording.h"

/* perf's addresses of PDs are offsets in the file, ours are the ELF's: they are left out. */
static const char no_address[] = "sed 's/^\\t *[0-9a-f]* /\\t/'";

static void agrees(const char *ours, const char *options)
{
    char *a, *b;

    free(ours ? recording_shell("mv %s %s", recording_path("out"), recording_path("ours")) : NULL);
    a = recording_shell("%s %s", no_address, recording_path("ours"));
    b = recording_shell("perf script -i %s %s 2>/dev/null | %s", recording_path("perf.data"),
                        options, no_address);
    assert_true(strlen(b) > 100);
    assert_string_equal(a, b);
    free(a);
    free(b);
}

static void test_equals_perf(void **state)
{
    const char *in = recording_path("perf.data");
    int status;

    (void)state;
    agrees(RUN(script, &status, "-i", in), "");
    assert_int_equal(status, 0);
    agrees(RUN(script, &status, "-i", in, "-F", "comm,pid,tid,time,event,period"),
           "-F comm,pid,tid,time,event,period");
    agrees(RUN(script, &status, "-i", in, "-F", "comm,cpu,time,ip,sym", "--ns"),
           "-F comm,cpu,time,ip,sym --ns");
    agrees(RUN(script, &status, "-i", in, "--time", "0.05,0.1"), "--time 0.05,0.1");
    agrees(RUN(script, &status, "-i", in, "-C", "1"), "-C 1");
    agrees(RUN(script, &status, "-i", in, "--pd", "server"), "--comms server");
    assert_int_equal(status, 0);
}

static void test_fields(void **state)
{
    const char *in = recording_path("perf.data");
    char expected[100];
    char *text;
    int status;

    (void)state;
    text = RUN(script, &status, "-i", in, "-e", "instructions", "-F", "+srcline", "-G");
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "one.c:4"));
    assert_null(strstr(text, "cycles"));
    text = RUN(script, &status, "-i", in, "-F", "-time,-event,-tid");
    snprintf(expected, sizeof expected, "%16" PRIx64 " beta+0xc", recording_at.beta + 12);
    assert_non_null(strstr(text, expected));
    assert_null(strstr(text, ": "));
}

static void test_bad_input(void **state)
{
    const char *in = recording_path("perf.data");
    char *text;
    int status;

    (void)state;
    text = RUN(script, &status, "-i", in, "-F", "colour");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    assert_non_null(strstr(text, "no field 'colour', there are comm, sym"));
    RUN(script, &status, "-i", in, "--time", "2,1");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    RUN(script, &status, "-i", in, "--time", "x");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    RUN(script, &status, "-i", in, "-C", "-1");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    text = RUN(script, &status, "-i", in, "-C", "9");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    assert_non_null(strstr(text, "no sample of core 9\n"));
    text = RUN(script, &status, "-i", in, "--pd", "nobody");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    assert_non_null(strstr(text, "no sample of a PD 'nobody'"));
    text = RUN(script, &status, "-i", recording_cut("perf.data", 4000));
    assert_int_equal(status, MKPERF_ERR_INPUT);
    assert_non_null(strstr(text, "offset "));
    RUN(script, &status, "-i", "/nowhere");
    assert_int_equal(status, MKPERF_ERR_INPUT);
}

static int setup(void **state)
{
    recording_setup(state);
    recording_make("perf.data", 40, 5);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equals_perf),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_bad_input),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
