/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RISC-V's counters: the kernel's file of register accesses (kernel/arch/riscv_sscofpmf.h) against a model of the registers
 * and of the firmware. The model knows what the specifications of Sscofpmf, Ssccfg and the SBI say, and what QEMU's OpenSBI
 * does: a start clears OF only if LCOFIP is clear, and a counter that is written while OF is set interrupts no more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pd/pmu/pmu.h"

enum { FIRST = 3, THERE = 4, CYCLES = 1, INSTRUCTIONS = 2, DTLB = 0x10019 };

struct result {
    uint64_t error, value;
};

static struct {
    bool delegated, filters;
    uint64_t sip, sie, scounteren, selected;
    struct {
        uint64_t event, flags, value;
        bool on, of, armed;
    } counter[FIRST + THERE];
    unsigned calls, misuse;
    unsigned overflow_at_start; /* a counter that overflows during the next start */
} m;

static uint64_t model_read(unsigned csr)
{
    uint64_t mask = 0;

    switch (csr) {
    case 0x144:
        return m.sip;
    case 0xda0:
        for (unsigned i = FIRST; i < FIRST + THERE; i++) {
            mask |= (uint64_t)m.counter[i].of << i;
        }
        return mask | UINT64_C(0x7f80); /* counters that are not used */
    default:
        assert_in_range(csr, 0xc03, 0xc03 + THERE - 1);
        return m.counter[csr - 0xc00].value;
    }
}

static void model_write(unsigned csr, uint64_t value)
{
    switch (csr) {
    case 0x106:
        m.scounteren = value;
        break;
    case 0x150:
        m.selected = value - 0x40;
        break;
    case 0x151:
        m.misuse += !m.delegated;
        m.counter[m.selected].value = value;
        m.counter[m.selected].armed = !m.counter[m.selected].of;
        break;
    default:
        assert_int_equal(csr, 0x152);
        m.misuse += !m.delegated;
        m.counter[m.selected].event = value & 0xfffff;
        m.counter[m.selected].of = value >> 63;
        break;
    }
}

static void inhibit(uint64_t mask, bool on)
{
    m.misuse += !m.delegated;
    for (unsigned i = FIRST; i < FIRST + THERE; i++) {
        m.counter[i].on = mask >> i & 1 ? on : m.counter[i].on;
    }
}

static void model_set(unsigned csr, uint64_t value)
{
    if (csr == 0x120) {
        inhibit(value, false);
    } else {
        *(csr == 0x144 ? &m.sip : &m.sie) |= value;
    }
}

static void model_clear(unsigned csr, uint64_t value)
{
    if (csr == 0x120) {
        inhibit(value, true);
    } else {
        m.sip &= ~value;
    }
}

static void count(unsigned i, uint64_t events)
{
    uint64_t before = m.counter[FIRST + i].value;

    if (!m.counter[FIRST + i].on) {
        return;
    }
    m.counter[FIRST + i].value += events;
    if (m.counter[FIRST + i].value < before && m.counter[FIRST + i].armed) {
        m.counter[FIRST + i].of = true;
        m.counter[FIRST + i].armed = false;
        m.sip |= UINT64_C(1) << 13;
    }
}

static uint64_t start(unsigned i, uint64_t flags, uint64_t value)
{
    if (m.counter[i].on) {
        return (uint64_t)-7; /* it counts already */
    }
    if (m.overflow_at_start != 0) {
        unsigned other = m.overflow_at_start - 1;
        m.overflow_at_start = 0;
        count(other, 1000000);
    }
    m.counter[i].value = flags & 1 ? value : m.counter[i].value;
    m.counter[i].of &= (m.sip >> 13 & 1);
    m.counter[i].armed = !m.counter[i].of;
    m.counter[i].on = true;
    return 0;
}

