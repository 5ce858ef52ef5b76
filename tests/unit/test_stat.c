/* SPDX-License-Identifier: BSD-2-Clause */
/* `mkperf stat` without a target: groups of -e, readings, repeats, estimates, derived figures. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "link/recorder.h"
#include "pmu/events.h"
#include "stat/stat.h"

static struct stat_reading reading, other, out;

static enum mkperf_status parse(const char *text, mkperf_Configure *c)
{
    struct mkperf_error e;

    *c = (mkperf_Configure)mkperf_Configure_init_zero;
    return mkperf_events_parse(text, c, &e);
}

static void test_groups(void **state)
{
    mkperf_Configure c;

    (void)state;
    assert_int_equal(parse("cycles,{instructions,r10:k}:u,{cycles,r1b}", &c), MKPERF_OK);
    assert_int_equal(c.events_count, 5);
    assert_int_equal(c.events[0].group, 0);
    assert_int_equal(c.events[1].group, c.events[2].group);
    assert_int_equal(c.events[3].group, c.events[4].group);
    assert_true(c.events[1].group != 0 && c.events[3].group != c.events[1].group);
    assert_true(c.events[1].user && !c.events[1].kernel);
    assert_true(c.events[2].kernel && !c.events[2].user); /* the event's own modifier is kept */
    assert_int_equal(parse("{cycles,instructions,r10:k}:uS,branches", &c), MKPERF_OK);
    assert_false(c.events[0].read);
    assert_true(c.events[1].read && c.events[2].read && !c.events[3].read);
    assert_true(c.events[1].user && c.events[2].kernel);
    for (const char *const *bad =
             (const char *const[]){"{cycles}:S", "{cycles,r1/period=5/}:S", "cycles:S", "{cycles",
                                   "cycles}", "{}", "{{cycles}}", "{cycles}x", "{cycles}:z",
                                   "{cycles,}", "{cycles}:uu}", "", NULL};
         *bad != NULL; bad++) {
        assert_int_equal(parse(*bad, &c), MKPERF_ERR_USAGE);
    }
}

static mkperf_Counts counts(uint64_t user, uint64_t kernel, uint64_t running)
{
    mkperf_Counts m = mkperf_Counts_init_zero;

    m.tick_hz = 1000;
    m.enabled_ticks = 2000;
    m.slices = running == 2000 ? 1 : 2;
    m.events_count = 1;
    m.events[0] = (mkperf_EventCount){user, kernel, running};
    return m;
}

static void test_scaling(void **state)
{
    mkperf_Counts m = counts(100, 20, 500);

    (void)state;
    stat_begin(&reading, &m);
    assert_true(fabs(reading.seconds - 2) < 1e-9);
    assert_true(fabs(reading.share[0] - 0.25) < 1e-9);
    assert_true(fabs(stat_sum(&reading.row[0].value[0]) - 480) < 1e-6);
    m = counts(0, 0, 0);
    stat_begin(&reading, &m); /* its turn never began: nothing is claimed */
    assert_true(reading.share[0] <= 0);
    assert_true(stat_sum(&reading.row[0].value[0]) <= 0);
}

static void test_difference_and_repeat(void **state)
{
    mkperf_Counts m = counts(100, 0, 2000);
    struct stat_reading *s = test_calloc(1, sizeof *s);

    (void)state;
    stat_begin(&other, &m);
    m = counts(160, 5, 2000);
    stat_begin(&reading, &m);
    stat_difference(&out, &reading, &other);
    assert_true(fabs(out.row[0].value[0].user - 60) < 1e-9);
    stat_repeat_add(s, &other);
    stat_repeat_add(s, &reading);
    stat_repeat_mean(s, &out);
    assert_true(fabs(stat_sum(&out.row[0].value[0]) - 132.5) < 1e-6);
    assert_true(fabs(out.row[0].value[0].error - 32.5) < 1e-6); /* 45.96 / sqrt 2 */
    test_free(s);
}

static void test_estimate(void **state)
{
    struct mkperf_sample sample = {.period = 10};

    (void)state;
    memset(&reading, 0, sizeof reading);
    for (unsigned i = 0; i < 100; i++) {
        sample.pd = i % 4 == 0 ? 7 : 9;
        sample.flags = i % 8 == 0 ? MKPERF_SAMPLE_KERNEL : 0;
        stat_sample(&reading, &sample, i % 2 == 0);
    }
    stat_estimate(&reading, 1, 1);
    assert_int_equal(reading.rows, 4); /* the system, two PDs, core 0 */
    assert_true(fabs(stat_sum(&reading.row[0].value[0]) - 1000) < 1e-6);
    assert_true(fabs(stat_row(&reading, 7)->value[0].kernel - 130) < 1e-6);
    /* sqrt(p (1 - p) / n) of the sum */
    assert_true(fabs(stat_row(&reading, 7)->value[0].error - 1000 * sqrt(.25 * .75 / 100)) < 1e-6);
    for (uint32_t pd = 0; pd < 500; pd++) {
        stat_row(&reading, 1000 + pd); /* more than fit */
    }
    assert_int_equal(reading.rows, STAT_ROWS);
}

