/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples of several cores into one order: known answers, late cores, bounded memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/arrival.h"

enum { KEEP = 1 << 17, MS = 1000000 };

/* What was passed on. */
static struct {
    unsigned n, held; /* held: most that were in the merge at a time */
    uint64_t time[KEEP];
    uint32_t core[KEEP];
    uint64_t caller[KEEP], read[KEEP];
    unsigned callers[KEEP];
} out;

static enum mkperf_status keep_samples(void *self, const struct mkperf_item *item,
                                       struct mkperf_error *e)
{
    const struct mkperf_sample *s = item->sample;

    (void)self, (void)e;
    if (item->kind == MKPERF_ITEM_SAMPLE) {
        unsigned i = out.n++;

        assert_true(i < KEEP);
        out.time[i] = s->time_ns;
        out.core[i] = s->core;
        out.callers[i] = s->callers->n;
        out.caller[i] = s->callers->n != 0 ? s->callers->caller[s->callers->n - 1].addr : 0;
        out.read[i] = s->nreads != 0 ? s->reads[s->nreads - 1].count : 0;
    }
    return MKPERF_OK;
}

static unsigned added;

static void add(struct mkperf_merge *m, uint32_t core, uint64_t time_ns, unsigned callers)
{
    struct mkperf_chain chain = {.n = callers};
    struct mkperf_read read[2] = {{1, 5}, {2, time_ns + 1}};
    struct mkperf_sample s = {.time_ns = time_ns, .core = core, .callers = &chain};
    const struct mkperf_sink merge = mkperf_merge_sink(m);
    struct mkperf_error e;

    if (callers != 0) {
        chain.caller[callers - 1].addr = time_ns;
    }
    s.nreads = callers % 3;
    s.reads = read;
    assert_int_equal(mkperf_sink_sample(&merge, &s, &e), MKPERF_OK);
    added++;
    out.held = added - out.n > out.held ? added - out.n : out.held;
}

static struct mkperf_merge *begin(uint32_t awaited)
{
    struct mkperf_merge *m = mkperf_merge_new((struct mkperf_sink){.take = keep_samples});

    memset(&out, 0, sizeof out);
    added = 0;
    mkperf_merge_await(m, awaited, 0);
    return m;
}

static void release(struct mkperf_merge *m, bool all)
{
    const struct mkperf_sink merge = mkperf_merge_sink(m);
    struct mkperf_error e;

    assert_int_equal(all ? mkperf_merge_release(m, true, &e) : mkperf_sink_flush(&merge, &e),
                     MKPERF_OK);
}

static void assert_ordered(void)
{
    for (unsigned i = 1; i < out.n; i++) {
        assert_true(out.time[i - 1] <= out.time[i]);
    }
}

/* Batches of four cores, each in order, with chains and reads of all lengths. */
static void cores_come_out_in_one_order(void **state)
{
    struct mkperf_merge *m = begin(0xf);
    uint64_t time[4] = {100, 101, 102, 103};
    unsigned sum[4] = {0};

    (void)state;
    srand(1);
    for (unsigned i = 0; i < 4000; i++) {
        unsigned core = (unsigned)rand() % 4;
        for (unsigned k = 0; k < 8; k++) {
            time[core] += (uint64_t)rand() % 100000;
            add(m, core, time[core], (unsigned)rand() % (MKPERF_MAX_FRAMES + 2));
        }
        release(m, false);
    }
    release(m, true);
    assert_int_equal(out.n, 32000);
    assert_ordered();
    assert_int_equal(mkperf_merge_unordered(m), 0);
    for (unsigned i = 0; i < out.n; i++) {
        sum[out.core[i]]++;
        assert_true(out.callers[i] == 0 || out.caller[i] == out.time[i]);
        assert_int_equal(out.read[i], out.callers[i] % 3 == 0   ? 0
                                      : out.callers[i] % 3 == 1 ? 5
                                                                : out.time[i] + 1);
    }
    assert_int_equal(sum[0] + sum[1] + sum[2] + sum[3], 32000);
    mkperf_merge_free(m);
}

/* A sample waits until each core has sent a later one. */
static void a_sample_waits_for_the_other_cores(void **state)
{
    struct mkperf_merge *m = begin(3);

    (void)state;
    add(m, 0, 10 * MS, 1);
    add(m, 0, 30 * MS, 1);
    release(m, false);
    assert_int_equal(out.n, 0);
    add(m, 1, 20 * MS, 2);
    release(m, false);
    assert_int_equal(out.n, 2); /* the samples of 10 and 20 are passed on; that of 30 waits */
    assert_int_equal(out.core[1], 1);
    release(m, true);
    assert_int_equal(out.n, 3);
    mkperf_merge_free(m);
}

/* A core that sends nothing is waited for a second, and is not forgotten when it arrives late. */
static void a_silent_core_delays_by_a_second(void **state)
{
    struct mkperf_merge *m = begin(3);

    (void)state;
    for (unsigned i = 1; i <= 1500; i++) {
        add(m, 0, (uint64_t)i * MS, 0);
    }
    release(m, false);
    assert_int_equal(out.n, 500);
    add(m, 1, 400 * (uint64_t)MS, 0); /* too late for its place */
    add(m, 1, 600 * (uint64_t)MS, 0);
    release(m, false);
    assert_int_equal(mkperf_merge_unordered(m), 1);
    release(m, true);
    assert_int_equal(out.n, 1502);
    assert_int_equal(mkperf_merge_unordered(m), 1);
    mkperf_merge_free(m);
}

