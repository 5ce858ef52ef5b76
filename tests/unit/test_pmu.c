/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PMUv3: the kernel's file of register accesses (kernel/arch/armv8_pmuv3.h) under the real hook,
 * the back-end's selectors, and access from user mode, against one model of the registers. The
 * model knows only what the Arm ARM says of them.
 */
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
    unsigned misuse;         /* a running counter's type or value written, one that is not there */
    bool user;               /* the access is user mode's */
    bool cycle_touched;
} m;

static unsigned there(void)
{
    return m.pmcr >> 11 & 31;
}

/* The counter of pmevcntr or pmevtyper, -1: another register. */
static int indexed(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);

    if (strncmp(name, prefix, n) != 0) {
        return -1;
    }
    int i = atoi(name + n);
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

#include "kernel/capture.c" // NOLINT(bugprone-suspicious-include)
#include "kernel/request.c" // NOLINT(bugprone-suspicious-include)
#include "kernel/sched.c"   // NOLINT(bugprone-suspicious-include)

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
    *c = (struct mkperf_port_context){0x1000, 0, 0, NULL};
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

unsigned mkperf_port_core(void)
{
    return 0;
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

uintptr_t mkperf_port_user_page(const void *thread, unsigned level, uint64_t va)
{
    (void)thread;
    (void)level;
    (void)va;
    return 0;
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

/* Whether an event counts, Arm ARM "PMEVTYPER<n>_EL0", for a CPU with EL2 and EL3. */
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
    mkperf_hook_boot();
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
    d.want.counter[n] = (struct mkperf_request_counter){
        .select = select, .left = period, .first = period, .period = period, .jitter_mask = jitter};
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
    mkperf_capture(&hook, hit);
    const uint64_t *record = mkperf_ring_peek(&c, &size, &corrupt);
    assert_non_null(record);
    uint64_t weight = record[MKPERF_WORD_PERIOD];
    mkperf_ring_release(&c, size);
    return weight;
}

/* ---- the kernel's file ---------------------------------------------------------------------- */

/* Nobody but the kernel uses the PMU, and nothing of event counters is on; the cycle counter is the
 * kernel's. */
static void test_boot(void **state)
{
    (void)state;
    assert_int_equal(m.userenr, 0);
    assert_int_equal(m.enabled, UINT64_C(0x80000000));
    assert_int_equal(m.overflow, UINT64_C(0x80000000));
    assert_int_equal(m.interrupts, UINT64_C(0x80000000));
    request(0);
    assert_int_equal(d.answer.counters, 0x3f);
    assert_int_equal(d.answer.pmu[0], m.midr);
    assert_int_equal(d.answer.pmu[1], m.pmcr);
    assert_int_equal(d.answer.pmu[2], m.ceid[0]);
    assert_int_equal(d.answer.pmu[3], m.ceid[1]);
}

/* Counters of the session count and interrupt, and no others; a session ends as it began. */
static void test_session(void **state)
{
    (void)state;
    for (unsigned n = 0; n < COUNTERS; n++) {
        uint32_t bit = UINT32_C(1) << n;
        assert_int_equal(apply_one(n, pmu->select(CYCLES, true, false), 5000 + n, 0), 0);
        assert_int_equal(m.enabled, UINT64_C(0x80000000) | bit);
        assert_int_equal(m.interrupts, UINT64_C(0x80000000) | bit);
        assert_int_equal(m.pmcr, UINT64_C(0x41033041)); /* E, and all else as it was */
        assert_int_equal(m.type[n], UINT32_C(1) << 31 | CYCLES);
        count_events(n, 4999 + n);
        assert_int_equal(interrupt(), 0);
        count_events(n, 3);
        assert_int_equal(interrupt(), 5000 + n);
        assert_int_equal((uint32_t)m.value[n], UINT32_C(0) - 4998 - n);
        assert_int_equal(m.overflow, UINT64_C(0x80000000));
        request(MKPERF_REQUEST_WITHDRAW);
        assert_int_equal(m.enabled, UINT64_C(0x80000000));
        assert_int_equal(m.interrupts, UINT64_C(0x80000000));
        assert_int_equal(d.answer.disturbed, 0);
    }
    assert_int_equal(apply_one(COUNTERS, CYCLES, 5000, 0), MKPERF_REQUEST_BAD_COUNTERS);
}

static void test_thirty_one_counters(void **state)
{
    (void)state;
    m.pmcr |= UINT64_C(0x1f) << 11;
    request(0);
    assert_int_equal(d.answer.counters, 0x7fffffff);
    for (unsigned n = 0; n < 31; n++) {
        assert_int_equal(apply_one(n, pmu->select(INSTRUCTIONS, true, true), 5000, 0), 0);
        count_events(n, 5000);
        assert_int_equal(interrupt(), 5000);
        assert_int_equal(m.type[n] & 0xffff, INSTRUCTIONS);
    }
}

/* Of a selector the kernel takes over the event and what it counts in. */
static void test_select_bits(void **state)
{
    (void)state;
    m.type_mask = UINT64_MAX;
    assert_int_equal(apply_one(0, UINT32_MAX, 5000, 0), 0);
    assert_int_equal(m.type[0], MKPERF_SELECT_BITS);
    m.type_mask = UINT64_C(0xfc0003ff); /* Armv8.0: ten bits of event number */
    assert_int_equal(apply_one(0, pmu->select(0x3c0, true, false), 5000, 0), 0);
    assert_int_equal(apply_one(0, pmu->select(0x8c0, true, false), 5000, 0),
                     MKPERF_REQUEST_BAD_EVENT); /* would count something else */
    assert_int_equal(m.enabled, UINT64_C(0x80000000));
}

/* What firmware or a debugger changes is seen and put right. */
static void test_disturbed(void **state)
{
    (void)state;
    apply_one(2, pmu->select(CYCLES, true, false), 5000, 0);
    m.enabled = 0;
    request(0);
    assert_int_equal(d.answer.disturbed, 1);
    assert_int_equal(m.enabled, 1 << 2);
    m.interrupts = 0;
    m.type[2] = INSTRUCTIONS;
    request(0);
    assert_int_equal(d.answer.disturbed, 3);
    assert_int_equal(m.type[2], UINT32_C(1) << 31 | CYCLES);
    m.pmcr &= ~UINT64_C(1);
    request(0);
    assert_int_equal(d.answer.disturbed, 4);
    count_events(2, 5000);
    assert_int_equal(interrupt(), 5000);
}

/* Counting as the profiler PD does it: overflows of 2^31 that the hook takes, and what is left. */
static void test_wrap(void **state)
{
    uint64_t counted = 0, told = 0;

    (void)state;
    apply_one(2, pmu->select(CYCLES, true, false), MKPERF_COUNT_PERIOD, 0);
    for (unsigned i = 0; i < 50; i++) {
        uint32_t events = 1000000007 + i;
        count_events(2, events);
        counted += events;
        told += interrupt();
        request(MKPERF_REQUEST_SNAPSHOT);
        assert_int_equal(told + (uint32_t)(d.answer.counter[2].value - MKPERF_COUNT_PERIOD),
                         counted);
    }
    assert_true(counted > UINT64_C(1) << 35);
    assert_int_equal(d.answer.disturbed, 0);
}

enum { BINS = 64, DRAWS = 64000 };

/*
 * The jitter of the policy as the hook programs it into the registers: every interval within its
 * range, the mean within four standard errors of the period less 1/2, and uniform by chi-square (63
 * degrees of freedom: 117 has p = 0.00005). Each sample weighs the interval that it ends.
 */
static void test_jitter(void **state)
{
    static const uint32_t periods[] = {1000, 65536, 1000000, MKPERF_MAX_PERIOD};

    for (unsigned k = 0; k < sizeof periods / sizeof *periods; k++) {
        uint32_t period = periods[k], mask = mkperf_jitter_mask(period);
        uint32_t least = period - (mask + 1) / 2, interval = period;
        unsigned bin[BINS] = {0};
        double sum = 0, chi = 0;

        reset(state);
        ticks = 12345 + k;
        assert_int_equal(apply_one(2, pmu->select(CYCLES, true, false), period, mask), 0);
        for (unsigned i = 0; i < DRAWS; i++) {
            count_events(2, interval + i % 50); /* the interrupt comes late */
            ticks += interval / 16;
            assert_int_equal(interrupt(), interval);
            count_events(2, 0 - (uint32_t)m.value[2] - 1); /* to one before the overflow */
            assert_int_equal(m.overflow & 0x3f, 0);
            interval = hook.counter[2].armed;
            assert_in_range(interval, least, least + mask);
            sum += interval;
            bin[(uint64_t)(interval - least) * BINS / ((uint64_t)mask + 1)]++;
            m.value[2] = 0 - interval;
        }
        double error = (mask + 1) / sqrt(12.0 * DRAWS);
        assert_true(fabs(sum / DRAWS - (period - 0.5)) < 4 * error);
        for (unsigned i = 0; i < BINS; i++) {
            double expected = (double)DRAWS / BINS, off = bin[i] - expected;
            chi += off * off / expected;
        }
        assert_true(chi < 117 && chi > 20);
    }
    assert_int_equal(m.misuse, 0);
}

/* ---- the back-end --------------------------------------------------------------------------- */

static void test_modes(void **state)
{
    (void)state;
    m.type[0] = pmu->select(CYCLES, true, false);
    m.type[1] = pmu->select(CYCLES, false, true);
    m.type[2] = pmu->select(INSTRUCTIONS, true, true);
    for (unsigned secure = 0; secure < 2; secure++) {
        assert_true(counts(0, 0, secure));
        assert_false(counts(0, 1, secure));
        assert_false(counts(1, 0, secure));
        assert_true(counts(1, 1, secure));
        assert_true(counts(2, 0, secure));
        assert_true(counts(2, 1, secure));
    }
    assert_false(counts(0, 2, false)); /* seL4 as a hypervisor runs there */
    assert_true(counts(1, 2, false));
    assert_true(counts(2, 2, false));
    for (unsigned i = 0; i < 3; i++) {
        assert_false(counts(i, 3, true)); /* firmware */
        assert_int_equal(m.type[i] & ~(uint64_t)MKPERF_SELECT_BITS, 0);
        assert_int_equal(mkperf_pmu_counts_kernel((uint32_t)m.type[i]), i != 0);
        assert_int_equal(mkperf_pmu_kernel_alone((uint32_t)m.type[i]), i == 1);
    }
}

static void test_supported(void **state)
{
    (void)state;
    request(0);
    const uint64_t *id = d.answer.pmu;
    for (unsigned code = 0; code < 0x40; code++) {
        bool there = code == 0x00 || code == 0x03 || code == 0x08 || code == 0x11 || code == 0x21;
        assert_int_equal(pmu->supported(id, code), there);
    }
    for (unsigned code = 0x4000; code < 0x4040; code++) {
        assert_int_equal(pmu->supported(id, code), code == 0x4005 || code == 0x4024);
    }
    assert_true(pmu->supported(id, 0xc0)); /* the implementer's own: the CPU does not say */
    assert_true(pmu->supported(id, 0xffff));
    assert_false(pmu->supported(id, 0x10000));
    assert_false(pmu->supported(id, UINT32_MAX));
}

static void test_cpu(void **state)
{
    static const struct {
        uint64_t midr, pmcr;
        const char *name;
    } cpus[] = {
        {0x410fd034, 0x41033000, "Cortex-A53"},
        {0x412fd050, 0x41452000, "Cortex-A55"},
        {0x414fd0c1, 0x410c3000, "Neoverse-N1"},
        {0x420f5160, 0x42003000, "implementer 0x42 part 0x516"},
        {0, 0x41033000, "Cortex-A53"},
        {0, 0x41003000, "implementer 0x41 PMU 0x0"},
        {0, 0x42073000, "implementer 0x42 PMU 0x7"},
        {0, 0x3000, ""},
    };
    char name[32];

    (void)state;
    for (unsigned i = 0; i < sizeof cpus / sizeof *cpus; i++) {
        uint64_t id[4] = {cpus[i].midr, cpus[i].pmcr};
        pmu->cpu(id, name, sizeof name);
        assert_string_equal(name, cpus[i].name);
    }
}

static uint32_t code_of(const char *name)
{
    for (const struct mkperf_pmu_event *e = pmu->events; e->name != NULL; e++) {
        if (strcmp(e->name, name) == 0) {
            return e->code;
        }
    }
    fail_msg("no event %s", name);
    return 0;
}

static void test_event_table(void **state)
{
    (void)state;
    for (const struct mkperf_pmu_event *e = pmu->events; e->name != NULL; e++) {
        assert_true(strlen(e->name) < 32);
        assert_true(strlen(e->description) < 64 && strlen(e->description) > 5);
        assert_true(e->code < 0x40);
        assert_true(e->rate == MKPERF_RATE_BUSY || e->rate == MKPERF_RATE_RARE);
    }
    /* Linux, drivers/perf/arm_pmuv3.c */
    assert_int_equal(code_of("cycles"), 0x11);
    assert_int_equal(code_of("instructions"), 0x08);
    assert_int_equal(code_of("branches"), 0x0c);
    assert_int_equal(code_of("branch-misses"), 0x10);
    assert_int_equal(code_of("cache-references"), 0x04);
    assert_int_equal(code_of("cache-misses"), 0x03);
    assert_int_equal(code_of("L1-dcache-loads"), code_of("l1d_cache"));
    assert_int_equal(code_of("L1-icache-load-misses"), code_of("l1i_cache_refill"));
    assert_int_equal(code_of("dTLB-load-misses"), code_of("l1d_tlb_refill"));
    assert_int_equal(code_of("iTLB-loads"), code_of("l1i_tlb"));
    assert_int_equal(code_of("LLC-load-misses"), code_of("ll_cache_miss_rd"));
}

/* ---- from user mode ------------------------------------------------------------------------- */

/* With the hook, and with a kernel that does not export the PMU: told, and nothing touched. */
static void test_user_closed(void **state)
{
    struct mkperf_cpu cpu = {.pmu = pmu};

    (void)state;
    assert_non_null(strstr(pmu->user->find(&cpu), "PMUSERENR_EL0"));
    assert_int_equal(m.misuse, 0);
    m.userenr = 1;
    m.pmcr &= ~(UINT64_C(0x1f) << 11);
    assert_non_null(strstr(pmu->user->find(&cpu), "no event counters"));
}

static void test_user(void **state)
{
    struct mkperf_cpu cpu = {.pmu = pmu};

    (void)state;
    m.userenr = 1;
    assert_null(pmu->user->find(&cpu));
    assert_int_equal(cpu.counters, COUNTERS);
    assert_true(mkperf_cpu_supports(&cpu, CYCLES));
    assert_false(pmu->user->program(COUNTERS, pmu->select(CYCLES, true, true)));
    for (unsigned n = 0; n < 2; n++) {
        assert_true(pmu->user->program(n, pmu->select(CYCLES, true, n == 0)));
    }
    pmu->user->start(3);
    assert_int_equal(m.enabled, UINT64_C(0x80000003));
    assert_int_equal(m.pmcr & 1, 1);
    count_events(0, 77);
    count_events(1, UINT32_MAX);
    count_events(1, 2);
    pmu->user->stop(3);
    assert_int_equal(m.enabled, UINT64_C(0x80000000));
    assert_int_equal(m.overflow, UINT64_C(0x80000000)); /* coming round is nobody's business */
    assert_int_equal(pmu->user->read(0), 77);
    assert_int_equal(pmu->user->read(1), 1);
    m.type_mask = UINT64_C(0xfc0003ff);
    assert_false(pmu->user->program(0, pmu->select(0x8c0, true, false)));
    assert_int_equal(m.misuse, 0);
    assert_false(m.cycle_touched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_boot, reset),
        cmocka_unit_test_setup(test_session, reset),
        cmocka_unit_test_setup(test_thirty_one_counters, reset),
        cmocka_unit_test_setup(test_select_bits, reset),
        cmocka_unit_test_setup(test_disturbed, reset),
        cmocka_unit_test_setup(test_wrap, reset),
        cmocka_unit_test_setup(test_jitter, reset),
        cmocka_unit_test_setup(test_modes, reset),
        cmocka_unit_test_setup(test_supported, reset),
        cmocka_unit_test_setup(test_cpu, reset),
        cmocka_unit_test_setup(test_event_table, reset),
        cmocka_unit_test_setup(test_user_closed, reset),
        cmocka_unit_test_setup(test_user, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
