/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The PMUv2 back-end against a model of its registers: selection, order, modes, refusals. Nothing
 * here boots Armv7, so this is its only test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* In place of pd/pmu/armv7_pmuv2_regs.h. */
#define MKPERF_ARMV7_PMUV2_REGS_H

enum { COUNTERS = 6 };

static struct {
    uint32_t userenr, pmcr, ceid[2], overflow, enabled, selected;
    uint32_t type[32], value[32], type_mask;
    bool selection_pending; /* PMSELR written and no ISB since */
    unsigned trapped;       /* accesses while PL0 has none */
    unsigned running_writes;
    bool cycle_touched;
} m;

static uint32_t guarded(uint32_t value)
{
    m.trapped += !(m.userenr & 1);
    return value;
}

static uint32_t pmu_read_pmuserenr(void)
{
    return m.userenr;
}

static uint32_t pmu_read_pmcr(void)
{
    return guarded(m.pmcr);
}

static void pmu_write_pmcr(uint32_t v)
{
    assert_int_equal(v & 6, 0); /* resets of all counters, or of the kernel's */
    m.pmcr = (m.pmcr & ~UINT32_C(0x3f)) | (v & 0x3f);
}

static void pmu_write_pmcntenset(uint32_t v)
{
    m.cycle_touched |= v >> 31;
    m.enabled |= v;
}

static void pmu_write_pmcntenclr(uint32_t v)
{
    m.cycle_touched |= v >> 31;
    m.enabled &= ~v;
}

static uint32_t pmu_read_pmovsr(void)
{
    return guarded(m.overflow);
}

static void pmu_write_pmovsr(uint32_t v)
{
    m.cycle_touched |= v >> 31;
    m.overflow &= ~v;
}

static void pmu_write_pmselr(uint32_t v)
{
    assert_true(v < COUNTERS); /* 31 is the cycle counter's filter */
    m.selected = v;
    m.selection_pending = true;
}

static uint32_t pmu_read_pmceid0(void)
{
    return guarded(m.ceid[0]);
}

static uint32_t pmu_read_pmceid1(void)
{
    return guarded(m.ceid[1]);
}

static uint32_t pmu_read_pmccntr(void)
{
    return guarded(77);
}

static uint32_t pmu_read_pmxevtyper(void)
{
    assert_false(m.selection_pending);
    return m.type[m.selected];
}

static void pmu_write_pmxevtyper(uint32_t v)
{
    assert_false(m.selection_pending);
    m.running_writes += m.enabled >> m.selected & 1;
    m.type[m.selected] = v & m.type_mask;
}

static uint32_t pmu_read_pmxevcntr(void)
{
    assert_false(m.selection_pending);
    return m.value[m.selected];
}

static void pmu_write_pmxevcntr(uint32_t v)
{
    assert_false(m.selection_pending);
    m.running_writes += m.enabled >> m.selected & 1;
    m.value[m.selected] = v;
}

static void pmu_isb(void)
{
    m.selection_pending = false;
}

#include "pd/pmu/armv7_pmuv2.c" // NOLINT(bugprone-suspicious-include)

#include "pmu_harness.h"

static const struct mkperf_pmu *const pmu = &mkperf_armv7_pmuv2;

/* Whether an event counts in Non-secure PL0, PL1 and Hyp mode: Arm ARM v7-A, PMXEVTYPER. */
static bool counts(unsigned n, unsigned pl)
{
    uint32_t t = m.type[n];
    bool p = t >> 31 & 1, u = t >> 30 & 1, nsk = t >> 29 & 1, nsu = t >> 28 & 1;

    return pl == 0 ? nsu == u : pl == 1 ? nsk == p : (t >> 27 & 1) != 0;
}

/* A Cortex-A15. */
static int reset(void **state)
{
    (void)state;
    memset(&m, 0, sizeof m);
    m.userenr = 1;
    m.pmcr = UINT32_C(0x410f3000); /* N = 6 */
    m.ceid[0] = UINT32_C(1) << 0x11 | UINT32_C(1) << 0x08 | UINT32_C(1) << 0x03 | 1;
    m.type_mask = UINT32_C(0xf80000ff);
    return 0;
}

