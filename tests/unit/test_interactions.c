/* SPDX-License-Identifier: BSD-2-Clause */
/* Interactions: their lines in a file, bad lines, and reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/figures.h"
#include "perfdata/perfdata_internal.h"
#include "report/report.h"

static struct mkperf_interactions a;
static struct perfin_session b;

static void add(const char *from, const char *to, uint64_t calls, uint64_t notifications)
{
    struct mkperf_interaction e = {.calls = calls, .notifications = notifications};

    snprintf(e.from, sizeof e.from, "%s", from);
    snprintf(e.to, sizeof e.to, "%s", to);
    mkperf_interactions_add(&a, &e);
}

static int clear(void **state)
{
    (void)state;
    memset(&a, 0, sizeof a);
    free(b.interactions);
    memset(&b, 0, sizeof b);
    return 0;
}

static char *written(void (*write)(FILE *f))
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    assert_non_null(f);
    write(f);
    assert_int_equal(fclose(f), 0);
    return text;
}

static void write_lines(FILE *f)
{
    perfdata_lines_write(f, OF_INTERACTIONS, 0, &a);
    for (unsigned i = 0; i < a.nedges; i++) {
        perfdata_lines_write(f, OF_EDGE, 0, &a.edge[i]);
    }
    for (unsigned i = 0; i < a.npds; i++) {
        perfdata_lines_write(f, OF_SOFT, 0, &a.pd[i]);
    }
}

static void write_dot(FILE *f)
{
    report_interactions_print(&a, REPORT_DOT, "x.data", f);
}

static void write_table(FILE *f)
{
    report_interactions_print(&a, REPORT_TABLE, "x.data", f);
}

/* Lines as a perf.data reader cuts them: key, blank, value. */
static void read_lines(char *text)
{
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(line, ' ');
        assert_non_null(value);
        *value = '\0';
        assert_true(perfdata_line_read(&b, line, value + 1));
    }
}

static void test_lines_come_back(void **state)
{
    struct mkperf_soft_counts pd = {
        "my \"server\"", {1, 2, 3, UINT64_MAX}, {0x7f80, 0x6000, 0x8000, UINT64_MAX}};

    (void)state;
    a.ns = 1500000000;
    a.records_dropped = 4;
    a.total[MKPERF_SOFT_PPCALL] = 11;
    add("client one", "my \"server\"", 7, 0);
    add("client one", "my \"server\"", 3, 1); /* this edge is there already */
    add("x", "x", 0, UINT64_MAX);
    mkperf_interactions_add_pd(&a, &pd);
    mkperf_interactions_add_pd(&a, &(struct mkperf_soft_counts){"my \"server\"", {9}, {0}});
    assert_int_equal(a.nedges, 2);
    assert_int_equal(a.npds, 1);
    char *text = written(write_lines);
    read_lines(text);
    assert_memory_equal(&a, b.interactions, sizeof a);
    free(text);
    assert_int_equal(mkperf_interactions_unplaced(b.interactions, MKPERF_SOFT_PPCALL), 1);
    assert_int_equal(mkperf_interactions_unplaced(b.interactions, MKPERF_SOFT_NOTIFICATION), 0);
}

