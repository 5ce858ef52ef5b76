/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The PMUv3 registers that EL0 may use, one small function each.
 *
 * Owns: every system-register access of the back-end. Included by armv8_user.c only; the unit test defines
 * MKPERF_ARMV8_USER_REGS_H and puts a model in its place.
 *
 * Counters are reached by their own registers and not through PMSELR_EL0, which other PDs may be
 * using.
 */
#ifndef MKPERF_ARMV8_USER_REGS_H
#define MKPERF_ARMV8_USER_REGS_H

#include <stdint.h>

#define PMU_READ(name, reg)                                      \
    static inline uint64_t name(void)                            \
    {                                                            \
        uint64_t v;                                              \
        __asm__ volatile("mrs %0, " reg : "=r"(v) : : "memory"); \
        return v;                                                \
    }
#define PMU_WRITE(name, reg)                                       \
    static inline void name(uint64_t v)                            \
    {                                                              \
        __asm__ volatile("msr " reg ", %0" : : "r"(v) : "memory"); \
    }

PMU_READ(pmu_read_pmuserenr, "pmuserenr_el0")
PMU_READ(pmu_read_pmcr, "pmcr_el0")
PMU_WRITE(pmu_write_pmcr, "pmcr_el0")
PMU_READ(pmu_read_pmceid0, "pmceid0_el0")
PMU_READ(pmu_read_pmceid1, "pmceid1_el0")
PMU_WRITE(pmu_write_pmovsclr, "pmovsclr_el0")
PMU_WRITE(pmu_write_pmcntenset, "pmcntenset_el0")
PMU_WRITE(pmu_write_pmcntenclr, "pmcntenclr_el0")

static inline void pmu_isb(void)
{
    __asm__ volatile("isb" : : : "memory");
}

/* clang-format off */
#define PMU_EACH_COUNTER(X)                                                            \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)    \
    X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27)      \
    X(28) X(29) X(30)
/* clang-format on */

#define PMU_READ_CASE(n)                                                                  \
    case n:                                                                               \
        __asm__ volatile("mrs %0, " PMU_INDEXED "%c1_el0" : "=r"(v) : "i"(n) : "memory"); \
        break;
#define PMU_WRITE_CASE(n)                                                                 \
    case n:                                                                               \
        __asm__ volatile("msr " PMU_INDEXED "%c1_el0, %0" : : "r"(v), "i"(n) : "memory"); \
        break;

/* n: number of a counter that exists; anything else reads 0 and writes nothing. */
#define PMU_INDEXED "pmevcntr"
static inline uint64_t pmu_read_pmevcntr(unsigned n)
{
    uint64_t v = 0;
    switch (n) {
        PMU_EACH_COUNTER(PMU_READ_CASE)
    }
    return v;
}

static inline void pmu_write_pmevcntr(unsigned n, uint64_t v)
{
    switch (n) {
        PMU_EACH_COUNTER(PMU_WRITE_CASE)
    }
}
#undef PMU_INDEXED

#define PMU_INDEXED "pmevtyper"
static inline uint64_t pmu_read_pmevtyper(unsigned n)
{
    uint64_t v = 0;
    switch (n) {
        PMU_EACH_COUNTER(PMU_READ_CASE)
    }
    return v;
}

static inline void pmu_write_pmevtyper(unsigned n, uint64_t v)
{
    switch (n) {
        PMU_EACH_COUNTER(PMU_WRITE_CASE)
    }
}
#undef PMU_INDEXED

#endif
