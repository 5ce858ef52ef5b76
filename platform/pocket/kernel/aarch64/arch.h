/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AArch64 and QEMU's virt machine, as the kernel's other files use them: registers, page tables, the GICv2.
 *
 * Owns: small inline functions, because a sample passes through some of them. kernel/riscv64/arch.h has the same
 * names. Included by core.h.
 */
#ifndef POCKET_ARCH_H
#define POCKET_ARCH_H

#include <stdbool.h>

#include "image.h"
#include "regs.h"

enum {
    PMU_IRQ = 23,
    TICK_IRQ = 30,
    IRQ_NUMBER = 0x3ff, /* the interrupt's number in what arch_irq_take returns */
    IRQ_NONE = 1020,    /* this and higher numbers are special ones of the interrupt controller */
    FIRST_SPI = 32,
    /* The PMU's holder is interrupted so often, because QEMU has to be made to look
     * (qemu_pmu.c). */
    LOOK_HZ = 50000,
    GICD = 0x08000000,
    GICD_CTLR = 0x000,
    GICD_ISENABLER = 0x100,
    GICD_ICENABLER = 0x180,
    GICD_IPRIORITYR = 0x400,
    GICD_ITARGETSR = 0x800,
    GICD_ICFGR = 0xc00,
    GICD_SGIR = 0xf00,
    SGIR_TARGETS = 16, /* the first target's bit */
    GICC = 0x08010000,
    GICC_CTLR = 0x00,
    GICC_PMR = 0x04,
    GICC_IAR = 0x0c,
    GICC_EOIR = 0x10,
};

static inline void *ram(uint64_t physical)
{
    return (void *)(uintptr_t)(physical + POCKET_KERNEL_BASE);
}

/* ---- registers ------------------------------------------------------------------------------- */

/* Returns the core this runs on. Not volatile: it never changes. */
static inline struct core *core_self(void)
{
    struct core *core;

    __asm__("mrs %0, tpidr_el1" : "=r"(core));
    return core;
}

/* Returns the scheduler's clock, and that of samples. */
static inline uint64_t arch_clock(void)
{
    return READ_REG(cntpct_el0);
}

static inline uint64_t arch_time(void)
{
    return READ_REG(cntvct_el0);
}

static inline uint64_t arch_clock_hz(void)
{
    return READ_REG(cntfrq_el0);
}

/* Makes the timer interrupt at this time, or never if it is UINT64_MAX. */
static inline void arch_timer(uint64_t due)
{
    WRITE_REG(cntp_cval_el0, due);
    WRITE_REG(cntp_ctl_el0, due != UINT64_MAX);
}

/* Returns the pc of what was interrupted. */
static inline uint64_t arch_pc(void)
{
    return READ_REG(elr_el1);
}

/* Returns the running task's stack pointer. */
static inline uint64_t arch_sp(void)
{
    return READ_REG(sp_el0);
}

/* ---- system calls and faults ------------------------------------------------------------------ */

enum exception_class {
    EC_UNKNOWN = 0x00,
    EC_WFX = 0x01,
    EC_SVC = 0x15,
    EC_SYSREG = 0x18,
    EC_FETCH_USER = 0x20,
    EC_PC_ALIGN = 0x22,
    EC_DATA_USER = 0x24,
    EC_SP_ALIGN = 0x26,
    EC_BRK = 0x3c,
};

/* Returns what happened, and for a fault of memory the address. */
static inline uint64_t arch_syndrome(void)
{
    return READ_REG(esr_el1);
}

static inline uint64_t arch_fault_address(void)
{
    return READ_REG(far_el1);
}

static inline unsigned arch_class(uint64_t syndrome)
{
    return syndrome >> 26 & 0x3f;
}

static inline bool arch_is_call(uint64_t syndrome)
{
    return arch_class(syndrome) == EC_SVC;
}

static inline unsigned arch_call_number(uint64_t syndrome, const struct context *c)
{
    (void)c;
    return syndrome & 0xffff;
}

static inline bool arch_is_fetch(uint64_t syndrome)
{
    return arch_class(syndrome) == EC_FETCH_USER;
}

static inline bool arch_is_memory(uint64_t syndrome)
{
    return arch_is_fetch(syndrome) || arch_class(syndrome) == EC_DATA_USER;
}

const char *arch_fault_kind(uint64_t syndrome); /* faults.c */

