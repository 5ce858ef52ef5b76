/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The PMUv3 back-end against a model of its registers: what is programmed, in which order, which
 * modes count, and what is refused. The model knows only what the Arm ARM says of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* In place of pd/pmu/armv8_pmuv3_regs.h. */
#define MKPERF_ARMV8_PMUV3_REGS_H

enum { COUNTERS = 6 };

static struct {
    uint64_t userenr, pmcr, ceid[2], overflow, enabled;
    uint64_t type[31], value[31];
    uint64_t type_mask;
    unsigned unsynchronized; /* writes since the last ISB */
    unsigned writes;         /* to type and value while the counter was running */
    unsigned reads_trapped;  /* while EL0 has no access */
    bool cycle_touched;
} m;

static uint64_t guarded(uint64_t value)
{
    m.reads_trapped += !(m.userenr & 1);
    return value;
}

static uint64_t pmu_read_pmuserenr(void)
{
    return m.userenr;
}

static uint64_t pmu_read_pmcr(void)
{
    return guarded(m.pmcr);
}

static void pmu_write_pmcr(uint64_t v)
{
    m.cycle_touched |= v >> 2 & 1; /* C resets the cycle counter */
    if (v >> 1 & 1) {
        memset(m.value, 0, sizeof m.value);
    }
    m.pmcr = (m.pmcr & ~UINT64_C(0xff)) | (v & 0xf9);
    m.unsynchronized++;
}

static uint64_t pmu_read_pmceid0(void)
{
    return guarded(m.ceid[0]);
}

static uint64_t pmu_read_pmceid1(void)
{
    return guarded(m.ceid[1]);
}

static uint64_t pmu_read_pmccntr(void)
{
    return guarded(12345);
}

static uint64_t pmu_read_pmovsclr(void)
{
    return guarded(m.overflow);
}

static void pmu_write_pmovsclr(uint64_t v)
{
    m.cycle_touched |= v >> 31 & 1;
    m.overflow &= ~v;
    m.unsynchronized++;
}

static void pmu_write_pmovsset(uint64_t v)
{
    m.cycle_touched |= v >> 31 & 1;
    m.overflow |= v;
    m.unsynchronized++;
}

static void pmu_write_pmcntenset(uint64_t v)
{
    m.cycle_touched |= v >> 31 & 1;
    m.enabled |= v;
    m.unsynchronized++;
}

static void pmu_write_pmcntenclr(uint64_t v)
{
    m.cycle_touched |= v >> 31 & 1;
    m.enabled &= ~v;
    m.unsynchronized++;
}

static void pmu_isb(void)
{
    m.unsynchronized = 0;
}

static uint64_t pmu_read_pmevcntr(unsigned n)
{
    return guarded(m.value[n]);
}

static void pmu_write_pmevcntr(unsigned n, uint64_t v)
{
    assert_int_equal(v >> 32, 0); /* with 64-bit counters the upper half would count */
    m.writes += m.enabled >> n & 1;
    m.value[n] = v;
    m.unsynchronized++;
}

static uint64_t pmu_read_pmevtyper(unsigned n)
{
    assert_int_equal(m.unsynchronized, 0);
    return guarded(m.type[n]);
}

static void pmu_write_pmevtyper(unsigned n, uint64_t v)
{
    assert_int_equal(m.unsynchronized, 0); /* stopped, and that has taken effect */
    m.writes += m.enabled >> n & 1;
    m.type[n] = v & m.type_mask;
    m.unsynchronized++;
}

#include "pd/pmu/armv8_pmuv3.c" // NOLINT(bugprone-suspicious-include)

#include "pmu_harness.h"

static const struct mkperf_pmu *const pmu = &mkperf_armv8_pmuv3;

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

/* Cortex-A53 as QEMU has it. */
static int reset(void **state)
{
    (void)state;
    memset(&m, 0, sizeof m);
    m.userenr = 1;
    m.pmcr = 0x41033000 | 1 << 6; /* N = 6, LC */
    m.ceid[0] = UINT64_C(1) << 0x11 | UINT64_C(1) << 0x08 | UINT64_C(1) << 0x03 | 1 |
                UINT64_C(1) << (32 + 0x05);
    m.ceid[1] = UINT64_C(1) << (0x21 - 0x20) | UINT64_C(1) << (32 + 0x24 - 0x20);
    m.type_mask = UINT64_C(0xfc00ffff);
    return 0;
}

static void test_init(void **state)
{
    (void)state;
    m.enabled = UINT64_C(0x8000003f);
    m.overflow = UINT64_C(0x8000003f);
    assert_null(pmu->init());
    assert_int_equal(m.enabled, UINT64_C(0x80000000)); /* ours are off, the kernel's is not */
    assert_int_equal(m.overflow, UINT64_C(0x80000000));
    assert_int_equal(m.pmcr, UINT64_C(0x41033041)); /* E, and all else as it was */
    assert_false(m.cycle_touched);
    assert_int_equal(m.unsynchronized, 0);
    assert_int_equal(pmu->counters(), COUNTERS);
    assert_int_equal(pmu->version, MKPERF_PMU_VERSION);
    assert_string_equal(pmu->name, "armv8_pmuv3");
}

static void test_not_here(void **state)
{
    (void)state;
    m.userenr = 0;
    assert_non_null(strstr(pmu->init(), "PMUSERENR_EL0"));
    assert_int_equal(m.reads_trapped, 0); /* it made no access that would have faulted */
    m.userenr = 1;
    m.pmcr &= ~(UINT64_C(0x1f) << 11);
    assert_non_null(strstr(pmu->init(), "no event counters"));
}

