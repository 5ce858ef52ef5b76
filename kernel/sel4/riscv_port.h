/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What mkperf_port.h needs of RISC-V, 64 bits, one core.
 *
 * Owns: the state of the PMU, and whether the kernel's present work is what overflows belong to. Counters may count in all
 * modes (arch/riscv_sscofpmf.h). What overflowed before an entry then belongs to what the entry interrupted, and what is
 * found later to the kernel. entries.c looks in both places.
 */
#pragma once

#include <arch/riscv_sscofpmf.h>
#include <mkperf_node.h>

enum { MKPERF_LR = ra, MKPERF_FP = s0, MKPERF_SP = sp };

struct mkperf_riscv {
    struct mkperf_pmu_state pmu;
    bool_t inside; /* overflows belong to the kernel's work since the last entry */
};

extern struct mkperf_riscv mkperf_riscv;

/* Returns the address at which the interrupt was taken. */
static inline word_t mkperf_interruptedAt(void)
{
    return read_sepc();
}

/* Returns whether an event of the kernel, of which the idle thread is a part, belongs to the entry
 * before. pc: of the interrupt. */
static inline bool_t mkperf_isOfEntry(word_t pc)
{
    (void)pc;
    return mkperf_riscv.inside;
}

static inline void mkperf_setMode(struct mkperf_hook *hook, bool_t kernel, bool_t inside)
{
    mkperf_riscv.inside = inside;
    if (!(mkperf_riscv.pmu.found & MKPERF_RISCV_FILTERS)) {
        hook->kernel_mask = kernel ? hook->mask : 0;
    }
}

/* From here to the next entry, overflows belong to the kernel's work. */
static inline void mkperf_inKernel(struct mkperf_hook *hook)
{
    mkperf_setMode(hook, true, true);
}

/* Without a session the interrupt of an overflow is off: the kernel does not know it. */
static inline void mkperf_setVectors(bool_t session)
{
    if (session) {
        write_stvec((word_t)mkperf_vectors);
        set_sie_mask(MKPERF_LCOFI);
    } else {
        clear_sie_mask(MKPERF_LCOFI);
        write_stvec((word_t)trap_entry);
    }
}

static inline bool_t mkperf_isInitialSpace(cap_t root)
{
    return cap_get_capType(root) == cap_page_table_cap &&
           cap_page_table_cap_get_capPTMappedASID(root) == IT_ASID;
}

static inline uint64_t mkperf_port_time(void)
{
    return riscv_read_time();
}

static inline uint64_t mkperf_port_tick_hz(void)
{
    return TIMER_CLOCK_HZ;
}

#define MKPERF_CAUSE_OVERFLOW (BIT(63) | 13) /* scause */

/* riscv.c: the interrupt of an overflow; the boundary where the kernel is left. */
void mkperf_overflowed(word_t flags) NORETURN;
void mkperf_leaving(void);
