/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What users of perf type first: its spellings, a file without -i, names that are nearly right,
 * shares of what is shown. Each is accepted, or the message shows what to type instead.
 */
#include "one_target.h"
#include "recording.h"

/* As recording_program, but a function has the name that a compiler gives to a clone. */
static const char program[] =
    "volatile int sink;\n"
    "__attribute__((noinline)) int alpha(int a) { sink = a; return a + 1; }\n"
    "int beta(int a) __asm__(\"beta.constprop.0\");\n"
    "__attribute__((noinline)) int beta(int a) { return alpha(a) + alpha(a + 1); }\n"
    "__attribute__((noinline)) int gamma_(int a) { return a ? gamma_(a - 1) + beta(a) : 0; }\n"
    "void _start(void) { sink = gamma_(3); }\n";

static const char *in;

/* The command ends with the status and prints all of the words (separated by '|'). */
#define SAYS(command, wanted, words, ...)                                                  \
    do {                                                                                   \
        int status_;                                                                       \
        char copy_[300], *text_ = RUN(command, &status_, __VA_ARGS__);                     \
        if (status_ != (wanted)) {                                                         \
            fail_msg(#command ": status %d: %s", status_, text_);                          \
        }                                                                                  \
        snprintf(copy_, sizeof copy_, "%s", words);                                        \
        for (char *word_ = strtok(copy_, "|"); word_ != NULL; word_ = strtok(NULL, "|")) { \
            has(text_, word_);                                                             \
        }                                                                                  \
    } while (0)

/* Returns the share of a row with this name at its end, in the first column, or -1 if there is no such row. */
static double share_of(const char *text, const char *name)
{
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        size_t n, length = strlen(name);

        line += *line == '\n';
        n = strcspn(line, "\n");
        if (*line == ' ' && n > length && strncmp(line + n - length, name, length) == 0 &&
            line[n - length - 1] == ' ') {
            return atof(line);
        }
    }
    return -1;
}

/* Returns the sum of the first column. */
static double sum_of_shares(const char *text)
{
    double sum = 0;

    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        sum += *line == ' ' && strchr(line, '%') != NULL ? atof(line) : 0;
    }
    return sum;
}

static void test_file_without_i(void **state)
{
    (void)state;
    SAYS(report, 0, "Samples: |gamma_", in, "--stdio");
    SAYS(script, 0, "gamma_", in);
    SAYS(report, MKPERF_ERR_USAGE, "unexpected argument", in, "more", "--stdio");
    SAYS(report, MKPERF_ERR_USAGE, "want one recording", "-i", in, in, "--stdio");
    SAYS(record, MKPERF_ERR_USAGE, "--pd selects samples", "-t", "file:none", "--sched", "--pd",
         "server");
}

static void test_accepted(void **state)
{
    (void)state;
    SAYS(report, 0, "gamma_", "-i", in, "--stdio", "-n");
    SAYS(report, 0, "in PD server|beta", "-i", in, "--stdio", "--comm", "server");
    SAYS(report, 0, "in PD server|beta", "-i", in, "--stdio", "--comms", "server");
    SAYS(report, 0, "one.elf|kernel.elf|PD", "-i", in, "--stdio", "-s", "comm,dso");
    SAYS(report, 0, "gamma_", "-i", in, "--stdio", "-s", "overhead,comm,sym");
    SAYS(report, 0, "gamma_", "-i", in, "--stdio", "-F", "overhead,period,comm,sym");
    SAYS(script, 0, "server", "-i", in, "-F", "pd,core,symbol", "--comm", "server");
    SAYS(diff, 0, "one.elf|kernel.elf", "-s", "dso", in, in);
    SAYS(diff, 0, "server", "-s", "comm", in, in);
}