static void test_thirty_one_counters(void **state)
{
    (void)state;
    m.pmcr |= UINT64_C(0x1f) << 11;
    assert_null(pmu->init());
    assert_int_equal(pmu->counters(), 31);
    m.overflow = UINT64_C(0xffffffff);
    assert_int_equal(pmu->overflow(), 0x7fffffff);
    pmu->clear(UINT32_MAX);
    pmu->start(UINT32_MAX);
    pmu->stop(UINT32_MAX);
    assert_int_equal(m.overflow, UINT64_C(0x80000000));
    assert_false(m.cycle_touched);
}

static void test_modes(void **state)
{
    (void)state;
    assert_null(pmu->init());
    assert_true(pmu->program(0, 0x11, true, false));
    assert_true(pmu->program(1, 0x11, false, true));
    assert_true(pmu->program(2, 0x08, true, true));
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
    }
    assert_int_equal(m.type[0], UINT64_C(1) << 31 | 0x11);
    assert_int_equal(m.type[1] & UINT64_C(0xf8000000), UINT64_C(1) << 30 | UINT64_C(1) << 27);
}

static void test_program_stops_first(void **state)
{
    (void)state;
    assert_null(pmu->init());
    m.enabled = 0x3f;
    m.overflow = 0x3f;
    assert_true(pmu->program(3, 0x08, true, false));
    assert_int_equal(m.writes, 0);
    assert_int_equal(m.enabled, 0x37);
    assert_int_equal(m.overflow, 0x37); /* an earlier owner's overflow must not become a sample */
    pmu->arm(3, 1000);
    assert_int_equal(m.value[3], UINT32_MAX - 999);
    assert_int_equal(pmu->read(3), UINT32_MAX - 999);
    assert_int_equal(m.writes, 0);
    pmu->start(1 << 3);
    assert_int_equal(m.enabled, 0x3f);
    assert_int_equal(m.pmcr & 1, 1);
    pmu->stop(1 << 3 | 1 << 4);
    assert_int_equal(m.enabled, 0x27);
    assert_int_equal(m.pmcr & 1, 1); /* the kernel may use its counter */
    assert_int_equal(m.unsynchronized, 0);
    assert_false(m.cycle_touched);
}

static void test_overflow(void **state)
{
    (void)state;
    assert_null(pmu->init());
    m.overflow = UINT64_C(0x80000025);
    assert_int_equal(pmu->overflow(), 0x25);
    pmu->clear(0x21);
    assert_int_equal(pmu->overflow(), 0x04);
    assert_int_equal(m.overflow, UINT64_C(0x80000004));
    pmu->raise(0x80000001); /* never the cycle counter's */
    assert_int_equal(m.overflow, UINT64_C(0x80000005));
    assert_false(m.cycle_touched);
    m.value[2] = UINT64_C(0x123456789); /* a counter of 64 bits */
    assert_int_equal(pmu->read(2), 0x23456789);
}

static void test_supported(void **state)
{
    (void)state;
    assert_null(pmu->init());
    for (unsigned code = 0; code < 0x40; code++) {
        bool there = code == 0x00 || code == 0x03 || code == 0x08 || code == 0x11 || code == 0x21;
        assert_int_equal(pmu->supported(code), there);
        assert_int_equal(pmu->program(0, code, true, false), there);
    }
    for (unsigned code = 0x4000; code < 0x4040; code++) {
        assert_int_equal(pmu->supported(code), code == 0x4005 || code == 0x4024);
    }
    assert_true(pmu->supported(0xc0)); /* the implementer's own: the CPU does not say */
    assert_true(pmu->supported(0xffff));
    assert_false(pmu->supported(0x10000));
    assert_false(pmu->supported(UINT32_MAX));
}

static void test_program_refuses(void **state)
{
    (void)state;
    assert_null(pmu->init());
    assert_false(pmu->program(COUNTERS, 0x11, true, false));
    assert_false(pmu->program(31, 0x11, true, false));
    assert_false(pmu->program(0, 0x11, false, false));
    assert_false(pmu->program(0, 0x04, true, false));
    m.type_mask = UINT64_C(0xfc0003ff); /* Armv8.0: ten bits of event number */
    assert_true(pmu->program(0, 0x3c0, true, false));
    assert_false(pmu->program(0, 0x8c0, true, false)); /* would count something else */
}

static void test_cpu(void **state)
{
    char name[32];

    (void)state;
    pmu->cpu(name, sizeof name);
    assert_string_equal(name, "Cortex-A53");
    m.pmcr = UINT64_C(0x42073000);
    pmu->cpu(name, sizeof name);
    assert_string_equal(name, "implementer 0x42 PMU 0x7");
    m.pmcr = 0x3000;
    pmu->cpu(name, sizeof name);
    assert_string_equal(name, "");
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

/* ---- the checks of every back-end ----------------------------------------------------------- */

static bool model_counts(unsigned counter, bool kernel)
{
    return counts(counter, kernel ? 1 : 0, false);
}

static unsigned model_misuse(void)
{
    return m.writes + m.reads_trapped + m.cycle_touched;
}

#define ARM_PMU mkperf_armv8_pmuv3
#include "pmu_model_arm.h"

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TESTS,
        cmocka_unit_test_setup(test_init, reset),
        cmocka_unit_test_setup(test_not_here, reset),
        cmocka_unit_test_setup(test_thirty_one_counters, reset),
        cmocka_unit_test_setup(test_modes, reset),
        cmocka_unit_test_setup(test_program_stops_first, reset),
        cmocka_unit_test_setup(test_overflow, reset),
        cmocka_unit_test_setup(test_supported, reset),
        cmocka_unit_test_setup(test_program_refuses, reset),
        cmocka_unit_test_setup(test_cpu, reset),
        cmocka_unit_test_setup(test_event_table, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
