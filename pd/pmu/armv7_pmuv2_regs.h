/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The PMUv2 registers that PL0 may use, one small function each (Arm ARM v7-A, B4.1 and C12).
 *
 * Owns: every coprocessor access of the back-end. Included by armv7_pmuv2.c only; the unit test
 * defines MKPERF_ARMV7_PMUV2_REGS_H and puts a model in its place.
 */
#ifndef MKPERF_ARMV7_PMUV2_REGS_H
#define MKPERF_ARMV7_PMUV2_REGS_H

#include <stdint.h>

/* c9, CRm, opcode 2 */
#define PMU_READ(name, crm, op2)                                                      \
    static inline uint32_t name(void)                                                 \
    {                                                                                 \
        uint32_t v;                                                                   \
        __asm__ volatile("mrc p15, 0, %0, c9, " crm ", " op2 : "=r"(v) : : "memory"); \
        return v;                                                                     \
    }
#define PMU_WRITE(name, crm, op2)                                                    \
    static inline void name(uint32_t v)                                              \
    {                                                                                \
        __asm__ volatile("mcr p15, 0, %0, c9, " crm ", " op2 : : "r"(v) : "memory"); \
    }

PMU_READ(pmu_read_pmcr, "c12", "0")
PMU_WRITE(pmu_write_pmcr, "c12", "0")
PMU_WRITE(pmu_write_pmcntenset, "c12", "1")
PMU_WRITE(pmu_write_pmcntenclr, "c12", "2")
PMU_READ(pmu_read_pmovsr, "c12", "3")
PMU_WRITE(pmu_write_pmovsr, "c12", "3")
PMU_WRITE(pmu_write_pmselr, "c12", "5")
PMU_READ(pmu_read_pmceid0, "c12", "6")
PMU_READ(pmu_read_pmceid1, "c12", "7")
PMU_READ(pmu_read_pmccntr, "c13", "0")
PMU_READ(pmu_read_pmxevtyper, "c13", "1")
PMU_WRITE(pmu_write_pmxevtyper, "c13", "1")
PMU_READ(pmu_read_pmxevcntr, "c13", "2")
PMU_WRITE(pmu_write_pmxevcntr, "c13", "2")
PMU_READ(pmu_read_pmuserenr, "c14", "0")

static inline void pmu_isb(void)
{
    __asm__ volatile("isb" : : : "memory");
}

#endif
