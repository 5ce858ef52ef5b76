/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel hook with descriptors that name missing counters or have arbitrary contents. An access
 * to a missing counter is undefined on AArch64 and halted seL4, so the
 * machine here fails the test at one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/capture.c" // NOLINT(bugprone-suspicious-include)
#include "kernel/counts.c"  // NOLINT(bugprone-suspicious-include)
#include "kernel/soft.c"    // NOLINT(bugprone-suspicious-include)

enum {
    ALL = MKPERF_MAX_COUNTERS,
    RING_BYTES = MKPERF_RING_MIN_BYTES,
    GUARD = 64,
    RANDOM_DESCRIPTORS = 20000,
};

static struct {
    unsigned there; /* counters that the CPU has */
    uint32_t value[ALL];
    uint32_t overflow;
    uint64_t time, thread, random;
    unsigned reads, writes, wakes;
} cpu;

static struct {
    struct mkperf_ring ring;
    uint64_t data[RING_BYTES / 8];
    uint64_t guard[GUARD];
} memory;

static struct mkperf_counts table;

/* ---- the hook's port ------------------------------------------------------------------------ */

bool mkperf_port_context(struct mkperf_port_context *c, bool kernel)
{
    (void)kernel;
    *c = (struct mkperf_port_context){0x1000, 0x2000, 0};
    return true;
}

uint64_t mkperf_port_thread(void)
{
    return cpu.thread;
}

uint64_t mkperf_port_kernel_pc(void)
{
    return 0;
}

unsigned mkperf_port_core(void)
{
    return 0;
}

uint64_t mkperf_port_time(void)
{
    return ++cpu.time;
}

uint64_t mkperf_port_tick_hz(void)
{
    return 1000000;
}

uint32_t mkperf_port_counters(void)
{
    return (UINT32_C(1) << cpu.there) - 1;
}

uint32_t mkperf_port_overflow_take(void)
{
    uint32_t taken = cpu.overflow & mkperf_port_counters(); /* others' flags read as zero */

    cpu.overflow = 0;
    return taken;
}

uint32_t mkperf_port_counter_read(unsigned i)
{
    assert_true(i < cpu.there);
    cpu.reads++;
    return cpu.value[i];
}

void mkperf_port_counter_write(unsigned i, uint32_t value)
{
    assert_true(i < cpu.there);
    cpu.writes++;
    cpu.value[i] = value;
}

uintptr_t mkperf_port_user_page(uint64_t va)
{
    (void)va;
    return 0;
}

/* As a kernel does: refused if the ring is longer than the consumer's mapping. */
struct mkperf_ring *mkperf_port_ring(const struct mkperf_descriptor *d, uint64_t bytes)
{
    (void)d;
    return bytes <= sizeof memory.ring + sizeof memory.data ? &memory.ring : NULL;
}

struct mkperf_soft *mkperf_port_soft(const struct mkperf_descriptor *d)
{
    (void)d;
    return NULL;
}

void mkperf_port_wake(void)
{
    cpu.wakes++;
}

/* ---- the cases ------------------------------------------------------------------------------ */

static struct mkperf_capture_state hook;
static struct mkperf_counts_state counts;
static struct mkperf_descriptor d;

static void boot(unsigned there)
{
    memset(&cpu, 0, sizeof cpu);
    memset(&memory, 0, sizeof memory);
    memset(&table, 0, sizeof table);
    memset(&hook, 0, sizeof hook);
    memset(&counts, 0, sizeof counts);
    cpu.there = there;
    cpu.thread = 1;
    d = (struct mkperf_descriptor){.magic = MKPERF_DESCRIPTOR_MAGIC,
                                   .generation = 1,
                                   .counter_mask = MKPERF_COUNT_BITS,
                                   .watermark = UINT32_MAX,
                                   .ring_bytes = RING_BYTES};
    for (unsigned i = 0; i < ALL; i++) {
        d.counter[i].first = d.counter[i].period = 100000;
    }
}

/* The record that the hook wrote last, and no other is there; NULL: none. */
static const uint64_t *record(void)
{
    struct mkperf_ring_consumer c = {
        .ring = &memory.ring, .size = RING_BYTES, .tail = memory.ring.tail};
    unsigned size;
    bool corrupt = false;
    const uint64_t *w = mkperf_ring_peek(&c, &size, &corrupt);

    assert_false(corrupt);
    if (w != NULL) {
        mkperf_ring_release(&c, size);
        assert_int_equal(memory.ring.head, memory.ring.tail);
    }
    return w;
}

/* Overflows of counters that the CPU has not cannot come, and none is armed. */
static void test_samples(void **state)
{
    (void)state;
    for (unsigned there = 1; there <= ALL; there++) {
        boot(there);
        cpu.overflow = UINT32_MAX;
        mkperf_capture(&d, &hook);
        assert_int_equal(cpu.writes, there);
        assert_int_equal(hook.spurious, 0);
        cpu.overflow = there < ALL ? UINT32_C(1) << there : UINT32_C(1) << 31;
        mkperf_capture(&d, &hook);
        assert_int_equal(cpu.writes, there);
        assert_int_equal(hook.spurious, 1);
    }
}

