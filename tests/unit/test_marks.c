/* SPDX-License-Identifier: BSD-2-Clause */
/* Phases of marks in a profile: by PD, name and id, with lost ends, overlapping, nested, and of a part of the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/profile.h"

#define MS UINT64_C(1000000)

static struct mkperf_profile profile;
static struct mkperf_sink sink;
static struct mkperf_error e;

static void begin(void)
{
    static const struct mkperf_pd pds[] = {{.id = 0, .name = "one"}, {.id = 1, .name = "two"}};
    struct mkperf_session session = {.platform = "test", .cpu = "test", .cores = 1, .nevents = 1};

    sink = mkperf_profile_sink(&profile);
    assert_int_equal(mkperf_sink_begin(&sink, &session, &e), MKPERF_OK);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(mkperf_sink_pd(&sink, &pds[i], &e), MKPERF_OK);
    }
}

static void mark(uint64_t ms, enum mkperf_mark_kind kind, uint32_t pd, uint32_t id)
{
    struct mkperf_mark m = {
        .time_ns = ms * MS, .pd = pd, .kind = kind, .id = id, .name = "request"};

    assert_int_equal(mkperf_sink_mark(&sink, &m, &e), MKPERF_OK);
}

/* The n-th sum is that of these numbers; times in ms. */
static void expect(unsigned n, uint64_t phases, uint64_t sum, uint64_t longest, uint64_t open)
{
    const struct mkperf_mark_sum *s = &profile.mark_sum[n];

    assert_true(n < profile.mark_keys.count);
    assert_int_equal(s->phases, phases);
    assert_int_equal(s->sum_ns, sum * MS);
    assert_int_equal(s->longest_ns, longest * MS);
    assert_int_equal(s->open, open);
}

static int teardown(void **state)
{
    (void)state;
    mkperf_profile_free(&profile);
    memset(&profile, 0, sizeof profile);
    return 0;
}

/* Ten phases of 1 ms; the first end is lost. */
static void lost_end(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 10; i++) {
        mark(10 * i, MKPERF_MARK_BEGIN, 0, 0);
        if (i != 0) {
            mark(10 * i + 1, MKPERF_MARK_END, 0, 0);
        }
    }
    expect(0, 9, 9, 1, 1);
}

static void ends_without_begin(void **state)
{
    (void)state;
    begin();
    mark(1, MKPERF_MARK_END, 0, 7);
    mark(2, MKPERF_MARK_BEGIN, 0, 8);
    mark(3, MKPERF_MARK_END, 0, 7);
    mark(4, MKPERF_MARK_END, 1, 8);
    expect(0, 0, 0, 0, 1);
    expect(1, 0, 0, 0, 0);
}

static void overlapping_ids(void **state)
{
    (void)state;
    begin();
    mark(10, MKPERF_MARK_BEGIN, 0, 7);
    mark(12, MKPERF_MARK_BEGIN, 0, 8);
    mark(13, MKPERF_MARK_END, 0, 7);
    mark(16, MKPERF_MARK_END, 0, 8);
    expect(0, 2, 3 + 4, 4, 0);
}

static void nested(void **state)
{
    (void)state;
    begin();
    mark(10, MKPERF_MARK_BEGIN, 0, 0);
    mark(11, MKPERF_MARK_BEGIN, 0, 0);
    mark(13, MKPERF_MARK_END, 0, 0);
    mark(20, MKPERF_MARK_END, 0, 0);
    mark(30, MKPERF_MARK_BEGIN, 0, 0); /* after the first two, in their memory */
    mark(31, MKPERF_MARK_END, 0, 0);
    expect(0, 3, 2 + 10 + 1, 10, 0);
}

/* --time: marks at other times are not listed and do not count; a phase belongs to its begin. */
static void part_of_the_time(void **state)
{
    (void)state;
    profile.filter.has_time = true;
    profile.filter.from_ns = 20 * MS;
    profile.filter.to_ns = 30 * MS;
    begin();
    mark(10, MKPERF_MARK_POINT, 0, 0);
    mark(11, MKPERF_MARK_BEGIN, 0, 1);
    mark(25, MKPERF_MARK_END, 0, 1);
    mark(26, MKPERF_MARK_POINT, 0, 0);
    mark(27, MKPERF_MARK_BEGIN, 0, 2);
    mark(28, MKPERF_MARK_BEGIN, 0, 3);
    mark(41, MKPERF_MARK_END, 0, 2);
    mark(42, MKPERF_MARK_BEGIN, 0, 4);
    expect(0, 1, 14, 14, 1);
    assert_int_equal(profile.mark_sum[0].points, 1);
    assert_int_equal(profile.nmarks, 4);
    assert_int_equal(profile.nmarks_passed, 4);
    assert_int_equal(profile.mark[0].time_ns, 25 * MS);
    assert_int_equal(profile.mark[3].time_ns, 28 * MS);
}

/* The names of PDs that have no sample, as other texts: printable when a sink gets them. */
static void names_of_pds(void **state)
{
    struct mkperf_session session = {.platform = "test",
                                     .cpu = "test",
                                     .cores = 1,
                                     .nevents = 1,
                                     .pd_names = "one\n\033[31mtwo\n"};

    (void)state;
    sink = mkperf_profile_sink(&profile);
    assert_int_equal(mkperf_sink_begin(&sink, &session, &e), MKPERF_OK);
    assert_string_equal(profile.places.session.pd_names, "one\n?[31mtwo\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(lost_end, teardown),
        cmocka_unit_test_teardown(ends_without_begin, teardown),
        cmocka_unit_test_teardown(overlapping_ids, teardown),
        cmocka_unit_test_teardown(nested, teardown),
        cmocka_unit_test_teardown(part_of_the_time, teardown),
        cmocka_unit_test_teardown(names_of_pds, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