/* Prints the reading; to be freed. */
static char *print(bool per_core, const char *separator)
{
    static mkperf_Session session;
    char *text = NULL;
    size_t n;
    struct stat_style style = {.out = open_memstream(&text, &n),
                               .separator = separator,
                               .per_core = per_core,
                               .cores = 2,
                               .title = "test",
                               .session = &session};

    session.events_count = 1;
    strcpy(session.events[0].name, "cycles");
    session.events[0].code = 0x11;
    session.events[0].user_counter = session.events[0].kernel_counter = 1;
    assert_non_null(style.out);
    stat_print(&reading, &style);
    (void)fclose(style.out);
    return text;
}

/* Counts of cores come in parts of their own; each is scaled by its own time. */
static void test_cores(void **state)
{
    mkperf_Counts m = counts(300, 30, 2000);

    (void)state;
    stat_begin(&reading, &m);
    other = reading;
    char *text = print(true, NULL);
    assert_non_null(strstr(text, "sums over 2 cores; the target does not count by core"));
    free(text);
    for (uint32_t core = 0; core < 2; core++) {
        m = counts(0, 0, 2000);
        m.events_count = 0;
        m.cores_count = 1;
        m.cores[0] = (mkperf_CoreCount){.core = core, .enabled_ticks = 2000, .events_count = 1};
        m.cores[0].events[0] = (mkperf_EventCount){100 * (core + 1), 10 * (core + 1), 2000};
        stat_add(&reading, &m, NULL);
    }
    assert_int_equal(reading.rows, 3);
    assert_true(fabs(stat_sum(&reading.row[1].value[0]) - 110) < 1e-9);
    assert_true(fabs(stat_sum(&reading.row[2].value[0]) - 220) < 1e-9);
    text = print(true, ",");
    assert_non_null(strstr(text, "C0,1,110,,cycles,2000000000,100.00,"));
    assert_non_null(strstr(text, "C1,1,220,,cycles,"));
    assert_null(strstr(text, "330"));
    free(text);
    text = print(true, "c"); /* a text that contains the separator is quoted */
    assert_non_null(strstr(text, "C0c1c110cc\"cycles\"c2000000000c100.00c"));
    free(text);
    text = print(true, NULL);
    assert_non_null(strstr(text, "\nC1        1                  220      cycles"));
    free(text);
    text = print(false, NULL);
    assert_non_null(strstr(text, " 330      cycles"));
    assert_null(strstr(text, "220"));
    free(text);
    stat_difference(&out, &reading, &other);
    assert_true(fabs(stat_sum(&out.row[2].value[0]) - 220) < 1e-9);
    /* Core 1 began late and counted for three quarters of the time: its rates are of that time. */
    m.cores[0].enabled_ticks = 1500;
    stat_add(&reading, &m, NULL);
    text = print(true, ",");
    assert_non_null(strstr(text, "C0,1,110,,cycles,2000000000,100.00,0.000000,GHz,"));
    assert_non_null(strstr(text, "C1,1,220,,cycles,1500000000,100.00,"));
    free(text);
    other = reading; /* an interval, and the mean of two runs */
    m.cores[0].enabled_ticks = 3300;
    stat_add(&reading, &m, NULL);
    stat_difference(&out, &reading, &other);
    assert_true(fabs(out.row[2].seconds - 1.8) < 1e-9);
    struct stat_reading *runs = test_calloc(1, sizeof *runs);
    stat_repeat_add(runs, &other);
    stat_repeat_add(runs, &reading);
    stat_repeat_mean(runs, &out);
    assert_true(fabs(out.row[2].seconds - 2.4) < 1e-9);
    assert_false(out.row[2].late);
    /* One that does not answer has no count, in an interval and a mean that it is in neither. */
    other.row[2].late = true;
    stat_difference(&out, &reading, &other);
    assert_true(out.row[2].late);
    stat_repeat_add(runs, &other);
    stat_repeat_mean(runs, &out);
    assert_true(out.row[2].late && !out.row[1].late);
    test_free(runs);
    m.cores[0].enabled_ticks = 2000;
    reading.row[2].late = true;
    text = print(true, ",");
    assert_non_null(strstr(text, "C0,1,110,,cycles,2000000000,100.00,"));
    assert_non_null(strstr(text, "C1,1,<not counted>,,cycles,0,0.00,,,,,\n"));
    free(text);
    text = print(true, NULL);
    assert_non_null(strstr(text, "\nC1        1        <not counted>      cycles"));
    free(text);
    reading.row[2].late = false;
    reading.slices = 2; /* core 1 counted for a quarter of its time */
    m.cores[0].events[0].running_ticks = 500;
    stat_add(&reading, &m, NULL);
    assert_true(fabs(stat_sum(&reading.row[2].value[0]) - 880) < 1e-9);
}

