/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Group reads in samples, from the writer of perf.data to its reader: what perf itself
 * makes of such a file is tests/system/stat.sh's business.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/model.h"
#include "perfdata/perfdata.h"

static char path[] = "/tmp/mkperf-reads-XXXXXX";

/* What a sink heard, in short: "e0 100[1=5 2=6]" of a sample of event 0. */
static char heard[4096];
static struct mkperf_session session_heard;
static struct mkperf_totals totals_heard;

static void hear_sample(const struct mkperf_sample *s)
{
    size_t n = strlen(heard);

    n += (size_t)snprintf(heard + n, sizeof heard - n, "e%u %llu", s->event,
                          (unsigned long long)s->period);
    for (unsigned i = 0; i < s->nreads; i++) {
        n += (size_t)snprintf(heard + n, sizeof heard - n, "%c%u=%llu", i == 0 ? '[' : ' ',
                              s->reads[i].event, (unsigned long long)s->reads[i].count);
    }
    snprintf(heard + n, sizeof heard - n, "%s\n", s->nreads != 0 ? "]" : "");
}

static enum mkperf_status hear_item(void *self, const struct mkperf_item *item,
                                    struct mkperf_error *e)
{
    (void)self, (void)e;
    switch (item->kind) {
    case MKPERF_ITEM_BEGIN:
        session_heard = *item->session;
        break;
    case MKPERF_ITEM_SAMPLE:
        hear_sample(item->sample);
        break;
    case MKPERF_ITEM_END:
        totals_heard = *item->totals;
        break;
    default:
        break;
    }
    return MKPERF_OK;
}

static void put(const struct mkperf_sink *sink, uint32_t event, uint64_t period, uint64_t first,
                uint64_t second)
{
    static uint64_t now;
    const struct mkperf_chain none = {.n = 0};
    const struct mkperf_read reads[] = {{1, first}, {2, second}};
    struct mkperf_error e;
    struct mkperf_sample s = {.time_ns = now += 1000,
                              .period = period,
                              .event = event,
                              .pc = 0x1000,
                              .callers = &none,
                              .nreads = event == 0 ? 2 : 0,
                              .reads = reads};

    assert_int_equal(sink->take(sink->self, MKPERF_ITEM(SAMPLE, sample, &s), &e), MKPERF_OK);
}

/* A recording with a group of three, of which the first samples, and an event for itself. */
static void write_file(void)
{
    struct mkperf_symbols *symbols = mkperf_symbols_new();
    struct mkperf_perfdata *w;
    struct mkperf_error e;
    struct mkperf_session s = {.platform = "fake", .cores = 1, .nevents = 4, .max_frames = 4};
    struct mkperf_totals t = {.samples = 4, .first_ns = 1000, .last_ns = 4000, .complete = true};
    const struct mkperf_pd pd = {.thread = 1, .id = 0, .name = "one"};

    s.event[0] = (struct mkperf_event){
        .name = "cycles", .code = 0x11, .user = true, .kernel = true, .period = 100, .group = 1};
    s.event[1] = (struct mkperf_event){
        .name = "instructions", .code = 8, .user = true, .kernel = true, .group = 1, .read = true};
    s.event[2] = (struct mkperf_event){
        .name = "branches", .code = 12, .user = true, .kernel = true, .group = 1, .read = true};
    s.event[3] = (struct mkperf_event){
        .name = "cache-misses", .code = 3, .user = true, .kernel = true, .period = 7};
    t.enabled_ns[3] = 4000;
    t.running_ns[3] = 1000;
    assert_int_equal(mkperf_perfdata_new(path, symbols, &w, &e), MKPERF_OK);
    struct mkperf_sink sink = mkperf_perfdata_sink(w);
    assert_int_equal(sink.take(sink.self, MKPERF_ITEM(BEGIN, session, &s), &e), MKPERF_OK);
    assert_int_equal(sink.take(sink.self, MKPERF_ITEM(PD, pd, &pd), &e), MKPERF_OK);
    put(&sink, 0, 100, 50, 6);
    put(&sink, 3, 7, 0, 0);
    put(&sink, 0, 103, 0, 0);
    put(&sink, 0, 99, UINT64_C(1) << 55, 1);
    assert_int_equal(sink.take(sink.self, MKPERF_ITEM(END, totals, &t), &e), MKPERF_OK);
    mkperf_perfdata_free(w);
    mkperf_symbols_free(symbols);
}

static void read_file(bool splits)
{
    struct mkperf_sink sink = {.take = hear_item, .splits = splits};
    struct mkperf_error e;

    heard[0] = '\0';
    assert_int_equal(mkperf_perfdata_read(path, -1, &sink, &e), MKPERF_OK);
}

static void test_there_and_back(void **state)
{
    (void)state;
    write_file();
    read_file(false);
    assert_string_equal(heard, "e0 100[1=50 2=6]\n"
                               "e3 7\n"
                               "e0 103[1=0 2=0]\n"
                               "e0 99[1=36028797018963968 2=1]\n");
    assert_int_equal(session_heard.event[0].group, 1);
    assert_true(session_heard.event[1].read && session_heard.event[2].read);
    assert_false(session_heard.event[0].read || session_heard.event[3].read);
    assert_int_equal(session_heard.event[3].group, 0);
    assert_int_equal(totals_heard.enabled_ns[3], 4000);
    assert_int_equal(totals_heard.running_ns[3], 1000);
    assert_int_equal(totals_heard.enabled_ns[0], 0);
    assert_int_equal(totals_heard.samples, 4);
}

/* A sink that knows nothing of it gets a sample of each event that counted anything, as perf. */
static void test_spread(void **state)
{
    (void)state;
    write_file();
    read_file(true);
    assert_string_equal(heard, "e0 100[1=50 2=6]\ne1 50\ne2 6\n"
                               "e3 7\n"
                               "e0 103[1=0 2=0]\n"
                               "e0 99[1=36028797018963968 2=1]\ne1 36028797018963968\ne2 1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_spread),
    };
    int fd = mkstemp(path);

    if (fd < 0 || close(fd) != 0) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