/* perf's options and commands that mean something else here, or nothing. */
static void test_perf_words(void **state)
{
    static const char *const words[][2] = {{"sched", "latency"}, {"trace", "latency"},
                                           {"lock", "latency"},  {"timechart", "view"},
                                           {"mem", "-e "},       {"c2c", "-e "}};
    static const char *const ignored[] = {"--header", "--tui", "--no-inline", "-G"};
    int status;
    char *text;

    (void)state;
    SAYS(report, 0, "gamma_", "--stdio", "-g", "none", in);
    SAYS(report, 0, "gamma_|--", "--stdio", "-g", "graph,0.5,caller", in);
    SAYS(report, 0, "gamma_|--", "--stdio", "-gcaller,0", in);
    SAYS(report, 0, "gamma_|--", "--stdio", "--children", "-g", "callee", in);
    SAYS(report, MKPERF_ERR_USAGE, "want caller, callee or none", "-gflat", in);
    SAYS(report, MKPERF_ERR_USAGE, "--dso|--pd NAME", "--dso", "one.elf", in);
    SAYS(report, MKPERF_ERR_USAGE, "--max-stack|--max-frames", "--max-stack", "3", in);
    SAYS(stat, MKPERF_ERR_USAGE, "--pid|--pd NAME", "--pid", "1");
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) {
        SAYS(report, 0, "gamma_", "--stdio", ignored[i], in);
    }
    text = recording_run(&mkperf_report_command, &status,
                         (const char *[]){"report", "--header-only", in, NULL});
    assert_int_equal(status, 0);
    has(text, "# event ");
    assert_null(strstr(text, "gamma_"));
    text = recording_run(&mkperf_report_command, &status,
                         (const char *[]){"report", "--stdio", "-g", "none", in, NULL});
    assert_null(strstr(text, "--gamma_"));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        text = recording_run(&mkperf_help_command, &status,
                             (const char *[]){"help", words[i][0], NULL});
        assert_int_equal(status, MKPERF_ERR_USAGE);
        has(text, "no command");
        has(text, words[i][1]);
    }
}

static void test_did_you_mean(void **state)
{
    (void)state;
    SAYS(report, MKPERF_ERR_USAGE, "symbl|did you mean 'symbol'|pd, symbol", "-i", in, "-s",
         "pd,symbl");
    SAYS(script, MKPERF_ERR_USAGE, "perid|did you mean 'period'", "-i", in, "-F", "perid");
    SAYS(diff, MKPERF_ERR_USAGE, "symbl|did you mean 'symbol'", "-s", "symbl", in, in);
    SAYS(report, MKPERF_ERR_USAGE, "--childern|did you mean '--children'", "-i", in, "--childern");
    SAYS(report, MKPERF_ERR_USAGE, "sever|did you mean 'server'", "-i", in, "--pd", "sever");
    SAYS(report, MKPERF_ERR_USAGE, "cylces|did you mean 'cycles'", "-i", in, "-e", "cylces");
    SAYS(report, MKPERF_ERR_USAGE, "gama_|did you mean 'gamma_'", "-i", in, "--stdio", "-S",
         "gama_");
    SAYS(annotate, MKPERF_ERR_USAGE, "alpa|did you mean 'alpha'", "-i", in, "alpa");
    int status;
    char *text =
        recording_run(&mkperf_help_command, &status, (const char *[]){"help", "repotr", NULL});
    assert_int_equal(status, MKPERF_ERR_USAGE);
    has(text, "did you mean 'report'?");
}

/* An error about a name is printed without a report's head before it. */
static void test_no_head_before_error(void **state)
{
    int status;

    (void)state;
    char *text = RUN(report, &status, "-i", in, "--stdio", "-S", "nosuch");
    assert_int_equal(status, MKPERF_ERR_USAGE);
    lacks(text, "# file");
}

static void test_clones(void **state)
{
    (void)state;
    SAYS(report, 0, "beta.constprop.0", "-i", in, "--stdio", "-S", "beta");
    SAYS(report, 0, "beta.constprop.0", "-i", in, "--stdio", "-S", "beta.constprop.0");
    SAYS(annotate, 0, "beta.constprop.0", "-i", in, "beta");
}

static void test_percentages(void **state)
{
    double all, relative;
    int status;

    (void)state;
    char *text = RUN(report, &status, "-i", in, "--stdio", "-e", "cycles", "--pd", "server");
    all = share_of(text, "beta.constprop.0");
    text = RUN(report, &status, "-i", in, "--stdio", "-e", "cycles", "--pd", "server",
               "--percentage", "relative");
    relative = share_of(text, "beta.constprop.0");
    has(text, "percentages are of these");
    assert_true(all > 1 && relative > 99);
    assert_true(sum_of_shares(text) > 99.9 && sum_of_shares(text) < 100.1);
    SAYS(report, MKPERF_ERR_USAGE, "one of absolute, relative", "-i", in, "--percentage", "some");

    text = RUN(report, &status, "-i", in, "--stdio", "-e", "cycles", "--no-idle");
    assert_int_equal(status, 0);
    has(text, "# without idle");
    assert_true(share_of(text, "idle_thread") < 0);
    assert_true(sum_of_shares(text) > 99.9 && sum_of_shares(text) < 100.1);
    text = RUN(report, &status, "-i", in, "--stdio", "-e", "cycles");
    assert_true(share_of(text, "idle_thread") > 5);
}

