/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A model of PMUv3's registers and the hook's port on it, for tests of register accesses. The model
 * knows only what the Arm ARM says of them.
 *
 * Owns: the registers `m`, the hook's memory, and the real hook with the real register accesses
 * (kernel/arch/armv8_pmuv3.h), the back-end and the access from user mode, which it includes.
 */
#ifndef TESTS_UNIT_PMU_MODEL_H
#define TESTS_UNIT_PMU_MODEL_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COUNTERS = 6, CYCLES = 0x11, INSTRUCTIONS = 0x08 };

static struct {
    uint64_t userenr, pmcr, midr, ceid[2], overflow, enabled, interrupts;
    uint64_t type[31], value[31];
    uint64_t type_mask;
    unsigned unsynchronized; /* writes since the last ISB */
    unsigned selected;       /* by PMSELR: the counter of pmxevcntr and pmxevtyper */
    unsigned misuse;         /* a running counter's type or value written, one that is not there */
    bool user;               /* the access is user mode's */
    bool cycle_touched;
} m;

static uint64_t m_id[4]; /* registers of the back-end of a kernel at EL1 */

static unsigned there(void)
{
    return m.pmcr >> 11 & 31;
}

/* Returns the counter of pmevcntr or pmevtyper, or -1 for another register. */
static int indexed(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    bool selected = strncmp(name, "pmx", 3) == 0 && strncmp(name + 3, prefix + 2, n - 2) == 0;

    if (!selected && strncmp(name, prefix, n) != 0) {
        return -1;
    }
    if (selected) {
        assert_int_equal(m.unsynchronized & 4, 0);
    }
    int i = selected ? (int)m.selected : atoi(name + n);
    m.misuse += (unsigned)i >= there();
    return i;
}

static bool is(const char *name, const char *reg)
{
    return strcmp(name, reg) == 0;
}

static uint64_t model_read(const char *name)
{
    int i;

    m.misuse += m.user && !(m.userenr & 1) && !is(name, "pmuserenr_el0");
    if ((i = indexed(name, "pmevcntr")) >= 0) {
        return m.value[i];
    }
    if ((i = indexed(name, "pmevtyper")) >= 0) {
        assert_int_equal(m.unsynchronized, 0);
        return m.type[i];
    }
    assert_false(m.user && (is(name, "midr_el1") || is(name, "pmintenset_el1")));
    if (is(name, "pmintenset_el1")) {
        return m.interrupts;
    }
    return is(name, "pmuserenr_el0")  ? m.userenr
           : is(name, "pmcr_el0")     ? m.pmcr
           : is(name, "pmceid0_el0")  ? m.ceid[0]
           : is(name, "pmceid1_el0")  ? m.ceid[1]
           : is(name, "midr_el1")     ? m.midr
           : is(name, "CurrentEL")    ? 1 << 2
           : is(name, "pmovsclr_el0") ? m.overflow
                                      : (assert_string_equal(name, "pmcntenset_el0"), m.enabled);
}

static void write_pmcr(uint64_t v)
{
    m.cycle_touched |= v >> 2 & 1; /* C resets the cycle counter */
    if (v >> 1 & 1) {
        memset(m.value, 0, sizeof m.value);
    }
    m.pmcr = (m.pmcr & ~UINT64_C(0xff)) | (v & 0xf9);
}

static void model_write(const char *name, uint64_t v)
{
    int i;

    m.misuse += m.user && !(m.userenr & 1);
    if ((i = indexed(name, "pmevcntr")) >= 0) {
        assert_int_equal(v >> 32, 0); /* with 64-bit counters the upper half would count */
        m.value[i] = v;
    } else if ((i = indexed(name, "pmevtyper")) >= 0) {
        assert_int_equal(m.unsynchronized & 1, 0); /* stopped, and that has taken effect */
        m.misuse += m.enabled >> i & 1;
        m.type[i] = v & m.type_mask;
    } else if (is(name, "pmcr_el0")) {
        write_pmcr(v);
    } else if (is(name, "pmselr_el0")) {
        m.selected = (unsigned)v;
        m.unsynchronized |= 4;
        return;
    } else if (is(name, "pmuserenr_el0")) {
        m.userenr = v;
    } else {
        uint64_t *to = strstr(name, "pmov") != NULL    ? &m.overflow
                       : strstr(name, "pmcnt") != NULL ? &m.enabled
                                                       : &m.interrupts;
        m.cycle_touched |= v >> 31 & 1;
        assert_true(strstr(name, "set_el") != NULL || strstr(name, "clr_el") != NULL);
        *to = strstr(name, "set_el") != NULL ? *to | v : *to & ~v;
    }
    m.unsynchronized |= strstr(name, "pmcntenclr") != NULL ? 3 : 2;
}