static struct result call(uint64_t extension, uint64_t function, uint64_t base, uint64_t mask,
                          uint64_t flags, uint64_t a3, uint64_t a4)
{
    struct result r = {0, 1};

    m.calls++;
    if (extension == 0x10) {
        return r;
    }
    assert_int_equal(extension, 0x504d55);
    if (function == 0) {
        r.value = FIRST + THERE + 5; /* five of the firmware */
    } else if (function == 1) {
        r.value = base < FIRST + THERE ? UINT64_C(63) << 12 | (0xc00 + base) : UINT64_C(1) << 63;
    }
    for (unsigned i = FIRST; function >= 2 && i < FIRST + THERE; i++) {
        if (!(mask >> (i - base) & 1)) {
            continue;
        }
        if (function == 2) {
            r.error = a3 == CYCLES || a3 == INSTRUCTIONS || a3 == DTLB || a3 == 0x20000 ? 0 : 1;
            m.misuse += m.counter[i].on;
            m.counter[i].event = a3 == 0x20000 ? a4 : a3;
            for (unsigned k = FIRST; !m.filters && k < FIRST + THERE; k++) {
                /* the first counter of an event keeps it */
                m.counter[i].event *= k == i || m.counter[k].event != m.counter[i].event;
            }
            m.counter[i].flags = flags;
            m.counter[i].value = 0;
        } else if (function == 3) {
            r.error |= start(i, flags, a3);
            /* what the firmware executes until it returns is not counted if it must not be */
            m.counter[i].value += m.filters && flags == 1 && m.counter[i].flags & 1 << 6 ? 0 : 16;
        } else {
            m.counter[i].on = false;
            m.counter[i].event = flags & 1 ? 0 : m.counter[i].event;
        }
    }
    return r;
}

#define MKPERF_CSR_READ(number) model_read_and_step(number)
#define MKPERF_CSR_WRITE(number, value) model_write(number, value)
#define MKPERF_CSR_SET(number, value) model_set(number, value)
#define MKPERF_CSR_CLEAR(number, value) model_clear(number, value)
#define MKPERF_CSR_DELEGATED() m.delegated
#define MKPERF_SBI_CALL model_call

/* Each look at a counter takes an instruction in the kernel. */
static uint64_t model_read_and_step(unsigned csr)
{
    uint64_t value = model_read(csr);

    for (unsigned i = 0; i < THERE && csr >= 0xc03 && csr < 0xc20; i++) {
        bool counts = !m.filters || !(m.counter[FIRST + i].flags & 1 << 6);
        m.counter[FIRST + i].value += m.counter[FIRST + i].on && counts && m.calls < 200;
    }
    return value;
}

struct mkperf_sbi_result;
static struct mkperf_sbi_result model_call(uint64_t extension, uint64_t function, uint64_t base,
                                           uint64_t mask, uint64_t flags, uint64_t a3, uint64_t a4);

#include "kernel/arch/riscv_sscofpmf.h"

static struct mkperf_sbi_result model_call(uint64_t extension, uint64_t function, uint64_t base,
                                           uint64_t mask, uint64_t flags, uint64_t a3, uint64_t a4)
{
    struct result r = call(extension, function, base, mask, flags, a3, a4);

    return (struct mkperf_sbi_result){r.error, r.value};
}

static struct mkperf_pmu_state state;

struct mkperf_pmu_state *mkperf_port_pmu(void)
{
    return &state;
}

static void boot(bool delegated, bool filters)
{
    memset(&m, 0, sizeof m);
    memset(&state, 0, sizeof state);
    m.delegated = delegated;
    m.filters = filters;
    mkperf_pmu_boot();
    m.calls = 200; /* from here on counters count only what a test says */
    for (unsigned i = FIRST; i < FIRST + THERE; i++) {
        assert_false(m.counter[i].on);
    }
}

static void test_boot(void **unused)
{
    uint64_t id[MKPERF_PMU_ID_WORDS];

    (void)unused;
    boot(false, false);
    mkperf_pmu_describe(id);
    assert_int_equal(id[0], MKPERF_RISCV_PMU);
    assert_int_equal(id[1], 1 << CYCLES | 1 << INSTRUCTIONS);
    assert_int_equal(id[2], 1 << (DTLB & 0xff));
    assert_int_equal(mkperf_pmu_counters(), (1 << THERE) - 1);
    assert_int_equal(m.scounteren, 2);
    assert_int_equal(m.sie, 1 << 13);
    assert_true(mkperf_riscv_sscofpmf.supported(id, DTLB) &&
                mkperf_riscv_sscofpmf.supported(id, 0x20055));
    assert_false(mkperf_riscv_sscofpmf.supported(id, 3));
    assert_true(mkperf_riscv_sscofpmf.infers_modes(id));
    boot(true, true);
    mkperf_pmu_describe(id);
    assert_int_equal(id[0], MKPERF_RISCV_PMU | MKPERF_RISCV_FILTERS | MKPERF_RISCV_DELEGATED);
    assert_false(mkperf_riscv_sscofpmf.infers_modes(id));
    assert_int_equal(m.misuse, 0);
}