/* Returns the share in the first line that ends with the name behind so many blanks, or -1 if there
 * is none. */
static double share_at(const char *text, const char *name)
{
    double share = -1;

    for (const char *line = text; line != NULL && share < 0; line = strchr(line, '\n')) {
        size_t n, length = strlen(name);
        line += *line == '\n';
        n = strcspn(line, "\n");
        if (n > length && strncmp(line + n - length, name, length) == 0) {
            share = atof(line);
        }
    }
    return share;
}

/* A level for each key; the PDs' lines have the sums, which are those of -s pd. */
static void test_hierarchy(void **state)
{
    int status;

    (void)state;
    char *text = RUN(report, &status, "-i", in, "-e", "cycles", "--hierarchy");
    assert_int_equal(status, 0);
    has(text, "PD / Symbol");
    double server = share_at(text, "  server"), idle = share_at(text, "  idle");
    assert_true(share_at(text, "    [k] idle_thread") > 5);
    /* the sum over two levels */
    assert_true(sum_of_shares(text) > 199.9 && sum_of_shares(text) < 200.1);
    text = RUN(report, &status, "-i", in, "-e", "cycles", "--stdio", "-F", "overhead,comm");
    assert_int_equal(status, 0);
    assert_true(server > 1 && share_at(text, "  server") == server);
    assert_true(idle > 5 && share_at(text, "  idle") == idle);
    SAYS(report, 0, "PD / ELF / Symbol", "-i", in, "--hierarchy", "-F", "comm,dso,sym");
    SAYS(report, 0, "omitted", "-i", in, "--hierarchy", "--percent-limit", "50");
    SAYS(report, MKPERF_ERR_USAGE, "omit --children", "-i", in, "--hierarchy", "--children");
}

/* Branches are cut by their share of the PD that is shown. */
static void test_callers_of_small_pd(void **state)
{
    uint64_t deep[] = {recording_at.beta + 12, recording_at.gamma + 20, 0};
    const char *small = recording_path("small.data");
    struct recording r;

    (void)state;
    recording_begin(&r, "small.data");
    recording_put(&r, 1, 0, 0, 10, recording_at.alpha, deep);
    recording_put(&r, 0, 0, 0, 100000, recording_at.alpha, deep);
    recording_end(&r, 0);
    SAYS(report, 0, "-- beta.constprop.0", "-i", small, "--stdio", "--pd", "server", "-g");
}

static void test_time_in_percent(void **state)
{
    int status;

    (void)state;
    char *text = RUN(script, &status, "-i", in, "-F", "time", "-G");
    size_t all = strlen(text);
    text = RUN(script, &status, "-i", in, "-F", "time", "-G", "--time", "10%-20%");
    assert_int_equal(status, 0);
    assert_in_range(strlen(text), all / 12, all / 8);
    text = RUN(script, &status, "-i", in, "-F", "time", "-G", "--time", "0%-100%");
    assert_int_equal(strlen(text), all);
    SAYS(report, 0, "# only", "-i", in, "--stdio", "--time", "10%-20%");
    SAYS(report, 0, "# only", "-i", in, "--stdio", "--time", "50%");
    SAYS(report, MKPERF_ERR_USAGE, "--time", "-i", in, "--time", "20%-10%");
    SAYS(report, MKPERF_ERR_USAGE, "--time", "-i", in, "--time", "20%-120%");
}

/* ---- commands that talk to a target -----------------------------------------------------------
 */

static void test_record_spellings(void **state)
{
    const char *out = recording_path("spelt.data");

    (void)state;
    target_begin((struct how){.dials = false});
    SAYS(record, 0, "samples in", "-a", "-t", target_address, "-o", out, "--duration", "0.02");
    SAYS(record, 0, "samples in", "-t", target_address, "-o", out, "--duration", "0.02", "-F",
         "max", "--call-graph", "fp");
    SAYS(record, MKPERF_ERR_USAGE, "no PD is named", "-t", target_address, "-o", out, "-p",
         "server");
    target_end();
    SAYS(record, MKPERF_ERR_USAGE, "frame pointers", "-t", target_address, "--call-graph", "dwarf");
    SAYS(record, MKPERF_ERR_USAGE, "whole target|--pd", "-t", target_address, "--", "sleep", "1");
    SAYS(record, MKPERF_ERR_USAGE, "did you mean '--duration'", "-t", target_address, "--duraton",
         "1");
    SAYS(stat, MKPERF_ERR_USAGE, "whole target", "-t", target_address, "sleep", "1");
}