static void model_isb(void)
{
    m.unsynchronized = 0;
}

#define MKPERF_READ_REGISTER(name) model_read(name)
#define MKPERF_WRITE_REGISTER(name, value) model_write(name, value)
#define MKPERF_ISB() model_isb()

#include "kernel/capture.c"     // NOLINT(bugprone-suspicious-include)
#include "kernel/counted.c"     // NOLINT(bugprone-suspicious-include)
#include "kernel/request.c"     // NOLINT(bugprone-suspicious-include)
#include "kernel/sched.c"       // NOLINT(bugprone-suspicious-include)
#include "kernel/unwind_walk.c" // NOLINT(bugprone-suspicious-include)
#include "kernel/words.c"       // NOLINT(bugprone-suspicious-include)

/* In place of pd/pmu/armv8_user_regs.h. */
#define MKPERF_ARMV8_USER_REGS_H
#define AS_USER(access) \
    m.user = true;      \
    access;             \
    m.user = false
#define USER_READ(function, name)      \
    static uint64_t function(void)     \
    {                                  \
        uint64_t v;                    \
        AS_USER(v = model_read(name)); \
        return v;                      \
    }
#define USER_WRITE(function, name)     \
    static void function(uint64_t v)   \
    {                                  \
        AS_USER(model_write(name, v)); \
    }
USER_READ(pmu_read_pmuserenr, "pmuserenr_el0")
USER_READ(pmu_read_pmcr, "pmcr_el0")
USER_READ(pmu_read_pmceid0, "pmceid0_el0")
USER_READ(pmu_read_pmceid1, "pmceid1_el0")
USER_WRITE(pmu_write_pmcr, "pmcr_el0")
USER_WRITE(pmu_write_pmovsclr, "pmovsclr_el0")
USER_WRITE(pmu_write_pmcntenset, "pmcntenset_el0")
USER_WRITE(pmu_write_pmcntenclr, "pmcntenclr_el0")

static void name_of(char *name, const char *prefix, unsigned n)
{
    snprintf(name, 32, "%s%u_el0", prefix, n);
}

static uint64_t pmu_read_pmevcntr(unsigned n)
{
    char name[32];
    uint64_t v;

    name_of(name, "pmevcntr", n);
    AS_USER(v = model_read(name));
    return v;
}

static void pmu_write_pmevcntr(unsigned n, uint64_t v)
{
    char name[32];

    name_of(name, "pmevcntr", n);
    AS_USER(model_write(name, v));
}

static uint64_t pmu_read_pmevtyper(unsigned n)
{
    char name[32];
    uint64_t v;

    name_of(name, "pmevtyper", n);
    AS_USER(v = model_read(name));
    return v;
}

static void pmu_write_pmevtyper(unsigned n, uint64_t v)
{
    char name[32];

    name_of(name, "pmevtyper", n);
    AS_USER(model_write(name, v));
}

static void pmu_isb(void)
{
    model_isb();
}

#include "pd/pmu/armv8_pmuv3.c" // NOLINT(bugprone-suspicious-include)

#include "pd/pmu/armv8_user.c" // NOLINT(bugprone-suspicious-include)

#include "pd/profiler/policy.h"
#include "tests/hook_one_core.h"

#include <mkperf/session.h>

/* ---- the hook's port ------------------------------------------------------------------------ */

static struct {
    struct mkperf_ring ring;
    uint64_t data[MKPERF_RING_MIN_BYTES / 8];
} memory;
static uint64_t ticks;
static const char owner[1];
uint32_t mock_features;

bool mkperf_port_context(struct mkperf_port_context *c, bool kernel)
{
    (void)kernel;
    *c = (struct mkperf_port_context){0x1000, 0, 0, NULL, 0};
    return true;
}

struct mkperf_identity mkperf_port_identity(const void *thread)
{
    (void)thread;
    return (struct mkperf_identity){1, 0};
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
    return ticks;
}

uint64_t mkperf_port_tick_hz(void)
{
    return 1000000;
}

const void *mkperf_port_caller(const void *thread, uint64_t reply)
{
    (void)thread;
    (void)reply;
    return NULL;
}

void mkperf_port_blocked(struct mkperf_port_context *c, const void *thread)
{
    (void)c;
    (void)thread;
}