static const char *derived(const mkperf_Session *session, const char *cpu, unsigned i,
                           double *figure)
{
    const struct stat_style style = {.session = session, .cpu = cpu};
    const char *unit = stat_derived(&reading, &reading.row[0], &style, i, figure);

    assert_non_null(unit);
    return unit;
}

static void test_derived(void **state)
{
    mkperf_Session session = mkperf_Session_init_zero;
    double figure;
    const char *unit;

    (void)state;
    memset(&reading, 0, sizeof reading);
    session.events_count = reading.events = 3;
    session.events[0].code = 0x11;
    session.events[1].code = 0x08;
    session.events[2].code = 0x03;
    for (unsigned i = 0; i < 3; i++) {
        session.events[i].user_counter = session.events[i].kernel_counter = 1;
    }
    reading.seconds = 2;
    reading.row[0].value[0].user = 3e9;
    reading.row[0].value[1].user = 6e9;
    reading.row[0].value[2].user = 3e6;
    unit = derived(&session, "", 0, &figure);
    assert_true(fabs(figure - 1.5) < 1e-9 && strcmp(unit, "GHz") == 0);
    unit = derived(&session, "", 1, &figure);
    assert_true(fabs(figure - 2) < 1e-9 && strcmp(unit, "insn per cycle") == 0);
    unit = derived(&session, "", 2, &figure);
    assert_true(fabs(figure - .5) < 1e-9 && strcmp(unit, "misses per 1000 insn") == 0);
    reading.row[0].seconds = 1; /* a core's own time */
    unit = derived(&session, "", 0, &figure);
    assert_true(fabs(figure - 3) < 1e-9 && strcmp(unit, "GHz") == 0);
    /* Cycles are counted again, for another figure: each takes those of its own group. */
    session.events_count = reading.events = 5;
    session.events[3] = session.events[4] = session.events[0];
    session.events[3].code = 0xe1;
    session.events[0].group = session.events[1].group = 1;
    session.events[3].group = session.events[4].group = 4;
    reading.row[0].value[3].user = 1e9;
    reading.row[0].value[4].user = 4e9;
    unit = derived(&session, "Cortex-A53", 3, &figure);
    assert_true(fabs(figure - 25) < 1e-9 && strstr(unit, "instruction cache miss") != NULL);
    unit = derived(&session, "Cortex-A53", 1, &figure);
    assert_true(fabs(figure - 2) < 1e-9);
    unit = derived(&session, "Cortex-A55", 3, &figure);
    assert_string_equal(unit, "M/sec"); /* there it is another event */
    reading.events = 3;
    session.events[0].kernel_counter = 0; /* cycles of other modes: no ratio */
    unit = derived(&session, "", 1, &figure);
    assert_string_equal(unit, "M/sec");
}

static void test_filter(void **state)
{
    struct mkperf_symbols *symbols = mkperf_symbols_new();
    struct mkperf_pds_config config = {.system = "tests/unit/data/subtree.system"};
    struct mkperf_record_options o = {.pd = NULL};
    struct mkperf_pds *pds;
    struct mkperf_error e;

    (void)state;
    assert_int_equal(mkperf_pds_new(&config, symbols, &pds, &e), MKPERF_OK);
    assert_int_equal(mkperf_filter(&o, pds, &e), MKPERF_OK);
    assert_int_equal(o.configure.only_count, 0);
    o.pd = "other";
    o.subtree = "top";
    assert_int_equal(mkperf_filter(&o, pds, &e), MKPERF_OK);
    assert_int_equal(o.configure.only_count, 4); /* other, top, its child, and that one's */
    o.pd = "top";
    o.subtree = NULL;
    assert_int_equal(mkperf_filter(&o, pds, &e), MKPERF_OK);
    assert_int_equal(o.configure.only_count, 4);
    o.pd = "nobody";
    assert_int_equal(mkperf_filter(&o, pds, &e), MKPERF_ERR_USAGE);
    assert_non_null(strstr(e.text, "nobody"));
    mkperf_pds_free(pds);
    mkperf_symbols_free(symbols);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),   cmocka_unit_test(test_scaling),
        cmocka_unit_test(test_estimate), cmocka_unit_test(test_difference_and_repeat),
        cmocka_unit_test(test_derived),  cmocka_unit_test(test_filter),
        cmocka_unit_test(test_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
