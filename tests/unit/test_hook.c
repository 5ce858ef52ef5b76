/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel hook and what a request may hold: counters that the CPU has not, intervals that are
 * too short, memory that is not the owner's, and anything at all. An access to a counter that is
 * not there is undefined on AArch64 and halted seL4, so the machine here fails the test at one.
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
#include "kernel/request.c" // NOLINT(bugprone-suspicious-include)
#include "kernel/sched.c"   // NOLINT(bugprone-suspicious-include)
#include "kernel/soft.c"    // NOLINT(bugprone-suspicious-include)

enum {
    ALL = MKPERF_MAX_COUNTERS,
    RING_BYTES = MKPERF_RING_MIN_BYTES,
    GUARD = 64,
    RANDOM_DESCRIPTORS = 20000,
    PERIOD = 100000,
};

static struct {
    unsigned there; /* counters that the CPU has */
    uint32_t value[ALL];
    uint32_t select[ALL];
    uint32_t overflow, running;
    uint64_t time, pass, random; /* pass: ticks that each look at the time takes */
    uint64_t badge, sc;
    unsigned reads, writes, wakes;
    bool mapped; /* the owner's memory is still mapped */
} cpu;

static struct {
    struct mkperf_ring ring;
    uint64_t data[RING_BYTES / 8];
    uint64_t guard[GUARD];
} memory;

static struct mkperf_counts table;
static struct mkperf_soft soft;
static const char owner[1], other[1];
enum { FEATURES = MKPERF_FEATURE_COUNTS | MKPERF_FEATURE_SOFT | MKPERF_FEATURE_SCHED };
uint32_t mock_features = FEATURES;

/* ---- the hook's port ------------------------------------------------------------------------ */

bool mkperf_port_context(struct mkperf_port_context *c, bool kernel)
{
    (void)kernel;
    *c = (struct mkperf_port_context){0x1000, 0x2000, 0, NULL};
    return true;
}

struct mkperf_identity mkperf_port_identity(const void *thread)
{
    return thread == owner ? (struct mkperf_identity){3, 0}
                           : (struct mkperf_identity){cpu.badge, cpu.sc};
}

uint64_t mkperf_port_kernel_pc(void)
{
    return 0;
}

const void *mkperf_port_running(void)
{
    return owner;
}

unsigned mkperf_port_core(void)
{
    return 0;
}

uint64_t mkperf_port_time(void)
{
    cpu.time += cpu.pass;
    return cpu.time;
}

uint64_t mkperf_port_tick_hz(void)
{
    return 1000000;
}

int mkperf_pmu_counts_kernel(uint32_t select)
{
    return !(select & MKPERF_SELECT_P);
}

int mkperf_pmu_kernel_alone(uint32_t select)
{
    return (select & MKPERF_SELECT_U) != 0;
}

uint32_t mkperf_pmu_counters(void)
{
    return (UINT32_C(1) << cpu.there) - 1;
}

uint32_t mkperf_pmu_overflow(void)
{
    return cpu.overflow;
}

void mkperf_pmu_clear(uint32_t mask)
{
    cpu.overflow &= ~mask;
}

uint32_t mkperf_pmu_read(unsigned i)
{
    assert_true(i < cpu.there);
    cpu.reads++;
    return cpu.value[i];
}

void mkperf_pmu_write(unsigned i, uint32_t value)
{
    assert_true(i < cpu.there);
    cpu.writes++;
    cpu.value[i] = value;
}

uint32_t mkperf_pmu_selected(unsigned i)
{
    assert_true(i < cpu.there);
    return cpu.select[i];
}

/* It does not take event 0xbad. */
void mkperf_pmu_select(unsigned i, uint32_t select)
{
    assert_true(i < cpu.there);
    assert_false(cpu.running >> i & 1);
    cpu.select[i] = (select & MKPERF_SELECT_EVENT) == 0xbad ? 0 : select & MKPERF_SELECT_BITS;
}

uint32_t mkperf_pmu_running(void)
{
    return cpu.running;
}

