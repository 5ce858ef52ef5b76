/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A CPU under the real kernel hook, for test_hook.c and test_hook_random.c. An access to a counter that
 * is not there is undefined on AArch64 and halted seL4, so the machine here fails the test at one.
 *
 * Owns: the CPU, the memory of the session's owner, the hook and its descriptor.
 */
#ifndef TESTS_UNIT_HOOK_CPU_H
#define TESTS_UNIT_HOOK_CPU_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/capture.c"     // NOLINT(bugprone-suspicious-include)
#include "kernel/counted.c"     // NOLINT(bugprone-suspicious-include)
#include "kernel/request.c"     // NOLINT(bugprone-suspicious-include)
#include "kernel/sched.c"       // NOLINT(bugprone-suspicious-include)
#include "kernel/unwind_walk.c" // NOLINT(bugprone-suspicious-include)
#include "kernel/words.c"       // NOLINT(bugprone-suspicious-include)

#include "tests/hook_one_core.h"
#include "tests/hook_pmu.h"

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

static struct mkperf_tables tables;
static const char owner[1], other[1];
uint32_t mock_features = MKPERF_FEATURE_EVENTS;

/* ---- the hook's port ------------------------------------------------------------------------ */

bool mkperf_port_context(struct mkperf_port_context *c, bool kernel)
{
    (void)kernel;
    *c = (struct mkperf_port_context){0x1000, 0x2000, 0, NULL, 0};
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

uint64_t mkperf_port_time(void)
{
    cpu.time += cpu.pass;
    return cpu.time;
}

uint64_t mkperf_port_tick_hz(void)
{
    return 1000000;
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

/* Each thread serves another, and so on without an end. */
const void *mkperf_port_caller(const void *thread, uint64_t reply)
{
    (void)thread;
    (void)reply;
    return owner;
}

void mkperf_port_blocked(struct mkperf_port_context *c, const void *thread)
{
    *c = (struct mkperf_port_context){0x3000, 0x4000, 0, thread, 0};
}

/* As a kernel does: refused if it is longer than what the owner has mapped. */
void *mkperf_port_memory(const void *thread, uint64_t va, uint64_t bytes)
{
    static const struct {
        void *at;
        uint64_t bytes;
    } mapped[] = {{&memory, sizeof memory.ring + sizeof memory.data}, {&tables, sizeof tables}};

    for (unsigned i = 0; i < 2 && cpu.mapped && thread == owner; i++) {
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

/* ---- a session ------------------------------------------------------------------------------ */

static struct mkperf_hook hook;
static struct mkperf_descriptor d;

static void boot(unsigned there)
{
    memset(&cpu, 0, sizeof cpu);
    memset(&memory, 0, sizeof memory);
    memset(&tables, 0, sizeof tables);
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
            .select = MKPERF_SELECT_P | 0x11, .left = PERIOD, .interval = PERIOD, .period = PERIOD};
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
        uint64_t now = mkperf_port_time();
        mkperf_capture(&hook, hit, now);
        mkperf_captured(&hook, now);
    }
}

/* Returns the record that the hook wrote last, and no other is there, or NULL if there is none. */
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

#endif