void *mkperf_port_memory(const void *thread, uint64_t va, uint64_t bytes)
{
    (void)thread;
    return va == (uintptr_t)&memory && bytes <= sizeof memory ? &memory : NULL;
}

void mkperf_port_wake(void)
{
}

/* ---- the model at work ---------------------------------------------------------------------- */

/* Returns whether an event counts, Arm ARM "PMEVTYPER<n>_EL0", for a CPU with EL2 and EL3. */
static bool counts(unsigned n, unsigned el, bool secure)
{
    uint64_t t = m.type[n];
    bool p = t >> 31 & 1, u = t >> 30 & 1, nsk = t >> 29 & 1, nsu = t >> 28 & 1;
    bool nsh = t >> 27 & 1, m3 = t >> 26 & 1;

    switch (el) {
    case 0:
        return secure ? !u : nsu == u;
    case 1:
        return secure ? !p : nsk == p;
    case 2:
        return nsh;
    default:
        return m3 == p;
    }
}

static void count_events(unsigned n, uint32_t events)
{
    if (m.enabled >> n & 1 && m.pmcr & 1) {
        uint32_t value = (uint32_t)m.value[n];
        m.overflow |= value + events < value ? UINT32_C(1) << n : 0;
        m.value[n] = value + events;
    }
}

static struct mkperf_hook hook;
static struct mkperf_descriptor d;
static const struct mkperf_pmu *const pmu = &mkperf_armv8_pmuv3;

/* Cortex-A53 as QEMU has it, and firmware that left things on. */
static int reset(void **state)
{
    (void)state;
    memset(&m, 0, sizeof m);
    memset(&hook, 0, sizeof hook);
    memset(&d, 0, sizeof d);
    memset(&memory, 0, sizeof memory);
    m.userenr = 0xf;
    m.enabled = m.overflow = m.interrupts = UINT64_C(0x8000003f);
    m.pmcr = 0x41033000 | 1 << 6; /* N = 6, LC */
    m.midr = 0x410fd034;
    m.ceid[0] = UINT64_C(1) << 0x11 | UINT64_C(1) << 0x08 | UINT64_C(1) << 0x03 | 1 |
                UINT64_C(1) << (32 + 0x05);
    m.ceid[1] = UINT64_C(1) << (0x21 - 0x20) | UINT64_C(1) << (32 + 0x24 - 0x20);
    m.type_mask = UINT64_C(0xfc00ffff);
    mkperf_pmu_boot();
    d.magic = MKPERF_DESCRIPTOR_MAGIC;
    d.want.watermark = UINT32_MAX;
    d.want.ring_bytes = MKPERF_RING_MIN_BYTES;
    d.want.ring = (uintptr_t)&memory;
    return 0;
}

static uint32_t request(uint32_t op)
{
    d.op = op;
    d.sequence++;
    model_isb(); /* an exception synchronizes, too */
    mkperf_hook_request(&hook, &d, owner, true);
    assert_int_equal(d.answered, d.sequence);
    assert_int_equal(m.misuse, 0);
    assert_false(m.cycle_touched);
    return d.answer.status;
}

static uint32_t apply_one(unsigned n, uint32_t select, uint32_t period, uint32_t jitter)
{
    memset(&memory, 0, sizeof memory);
    d.want.counter_mask = UINT32_C(1) << n;
    d.want.enable_mask = d.want.counter_mask;
    d.want.counter[n] = (struct mkperf_request_counter){.select = select,
                                                        .left = period,
                                                        .interval = period,
                                                        .period = period,
                                                        .jitter_mask = jitter};
    return request(MKPERF_REQUEST_APPLY);
}

/* As the kernel takes an interrupt. Returns the weight of the record that the hook wrote, 0: the
 * interrupt is none of its. */
static uint64_t interrupt(void)
{
    struct mkperf_ring_consumer c = {
        .ring = &memory.ring, .size = MKPERF_RING_MIN_BYTES, .tail = memory.ring.tail};
    uint32_t hit = mkperf_pmu_overflow() & hook.mask;
    unsigned size;
    bool corrupt = false;

    if (hit == 0) {
        return 0;
    }
    mkperf_capture(&hook, hit, mkperf_port_time());
    const uint64_t *record = mkperf_ring_peek(&c, &size, &corrupt);
    assert_non_null(record);
    uint64_t weight = record[MKPERF_WORD_PERIOD];
    mkperf_ring_release(&c, size);
    return weight;
}

#endif