void mkperf_pmu_enable(uint32_t mask)
{
    assert_int_equal(mask & ~mkperf_pmu_counters(), 0);
    cpu.running |= mask;
}

void mkperf_pmu_disable(uint32_t mask)
{
    cpu.running &= ~mask;
}

void mkperf_pmu_boot(void)
{
    cpu.running = 0;
}

void mkperf_pmu_describe(uint64_t *out)
{
    memset(out, 0, 4 * sizeof *out);
}

/* Each thread serves another, and so on without an end. */
const void *mkperf_port_caller(const void *thread, uint64_t reply)
{
    (void)thread;
    (void)reply;
    return owner;
}

void mkperf_port_blocked(struct mkperf_port_context *c, const void *thread)
{
    *c = (struct mkperf_port_context){0x3000, 0x4000, 0, thread};
}

uintptr_t mkperf_port_user_page(const void *thread, unsigned level, uint64_t va)
{
    (void)thread;
    (void)level;
    (void)va;
    return 0;
}

/* As a kernel does: refused if it is longer than what the owner has mapped. */
void *mkperf_port_memory(const void *thread, uint64_t va, uint64_t bytes)
{
    static const struct {
        void *at;
        uint64_t bytes;
    } mapped[] = {{&memory, sizeof memory.ring + sizeof memory.data},
                  {&table, sizeof table},
                  {&soft, sizeof soft}};

    for (unsigned i = 0; i < 3 && cpu.mapped && thread == owner; i++) {
        if (va == (uintptr_t)mapped[i].at && bytes <= mapped[i].bytes) {
            return mapped[i].at;
        }
    }
    return NULL;
}

void mkperf_port_wake(void)
{
    cpu.wakes++;
}

/* ---- the cases ------------------------------------------------------------------------------ */

static struct mkperf_hook hook;
static struct mkperf_descriptor d;

static void boot(unsigned there)
{
    memset(&cpu, 0, sizeof cpu);
    memset(&memory, 0, sizeof memory);
    memset(&table, 0, sizeof table);
    memset(&soft, 0, sizeof soft);
    memset(&hook, 0, sizeof hook);
    memset(&d, 0, sizeof d);
    cpu.there = there;
    cpu.badge = 1;
    cpu.pass = 1;
    cpu.mapped = true;
    d.magic = MKPERF_DESCRIPTOR_MAGIC;
    d.want.counter_mask = (UINT32_C(1) << there) - 1;
    d.want.enable_mask = d.want.counter_mask;
    d.want.watermark = UINT32_MAX;
    d.want.ring_bytes = RING_BYTES;
    d.want.ring = (uintptr_t)&memory;
    for (unsigned i = 0; i < ALL; i++) {
        d.want.counter[i] = (struct mkperf_request_counter){
            .select = MKPERF_SELECT_P | 0x11, .left = PERIOD, .first = PERIOD, .period = PERIOD};
    }
}

static uint32_t request_of(const void *caller, uint32_t op)
{
    d.op = op;
    d.sequence++;
    mkperf_hook_request(&hook, &d, caller, true);
    assert_int_equal(d.answered, d.sequence);
    assert_int_equal(cpu.running & ~hook.mask, 0);
    assert_int_equal(d.answer.counters, mkperf_pmu_counters());
    return d.answer.status;
}

static uint32_t request(uint32_t op)
{
    return request_of(owner, op);
}

