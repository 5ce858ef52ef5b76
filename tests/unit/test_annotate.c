/* SPDX-License-Identifier: BSD-2-Clause */
/* mkperf annotate against perf annotate, and the disassembly against objdump. */
#include "recording.h"

static const char shares[] = "grep -E '^ +[0-9]+\\.[0-9]+ +:' | awk '{print $1}'";

static void agrees(const char *symbol, const char *event)
{
    int status;
    char *a, *b;

    RUN(annotate, &status, "-i", recording_path("perf.data"), "-e", event, symbol);
    assert_int_equal(status, 0);
    a = recording_shell("cat %s | %s", recording_path("out"), shares);
    b = recording_shell("perf annotate --stdio -i %s -s %s 2>/dev/null | "
                        "awk '/Percent.*for/ {on = index($0, \"for %s\") > 0} on' | %s",
                        recording_path("perf.data"), symbol, event, shares);
    assert_true(strlen(b) > 10);
    assert_string_equal(a, b);
    free(a);
    free(b);
}

static void test_equals_perf(void **state)
{
    (void)state;
    agrees("alpha", "cycles");
    agrees("beta", "cycles");
    agrees("gamma_", "instructions");
}

/* The kernel's functions are counted for the PD that entered it. */
static void test_kernel(void **state)
{
    char *text;
    int status;

    (void)state;
    text = RUN(annotate, &status, "-i", recording_path("perf.data"), "handleSyscall");
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "# handleSyscall in kernel.elf: 40 samples of event 'cycles'"));
    assert_non_null(strstr(text, "  100.00 : "));
    text = RUN(annotate, &status, "-i", recording_path("perf.data"), "handleSyscall", "--pd",
               "server");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    assert_non_null(strstr(text, "no sample hit a function handleSyscall in PD server"));
}

/* Every instruction of gamma_ is there, with its source line and the targets of its calls. */
static void test_code(void **state)
{
    char *text, *count;
    int status;

    (void)state;
    text = RUN(annotate, &status, "-i", recording_path("perf.data"), "gamma_");
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "one.c:4  __attribute__((noinline)) int gamma_(int a)"));
    assert_non_null(strstr(text, "<beta>"));
    assert_non_null(strstr(text, "<gamma_>"));
    count = recording_shell("aarch64-linux-gnu-objdump -d --disassemble=gamma_ %s | "
                            "grep -cE '^ +[0-9a-f]+:' ; grep -cE '^ +[0-9.]+ : ' %s",
                            recording_path("one.elf"), recording_path("out"));
    assert_int_equal(strtoul(count, NULL, 10), strtoul(strchr(count, '\n'), NULL, 10));
    free(count);
    text = RUN(annotate, &status, "-i", recording_path("perf.data"), "gamma_", "--no-source");
    assert_null(strstr(text, "one.c"));
}

static void test_all(void **state)
{
    char *text;
    int status;

    (void)state;
    text = RUN(annotate, &status, "-i", recording_path("perf.data"), "-e", "cycles");
    assert_int_equal(status, 0);
    assert_non_null(strstr(text, "# alpha in one.elf"));
    assert_non_null(strstr(text, "# idle_thread in kernel.elf"));
    /* the function with more samples is first */
    assert_true(strstr(text, "# alpha") < strstr(text, "# idle_thread"));
    text = RUN(annotate, &status, "-i", recording_path("perf.data"), "alpha", "--pd", "client one");
    assert_non_null(strstr(text, "PD client one only"));
}

/* A CPU that executes out of order is named, also with its revision; others are not. */
static void test_skid(void **state)
{
    static const struct {
        const char *cpu, *warned; /* NULL: it is not */
    } cases[] = {
        {"cortex-a53", NULL},
        {"Cortex-A35", NULL},
        {"Cortex-A55 r2p0", NULL},
        {"Cortex-A710", NULL},
        {"", NULL},
        {"cortex-a57", "Cortex-A57"},
        {"Cortex-A72 r0p3", "Cortex-A72"},
        {"Cortex-A76", "Cortex-A76"},
        {"Neoverse-N1", "Neoverse-N1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char want[128];
        int status;
        recording_cpu = cases[i].cpu;
        recording_make("skid.data", 4, 0);
        char *text = RUN(annotate, &status, "-i", recording_path("skid.data"), "gamma_");
        assert_int_equal(status, 0);
        if (cases[i].warned == NULL) {
            assert_null(strstr(text, "out of order"));
        } else {
            snprintf(want, sizeof want, "mkperf annotate: warning: %s executes out of order",
                     cases[i].warned);
            assert_non_null(strstr(text, want));
        }
    }
    recording_cpu = "cortex-a53";
}

static void test_bad_input(void **state)
{
    char *text;
    int status;

    (void)state;
    text = RUN(annotate, &status, "-i", recording_path("perf.data"), "nothing");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    assert_non_null(strstr(text, "no sample hit a function nothing"));
    RUN(annotate, &status, "-i", recording_path("perf.data"), "alpha", "beta");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    RUN(annotate, &status, "-i", recording_path("perf.data"), "--percent-limit", "101");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    RUN(annotate, &status, "-i", recording_cut("perf.data", 100));
    assert_int_equal(status, MKPERF_ERR_INPUT);
}

static int setup(void **state)
{
    recording_setup(state);
    recording_make("perf.data", 40, 0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equals_perf), cmocka_unit_test(test_kernel),
        cmocka_unit_test(test_code),        cmocka_unit_test(test_all),
        cmocka_unit_test(test_skid),        cmocka_unit_test(test_bad_input),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