/* As request.c begins a session. */
static void begin(unsigned i, uint32_t select, uint32_t period)
{
    mkperf_pmu_select(i, select);
    mkperf_pmu_write(i, 0 - period);
    assert_int_equal(mkperf_pmu_selected(i), select);
    mkperf_pmu_clear(UINT32_C(1) << i);
    mkperf_pmu_enable(UINT32_C(1) << i);
    /* An interval begins when its counter is started: not with what the firmware executes then. */
    m.counter[FIRST + i].value = UINT64_C(0xffffffff00000000) | (0 - period);
}

/* As capture.c takes a sample: clear, read, and arm last. */
static void sample(uint32_t hit, uint32_t period)
{
    mkperf_pmu_clear(hit);
    assert_int_equal(mkperf_pmu_overflow() & hit, 0);
    for (unsigned i = 0; i < THERE; i++) {
        if (hit >> i & 1) {
            uint32_t ran = mkperf_pmu_read(i);
            mkperf_pmu_write(i, ran - period);
            m.counter[FIRST + i].value = UINT64_C(0xffffffff00000000) | (ran - period);
        }
    }
}

/* Every interval ends with an interrupt, the hundredth as the first. With OF and LCOFIP cleared in the wrong order there is
 * one interrupt, and then none. */
static void test_intervals(void **unused)
{
    (void)unused;
    for (unsigned delegated = 0; delegated < 2; delegated++) {
        boot(delegated, false);
        begin(1, INSTRUCTIONS, 5000);
        for (unsigned n = 0; n < 100; n++) {
            count(1, 4990);
            assert_int_equal(m.sip, 0);
            assert_int_equal(mkperf_pmu_overflow(), 0);
            count(1, n == 0 ? 17 : 10);
            assert_int_equal(m.sip, 1 << 13);
            assert_int_equal(mkperf_pmu_overflow(), 2);
            sample(2, 5000);
            assert_int_equal(m.sip, 0);
            assert_int_equal(mkperf_pmu_overflow(), 0);
        }
        mkperf_pmu_disable(2);
        assert_false(m.counter[FIRST + 1].on);
        count(1, 1000000);
        assert_int_equal(mkperf_pmu_overflow(), 0);
        assert_int_equal(m.misuse, 0);
    }
}

/* What the order is for: the model loses the second interrupt if OF is to be cleared first. */
static void test_wrong_order(void **unused)
{
    (void)unused;
    boot(false, false);
    begin(0, CYCLES, 1000);
    count(0, 1000);
    mkperf_sbi_pmu(MKPERF_SBI_PMU_STOP, 1, 0, 0, 0);
    mkperf_sbi_pmu(MKPERF_SBI_PMU_START, 1, 1, mkperf_hpm_value(0 - UINT32_C(1000)), 0);
    model_clear(0x144, UINT64_C(1) << 13);
    count(0, 1000000);
    assert_int_equal(m.sip, 0);
    assert_true(m.counter[FIRST].of);

    boot(true, false);
    begin(0, CYCLES, 1000);
    count(0, 1000);
    model_clear(0x144, UINT64_C(1) << 13);
    model_write(0x150, 0x43);
    model_write(0x151, mkperf_hpm_value(0 - UINT32_C(1000)));
    model_write(0x152, CYCLES);
    count(0, 1000000);
    assert_int_equal(m.sip, 0);
}

/* A counter that overflows while another one is armed is neither lost nor mistaken: it is seen, and interrupts. */
static void test_two(void **unused)
{
    (void)unused;
    for (unsigned delegated = 0; delegated < 2; delegated++) {
        boot(delegated, false);
        begin(0, CYCLES, 1000);
        begin(1, INSTRUCTIONS, 1000000);
        count(0, 1000);
        assert_int_equal(mkperf_pmu_overflow(), 1);
        m.overflow_at_start = delegated ? 0 : 2;
        if (delegated) {
            count(1, 1000000);
        }
        sample(1, 1000);
        assert_int_equal(mkperf_pmu_overflow(), 2);
        assert_int_equal(m.sip, 1 << 13);
        assert_false(m.counter[FIRST].of);
        sample(2, 1000000);
        assert_int_equal(mkperf_pmu_overflow(), 0);
        count(0, 1000);
        assert_int_equal(mkperf_pmu_overflow(), 1);
    }
}