static void overflow(uint32_t mask)
{
    for (unsigned i = 0; i < ALL; i++) {
        cpu.value[i] = mask >> i & 1 ? 0 : cpu.value[i];
    }
    cpu.overflow |= mask;
    uint32_t hit = mkperf_pmu_overflow() & hook.mask;
    if (hit != 0) {
        mkperf_capture(&hook, hit);
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

/* Each counter that the CPU has samples; others' flags are not the hook's, and stay. */
static void test_samples(void **state)
{
    (void)state;
    for (unsigned there = 1; there <= ALL; there++) {
        boot(there);
        assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
        assert_int_equal(cpu.running, mkperf_pmu_counters());
        assert_int_equal(cpu.writes, there);
        overflow(UINT32_MAX);
        assert_int_equal(cpu.writes, 2 * there);
        assert_int_equal(hook.captures, 1);
        assert_int_equal(cpu.overflow, ~mkperf_pmu_counters());
        overflow(UINT32_C(1) << 31);
        assert_int_equal(cpu.writes, 2 * there);
        assert_int_equal(hook.captures, 1);
        assert_int_equal(request(MKPERF_REQUEST_WITHDRAW), MKPERF_REQUEST_OK);
        assert_int_equal(cpu.running | hook.mask, 0);
    }
}

/* What each operation needs, and what is refused; nothing is changed by that. */
static void test_refusals(void **state)
{
    struct mkperf_configuration good;

    (void)state;
    boot(6);
    good = d.want;
    assert_int_equal(request(6), MKPERF_REQUEST_BAD_OP);
    assert_int_equal(request(7), MKPERF_REQUEST_BAD_OP);
    for (uint32_t op = MKPERF_REQUEST_CONTINUE; op <= MKPERF_REQUEST_WITHDRAW; op++) {
        assert_int_equal(request(op), MKPERF_REQUEST_BAD_STATE);
    }
    assert_int_equal(request(0), MKPERF_REQUEST_OK);
    for (unsigned n = 0; n < 2; n++) { /* without a session, and with one */
        static const struct {
            uint32_t status, mask, ring_bytes;
            uint64_t ring, counts, soft;
        } bad[] = {
            {MKPERF_REQUEST_BAD_COUNTERS, 0, RING_BYTES, 1, 0, 0},
            {MKPERF_REQUEST_BAD_COUNTERS, 1 << 6, RING_BYTES, 1, 0, 0},
            {MKPERF_REQUEST_BAD_COUNTERS, UINT32_C(1) << 31, RING_BYTES, 1, 0, 0},
            {MKPERF_REQUEST_BAD_RING, 1, RING_BYTES - 8, 1, 0, 0},
            {MKPERF_REQUEST_BAD_RING, 1, 2 * RING_BYTES, 1, 0, 0},
            {MKPERF_REQUEST_BAD_RING, 1, RING_BYTES, 0, 0, 0},
            {MKPERF_REQUEST_BAD_TABLE, 1, RING_BYTES, 1, 8, 0},
            {MKPERF_REQUEST_BAD_TABLE, 1, RING_BYTES, 1, 0, 8},
        };
        for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
            d.want.counter_mask = bad[i].mask;
            d.want.ring_bytes = bad[i].ring_bytes;
            d.want.ring = bad[i].ring != 0 ? good.ring : 8;
            d.want.counts = bad[i].counts;
            d.want.soft = bad[i].soft;
            d.want.soft_mask = bad[i].soft != 0;
            assert_int_equal(request(MKPERF_REQUEST_APPLY), bad[i].status);
            assert_int_equal(cpu.running, n * 0x3f);
        }
        d.want = good;
        assert_int_equal(request_of(other, MKPERF_REQUEST_APPLY), MKPERF_REQUEST_BAD_RING);
        assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
        assert_int_equal(request_of(other, MKPERF_REQUEST_STOP), MKPERF_REQUEST_BAD_STATE);
        assert_int_equal(cpu.running, 0x3f);
    }
    mock_features = 0;
    d.want.counts = (uintptr_t)&table;
    assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_BAD_FEATURE);
    mock_features = FEATURES;
    /* An event that the PMU does not take: no session is left, and it says of which counter. */
    d.want = good;
    d.want.counter[4].select = 0xbad;
    assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_BAD_EVENT);
    assert_int_equal(d.answer.what, 4);
    assert_int_equal(cpu.running | hook.mask, 0);
    /* Another core's interrupt. */
    d.want = good;
    d.op = MKPERF_REQUEST_APPLY;
    d.sequence++;
    mkperf_hook_request(&hook, &d, owner, false);
    assert_int_equal(d.answer.status, MKPERF_REQUEST_BAD_CORE);
    assert_int_equal(cpu.running, 0);
}

