/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Armv8-A's PMUv3 as the kernel hook uses it, at EL1 or EL2 (Arm ARM, D13.4 and chapter D7).
 *
 * Owns: every access to the PMU's registers. Included by ports (mkperf_port.h). A file for another
 * architecture offers the same functions, and this is their contract. A number must be that of a counter
 * which the CPU has: an access to another one is undefined. The cycle counter PMCCNTR_EL0 belongs to the kernel.
 * PMCR_EL0.E, once set, therefore stays set.
 */
#ifndef MKPERF_ARMV8_PMUV3_H
#define MKPERF_ARMV8_PMUV3_H

#include <stdint.h>

#include <mkperf/record.h>

#ifndef MKPERF_READ_REGISTER /* a test has a model of the registers */
#define MKPERF_READ_REGISTER(name)                        \
    __extension__({                                       \
        uint64_t value_;                                  \
        __asm__ volatile("mrs %0, " name : "=r"(value_)); \
        value_;                                           \
    })
#define MKPERF_WRITE_REGISTER(name, value) \
    __asm__ volatile("msr " name ", %0" : : "r"((uint64_t)(value)))
#define MKPERF_ISB() __asm__ volatile("isb" : : : "memory")
#endif

#define MKPERF_PMCR_E UINT64_C(1)
#define MKPERF_PMCR_ACTIONS UINT64_C(6) /* P and C: never wanted when PMCR is written back */
#define MKPERF_PMCR_N_SHIFT 11
#define MKPERF_PMCR_N_MASK 0x1f

/*
 * PMEVTYPER<n>_EL0. EL1 is counted unless P is set, EL0 unless U is set, EL2 only if NSH is set, and EL3 if M
 * equals P. NSK and NSU stay 0, so that P and U decide in the Non-secure state as well. A profiler may set the
 * bits of MKPERF_SELECT_BITS.
 */
#define MKPERF_SELECT_P (UINT32_C(1) << 31)
#define MKPERF_SELECT_U (UINT32_C(1) << 30)
#define MKPERF_SELECT_NSH (UINT32_C(1) << 27)
#define MKPERF_SELECT_M (UINT32_C(1) << 26)
#define MKPERF_SELECT_EVENT UINT32_C(0xffff)
#define MKPERF_SELECT_BITS \
    (MKPERF_SELECT_P | MKPERF_SELECT_U | MKPERF_SELECT_NSH | MKPERF_SELECT_M | MKPERF_SELECT_EVENT)

/* Whether an overflow in the kernel, or in user mode, is to become a sample. The filters have decided that. */
#define mkperf_pmu_wants(select, kernel) true

/* Returns the event counters that the CPU has and that this exception level may use. */
static inline uint32_t mkperf_pmu_counters(void)
{
    uint32_t n = (uint32_t)(MKPERF_READ_REGISTER("pmcr_el0") >> MKPERF_PMCR_N_SHIFT) &
                 MKPERF_PMCR_N_MASK;

    return (UINT32_C(1) << n) - 1; /* n <= 31 */
}

/* Returns the event counters that have overflowed since their flags were last cleared. */
static inline uint32_t mkperf_pmu_overflow(void)
{
    return (uint32_t)MKPERF_READ_REGISTER("pmovsclr_el0");
}

static inline void mkperf_pmu_clear(uint32_t mask)
{
    MKPERF_WRITE_REGISTER("pmovsclr_el0", mask);
    MKPERF_ISB();
}

/* Makes PMSELR_EL0 select the registers of counter i. Counter 0 is often the only one, and its
 * value has a name: a sample of it needs no selection and no barrier. */
static inline void mkperf_pmu_use(unsigned i)
{
    MKPERF_WRITE_REGISTER("pmselr_el0", i);
    MKPERF_ISB();
}

