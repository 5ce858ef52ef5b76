/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel hook with 20,000 random requests: no content of a descriptor leads outside the bounds. */
#include "hook_cpu.h"

enum { PAGE_WORDS = 512 };

static uint64_t page[PAGE_WORDS] __attribute__((aligned(4096)));

static uint64_t draw(void)
{
    cpu.random ^= cpu.random << 13;
    cpu.random ^= cpu.random >> 7;
    cpu.random ^= cpu.random << 17;
    return cpu.random;
}

static void random_request(const struct mkperf_descriptor *good, unsigned n)
{
    uint8_t *bytes = (uint8_t *)&d;

    d = *good;
    if (n % 4 != 0) {
        for (size_t i = 0; i < offsetof(struct mkperf_descriptor, answered); i++) {
            bytes[i] = (uint8_t)(draw() >> 32);
        }
        d.magic = MKPERF_DESCRIPTOR_MAGIC;
        d.want.ring_bytes = n % 4 == 1 || n % 8 == 2 ? RING_BYTES : d.want.ring_bytes;
        d.want.ring = n % 4 != 3 ? good->want.ring : d.want.ring;
        if (n % 4 != 3) { /* within the limits */
            uint32_t there = d.want.counter_mask &= mkperf_pmu_counters();
            uint32_t *parts[] = {&d.want.enable_mask, &d.want.read_mask, &d.want.slice_mask,
                                 &d.want.count_mask, &d.want.kernel_mask};
            for (unsigned i = 0; i < 5; i++) {
                *parts[i] &= there;
            }
            d.want.filters %= MKPERF_MAX_FILTERS + 1;
            d.want.max_frames %= MKPERF_MAX_FRAMES + 1;
            d.want.callers %= MKPERF_MAX_CALLERS + 1;
            d.want.words %= MKPERF_MAX_WORDS + 1;
            for (unsigned i = 0; i < ALL; i++) {
                d.want.counter[i].select &= MKPERF_SELECT_BITS;
            }
        }
        d.want.soft_mask = n % 5 != 0 ? 0 : d.want.soft_mask;
        d.want.tables = n % 11 != 0 ? (uintptr_t)&tables : n % 3 == 0 ? 0 : d.want.tables;
        d.want.unwind = n % 3 == 1;
    }
    ((uint64_t *)&tables)[draw() % (offsetof(struct mkperf_tables, word) / 8)] = draw();
    for (unsigned i = 0; i < MKPERF_MAX_WORDS; i++) {
        tables.word[i] = draw() & 1 ? draw() : (uintptr_t)&page[draw() % PAGE_WORDS] | draw() << 56;
    }
    d.op = (uint32_t)draw() % 16;
    d.sequence = d.answered + 1;
    mkperf_hook_request(&hook, &d, n % 7 == 0 ? other : owner, n % 11 != 0);
}

/*
 * Random requests, as an owner could make them, between any two interrupts, with random positions
 * in the ring's header, and memory that comes and goes: no counter that is not there, not a byte
 * behind the ring, no interval that is too short.
 */
static void test_random(void **state)
{
    struct mkperf_descriptor good;
    unsigned applied = 0;
    unsigned scheduled = 0;
    unsigned read = 0; /* switches that read words */

    (void)state;
    boot(6);
    good = d;
    cpu.random = 20261121;
    memset(memory.guard, 0xa5, sizeof memory.guard);
    for (unsigned n = 0; n < RANDOM_DESCRIPTORS; n++) {
        cpu.mapped = n % 13 != 0;
        hook_page = n % 17 != 0 ? page : NULL;
        page[draw() % PAGE_WORDS] = draw();
        if (n % 64 == 0) { /* another CPU, on which nothing was begun */
            mkperf_hook_end(&hook, true);
            cpu.there = 1 + (unsigned)(draw() >> 32) % ALL;
        }
        good.want.counter_mask = mkperf_pmu_counters();
        random_request(&good, n);
        applied += d.answer.status == MKPERF_REQUEST_OK && hook.mask != 0;
        if (n % 8 == 5) {
            memory.ring.tail = draw();
        } else if (n % 8 == 6) {
            memory.ring.tail = hook.out.head;
        }
        if (n % 9 == 0) {
            mkperf_hook_unmapped(&hook);
        }
        for (unsigned k = 0; k < 3; k++) {
            uint64_t some = draw();
            cpu.badge = draw() % 100;
            cpu.sc = draw();
            cpu.value[draw() % ALL] = (uint32_t)(draw() >> 32);
            uint32_t hit = (uint32_t)(some >> 32) & (uint32_t)some & hook.mask;
            overflow(hit);
            for (unsigned i = 0; i < ALL; i++) {
                assert_true(!(hit >> i & 1) || 0 - cpu.value[i] >= MKPERF_HOOK_SAMPLE_COST);
            }
            if (hook.reports) {
                hook.running = (struct mkperf_identity){cpu.badge, cpu.sc};
                mkperf_counts_take(&hook);
                mkperf_soft_event(&hook, (unsigned)draw() % MKPERF_SOFT_KINDS,
                                  (struct mkperf_identity){draw() % 100, draw()},
                                  (struct mkperf_identity){draw() % 100, draw()});
                mkperf_soft_fault(&hook, (struct mkperf_identity){draw() % 100, draw()}, 1, 2);
            }
            for (unsigned i = 0; i < 8 && hook.reports; i++) {
                page[draw() % PAGE_WORDS] = draw();
                read += hook.words.pairs != 0;
                const void *thread = draw() & 1 ? owner : other;
                mkperf_sched_reply(&hook, thread, draw() & 1);
                mkperf_sched_switch(&hook, draw() & 15, thread, draw() & 1 ? owner : other,
                                    mkperf_port_time());
                mkperf_sched_event(&hook, MKPERF_SCHED_IRQ, draw() & 4095, thread,
                                   mkperf_port_time());
                mkperf_sched_event(&hook, MKPERF_SCHED_WINDOW, draw() & 4095, thread,
                                   mkperf_port_time());
                mkperf_sched_message(&hook, draw() & 1 ? owner : other, thread, draw() & 1,
                                     draw() & 1);
                mkperf_sched_event(&hook, MKPERF_SCHED_NOTIFY, 0, thread, mkperf_port_time());
                scheduled++;
            }
        }
        for (unsigned i = 0; i < GUARD; i++) {
            assert_int_equal(memory.guard[i], UINT64_C(0xa5a5a5a5a5a5a5a5));
        }
    }
    assert_true(applied > RANDOM_DESCRIPTORS / 10);
    assert_true(scheduled > RANDOM_DESCRIPTORS / 10);
    assert_true(read > RANDOM_DESCRIPTORS / 10);
    assert_true(cpu.writes > RANDOM_DESCRIPTORS && cpu.wakes > 0 && cpu.reads > cpu.writes);

    /* And sampling is intact. */
    mkperf_hook_end(&hook, true); /* the next session may have other counters */
    d = good;
    cpu.mapped = true;
    cpu.there = 6;
    d.want.counter_mask = d.want.enable_mask = 0x3f;
    memory.ring.tail = memory.ring.head = 0;
    assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
    overflow(1 << 2);
    const uint64_t *w = record();
    assert_non_null(w);
    assert_int_equal(mkperf_record_counter(w[0]), 2);
    assert_int_equal(w[MKPERF_WORD_PERIOD], PERIOD);
}
int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