static void test_bad_lines(void **state)
{
    static const char *const bad[] = {"",       "1",       "x 2 a\tb", "1 2 no tab",
                                      "1 2",    "1 2 \t",  "1 2\ta",   "18446744073709551616 1 a",
                                      "-1 1 a", "1 2 3 4", "\t\t\t"};

    (void)state;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        (void)perfdata_line_read(&b, "soft_edge", bad[i]);
        (void)perfdata_line_read(&b, "soft_pd", bad[i]);
        (void)perfdata_line_read(&b, "soft_stack", bad[i]);
        (void)perfdata_line_read(&b, "soft_total", bad[i]);
        (void)perfdata_line_read(&b, "soft_ns", bad[i]);
    }
    struct mkperf_interactions before = *b.interactions;
    assert_true(perfdata_line_read(&b, "edge", "1 2 a\tb"));
    assert_true(perfdata_line_read(&b, "soft_other", "1 2 a\tb"));
    assert_memory_equal(b.interactions, &before, sizeof before);
    /* More than fit. */
    for (unsigned i = 0; i < 2 * MKPERF_SOFT_EDGES; i++) {
        char line[64];
        snprintf(line, sizeof line, "1 1 from%u\tto", i);
        assert_true(perfdata_line_read(&b, "soft_edge", line));
        snprintf(line, sizeof line, "1 1 1 1 pd%u", i);
        assert_true(perfdata_line_read(&b, "soft_pd", line));
    }
    assert_int_equal(b.interactions->nedges, MKPERF_SOFT_EDGES);
    assert_int_equal(b.interactions->npds, MKPERF_COUNT_THREADS);
}

static void test_reports(void **state)
{
    (void)state;
    a.ns = 2000000000;
    a.total[MKPERF_SOFT_PPCALL] = 12;
    a.total[MKPERF_SOFT_NOTIFICATION] = 5;
    a.records_dropped = 2;
    add("a\"b\\c", "d", 10, 5);
    char *dot = written(write_dot);
    assert_non_null(
        strstr(dot, "\"a\\\"b\\\\c\" -> \"d\" [label=\"10 calls\\n5.0/s\", style=solid];"));
    assert_non_null(strstr(dot, "[label=\"5 notifications\\n2.5/s\", style=dashed];"));
    assert_non_null(strstr(dot, "// WARNING: 2 of 12 ppcalls are in no line"));
    free(dot);
    char *table = written(write_table);
    assert_non_null(strstr(table, "        10             5        7.5  a\"b\\c -> d\n"));
    assert_non_null(strstr(table, "# WARNING: 2 of 12 ppcalls are in no line"));
    assert_non_null(strstr(table, "# WARNING: 2 faults have no mark"));
    free(table);
    a.ns = 0; /* without a time there is no rate, rather than a wrong one */
    table = written(write_table);
    assert_non_null(strstr(table, "         ?  a\"b\\c -> d\n"));
    free(table);
}

static void write_stacks(FILE *f)
{
    report_interactions_print(&a, REPORT_STACKS, "x.data", f);
}

/* What is known of a stack, whatever the target sent. */
static void test_stacks(void **state)
{
    static const struct {
        struct mkperf_soft_stack stack;
        const char *line;
    } known[] = {
        {{0x7f80, 0x6000, 0x8000, 0x6008}, "     8192       128    1.56%      8184   99.90%  pd\n"},
        {{0x7f80, 0x6000, 0x8000, 0}, "     8192       128    1.56%         -           pd\n"},
        /* words in use may be 0 */
        {{0x7000, 0x6000, 0x8000, 0x7ff8}, "     8192      4096   50.00%      4096   50.00%  pd\n"},
        {{0x7f80, 0, 0, 0}, "        -         -                  -           pd\n"},
        /* nonsense */
        {{0x9000, 0x6000, 0x8000, 0x5000}, "     8192         -                  -           pd\n"},
        {{1, UINT64_MAX, 1, 1}, "        -         -                  -           pd\n"},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
        struct mkperf_soft_counts pd = {"pd", {0}, known[i].stack};
        a.npds = 0;
        mkperf_interactions_add_pd(&a, &pd);
        char *table = written(write_stacks);
        const char *line = strstr(table, "Used           PD\n");
        assert_non_null(line);
        assert_string_equal(strchr(line, '\n') + 1, known[i].line);
        free(table);
    }
}

#define T(name) cmocka_unit_test_setup(name, clear)

int main(void)
{
    const struct CMUnitTest tests[] = {T(test_lines_come_back), T(test_bad_lines), T(test_reports),
                                       T(test_stacks)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
