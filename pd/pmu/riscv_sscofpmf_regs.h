/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the RISC-V back-end needs from outside: the SBI's PMU extension, and the CSRs of counters
 * and their overflow (RISC-V SBI 2.0, chapter 11; Privileged ISA, "Sscofpmf").
 *
 * Owns: every ecall and CSR access of the back-end. Included by riscv_sscofpmf.c only; the unit
 * test defines MKPERF_RISCV_SSCOFPMF_REGS_H and puts a model in its place. Who may do what is told
 * in riscv_sscofpmf.c.
 */
#ifndef MKPERF_RISCV_SSCOFPMF_REGS_H
#define MKPERF_RISCV_SSCOFPMF_REGS_H

#include <stdint.h>

struct pmu_sbi_result {
    int64_t error; /* 0, or an SBI_ERR */
    uint64_t value;
};

/* SBI's extension `eid`, function `fid`. */
static inline struct pmu_sbi_result pmu_sbi(uint64_t eid, uint64_t fid, const uint64_t arg[5])
{
    register uint64_t a0 __asm__("a0");
    register uint64_t a1 __asm__("a1");
    register uint64_t a2 __asm__("a2");
    register uint64_t a3 __asm__("a3");
    register uint64_t a4 __asm__("a4");
    register uint64_t a6 __asm__("a6");
    register uint64_t a7 __asm__("a7");

    a0 = arg[0];
    a1 = arg[1];
    a2 = arg[2];
    a3 = arg[3];
    a4 = arg[4];
    a6 = fid;
    a7 = eid;
    __asm__ volatile("ecall"
                     : "+r"(a0), "+r"(a1)
                     : "r"(a2), "r"(a3), "r"(a4), "r"(a6), "r"(a7)
                     : "memory");
    return (struct pmu_sbi_result){(int64_t)a0, a1};
}

/* CSRs hpmcounter3 to hpmcounter31 (0xC03 to 0xC1F), by the low five bits of their number. */
static inline uint64_t pmu_read_hpmcounter(unsigned n)
{
    uint64_t v = 0;

#define PMU_HPM(i)                                                       \
    case i:                                                              \
        __asm__ volatile("csrr %0, 0xc00 + " #i : "=r"(v) : : "memory"); \
        break;
    switch (n) {
        PMU_HPM(3)
        PMU_HPM(4)
        PMU_HPM(5)
        PMU_HPM(6)
        PMU_HPM(7)
        PMU_HPM(8)
        PMU_HPM(9)
        PMU_HPM(10)
        PMU_HPM(11)
        PMU_HPM(12)
        PMU_HPM(13)
        PMU_HPM(14)
        PMU_HPM(15)
        PMU_HPM(16)
        PMU_HPM(17)
        PMU_HPM(18)
        PMU_HPM(19)
        PMU_HPM(20)
        PMU_HPM(21)
        PMU_HPM(22)
        PMU_HPM(23)
        PMU_HPM(24)
        PMU_HPM(25)
        PMU_HPM(26)
        PMU_HPM(27)
        PMU_HPM(28)
        PMU_HPM(29)
        PMU_HPM(30)
        PMU_HPM(31)
    default:
        break;
    }
#undef PMU_HPM
    return v;
}

/* Counters whose overflow bit is set, by the low five bits of their CSR's number. */
static inline uint32_t pmu_read_scountovf(void)
{
    uint64_t v;

    __asm__ volatile("csrr %0, 0xda0" : "=r"(v) : : "memory");
    return (uint32_t)v;
}

#endif
