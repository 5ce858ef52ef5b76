/* SPDX-License-Identifier: BSD-2-Clause */
/* Latencies across cores: the profiler PD's merge of the cores' events, on rings that the test fills. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pd/profiler/latencies.c" // NOLINT(bugprone-suspicious-include)

enum {
    CORES = 3,
    SIZE = 1 << 16,
    CALLER = 11,
    SERVER = 12,
    OTHER = 13,
    SLOT_CALLER = 1,
    SLOT_SERVER = 2,
    SLOT_OTHER = 3,
};

static struct {
    struct mkperf_ring ring;
    uint64_t data[SIZE / 8];
} memory[CORES];
static struct mkperf_ring_producer producer[CORES];
static struct mkperf_ring_consumer consumer[CORES];
struct mkperf_kernel mkperf_kernel;
mkperf_Status mkperf_status;

/* Only a running session's answers ask the kernel for its time. */
uint64_t mkperf_kernel_time(void)
{
    fail();
    return 0;
}

enum { SESSION = 3 }; /* The cores of the session, without the last one. */

static uint64_t *reserve(unsigned core, unsigned words)
{
    uint64_t *w = mkperf_ring_reserve(&producer[core], UINT64_C(8) * words);

    assert_non_null(w);
    return w;
}

static void put(unsigned core, uint64_t time, unsigned kind, unsigned reason, unsigned slot)
{
    uint64_t *w = reserve(core, MKPERF_SCHED_WORDS);

    w[0] = mkperf_sched_header(kind, reason, 0) | (uint64_t)slot << 40 | (uint64_t)core << 56;
    w[MKPERF_WORD_TIME] = time;
    mkperf_ring_commit(&producer[core], UINT64_C(8) * MKPERF_SCHED_WORDS);
}

static void put_switch(unsigned core, uint64_t time, unsigned reason, unsigned slot)
{
    put(core, time, MKPERF_SCHED_SWITCH, reason, slot);
}

static void put_thread(unsigned core, unsigned slot, uint64_t identity)
{
    uint64_t *w = reserve(core, MKPERF_SCHED_THREAD_WORDS);

    w[0] = mkperf_record_header(MKPERF_RECORD_SCHED_THREAD, 8 * MKPERF_SCHED_THREAD_WORDS, 0, slot,
                                0, core);
    w[MKPERF_WORD_TIME] = 0;
    w[MKPERF_WORD_THREAD] = identity;
    w[MKPERF_WORD_SC] = 0;
    mkperf_ring_commit(&producer[core], UINT64_C(8) * MKPERF_SCHED_THREAD_WORDS);
}

static int begin(void **state)
{
    (void)state;
    memset(memory, 0, sizeof memory);
    for (unsigned i = 0; i < CORES; i++) {
        producer[i] = (struct mkperf_ring_producer){.ring = &memory[i].ring, .size = SIZE};
        consumer[i] = (struct mkperf_ring_consumer){.ring = &memory[i].ring, .size = SIZE};
        put_thread(i, SLOT_CALLER, CALLER);
        put_thread(i, SLOT_SERVER, SERVER);
        put_thread(i, SLOT_OTHER, OTHER);
    }
    mkperf_plan.latency = true;
    mkperf_latencies_begin();
    return 0;
}

/* As drain.c: what was read is released. */
static void drain(uint64_t until)
{
    uint64_t end[MKPERF_TARGET_CORES];

    mkperf_latencies_merge(SESSION, consumer, until, end);
    for (unsigned i = 0; i < 2; i++) {
        struct mkperf_ring_consumer *c = &consumer[i];
        assert_true(end[i] >= c->tail && end[i] <= memory[i].ring.head);
        mkperf_ring_release(c, (unsigned)(end[i] - c->tail));
    }
}

/* Returns the calls of that thread to the server. */
static const struct mkperf_latency_pair *calls(uint64_t from)
{
    for (unsigned i = 0; i < MKPERF_LATENCY_PAIRS; i++) {
        const struct mkperf_latency_pair *pair = &latencies.latency.pair[i];
        mkperf_LatencyPair ends;
        mkperf_latency_ends(&latencies.latency, pair, &ends);
        if (pair->key != 0 && ends.kind == mkperf_LatencyKind_LATENCY_CALL &&
            ends.from == mkperf_thread_to_wire(from) && ends.to == mkperf_thread_to_wire(SERVER)) {
            return pair;
        }
    }
    fail_msg("no calls by %d", (int)from);
    return NULL;
}