/* An acknowledgement without a new sequence, or without the magic word, is no request. */
static void test_no_request(void **state)
{
    (void)state;
    boot(6);
    d.op = MKPERF_REQUEST_APPLY;
    mkperf_hook_request(&hook, &d, owner, true);
    d.sequence = 1;
    d.magic++;
    mkperf_hook_request(&hook, &d, owner, true);
    assert_int_equal(d.answered, 0);
    assert_int_equal(hook.mask | cpu.writes, 0);
    d.magic--;
    assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
}

/* No interval is shorter than its sample's cost, or than the kernel needs, whatever is asked for;
 * what was added is in the sample's weight. */
static void test_least_interval(void **state)
{
    static const uint32_t periods[] = {0, 1, 2, 100, 349, 620, 1999, UINT32_MAX};

    (void)state;
    for (unsigned n = 0; n < sizeof periods / sizeof *periods; n++) {
        for (unsigned jitter = 0; jitter < 2; jitter++) {
            boot(2);
            d.want.max_frames = 16;
            for (unsigned i = 0; i < 2; i++) {
                struct mkperf_request_counter *c = &d.want.counter[i];
                c->left = c->first = c->period = periods[n];
                c->jitter_mask = jitter ? UINT32_MAX : 0;
                c->select = i == 0 ? MKPERF_SELECT_P : MKPERF_SELECT_U;
            }
            assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
            for (unsigned k = 0; k < 50; k++) {
                uint32_t user = 0 - cpu.value[0], kernel = 0 - cpu.value[1];
                assert_true(user >= MKPERF_HOOK_SAMPLE_COST + 16 * MKPERF_HOOK_FRAME_COST);
                assert_true(kernel >= MKPERF_MIN_KERNEL_PERIOD);
                overflow(1);
                const uint64_t *w = record();
                assert_non_null(w);
                assert_int_equal(w[MKPERF_WORD_PERIOD], user);
                overflow(2);
                w = record();
                assert_int_equal(w[MKPERF_WORD_PERIOD], kernel);
                if (k % 10 == 9) {
                    request(MKPERF_REQUEST_UPDATE);
                }
            }
        }
    }
    assert_true(mkperf_least_interval(16, MKPERF_DEFAULT_CALLERS, 0, false) <= 1000);
}

/* A period that becomes much shorter: the counter is set forward, and its sample weighs what was
 * counted; if it has little left, nothing is changed. */
static void test_update(void **state)
{
    (void)state;
    boot(1);
    d.want.counter[0].left = d.want.counter[0].first = d.want.counter[0].period = 1000000;
    request(MKPERF_REQUEST_APPLY);
    cpu.value[0] += 300000; /* 700,000 are left */
    d.want.counter[0].period = 400000;
    request(MKPERF_REQUEST_UPDATE);
    assert_int_equal(0 - cpu.value[0], 700000);
    d.want.counter[0].period = 10000;
    request(MKPERF_REQUEST_UPDATE);
    assert_int_equal(0 - cpu.value[0], 10000);
    overflow(1);
    assert_int_equal(record()[MKPERF_WORD_PERIOD], 310000);
    assert_int_equal(0 - cpu.value[0], 10000);
    assert_int_equal(d.answer.disturbed, 0);
}

/* Where counters are, and that they go on from there. */
static void test_snapshot(void **state)
{
    (void)state;
    boot(6);
    request(MKPERF_REQUEST_APPLY);
    cpu.value[3] += 1234;
    assert_int_equal(request(MKPERF_REQUEST_STOP | MKPERF_REQUEST_SNAPSHOT), MKPERF_REQUEST_OK);
    assert_int_equal(cpu.running, 0);
    assert_int_equal(d.answer.counter[3].value, UINT32_C(0) - (PERIOD - 1234));
    assert_int_equal(d.answer.counter[3].interval, PERIOD);
    d.want.counter_mask = d.want.enable_mask = 1;
    d.want.counter[0].left = PERIOD - 1234;
    assert_int_equal(request(MKPERF_REQUEST_CONTINUE), MKPERF_REQUEST_OK);
    assert_int_equal(cpu.running, 1);
    overflow(1);
    assert_int_equal(record()[MKPERF_WORD_PERIOD], PERIOD);
}

