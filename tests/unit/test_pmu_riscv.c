/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Sscofpmf back-end against a model of the SBI's PMU extension and of the counters' CSRs: which
 * counters it takes, what it asks of the SBI, modes, widths, refusals. Nothing here boots RISC-V,
 * so this is its only test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* In place of pd/pmu/riscv_sscofpmf_regs.h. */
#define MKPERF_RISCV_SSCOFPMF_REGS_H

struct pmu_sbi_result {
    int64_t error;
    uint64_t value;
};

/* Cycle, no time, instret, then hpmcounter3 to 8 of several widths, one too narrow, and firmware.
 */
enum { SBI_COUNTERS = 12, FIRST = 3, COUNTERS = 5 };

enum { NOT_SUPPORTED = -2, INVALID = -3, ALREADY_STARTED = -7, ALREADY_STOPPED = -8 };

static struct {
    bool absent;
    struct {
        uint64_t event, data, flags, value;
        bool configured, on, overflow; /* overflow: OF, cleared at the next start */
    } c[SBI_COUNTERS];
    unsigned misuse;
} m;

static const uint8_t widths[SBI_COUNTERS] = {64, 0, 64, 64, 48, 40, 31, 32, 64};

static bool is_programmable(uint64_t i)
{
    return i >= FIRST && i < 9;
}

static uint64_t top(uint64_t i)
{
    return UINT64_MAX >> (64 - widths[i]);
}

static struct pmu_sbi_result answer(int64_t error, uint64_t value)
{
    return (struct pmu_sbi_result){error, value};
}

static struct pmu_sbi_result get_info(uint64_t i)
{
    if (i >= SBI_COUNTERS || i == 1) {
        return answer(INVALID, 0);
    }
    if (i >= 9) {
        return answer(0, UINT64_C(1) << 63);
    }
    return answer(0, (0xc00 + i) | (uint64_t)(widths[i] - 1) << 12);
}

/* General events 1, 2 and 6, reads of L1D, and any raw event below 0x100. */
static bool is_there(uint64_t event, uint64_t data)
{
    switch (event >> 16) {
    case 0:
        return event == 1 || event == 2 || event == 6;
    case 1:
        return (event & 0xffff) <= 1;
    case 2:
        return data < 0x100;
    default:
        return false;
    }
}

static struct pmu_sbi_result configure_matching(const uint64_t a[5])
{
    if (!is_programmable(a[0]) || a[1] != 1 || m.c[a[0]].configured) {
        return answer(INVALID, 0);
    }
    if (!is_there(a[3], a[4])) {
        return answer(NOT_SUPPORTED, 0);
    }
    m.c[a[0]].configured = true;
    m.c[a[0]].event = a[3];
    m.c[a[0]].data = a[4];
    m.c[a[0]].flags = a[2];
    m.c[a[0]].value = a[2] & 1 << 1 ? 0 : m.c[a[0]].value;
    return answer(0, a[0]);
}

static struct pmu_sbi_result start_counter(const uint64_t a[5])
{
    if (!is_programmable(a[0]) || a[1] != 1 || !m.c[a[0]].configured) {
        m.misuse++;
        return answer(INVALID, 0);
    }
    if (m.c[a[0]].on) {
        m.misuse++; /* its value would not be set */
        return answer(ALREADY_STARTED, 0);
    }
    if (a[2] & 1) {
        m.misuse += a[3] > top(a[0]);
        m.c[a[0]].value = a[3];
    }
    m.c[a[0]].on = true;
    m.c[a[0]].overflow = false;
    return answer(0, 0);
}

static struct pmu_sbi_result stop_counter(const uint64_t a[5])
{
    if (!is_programmable(a[0]) || a[1] != 1) {
        m.misuse++;
        return answer(INVALID, 0);
    }
    bool was = m.c[a[0]].on;
    m.c[a[0]].on = false;
    if (a[2] & 1) {
        m.c[a[0]].configured = false;
    }
    return answer(was ? 0 : ALREADY_STOPPED, 0);
}

static struct pmu_sbi_result pmu_sbi(uint64_t eid, uint64_t fid, const uint64_t a[5])
{
    if (eid == 0x10) {
        return answer(0, fid == 4 ? 0x489 : 0x8000000000000007);
    }
    if (m.absent || eid != 0x504d55) {
        return answer(NOT_SUPPORTED, 0);
    }
    switch (fid) {
    case 0:
        return answer(0, SBI_COUNTERS);
    case 1:
        return get_info(a[0]);
    case 2:
        return configure_matching(a);
    case 3:
        return start_counter(a);
    case 4:
        return stop_counter(a);
    default:
        return answer(NOT_SUPPORTED, 0);
    }
}

static uint64_t pmu_read_hpmcounter(unsigned n)
{
    m.misuse += n < 3 || n > 31 || !is_programmable(n);
    return m.c[n].value;
}

static uint32_t pmu_read_scountovf(void)
{
    uint32_t bits = 7; /* cycle and instret are others' */

    for (unsigned i = FIRST; i < 9; i++) {
        bits |= (uint32_t)m.c[i].overflow << i;
    }
    return bits;
}