/* Values that ride in a sample: of counters that are there, and of all of those. */
static void test_values(void **state)
{
    (void)state;
    for (unsigned there = 1; there <= ALL; there++) {
        boot(there);
        d.special = 1;
        d.read_mask = UINT32_MAX - 1;
        d.reads[0] = UINT32_MAX;
        for (unsigned i = 1; i < there; i++) {
            cpu.value[i] = MKPERF_COUNT_PERIOD + i * 10;
        }
        cpu.overflow = 1;
        mkperf_capture(&d, &hook);
        assert_int_equal(cpu.reads, there); /* its own, to re-arm it, and the others */
        assert_int_equal(cpu.writes, 1);
        const uint64_t *w = record();
        assert_non_null(w);
        assert_int_equal(w[MKPERF_WORD_PERIOD], 100000);
        if (there == 1) {
            continue; /* nothing to ride */
        }
        unsigned rode = there - 1 < MKPERF_MAX_READS ? there - 1 : MKPERF_MAX_READS;
        w += MKPERF_SAMPLE_FIXED_WORDS;
        assert_int_equal(*w++, rode);
        for (unsigned i = 1; i <= rode; i++, w++) {
            assert_int_equal(*w >> MKPERF_READ_COUNTER_SHIFT, i);
            assert_int_equal(*w & MKPERF_READ_COUNT, i * 10);
        }
    }
}

/* The same if the sample's thread is filtered out, and if the ring is full. */
static void test_values_of_no_sample(void **state)
{
    (void)state;
    for (unsigned full = 0; full < 2; full++) {
        boot(6);
        d.special = 1;
        d.read_mask = UINT32_MAX - 1;
        d.reads[0] = UINT32_MAX;
        d.kernel_mask = UINT32_MAX - 1;
        d.filters = !full;
        d.filter[0] = 2;
        cpu.overflow = 1;
        mkperf_capture(&d, &hook); /* begins the session */
        memory.ring.tail = full ? hook.head - RING_BYTES : memory.ring.head;
        uint64_t head = memory.ring.head;
        cpu.reads = 0;
        cpu.overflow = 1;
        mkperf_capture(&d, &hook);
        assert_int_equal(memory.ring.head, head);
        assert_int_equal(hook.dropped_samples, full);
        assert_int_equal(cpu.reads, 1 + 5 + 5); /* arm it, read the others, restart them */
    }
}

/* Counts by thread: every counter that is there, and no other. */
static void test_counts(void **state)
{
    (void)state;
    for (unsigned there = 1; there <= ALL; there++) {
        boot(there);
        d.count_mask = UINT32_MAX;
        d.count_epoch = 1;
        for (unsigned i = 0; i < ALL; i++) {
            d.slot[i] = (uint8_t)(i == 0);
        }
        mkperf_counts_entry(&d, &counts, &table, 1, 2, 3);
        for (unsigned i = 0; i < there; i++) {
            cpu.value[i] += 7;
        }
        mkperf_counts_entry(&d, &counts, &table, 1, 1, 3);
        assert_int_equal(cpu.reads, 2 * there);
        assert_int_equal(cpu.writes, 0);
        const struct mkperf_counts_thread *one = find(&table, 1);
        assert_non_null(one);
        assert_int_equal(one->count[1], 7);
        assert_int_equal(one->count[0], 7 * (there - 1));
    }
}

static uint64_t draw(void)
{
    cpu.random ^= cpu.random << 13;
    cpu.random ^= cpu.random >> 7;
    cpu.random ^= cpu.random << 17;
    return cpu.random;
}

/*
 * Random descriptors, as a consumer could publish them, changed between any two interrupts, with
 * random positions in the ring's header: no counter that is not there, not a byte behind the ring.
 */
static void test_random(void **state)
{
    struct mkperf_descriptor good;

    (void)state;
    boot(6);
    good = d;
    cpu.random = 20261121;
    memset(memory.guard, 0xa5, sizeof memory.guard);
    for (unsigned n = 0; n < RANDOM_DESCRIPTORS; n++) {
        uint8_t *bytes = (uint8_t *)&d;
        if (n % 4 == 0) {
            d = good;
            d.generation = (uint32_t)draw();
        } else {
            for (size_t i = 0; i < sizeof d; i++) {
                bytes[i] = (uint8_t)(draw() >> 32);
            }
            d.ring_bytes = n % 4 == 1 ? RING_BYTES : d.ring_bytes;
        }
        cpu.there = 1 + (unsigned)(draw() >> 32) % ALL;
        if (n % 8 == 5) {
            memory.ring.tail = draw();
        } else if (n % 8 == 6) {
            memory.ring.tail = hook.head;
        }
        for (unsigned k = 0; k < 3; k++) {
            uint64_t some = draw();
            cpu.overflow = (uint32_t)(some >> 32) & (uint32_t)some;
            cpu.thread = draw() % 100;
            cpu.value[draw() % ALL] = (uint32_t)(draw() >> 32);
            mkperf_capture(&d, &hook);
            mkperf_counts_entry(&d, &counts, &table, cpu.thread, draw() % 100, 3);
        }
        for (unsigned i = 0; i < GUARD; i++) {
            assert_int_equal(memory.guard[i], UINT64_C(0xa5a5a5a5a5a5a5a5));
        }
    }
    assert_true(cpu.writes > RANDOM_DESCRIPTORS && cpu.reads > cpu.writes && cpu.wakes > 0);

    /* And sampling is intact. */
    d = good;
    d.generation = hook.generation + 1;
    cpu.there = 6;
    memory.ring.tail = memory.ring.head = 0;
    cpu.value[2] = 0;
    cpu.overflow = 1 << 2;
    mkperf_capture(&d, &hook);
    const uint64_t *w = record();
    assert_non_null(w);
    assert_int_equal(w[MKPERF_WORD_PERIOD], 100000);
    assert_int_equal(hook.dropped_samples, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_values_of_no_sample),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