/* An overflow that no interrupt was taken for becomes a sample before the request is looked at. */
static void test_pending(void **state)
{
    (void)state;
    boot(2);
    request(MKPERF_REQUEST_APPLY);
    cpu.overflow = 2;
    cpu.value[1] = 17;
    request(MKPERF_REQUEST_WITHDRAW);
    const uint64_t *w = record();
    assert_non_null(w);
    assert_int_equal(mkperf_record_counter(w[0]), 1);
    assert_int_equal(w[MKPERF_WORD_PERIOD], PERIOD);
    assert_int_equal(cpu.overflow, 0);
    assert_int_equal(d.answer.disturbed, 0);
}

/* What somebody else did to the PMU is counted and put right. */
static void test_disturbed(void **state)
{
    (void)state;
    boot(6);
    request(MKPERF_REQUEST_APPLY);
    request(0);
    assert_int_equal(d.answer.disturbed, 0);
    cpu.running = 0x30;
    request(0);
    assert_int_equal(d.answer.disturbed, 4);
    assert_int_equal(cpu.running, 0x3f);
    cpu.select[2] = 0x11; /* in the kernel, too */
    cpu.value[4] = 5;     /* more is left than the whole interval */
    request(0);
    assert_int_equal(d.answer.disturbed, 6);
    assert_int_equal(cpu.select[2], MKPERF_SELECT_P | 0x11);
    assert_int_equal(0 - cpu.value[4], PERIOD);
    assert_int_equal(cpu.running, 0x3f);
}

/* More than half of the time is the hook's: the counters are off until another session. */
static void test_storm(void **state)
{
    (void)state;
    for (uint64_t between = 0; between < 4; between++) {
        boot(2);
        request(MKPERF_REQUEST_APPLY);
        unsigned captures = 0;
        for (; captures < 3000 && hook.storm == 0; captures++) {
            if (captures % 100 == 99) { /* another session is no way out */
                memory.ring.head = memory.ring.tail = 0;
                request(MKPERF_REQUEST_APPLY);
            }
            overflow(1);
            memory.ring.tail = memory.ring.head;
            cpu.time += between;
        }
        /* One tick from entry to exit where it is measured: 16 of 17 looks at the time are not. */
        assert_int_equal(hook.storm, between < 1);
        assert_int_equal(cpu.running, between < 1 ? 0 : 3);
        assert_int_equal(captures, between < 1 ? 1024 : 3000);
        assert_int_equal(cpu.wakes, hook.storm);
        request(0);
        assert_int_equal(d.answer.storm, hook.storm);
        assert_int_equal(request(MKPERF_REQUEST_CONTINUE),
                         hook.storm ? MKPERF_REQUEST_BAD_STATE : MKPERF_REQUEST_OK);
        if (hook.storm) { /* not before as much time has passed again */
            uint64_t until = hook.quiet;
            assert_in_range(until, cpu.time + 1000, cpu.time + 1400);
            while (cpu.time + 10 < until) {
                assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_BAD_TIME);
            }
            cpu.time = until;
        }
        assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
        assert_int_equal(hook.storm, 0);
    }
}

/* The owner unmaps its ring: samples are dropped and counted, until it is there again. */
static void test_unmapped(void **state)
{
    (void)state;
    boot(1);
    request(MKPERF_REQUEST_APPLY);
    overflow(1);
    assert_non_null(record());
    mkperf_hook_unmapped(&hook);
    cpu.mapped = false;
    uint64_t head = memory.ring.head;
    overflow(1);
    assert_int_equal(hook.dropped_samples, 1);
    assert_int_equal(hook.dropped_events, PERIOD);
    assert_int_equal(memory.ring.head, head);
    assert_int_equal(0 - cpu.value[0], PERIOD);
    cpu.mapped = true;
    overflow(1);
    assert_non_null(record());
    mkperf_hook_end(&hook, true);
    assert_int_equal(cpu.running | hook.mask, 0);
    assert_null(hook.owner);
}