/* The caller on core 0 calls the server on core 1, from `at` on, for `ticks`. */
static void one_call(uint64_t at, uint64_t ticks)
{
    put_switch(0, at - 10, MKPERF_STOPPED_IDLE, SLOT_CALLER);
    put(0, at, MKPERF_SCHED_CALL, 0, SLOT_SERVER);
    put_switch(0, at + 1, MKPERF_STOPPED_CALLED, SLOT_OTHER);
    put_switch(1, at + 5, MKPERF_STOPPED_IDLE, SLOT_SERVER);
    put(1, at + ticks, MKPERF_SCHED_REPLY, 0, SLOT_CALLER);
    put_switch(1, at + ticks + 1, MKPERF_STOPPED_WAIT_MESSAGE, SLOT_OTHER);
}

/* A hundred calls in one drain: each is answered before the next, on the other core. */
static void test_calls_across_cores(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        one_call(1000 + UINT64_C(1000) * i, 200 + i);
    }
    drain(1000000);
    const struct mkperf_latency_pair *pair = calls(CALLER);
    assert_int_equal(pair->count, 100);
    assert_int_equal(pair->total, 100 * 200 + 99 * 50);
    assert_int_equal(pair->max, 299);
    assert_int_equal(memory[0].ring.tail, memory[0].ring.head);
    assert_int_equal(memory[1].ring.tail, memory[1].ring.head);
    assert_int_equal(memory[2].ring.tail, 0); /* the ring is of no core of the session */
}

/* What is newer than the request stays, whichever ring it is in, so that nothing older follows
 * it: the reply's ring was read before the reply was in it. */
static void test_what_is_too_new_waits(void **state)
{
    (void)state;
    put_switch(0, 990, MKPERF_STOPPED_IDLE, SLOT_CALLER);
    put(0, 1000, MKPERF_SCHED_CALL, 0, SLOT_SERVER);
    put_switch(0, 1001, MKPERF_STOPPED_CALLED, SLOT_OTHER);
    put_switch(0, 1501, MKPERF_STOPPED_PREEMPTED, SLOT_CALLER); /* the answer has come */
    put(0, 1600, MKPERF_SCHED_CALL, 0, SLOT_SERVER);
    drain(1400);
    assert_true(memory[0].ring.tail < memory[0].ring.head);
    put_switch(1, 1005, MKPERF_STOPPED_IDLE, SLOT_SERVER);
    put(1, 1500, MKPERF_SCHED_REPLY, 0, SLOT_CALLER);
    drain(2000);
    put(1, 2100, MKPERF_SCHED_REPLY, 0, SLOT_CALLER);
    drain(3000);
    assert_int_equal(calls(CALLER)->count, 2);
    assert_int_equal(calls(CALLER)->total, 500 + 500);
}

/* A slot that is another's later in the same drain. */
static void test_slots_of_each_core(void **state)
{
    (void)state;
    one_call(1000, 300);
    put_thread(0, SLOT_CALLER, OTHER); /* the caller's slot, only on core 0 */
    put_switch(0, 2000, MKPERF_STOPPED_PREEMPTED, SLOT_CALLER);
    put(0, 2001, MKPERF_SCHED_CALL, 0, SLOT_SERVER);
    put(1, 2500, MKPERF_SCHED_REPLY, 0, SLOT_OTHER);
    drain(5000);
    assert_int_equal(calls(CALLER)->count, 1);
    assert_int_equal(calls(CALLER)->total, 300);
    assert_int_equal(calls(OTHER)->count, 1);
    assert_int_equal(calls(OTHER)->total, 499);
}

/* An invalid ring ends, and the others continue. */
static void test_corrupt_ring(void **state)
{
    (void)state;
    memory[0].data[0] = 0;
    one_call(1000, 300);
    uint64_t end[MKPERF_TARGET_CORES];
    mkperf_latencies_merge(SESSION, consumer, 5000, end);
    assert_int_equal(end[0], memory[0].ring.head);
    assert_int_equal(end[1], memory[1].ring.head);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_calls_across_cores, begin),
        cmocka_unit_test_setup(test_what_is_too_new_waits, begin),
        cmocka_unit_test_setup(test_slots_of_each_core, begin),
        cmocka_unit_test_setup(test_corrupt_ring, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