/* Returns, or sets, the value of a counter: 32 bits. */
static inline uint32_t mkperf_pmu_read(unsigned i)
{
    if (__builtin_expect(i == 0, 1)) {
        return (uint32_t)MKPERF_READ_REGISTER("pmevcntr0_el0");
    }
    mkperf_pmu_use(i);
    return (uint32_t)MKPERF_READ_REGISTER("pmxevcntr_el0");
}

static inline void mkperf_pmu_write(unsigned i, uint32_t value)
{
    if (__builtin_expect(i == 0, 1)) {
        MKPERF_WRITE_REGISTER("pmevcntr0_el0", value);
        return;
    }
    mkperf_pmu_use(i);
    MKPERF_WRITE_REGISTER("pmxevcntr_el0", value);
}

/* Returns what a counter counts: the bits of MKPERF_SELECT_BITS. Or sets it, for a counter that is
 * off. */
static inline uint32_t mkperf_pmu_selected(unsigned i)
{
    mkperf_pmu_use(i);
    return (uint32_t)MKPERF_READ_REGISTER("pmxevtyper_el0") & MKPERF_SELECT_BITS;
}

static inline void mkperf_pmu_select(unsigned i, uint32_t select)
{
    mkperf_pmu_use(i);
    MKPERF_WRITE_REGISTER("pmxevtyper_el0", select & MKPERF_SELECT_BITS);
}

/* Returns the counters that count and interrupt. */
static inline uint32_t mkperf_pmu_running(void)
{
    uint64_t on = MKPERF_READ_REGISTER("pmcr_el0") & MKPERF_PMCR_E ? ~UINT64_C(0) : 0;

    return (uint32_t)(MKPERF_READ_REGISTER("pmcntenset_el0") &
                      MKPERF_READ_REGISTER("pmintenset_el1") & on);
}

/* The counters of the mask begin to count and to interrupt, or stop. Others do not change. After disable, none of
 * them overflows any more. */
static inline void mkperf_pmu_enable(uint32_t mask)
{
    MKPERF_ISB(); /* selectors and values first */
    MKPERF_WRITE_REGISTER("pmintenset_el1", mask);
    MKPERF_WRITE_REGISTER("pmcntenset_el0", mask);
    /* PMCR last: QEMU 7.2 looks when the next overflow is due at a write to it, not to PMCNTENSET.
     */
    MKPERF_WRITE_REGISTER("pmcr_el0", (MKPERF_READ_REGISTER("pmcr_el0") & ~MKPERF_PMCR_ACTIONS) |
                                          MKPERF_PMCR_E);
    MKPERF_ISB();
}

static inline void mkperf_pmu_disable(uint32_t mask)
{
    MKPERF_WRITE_REGISTER("pmcntenclr_el0", mask);
    MKPERF_WRITE_REGISTER("pmintenclr_el1", mask);
    MKPERF_ISB();
}

/* At boot: user mode has no access, and no event counter counts or interrupts. The cycle counter and its interrupt
 * do not change. */
static inline void mkperf_pmu_boot(void)
{
    const uint32_t all = (UINT32_C(1) << MKPERF_MAX_COUNTERS) - 1;

    MKPERF_WRITE_REGISTER("pmuserenr_el0", 0);
    mkperf_pmu_disable(all);
    mkperf_pmu_clear(all);
}

/* Stores the registers that identify the PMU and its events, for pd/pmu/armv8_pmuv3.c. Bit 32 of PMCR_EL0's
 * word is set if the kernel is at EL2. */
static inline void mkperf_pmu_describe(uint64_t *out)
{
    out[0] = MKPERF_READ_REGISTER("midr_el1");
    out[1] = MKPERF_READ_REGISTER("pmcr_el0") | (MKPERF_READ_REGISTER("CurrentEL") >> 3 & 1) << 32;
    out[2] = MKPERF_READ_REGISTER("pmceid0_el0");
    out[3] = MKPERF_READ_REGISTER("pmceid1_el0");
}

#endif