/* Stores a task's registers in seL4_UserContext's order, microkit.h. */
static inline void arch_user_context(const struct context *c, uint64_t pc, uint64_t *word)
{
    static const uint8_t order[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  16, 17, 18, 29, 30, 9, 10,
                                    11, 12, 13, 14, 15, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28};

    *word++ = pc;
    *word++ = c->sp;
    *word++ = c->pstate;
    for (unsigned i = 0; i < sizeof order; i++) {
        *word++ = c->x[order[i]];
    }
    *word++ = 0; /* TPIDR_EL0, TPIDRRO_EL0: pocket keeps none */
    *word = 0;
}

/* ---- page tables ------------------------------------------------------------------------------ */

#define ENTRY_VALID UINT64_C(1)
#define ENTRY_TABLE UINT64_C(2)
#define ENTRY_RIGHTS UINT64_C(0xc0)
#define ENTRY_USER UINT64_C(0x40)
#define ENTRY_ADDRESS UINT64_C(0x0000fffffffff000)

static inline bool arch_is_leaf(uint64_t entry, unsigned shift)
{
    return shift == 12 || (entry & ENTRY_TABLE) == 0;
}

static inline uint64_t arch_entry_address(uint64_t entry)
{
    return entry & ENTRY_ADDRESS;
}

/* Returns whether user mode may read there, or write. */
static inline bool arch_allows(uint64_t entry, bool write)
{
    return (entry & (write ? ENTRY_RIGHTS : ENTRY_USER)) == ENTRY_USER;
}

static inline void arch_flush(void)
{
    __asm__ volatile("dsb ishst\n\ttlbi vmalle1is\n\tdsb ish\n\tisb" : : : "memory");
}

/* Returns what arch_use_space takes, of these tables. */
static inline uint64_t arch_space(uint64_t tables, unsigned asid)
{
    return tables | (uint64_t)asid << 48;
}

static inline void arch_use_space(uint64_t space)
{
    WRITE_REG(ttbr0_el1, space);
    __asm__ volatile("isb");
}

/* ---- interrupts ------------------------------------------------------------------------------- */

static inline volatile uint32_t *gicd(unsigned offset)
{
    return ram(GICD + offset);
}

static inline volatile uint32_t *gicc(unsigned offset)
{
    return ram(GICC + offset);
}

static inline void arch_irq_enable(unsigned irq)
{
    *gicd(GICD_ISENABLER + irq / 32 * 4) = UINT32_C(1) << irq % 32;
}

static inline void arch_irq_disable(unsigned irq)
{
    *gicd(GICD_ICENABLER + irq / 32 * 4) = UINT32_C(1) << irq % 32;
}

/* Takes the interrupt that is pending, and ends it. */
static inline uint32_t arch_irq_take(void)
{
    return *gicc(GICC_IAR);
}

static inline void arch_irq_end(uint32_t taken)
{
    *gicc(GICC_EOIR) = taken;
}

static inline void gic_byte(unsigned offset, unsigned irq, uint8_t value)
{
    *(volatile uint8_t *)ram(GICD + offset + irq) = value;
}

/* Calls the cores of the mask: interrupt 0 there. */
static inline void arch_irq_call(uint32_t mask)
{
    *gicd(GICD_SGIR) = mask << SGIR_TARGETS;
}

static inline void arch_irq_init(void)
{
    *gicd(GICD_CTLR) = 1;
}

/* Sets up, on each core, what it has of its own in the interrupt controller. */
static inline void arch_irq_init_core(void)
{
    *gicc(GICC_PMR) = 0xff;
    *gicc(GICC_CTLR) = 1;
    gic_byte(GICD_IPRIORITYR, TICK_IRQ, 0x80);
    arch_irq_enable(TICK_IRQ);
}

/* Routes the interrupt to this core, if it is not private to each. */
static inline void arch_irq_route(unsigned irq, bool edge, unsigned cpu)
{
    unsigned shift = irq % 16 * 2;

    gic_byte(GICD_IPRIORITYR, irq, 0x80);
    if (irq >= FIRST_SPI) {
        volatile uint32_t *config = gicd(GICD_ICFGR + irq / 16 * 4);
        gic_byte(GICD_ITARGETSR, irq, (uint8_t)(1U << cpu));
        *config = (*config & ~(UINT32_C(3) << shift)) | (edge ? UINT32_C(2) << shift : 0);
    }
}

#endif
