/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RISC-V and QEMU's virt machine, as the kernel's other files use them: registers, page tables (Sv39), the PLIC.
 *
 * Owns: small inline functions, the same as in kernel/aarch64/arch.h. Included by core.h. There is one core. The timer and
 * the PMU interrupt the core itself, and have numbers that no device has.
 */
#ifndef POCKET_ARCH_H
#define POCKET_ARCH_H

#include <stdbool.h>

#include "image.h"
#include "regs.h"

enum {
    PMU_IRQ = 286,
    TICK_IRQ = POCKET_RISCV64_TICK_IRQ,
    IRQ_NUMBER = 0x3ff,
    IRQ_NONE = 0x3ff,
    LOOK_HZ = 0, /* QEMU notices overflows */
    CLOCK_HZ = 10000000,
    PLIC = 0x0c000000,
    PLIC_PRIORITY = 0x000000,  /* a word for each interrupt */
    PLIC_ENABLE = 0x002080,    /* registers of context 1: core 0 in S-mode */
    PLIC_THRESHOLD = 0x201000, /* registers of context 1 */
    PLIC_CLAIM = 0x201004,
    SIE_TIMER = 1 << 5,
    SIE_EXTERNAL = 1 << 9,
    SIE_PMU = 1 << 13,
};

#define SATP_SV39 (UINT64_C(8) << 60)
#define SATP_ASID_SHIFT 44

static inline void *ram(uint64_t physical)
{
    return (void *)(uintptr_t)(physical + POCKET_KERNEL_BASE);
}

/* ---- registers ------------------------------------------------------------------------------- */

static inline struct core *core_self(void)
{
    struct core *core;

    __asm__("mv %0, tp" : "=r"(core));
    return core;
}

static inline uint64_t arch_clock(void)
{
    return READ_REG(time);
}

static inline uint64_t arch_time(void)
{
    return READ_REG(time);
}

static inline uint64_t arch_clock_hz(void)
{
    return CLOCK_HZ;
}

static inline void arch_timer(uint64_t due)
{
    WRITE_REG(0x14d, due); /* stimecmp */
}

static inline uint64_t arch_pc(void)
{
    return READ_REG(sepc);
}

uint64_t arch_sp(void); /* the stack pointer of what was interrupted; in ways_in.c */

/* ---- system calls and faults ------------------------------------------------------------------ */

enum exception_cause {
    CAUSE_FETCH_MISALIGNED = 0,
    CAUSE_FETCH_ACCESS = 1,
    CAUSE_ILLEGAL = 2,
    CAUSE_BREAKPOINT = 3,
    CAUSE_LOAD_MISALIGNED = 4,
    CAUSE_LOAD_ACCESS = 5,
    CAUSE_STORE_MISALIGNED = 6,
    CAUSE_STORE_ACCESS = 7,
    CAUSE_CALL = 8,
    CAUSE_FETCH_PAGE = 12,
    CAUSE_LOAD_PAGE = 13,
    CAUSE_STORE_PAGE = 15,
};

static inline uint64_t arch_syndrome(void)
{
    return READ_REG(scause);
}

static inline uint64_t arch_fault_address(void)
{
    return READ_REG(stval);
}

static inline unsigned arch_class(uint64_t syndrome)
{
    return (unsigned)syndrome;
}

static inline bool arch_is_call(uint64_t syndrome)
{
    return syndrome == CAUSE_CALL;
}

static inline unsigned arch_call_number(uint64_t syndrome, const struct context *c)
{
    (void)syndrome;
    return (unsigned)c->x[CALL_NUMBER];
}

static inline bool arch_is_fetch(uint64_t syndrome)
{
    return syndrome == CAUSE_FETCH_ACCESS || syndrome == CAUSE_FETCH_PAGE;
}

static inline bool arch_is_memory(uint64_t syndrome)
{
    return arch_is_fetch(syndrome) || syndrome == CAUSE_LOAD_ACCESS ||
           syndrome == CAUSE_STORE_ACCESS || syndrome == CAUSE_LOAD_PAGE ||
           syndrome == CAUSE_STORE_PAGE;
}

const char *arch_fault_kind(uint64_t syndrome); /* causes.c */

static inline void arch_user_context(const struct context *c, uint64_t pc, uint64_t *word)
{
    static const uint8_t order[] = {1,  2,  3,  8,  9,  18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 10,
                                    11, 12, 13, 14, 15, 16, 17, 5,  6,  7,  28, 29, 30, 31, 4};

    *word++ = pc;
    for (unsigned i = 0; i < sizeof order; i++) {
        *word++ = c->x[order[i]];
    }
}

/* ---- page tables ------------------------------------------------------------------------------ */

#define ENTRY_VALID UINT64_C(1)
#define ENTRY_READ UINT64_C(2)
#define ENTRY_WRITE UINT64_C(4)
#define ENTRY_EXECUTE UINT64_C(8)
#define ENTRY_USER UINT64_C(0x10)

static inline bool arch_is_leaf(uint64_t entry, unsigned shift)
{
    return shift == 12 || (entry & (ENTRY_READ | ENTRY_EXECUTE)) != 0;
}

static inline uint64_t arch_entry_address(uint64_t entry)
{
    return entry >> 10 << 12;
}

static inline bool arch_allows(uint64_t entry, bool write)
{
    uint64_t rights = ENTRY_USER | ENTRY_READ | (write ? ENTRY_WRITE : 0);

    return (entry & rights) == rights;
}

static inline void arch_flush(void)
{
    __asm__ volatile("sfence.vma" : : : "memory");
}

uint64_t arch_space(uint64_t tables, unsigned asid); /* ways_in.c */

static inline void arch_use_space(uint64_t space)
{
    WRITE_REG(satp, space);
}

/* ---- interrupts ------------------------------------------------------------------------------- */

static inline volatile uint32_t *plic(unsigned offset)
{
    return ram(PLIC + offset);
}

/* Unmasks an interrupt. One that was claimed is masked until it is completed, which its holder's
 * acknowledgement does. */
static inline void arch_irq_enable(unsigned irq)
{
    if (irq == PMU_IRQ) {
        __asm__ volatile("csrs sie, %0" : : "r"(UINT64_C(0) + SIE_PMU));
    } else {
        *plic(PLIC_ENABLE + irq / 32 * 4) |= UINT32_C(1) << irq % 32;
        *plic(PLIC_CLAIM) = irq;
    }
}

static inline void arch_irq_disable(unsigned irq)
{
    if (irq == PMU_IRQ) {
        __asm__ volatile("csrc sie, %0" : : "r"(UINT64_C(0) + SIE_PMU));
    }
}

static inline uint32_t arch_irq_take(void)
{
    uint32_t irq = *plic(PLIC_CLAIM);

    return irq != 0 ? irq : IRQ_NONE;
}

static inline void arch_irq_end(uint32_t taken)
{
    (void)taken;
}

static inline void arch_irq_init(void)
{
    *plic(PLIC_THRESHOLD) = 0;
}

static inline void arch_irq_init_core(void)
{
    arch_timer(UINT64_MAX);
    WRITE_REG(sie, SIE_TIMER | SIE_EXTERNAL);
}

static inline void arch_irq_route(unsigned irq, bool edge, unsigned cpu)
{
    (void)edge;
    (void)cpu;
    if (irq != PMU_IRQ) {
        *plic(PLIC_PRIORITY + irq * 4) = 1;
    }
}

#endif
