/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chains that continue in the threads whose calls are being served: what the hook writes of them, what
 * the client PD sends, and what the host makes of that. Stacks are memory of this program, so a
 * wild read is found by the sanitizer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/capture.c"     // NOLINT(bugprone-suspicious-include)
#include "kernel/counted.c"     // NOLINT(bugprone-suspicious-include)
#include "kernel/unwind_walk.c" // NOLINT(bugprone-suspicious-include)

#include "tests/hook_no_pmu.h"

#include "model/arrival.h"
#include "pd/client/chains.h"

enum {
    THREADS = 12, /* the first is the sampled one, each serves the next */
    FRAMES = 40,
    PAGE = 4096,
    RING = MKPERF_RING_MIN_BYTES,
    RANDOM_CASES = 20000,
};

static struct thread {
    _Alignas(PAGE) uint64_t stack[PAGE / 8];
    unsigned frames;
    bool serves, mapped;
    unsigned caller; /* whom it serves, with any_relation */
    uint64_t badge, sc;
} threads[THREADS];
static bool any_relation; /* cycles, and replies that come and go between two looks */

static struct {
    struct mkperf_ring ring;
    uint64_t data[RING / 8];
} memory;

static struct mkperf_hook hook;
static unsigned pages[THREADS]; /* asked for at each level */
uint32_t mock_features;

/* ---- the hook's port: thread i's return addresses are i << 16 | 1, 2, ... ------------------------ */

static unsigned number(const void *thread)
{
    return (unsigned)((const struct thread *)thread - threads);
}

static void context(struct mkperf_port_context *c, unsigned i)
{
    c->thread = &threads[i];
    c->guest = MKPERF_GUEST_NONE;
    c->pc = (uint64_t)i << 16 | 0x1000;
    c->lr = (uint64_t)i << 16 | 0x2000;
    c->fp = threads[i].frames != 0 ? (uintptr_t)threads[i].stack : 0;
}

bool mkperf_port_context(struct mkperf_port_context *c, bool kernel)
{
    (void)kernel;
    context(c, 0);
    return true;
}

const void *mkperf_port_caller(const void *thread, uint64_t reply)
{
    unsigned i = number(thread);

    assert_int_equal(reply, 4);
    if (any_relation) {
        return random() % 8 != 0 && threads[i].serves ? &threads[threads[i].caller] : NULL;
    }
    return threads[i].serves ? &threads[(i + 1) % THREADS] : NULL;
}

void mkperf_port_blocked(struct mkperf_port_context *c, const void *thread)
{
    context(c, number(thread));
}

struct mkperf_identity mkperf_port_identity(const void *thread)
{
    return (struct mkperf_identity){threads[number(thread)].badge, threads[number(thread)].sc};
}

uintptr_t mkperf_port_user_page(const void *thread, unsigned level, uint64_t va)
{
    unsigned i = number(thread);

    assert_true(level <= MKPERF_MAX_CALLERS);
    assert_true(any_relation || level % THREADS == i);
    pages[i]++;
    return threads[i].mapped && va == (uintptr_t)threads[i].stack ? va : 0;
}

uint64_t mkperf_port_kernel_pc(void)
{
    return 0xffff0000;
}

const void *mkperf_port_running(void)
{
    return &threads[0];
}

void *mkperf_port_memory(const void *thread, uint64_t va, uint64_t bytes)
{
    (void)thread;
    (void)va;
    (void)bytes;
    return NULL;
}

/* ---- the cases ------------------------------------------------------------------------------ */

static void fill_stack(unsigned i, unsigned frames)
{
    struct thread *t = &threads[i];

    t->frames = frames;
    t->mapped = true;
    for (unsigned k = 0; k < frames; k++) {
        t->stack[2 * k] = k + 1 < frames ? (uintptr_t)&t->stack[2 * (k + 1)] : 0;
        t->stack[2 * k + 1] = (uint64_t)i << 16 | (k + 1);
    }
}