static unsigned events;
static uint64_t event_ns;

/* Keeps samples. Checks that each event follows the samples and events before its time. */
static enum mkperf_status keep_samples_and_check_events(void *self, const struct mkperf_item *item,
                                                        struct mkperf_error *e)
{
    const struct mkperf_sched *s = item->sched;

    if (item->kind != MKPERF_ITEM_SCHED) {
        return keep_samples(self, item, e);
    }
    assert_true(s->time_ns >= event_ns && (out.n == 0 || s->time_ns >= out.time[out.n - 1]));
    assert_int_equal(s->irq, s->time_ns / MS);
    event_ns = s->time_ns;
    events++;
    return MKPERF_OK;
}

/* A core's events and its samples come in messages of their own: each waits for the other. */
static void events_are_merged_too(void **state)
{
    struct mkperf_merge *m =
        mkperf_merge_new((struct mkperf_sink){.take = keep_samples_and_check_events});
    const struct mkperf_sink merge = mkperf_merge_sink(m);
    struct mkperf_error e;

    (void)state;
    memset(&out, 0, sizeof out);
    added = 0;
    mkperf_merge_await(m, 3, 3);
    for (unsigned i = 1; i <= 100; i++) {
        add(m, i % 2, (uint64_t)i * MS, i % 3);
    }
    for (unsigned core = 0; core < 2; core++) {
        assert_int_equal(out.n, 0);
        for (unsigned i = 1; i <= 100; i++) {
            const struct mkperf_sched s = {.time_ns = (uint64_t)i * MS, .core = core, .irq = i};
            assert_int_equal(mkperf_sink_sched(&merge, &s, &e), MKPERF_OK);
        }
        release(m, core == 1);
    }
    assert_int_equal(out.n, 100);
    assert_int_equal(events, 200);
    assert_int_equal(mkperf_merge_unordered(m), 0);
    mkperf_merge_free(m);
}

/* However many samples come while a core is silent, at most 8 MiB of them wait after a flush. */
static void memory_is_bounded(void **state)
{
    struct mkperf_merge *m = begin(3);
    enum { N = 100000 };

    (void)state;
    for (unsigned i = 0; i < N; i++) { /* 100,000 in 0.1 s, 16 callers each */
        add(m, 0, 1000 * ((uint64_t)i + 1), 16);
        release(m, false);
    }
    assert_true(out.n > 0);
    assert_true((size_t)out.held * 16 * sizeof(struct mkperf_caller) <= MKPERF_MERGE_BYTES);
    release(m, true);
    assert_int_equal(out.n, N);
    assert_ordered();
    mkperf_merge_free(m);
}

/* What was passed on, in order: 1000 + core for a reading, the core for an event. */
static unsigned passed[8], npassed;

static enum mkperf_status keep_order(void *self, const struct mkperf_item *item,
                                     struct mkperf_error *e)
{
    (void)self, (void)e;
    switch (item->kind) {
    case MKPERF_ITEM_SCHED:
        passed[npassed++] = item->sched->core;
        break;
    case MKPERF_ITEM_READING:
        assert_int_equal(item->reading->head, item->reading->time_ns + 1);
        assert_int_equal(item->reading->tail, item->reading->time_ns + 2);
        passed[npassed++] = 1000 + item->reading->core;
        break;
    default:
        break;
    }
    return MKPERF_OK;
}

/* A reading stays in front of the event with its time, and the cores are in one order. */
static void readings_keep_their_place(void **state)
{
    static const unsigned expected[] = {1000, 0, 1001, 1, 1000, 0};
    struct mkperf_merge *m = mkperf_merge_new((struct mkperf_sink){.take = keep_order});
    const struct mkperf_sink merge = mkperf_merge_sink(m);
    struct mkperf_error e;

    (void)state;
    npassed = 0;
    mkperf_merge_await(m, 0, 3);
    for (unsigned i = 0; i < 3; i++) {
        static const uint64_t times[] = {10, 30, 20};
        uint64_t t = times[i];
        const struct mkperf_queue_reading r = {
            .time_ns = t, .core = i == 2, .head = t + 1, .tail = t + 2};
        const struct mkperf_sched s = {.time_ns = t, .core = i == 2};

        assert_int_equal(mkperf_sink_queue_reading(&merge, &r, &e), MKPERF_OK);
        assert_int_equal(mkperf_sink_sched(&merge, &s, &e), MKPERF_OK);
    }
    assert_int_equal(mkperf_merge_release(m, true, &e), MKPERF_OK);
    assert_int_equal(npassed, 6);
    assert_memory_equal(passed, expected, sizeof expected);
    mkperf_merge_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores_come_out_in_one_order),
        cmocka_unit_test(readings_keep_their_place),
        cmocka_unit_test(a_sample_waits_for_the_other_cores),
        cmocka_unit_test(a_silent_core_delays_by_a_second),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(events_are_merged_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