/* QEMU's timer for two events sets both flags. The counter that has not overflowed continues: with its value, and with an interrupt at
 * its own end. */
static void test_false_flag(void **unused)
{
    (void)unused;
    for (unsigned delegated = 0; delegated < 2; delegated++) {
        boot(delegated, false);
        begin(0, CYCLES, 1000);
        begin(1, INSTRUCTIONS, 5000);
        count(0, 1000);
        count(1, 900);
        m.counter[FIRST + 1].of = true;
        m.counter[FIRST + 1].armed = false;
        assert_int_equal(mkperf_pmu_overflow(), 1);
        assert_false(m.counter[FIRST + 1].of);
        uint32_t left = 0 - mkperf_pmu_read(1);
        assert_in_range(left, 4000, 4100); /* what the firmware executes counts, too */
        sample(1, 1000);
        assert_int_equal(m.sip, 0);
        count(1, left);
        assert_int_equal(mkperf_pmu_overflow(), 2);
        assert_int_equal(m.sip, 1 << 13);
        /* The same of counters that were stopped: one has overflowed, and one has not. */
        m.counter[FIRST].of = true;
        mkperf_pmu_disable(3);
        assert_int_equal(mkperf_pmu_overflow(), 2);
        assert_in_range(mkperf_pmu_read(1), 0, 100);
        assert_int_equal(m.misuse, 0);
    }
}

/* Selectors reach the firmware, and one that it refuses is not selected. */
static void test_selectors(void **unused)
{
    const struct mkperf_pmu *pmu = &mkperf_riscv_sscofpmf;

    (void)unused;
    boot(false, true);
    mkperf_pmu_select(0, pmu->select(NULL, CYCLES, MKPERF_PMU_THREADS));
    assert_int_equal(m.counter[FIRST].flags, 1 << 1 | 1 << 7 | 1 << 6);
    mkperf_pmu_select(0, pmu->select(NULL, CYCLES, MKPERF_PMU_KERNEL));
    assert_int_equal(m.counter[FIRST].flags, 1 << 1 | 1 << 7 | 1 << 5);
    mkperf_pmu_select(0, pmu->select(NULL, 0x20055, MKPERF_PMU_ALL));
    assert_int_equal(m.counter[FIRST].event, 0x55);
    mkperf_pmu_select(0, pmu->select(NULL, 9, MKPERF_PMU_ALL));
    assert_int_not_equal(mkperf_pmu_selected(0), 9);
    assert_int_equal(m.misuse, 0);
    boot(false, false);
    assert_true(mkperf_pmu_wants(pmu->select(NULL, CYCLES, MKPERF_PMU_THREADS), false));
    assert_false(mkperf_pmu_wants(pmu->select(NULL, CYCLES, MKPERF_PMU_THREADS), true));
}

/* A counter gets its event, if another one had it in an earlier session. A counter that runs keeps its own. */
static void test_later_session(void **unused)
{
    (void)unused;
    boot(false, false);
    begin(2, CYCLES, 1000);
    begin(1, INSTRUCTIONS, 1000);
    mkperf_pmu_disable(4);
    begin(0, CYCLES, 1000);
    assert_int_equal(m.counter[FIRST].event, CYCLES);
    assert_int_equal(m.counter[FIRST + 1].event, INSTRUCTIONS);
    assert_int_equal(mkperf_pmu_selected(1), INSTRUCTIONS);
    begin(2, DTLB, 1000);
    assert_int_equal(m.counter[FIRST].event, CYCLES);
    assert_int_equal(m.counter[FIRST + 2].event, DTLB);
    assert_int_equal(m.misuse, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boot),          cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_wrong_order),   cmocka_unit_test(test_two),
        cmocka_unit_test(test_selectors),     cmocka_unit_test(test_false_flag),
        cmocka_unit_test(test_later_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