static void begin(uint32_t max_frames, uint32_t callers)
{
    memset(threads, 0, sizeof threads);
    memset(&memory, 0, sizeof memory);
    memset(&hook, 0, sizeof hook);
    memset(pages, 0, sizeof pages);
    hook.mask = 1;
    hook.out.ring = &memory.ring;
    hook.session.ring_bytes = hook.out.size = RING;
    hook.session.watermark = UINT32_MAX;
    hook.session.max_frames = max_frames;
    hook.session.callers = callers;
    hook.room = 8 *
                (MKPERF_SAMPLE_FIXED_WORDS + 1 + (callers != 0 ? MKPERF_MAX_FRAMES : max_frames));
    hook.session.reply = 4;
    hook.session.counter[0] =
        (struct mkperf_request_counter){.period = 1000, .least = 500, .interval = 1000};
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i].badge = i + 1;
        fill_stack(i, 2);
    }
}

/* Takes one sample. Returns its record, which is the only one. */
static const uint64_t *sample(void)
{
    struct mkperf_ring_consumer c = {.ring = &memory.ring, .size = RING, .tail = memory.ring.tail};
    unsigned size = 0;
    bool corrupt = false;

    mkperf_capture(&hook, 1, mkperf_port_time());
    const uint64_t *w = mkperf_ring_peek(&c, &size, &corrupt);
    assert_non_null(w);
    assert_false(corrupt);
    mkperf_ring_release(&c, size);
    assert_int_equal(memory.ring.head, memory.ring.tail);
    assert_true(mkperf_record_nframes(w[0]) <= MKPERF_MAX_FRAMES);
    assert_int_equal(size, 8 * (MKPERF_SAMPLE_FIXED_WORDS + mkperf_record_nframes(w[0])));
    return w;
}

static uint32_t find(struct mkperf_pds *pds, uint64_t identity)
{
    (void)pds;
    return (uint32_t)identity;
}

static enum mkperf_lr leaf(const struct mkperf_pds *pds, uint32_t pd, uint64_t pc)
{
    (void)pds;
    (void)pc;
    return pd % 2 == 0 ? MKPERF_LR_YES : MKPERF_LR_NO; /* threads 1, 3, ... */
}

/* Returns what the host makes of a record. */
static const struct mkperf_chain *host(const uint64_t *w)
{
    static const struct mkperf_chain_lookup lookup = {find, leaf, NULL};
    static struct mkperf_chain_forms forms;
    uint64_t wire[MKPERF_MAX_FRAMES];
    unsigned n =
        mkperf_wire_frames(wire, w[0], w[MKPERF_WORD_THREAD], w + MKPERF_SAMPLE_FIXED_WORDS);

    assert_true(n <= MKPERF_MAX_FRAMES);
    mkperf_chain_prepare(&forms, 1, 0, wire, n, &lookup);
    return &forms.plain;
}

static void chain_goes_on_in_callers(void **state)
{
    static const struct mkperf_caller want[] = {
        {1, 1},                                   /* the sampled thread's two, */
        {2, 1},       {0x11000, 2}, {0x12000, 2}, /* its caller: pc, link register, */
        {0x10001, 2}, {0x10002, 2},               /* two return addresses, */
        {0x21000, 3}, {0x20001, 3}, {0x20002, 3}, /* and the caller's caller */
    };

    (void)state;
    begin(16, 3);
    threads[0].serves = threads[1].serves = true;
    const uint64_t *w = sample();
    assert_true(mkperf_record_flags(w[0]) & MKPERF_SAMPLE_CALLERS);
    const struct mkperf_chain *c = host(w);
    assert_int_equal(c->n, sizeof want / sizeof *want);
    for (unsigned i = 0; i < c->n; i++) {
        assert_int_equal(c->caller[i].addr, want[i].addr);
        assert_int_equal(c->caller[i].pd, want[i].pd);
    }
}