/* Values that ride in a sample: of counters of the session. */
static void test_values(void **state)
{
    (void)state;
    for (unsigned there = 1; there <= ALL; there++) {
        boot(there);
        d.want.read_mask = UINT32_MAX - 1;
        d.want.counter[0].reads = UINT32_MAX;
        for (unsigned i = 1; i < there; i++) {
            d.want.counter[i].left = d.want.counter[i].first = MKPERF_COUNT_PERIOD;
        }
        request(MKPERF_REQUEST_APPLY);
        for (unsigned i = 1; i < there; i++) {
            cpu.value[i] = MKPERF_COUNT_PERIOD + i * 10;
        }
        cpu.reads = cpu.writes = 0;
        overflow(1);
        assert_int_equal(cpu.reads, there); /* its own, to arm it anew, and the others */
        assert_int_equal(cpu.writes, 1);
        const uint64_t *w = record();
        assert_non_null(w);
        assert_int_equal(w[MKPERF_WORD_PERIOD], PERIOD);
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

/* The same where the sample is of a thread that is not wanted, and where the ring is full. */
static void test_values_of_no_sample(void **state)
{
    (void)state;
    for (unsigned full = 0; full < 2; full++) {
        boot(6);
        d.want.read_mask = UINT32_MAX - 1;
        d.want.counter[0].reads = UINT32_MAX;
        for (unsigned i = 1; i < 6; i++) {
            d.want.counter[i].select = MKPERF_SELECT_U;
        }
        d.want.filters = !full;
        d.want.filter[0].badge = 2;
        request(MKPERF_REQUEST_APPLY);
        memory.ring.tail = full ? hook.head - RING_BYTES : memory.ring.head;
        uint64_t head = memory.ring.head;
        cpu.reads = 0;
        overflow(1);
        assert_int_equal(memory.ring.head, head);
        assert_int_equal(hook.dropped_samples, full);
        assert_int_equal(cpu.reads, 1 + 5 + 5); /* arm it, read the others, begin them anew */
    }
}

/* A filter is a badge, and of the scheduling context's what its mask says. */
static void test_filters(void **state)
{
    static const struct {
        uint64_t badge, sc;
        bool wanted;
    } threads[] = {{1, 0x100, false}, {2, 0x100, false}, {2, 0x777, true}, {2, 0x10777, true}};

    (void)state;
    boot(1);
    d.want.filters = 2;
    d.want.filter[0] = (struct mkperf_filter){2, 0x777, 0xffff};
    d.want.filter[1] = (struct mkperf_filter){9, 0, 0};
    request(MKPERF_REQUEST_APPLY);
    for (unsigned i = 0; i < sizeof threads / sizeof *threads; i++) {
        cpu.badge = threads[i].badge;
        cpu.sc = threads[i].sc;
        overflow(1);
        const uint64_t *w = record();
        assert_int_equal(w != NULL, threads[i].wanted);
        if (w != NULL) {
            assert_int_equal(w[MKPERF_WORD_THREAD], threads[i].badge);
            assert_int_equal(w[MKPERF_WORD_SC], threads[i].sc);
        }
    }
    cpu.badge = 9;
    overflow(1);
    assert_non_null(record());
}

/* A switch from a thread that waits is a sample of it and the event, at the same time; another switch
 * is the event alone. */
static void test_off_cpu(void **state)
{
    const uint32_t waits = 1 << MKPERF_STOPPED_CALLED | 1 << MKPERF_STOPPED_REPLIED |
                           1 << MKPERF_STOPPED_WAIT_MESSAGE |
                           1 << MKPERF_STOPPED_WAIT_NOTIFICATION | 1 << MKPERF_STOPPED_BUDGET |
                           1 << MKPERF_STOPPED_FAULTED | 1 << MKPERF_STOPPED_SUSPENDED |
                           1 << MKPERF_STOPPED_QUEUED;
    struct mkperf_ring_consumer c = {.ring = &memory.ring, .size = RING_BYTES};

    (void)state;
    boot(1);
    d.want.sched = MKPERF_SCHED_EVENTS | MKPERF_SCHED_OFF_CPU;
    d.want.callers = 1;
    cpu.sc = 0x105;
    assert_int_equal(request(MKPERF_REQUEST_APPLY), MKPERF_REQUEST_OK);
    mkperf_sched_switch(&hook, MKPERF_STOPPED_PREEMPTED, owner, other); /* announces it */
    for (unsigned reason = 0; reason < MKPERF_STOPPED_REASONS; reason++) {
        unsigned size;
        bool corrupt = false;
        const uint64_t *w;
        uint64_t time = 0;

        c.tail = memory.ring.head;
        mkperf_sched_switch(&hook, reason, other, owner);
        w = mkperf_ring_peek(&c, &size, &corrupt);
        assert_int_equal(mkperf_record_type(w[0]) == MKPERF_RECORD_SAMPLE, waits >> reason & 1);
        if (mkperf_record_type(w[0]) == MKPERF_RECORD_SAMPLE) {
            const uint64_t *caller = w + MKPERF_SAMPLE_FIXED_WORDS;
            assert_int_equal(mkperf_record_counter(w[0]), MKPERF_OFF_CPU_COUNTER);
            assert_int_equal(mkperf_record_flags(w[0]), MKPERF_SAMPLE_CALLERS);
            assert_int_equal(w[MKPERF_WORD_THREAD], cpu.badge);
            assert_int_equal(w[MKPERF_WORD_SC], 0x105);
            assert_int_equal(w[MKPERF_WORD_PERIOD], 1);
            assert_int_equal(w[MKPERF_WORD_PC], 0x3000);
            assert_int_equal(caller[MKPERF_CALLER_THREAD], 3);
            time = w[MKPERF_WORD_TIME];
            mkperf_ring_release(&c, size);
            w = mkperf_ring_peek(&c, &size, &corrupt);
        }
        assert_int_equal(mkperf_record_type(w[0]), MKPERF_RECORD_SCHED);
        assert_int_equal(mkperf_sched_reason_of(w[0]), reason);
        assert_true(time == 0 || w[MKPERF_WORD_TIME] == time);
        mkperf_ring_release(&c, size);
        assert_null(mkperf_ring_peek(&c, &size, &corrupt));
    }
    /* Samples of other threads are not wanted; a full ring and one that is gone lose both. */
    hook.session.filters = 1;
    hook.session.filter[0] = (struct mkperf_filter){77, 0, 0};
    uint64_t head = memory.ring.head;
    mkperf_sched_switch(&hook, MKPERF_STOPPED_CALLED, other, owner);
    assert_int_equal(memory.ring.head, head + 8 * MKPERF_SCHED_WORDS);
    hook.session.filters = 0;
    memory.ring.tail = memory.ring.head - RING_BYTES;
    hook.sched.limit = 0;
    mkperf_sched_switch(&hook, MKPERF_STOPPED_CALLED, other, owner);
    assert_int_equal(memory.ring.dropped_samples, 1);
    assert_int_equal(memory.ring.dropped_sched, 1);
    cpu.mapped = false;
    mkperf_hook_unmapped(&hook);
    mkperf_sched_switch(&hook, MKPERF_STOPPED_CALLED, other, owner);
    assert_int_equal(hook.dropped_samples, 2);
    assert_int_equal(hook.sched.lost, 2);
}

/* Counts by thread: every counter of the session; a scheduling context tells those apart that are
 * to be told apart by it. */
static void test_counts(void **state)
{
    (void)state;
    for (unsigned there = 1; there <= ALL; there++) {
        boot(there);
        d.want.count_mask = UINT32_MAX;
        d.want.counts = (uintptr_t)&table;
        d.want.sc_if = 8;
        d.want.sc_mask = 0xff;
        d.want.slot[0] = 1;
        d.want.slot[ALL] = 255;
        request(MKPERF_REQUEST_APPLY);
        assert_true(mkperf_hook_watches(&hook));
        cpu.reads = cpu.writes = 0;
        mkperf_counts_entry(&hook, (struct mkperf_identity){1, 5}, (struct mkperf_identity){2, 5});
        for (unsigned i = 0; i < there; i++) {
            cpu.value[i] += 7;
        }
        mkperf_counts_entry(&hook, (struct mkperf_identity){1, 6}, (struct mkperf_identity){1, 6});
        assert_int_equal(cpu.reads, 2 * there);
        assert_int_equal(cpu.writes, 0);
        const struct mkperf_counts_thread *one = find(&hook, (struct mkperf_identity){1, 99});
        assert_non_null(one);
        assert_int_equal(one->count[1], 7);
        assert_int_equal(one->count[0], 7 * (there - 1));
        assert_int_equal(table.self, mkperf_counts_key(3));
        for (unsigned i = 0; i < 2; i++) {
            cpu.value[0] += 10 + i;
            mkperf_counts_switch(&hook, (struct mkperf_identity){9, 0x300 + i});
        }
        assert_int_equal(find(&hook, (struct mkperf_identity){9, 0x400})->count[1], 10);
        assert_int_equal(find(&hook, (struct mkperf_identity){9, 0x401})->count[1], 11);
    }
}

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
        d.want.ring_bytes = n % 4 == 1 ? RING_BYTES : d.want.ring_bytes;
        d.want.ring = n % 4 != 3 ? good->want.ring : d.want.ring;
        d.want.counter_mask &= n % 4 != 3 ? mkperf_pmu_counters() : UINT32_MAX;
        d.want.counts = n % 3 == 0 ? (uintptr_t)&table : n % 3 == 1 ? 0 : d.want.counts;
        d.want.soft_mask = n % 5 != 0 ? 0 : d.want.soft_mask;
        d.want.soft = (uintptr_t)&soft;
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

    (void)state;
    boot(6);
    good = d;
    cpu.random = 20261121;
    memset(memory.guard, 0xa5, sizeof memory.guard);
    for (unsigned n = 0; n < RANDOM_DESCRIPTORS; n++) {
        cpu.mapped = n % 13 != 0;
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
            memory.ring.tail = hook.head;
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
            if (mkperf_hook_watches(&hook)) {
                mkperf_counts_entry(&hook, (struct mkperf_identity){cpu.badge, cpu.sc},
                                    (struct mkperf_identity){draw() % 100, draw()});
                mkperf_soft_event(&hook, (unsigned)draw() % MKPERF_SOFT_KINDS,
                                  (struct mkperf_identity){draw() % 100, draw()},
                                  (struct mkperf_identity){draw() % 100, draw()});
                mkperf_soft_fault(&hook, (struct mkperf_identity){draw() % 100, draw()}, 1, 2);
            }
            for (unsigned i = 0; i < 8 && mkperf_hook_schedules(&hook); i++) {
                const void *thread = draw() & 1 ? owner : other;
                mkperf_sched_delivered(&hook, MKPERF_SCHED_CALL + (draw() & 1), thread);
                mkperf_sched_switch(&hook, draw() & 15, thread, draw() & 1 ? owner : other);
                mkperf_sched_irq(&hook, draw() & 4095, thread);
                scheduled++;
            }
        }
        for (unsigned i = 0; i < GUARD; i++) {
            assert_int_equal(memory.guard[i], UINT64_C(0xa5a5a5a5a5a5a5a5));
        }
    }
    assert_true(applied > RANDOM_DESCRIPTORS / 10);
    assert_true(scheduled > RANDOM_DESCRIPTORS / 10);
    assert_true(cpu.writes > RANDOM_DESCRIPTORS && cpu.wakes > 0 && cpu.reads > cpu.writes);

    /* And sampling is intact. */
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),    cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_no_request), cmocka_unit_test(test_least_interval),
        cmocka_unit_test(test_update),     cmocka_unit_test(test_snapshot),
        cmocka_unit_test(test_pending),    cmocka_unit_test(test_disturbed),
        cmocka_unit_test(test_storm),      cmocka_unit_test(test_unmapped),
        cmocka_unit_test(test_values),     cmocka_unit_test(test_values_of_no_sample),
        cmocka_unit_test(test_filters),    cmocka_unit_test(test_off_cpu),
        cmocka_unit_test(test_counts),     cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