/* As perf: the recording before is kept. */
static void test_old_recording(void **state)
{
    const char *out = recording_path("kept.data");

    (void)state;
    target_begin((struct how){.dials = false});
    free(recording_shell("rm -f %s %s.old", out, out));
    SAYS(record, 0, "samples in", "-t", target_address, "-o", out, "--duration", "0.02");
    char *before = recording_shell("cksum <%s", out);
    SAYS(record, 0, "samples in", "-t", target_address, "-o", out, "--duration", "0.03");
    char *kept = recording_shell("cksum <%s.old", out), *now = recording_shell("cksum <%s", out);
    assert_string_equal(before, kept);
    assert_string_not_equal(before, now);
    free(before);
    free(kept);
    free(now);
    target_end();
}

/* What matters most is reported first, and only that. */
static void test_no_target(void **state)
{
    int status;

    (void)state;
    char *text = RUN(record, &status, "-t", "/nonexistent", "-o", recording_path("no.data"));
    assert_int_equal(status, MKPERF_ERR_USAGE);
    has(text, "/nonexistent");
    lacks(text, "--system");
    text = RUN(record, &status, "-t", "unix:/nonexistent", "-o", recording_path("no.data"));
    assert_int_not_equal(status, 0);
    has(text, "/nonexistent");
    lacks(text, "--system");
}

/* The intervals add up to what was counted: the last one is not left out. */
static void test_last_interval(void **state)
{
    double seconds = 0, count = 0;
    int status;

    (void)state;
    target_begin((struct how){.counts = COUNTED});
    char *text = RUN(stat, &status, "-t", target_address, "-e", "cycles", "-x", ",", "-I", "30",
                     "--duration", "0.1");
    target_end();
    assert_int_equal(status, 0);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        double at;
        uint64_t n;
        line += *line == '\n';
        if (sscanf(line, "%lf,%" SCNu64 ",,cycles", &at, &n) == 2) {
            seconds = at;
            count += (double)n;
        }
    }
    assert_true(seconds >= 0.1);
    assert_int_equal((uint64_t)count, (uint64_t)(seconds * 7e6 + 0.5));
}

/* A PD's rows have its share of the system, and no rate of a clock. */
static void test_stat_of_pds(void **state)
{
    int status;

    (void)state;
    target_begin((struct how){.counts = COUNTED});
    char *text =
        RUN(stat, &status, "-t", target_address, "-e", "cycles", "--per-pd", "--duration", "0.1");
    target_end();
    assert_int_equal(status, 0);
    has(text, "unknown-3");
    has(text, "100.00%");
    has(text, "GHz"); /* the system's row has the rate of its clock */
    assert_null(strstr(strstr(text, "unknown-3"), "GHz"));
}

static int setup(void **state)
{
    recording_setup(state);
    recording_compile("one", program, "");
    recording_at.alpha = recording_address("one.elf", "alpha");
    recording_at.beta = recording_address("one.elf", "beta.constprop.0");
    recording_at.gamma = recording_address("one.elf", "gamma_");
    recording_at.start = recording_address("one.elf", "_start");
    recording_make("perf.data", 40, 0);
    in = recording_path("perf.data");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_without_i),
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_perf_words),
        cmocka_unit_test(test_did_you_mean),
        cmocka_unit_test(test_no_head_before_error),
        cmocka_unit_test(test_clones),
        cmocka_unit_test(test_percentages),
        cmocka_unit_test(test_hierarchy),
        cmocka_unit_test(test_callers_of_small_pd),
        cmocka_unit_test(test_time_in_percent),
        cmocka_unit_test(test_record_spellings),
        cmocka_unit_test(test_old_recording),
        cmocka_unit_test(test_no_target),
        cmocka_unit_test(test_last_interval),
        cmocka_unit_test(test_stat_of_pds),
    };

    return cmocka_run_group_tests(tests, setup, recording_teardown);
}