static void nobody_is_served(void **state)
{
    (void)state;
    begin(16, 3);
    const uint64_t *w = sample();
    assert_false(mkperf_record_flags(w[0]) & MKPERF_SAMPLE_CALLERS);
    assert_int_equal(mkperf_record_nframes(w[0]), 2);
    begin(16, 0);
    threads[0].serves = true; /* but the session does not ask */
    assert_int_equal(mkperf_record_nframes(sample()[0]), 2);
}

/* A cycle ends with the session's number of callers, or with the record's words. */
static void chain_is_bounded(void **state)
{
    (void)state;
    for (uint32_t callers = 1; callers <= MKPERF_MAX_CALLERS; callers++) {
        begin(16, callers);
        for (unsigned i = 0; i < THREADS; i++) {
            threads[i].serves = true;
        }
        assert_int_equal(host(sample())->caller[2 + 3].pd, callers > 0 ? 2 : 0);
        assert_int_equal(pages[callers], callers < 8 ? 1 : pages[callers]);
        assert_int_equal(pages[callers + 1], 0);
    }
    begin(64, MKPERF_MAX_CALLERS);
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i].serves = true;
        fill_stack(i, FRAMES);
    }
    const uint64_t *w = sample();
    assert_int_equal(mkperf_record_nframes(w[0]), MKPERF_MAX_FRAMES);
    assert_int_equal(host(w)->caller[40].pd, 2);
}

/* What a thread left on its stack is an address or nothing: it makes no callers. */
static void stacks_forge_nothing(void **state)
{
    (void)state;
    begin(16, 3);
    threads[0].stack[1] = MKPERF_FRAME_CALLER;
    threads[0].stack[3] = 7;
    assert_int_equal(host(sample())->caller[0].addr, 0);
    assert_int_equal(host(sample())->caller[1].pd, 1);
    threads[0].serves = true;
    threads[1].stack[1] = MKPERF_FRAME_PD;
    threads[1].stack[3] = MKPERF_FRAME_CALLER;
    const struct mkperf_chain *c = host(sample());
    assert_int_equal(c->n, 2 + 2 + 2);
    assert_int_equal(c->caller[5].pd, 2);
    assert_int_equal(c->caller[5].addr, 0);
}

/* Anything on the stacks, any relation between the threads. */
static void random_cases(void **state)
{
    (void)state;
    srandom(1);
    any_relation = true;
    for (unsigned round = 0; round < RANDOM_CASES; round++) {
        begin((uint32_t)random() % 65, (uint32_t)random() % (MKPERF_MAX_CALLERS + 1));
        for (unsigned i = 0; i < THREADS; i++) {
            struct thread *t = &threads[i];
            fill_stack(i, (unsigned)random() % FRAMES);
            t->serves = random() % 4 != 0;
            t->caller = (unsigned)random() % THREADS; /* a thread may be its own caller, too */
            t->mapped = random() % 8 != 0;
            t->badge = (uint64_t)random() << (random() % 33);
            t->sc = (uint64_t)random();
            for (unsigned k = (unsigned)random() % 3; k > 0; k--) {
                uint64_t *at = &t->stack[random() % (2 * FRAMES)];
                *at = random() % 2 ? UINT64_MAX - (uint64_t)random() % 0x400
                                   : (uintptr_t)t->stack + (uint64_t)random() % (2 * PAGE);
            }
        }
        const struct mkperf_chain *c = host(sample());
        assert_true(c->n <= MKPERF_MAX_FRAMES);
        for (unsigned i = 0; i < c->n; i++) {
            assert_true(c->caller[i].addr < MKPERF_FRAME_MARKERS);
        }
    }
    any_relation = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chain_goes_on_in_callers),
        cmocka_unit_test(nobody_is_served),
        cmocka_unit_test(chain_is_bounded),
        cmocka_unit_test(stacks_forge_nothing),
        cmocka_unit_test(random_cases),
    };

    return cmocka_run_group_tests_name("callers", tests, NULL, NULL);
}