static void test_init(void **state)
{
    char name[32];

    (void)state;
    m.enabled = m.overflow = UINT32_C(0x8000003f);
    assert_null(pmu->init());
    assert_int_equal(m.enabled, UINT32_C(0x80000000));
    assert_int_equal(m.overflow, UINT32_C(0x80000000));
    assert_int_equal(m.pmcr, UINT32_C(0x410f3001));
    assert_int_equal(pmu->counters(), COUNTERS);
    pmu->cpu(name, sizeof name);
    assert_string_equal(name, "Cortex-A15");
    m.pmcr = UINT32_C(0x51042000);
    pmu->cpu(name, sizeof name);
    assert_string_equal(name, "implementer 0x51 PMU 0x4");
    assert_false(m.cycle_touched);
    assert_null(pmu->raise);
}

static void test_not_here(void **state)
{
    (void)state;
    m.userenr = 0;
    assert_non_null(strstr(pmu->init(), "PMUSERENR"));
    assert_int_equal(m.trapped, 0);
    m.userenr = 1;
    m.pmcr = UINT32_C(0x41090000);
    assert_non_null(strstr(pmu->init(), "no event counters"));
}

static void test_modes(void **state)
{
    (void)state;
    assert_null(pmu->init());
    assert_true(pmu->program(0, 0x11, true, false));
    assert_true(pmu->program(1, 0x11, false, true));
    assert_true(pmu->program(5, 0x08, true, true));
    for (unsigned pl = 0; pl < 3; pl++) {
        assert_int_equal(counts(0, pl), pl == 0);
        assert_int_equal(counts(1, pl), pl != 0);
        assert_true(counts(5, pl));
    }
    assert_int_equal(m.type[5] & 0xff, 0x08);
}

static void test_order_overflow_and_wrap(void **state)
{
    (void)state;
    assert_null(pmu->init());
    m.enabled = m.overflow = 0x3f;
    assert_true(pmu->program(3, 0x08, true, false));
    assert_int_equal(m.enabled, 0x37);
    assert_int_equal(m.overflow, 0x37); /* an earlier owner's overflow must not become a sample */
    pmu->arm(3, 1000);
    assert_int_equal(m.value[3], UINT32_MAX - 999);
    m.value[3] += 1500; /* past the overflow */
    assert_int_equal(pmu->read(3), 500);
    pmu->arm(3, UINT32_C(0x80000000));
    assert_int_equal(m.value[3], UINT32_C(0x80000000));
    assert_int_equal(m.running_writes, 0);
    pmu->start(UINT32_MAX);
    assert_int_equal(m.enabled, 0x3f);
    m.overflow = UINT32_C(0x80000025);
    assert_int_equal(pmu->overflow(), 0x25);
    pmu->clear(UINT32_MAX & ~UINT32_C(4));
    assert_int_equal(m.overflow, UINT32_C(0x80000004));
    pmu->stop(1 << 3);
    assert_int_equal(m.enabled, 0x37);
    assert_false(m.cycle_touched);
}

static void test_refusals(void **state)
{
    (void)state;
    assert_null(pmu->init());
    assert_false(pmu->program(COUNTERS, 0x11, true, false));
    assert_false(pmu->program(0, 0x11, false, false));
    assert_false(pmu->program(0, 0x04, true, false));
    assert_false(pmu->program(0, 0x100, true, false));
    assert_true(pmu->supported(0x60));
    assert_false(pmu->supported(0x21));
    m.type_mask = UINT32_C(0xf800003f); /* an event number that does not stick */
    assert_false(pmu->program(0, 0x60, true, false));
}

/* ---- the checks of every back-end ----------------------------------------------------------- */

static bool model_counts(unsigned counter, bool kernel)
{
    return counts(counter, kernel ? 1 : 0);
}

static unsigned model_misuse(void)
{
    return m.running_writes + m.trapped + m.cycle_touched;
}

#define ARM_PMU mkperf_armv7_pmuv2
#include "pmu_model_arm.h"

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TESTS,
        cmocka_unit_test_setup(test_init, reset),
        cmocka_unit_test_setup(test_not_here, reset),
        cmocka_unit_test_setup(test_modes, reset),
        cmocka_unit_test_setup(test_order_overflow_and_wrap, reset),
        cmocka_unit_test_setup(test_refusals, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