#include "pd/pmu/riscv_sscofpmf.c" // NOLINT(bugprone-suspicious-include)

#include "pmu_harness.h"

static int reset(void **state)
{
    (void)state;
    memset(&m, 0, sizeof m);
    return 0;
}

/* The back-end's counters are hpmcounter3, 4, 5, 7 and 8: 6 has too few bits. */
static unsigned index_of(unsigned counter)
{
    return counter < 3 ? FIRST + counter : FIRST + 1 + counter;
}

static void model_run(unsigned counter, uint32_t events)
{
    unsigned i = index_of(counter);

    if (m.c[i].on) {
        uint64_t before = m.c[i].value;
        m.c[i].value = (before + events) & top(i);
        m.c[i].overflow |= m.c[i].value < before;
    }
}

static bool model_enabled(unsigned counter)
{
    return m.c[index_of(counter)].on;
}

static bool model_counts(unsigned counter, bool kernel)
{
    return !(m.c[index_of(counter)].flags >> (kernel ? 6 : 5) & 1);
}

static uint32_t model_get(unsigned counter)
{
    return (uint32_t)m.c[index_of(counter)].value;
}

/* As a kernel would through the SBI: all bits above the low 32 are 1. */
static void model_set(unsigned counter, uint32_t value)
{
    m.c[index_of(counter)].value = (UINT64_C(0xffffffff) << 32 | value) & top(index_of(counter));
}

static uint32_t model_take_overflow(void)
{
    uint32_t taken = 0;

    for (unsigned i = 0; i < COUNTERS; i++) {
        taken |= (uint32_t)m.c[index_of(i)].overflow << i;
        m.c[index_of(i)].overflow = false;
    }
    return taken;
}

static unsigned model_misuse(void)
{
    return m.misuse;
}

static const struct pmu_model model = {
    .pmu = &mkperf_riscv_sscofpmf,
    .counters = COUNTERS,
    .reset = reset,
    .run = model_run,
    .enabled = model_enabled,
    .counts = model_counts,
    .get = model_get,
    .set = model_set,
    .take_overflow = model_take_overflow,
    .misuse = model_misuse,
    .good = {1, 2},
    .bad = 5,
};

static void test_init(void **state)
{
    char name[32];

    (void)state;
    m.c[4].on = m.c[4].configured = true; /* left by an earlier owner */
    assert_null(mkperf_riscv_sscofpmf.init());
    assert_false(m.c[4].on);
    mkperf_riscv_sscofpmf.cpu(name, sizeof name);
    assert_string_equal(name, "RISC-V 0x489/0x8000000000000007");
    assert_null(mkperf_riscv_sscofpmf.raise);
    m.absent = true;
    assert_non_null(strstr(mkperf_riscv_sscofpmf.init(), "PMU extension does not answer"));
    assert_int_equal(m.misuse, 0);
}

static void test_events(void **state)
{
    const struct mkperf_pmu *p = &mkperf_riscv_sscofpmf;

    (void)state;
    assert_null(p->init());
    assert_true(p->program(0, 0x10001, true, false)); /* misses of L1D reads */
    assert_int_equal(m.c[3].event, 0x10001);
    assert_true(p->program(1, 0x20000 + 0x42, true, true)); /* raw */
    assert_int_equal(m.c[4].event, 0x20000);
    assert_int_equal(m.c[4].data, 0x42);
    assert_int_equal(m.c[4].flags & 1 << 7, 1 << 7); /* firmware is not the kernel */
    assert_false(p->program(2, 0x20000 + 0x100, true, false));
    assert_false(p->supported(0x10002));
    for (unsigned i = 0; i < COUNTERS; i++) {
        assert_true(p->program(i, 1, true, false));
    }
    assert_true(p->supported(5)); /* with no counter free it cannot know */
    assert_int_equal(m.misuse, 0);
}

/* Of the widths 64, 48, 40 and 32, with the low 32 bits alike. */
static void test_widths(void **state)
{
    const struct mkperf_pmu *p = &mkperf_riscv_sscofpmf;

    (void)state;
    assert_null(p->init());
    for (unsigned i = 0; i < COUNTERS; i++) {
        assert_true(p->program(i, 1, true, false));
        p->arm(i, 5000);
    }
    p->start((1 << COUNTERS) - 1);
    assert_int_equal(m.c[3].value, 0 - UINT64_C(5000));
    assert_int_equal(m.c[4].value, (UINT64_C(1) << 48) - 5000);
    assert_int_equal(m.c[5].value, (UINT64_C(1) << 40) - 5000);
    assert_int_equal(m.c[7].value, (UINT64_C(1) << 32) - 5000);
    assert_false(m.c[6].on);
    p->stop(UINT32_MAX);
    for (unsigned i = 0; i < COUNTERS; i++) {
        assert_false(model_enabled(i));
    }
    assert_int_equal(m.misuse, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TESTS,
        cmocka_unit_test_setup(test_init, reset),
        cmocka_unit_test_setup(test_events, reset),
        cmocka_unit_test_setup(test_widths, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
