/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What kernel/capture.c needs of pocket. The contract stands in docs/porting.md.
 *
 * All of it runs in irq_fast: interrupts masked, the interrupted task's x0 to x18, x29 and x30
 * saved, its address space current, ELR_EL1 its pc.
 */
#ifndef MKPERF_PORT_H
#define MKPERF_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/ring.h>

#include "core.h"

/* Bits of PAR_EL1. */
#define PORT_PAR_FAILED UINT64_C(1)
#define PORT_ADDRESS UINT64_C(0x0000fffffffff000)

struct mkperf_port_context {
    uint64_t pc, lr, fp;
};

/*
 * An event in user mode is about the task that was interrupted; one in the kernel, which shows only
 * on the way back to user mode, about the task from which the kernel was entered.
 */
static inline bool mkperf_port_context(struct mkperf_port_context *c, bool kernel)
{
    struct core *core = core_self();
    struct task *t = core->current;
    uint64_t pc = READ_REG(elr_el1);

    if (kernel && t->pd != NULL && core->entered != NULL && core->entered != t) {
        t = core->entered;
        pc = t->context.pc;
    }
    core->subject = t;
    if (t->pd == NULL) {
        *c = (struct mkperf_port_context){0, 0, 0};
        return false;
    }
    c->pc = pc;
    c->lr = t->context.x[30];
    c->fp = t->context.x[29];
    return true;
}

static inline uint64_t mkperf_port_thread(void)
{
    return core_self()->subject->thread;
}

/* Of the idle task the pc itself; else the entry function of the last way into the kernel. */
static inline uint64_t mkperf_port_kernel_pc(void)
{
    const struct core *core = core_self();

    return core->current->pd == NULL ? READ_REG(elr_el1) : core->last_entry;
}

static inline unsigned mkperf_port_core(void)
{
    return core_self()->number;
}

static inline uint64_t mkperf_port_time(void)
{
    return READ_REG(cntvct_el0);
}

static inline uint64_t mkperf_port_tick_hz(void)
{
    return READ_REG(cntfrq_el0);
}

static inline uint32_t mkperf_port_overflow_take(void)
{
    uint64_t over = READ_REG(pmovsclr_el0) & 0x7fffffff;

    WRITE_REG(pmovsclr_el0, over);
    return (uint32_t)over;
}

/*
 * Event counters have a register each and no index. Branching to the right one of 31 pairs of
 * instructions costs less than saving and restoring PMSELR_EL0, which a PD may be using.
 */
#define PORT_EACH_COUNTER(instruction)                                                   \
    "adr %[at], 1f\n\t"                                                                  \
    "add %[at], %[at], %[i], lsl #3\n\t"                                                 \
    "br %[at]\n"                                                                         \
    "1:\n\t"                                                                             \
    ".irp "                                                                              \
    "n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29," \
    "30\n\t" instruction "\n\t"                                                          \
    "b 2f\n\t"                                                                           \
    ".endr\n"                                                                            \
    "2:\n\t"

/* The counters that there are, of which boot.S set all bits; an access to another is undefined. */
static inline uint32_t mkperf_port_counters(void)
{
    uint64_t bits;

    __asm__ volatile("mrs %0, pmintenset_el1" : "=r"(bits));
    return (uint32_t)bits & MKPERF_COUNT_BITS;
}

static inline uint32_t mkperf_port_counter_read(unsigned i)
{
    uint64_t at;
    uint64_t value;

    __asm__ volatile(PORT_EACH_COUNTER("mrs %[value], pmevcntr\\n\\()_el0")
                     : [at] "=&r"(at), [value] "=r"(value)
                     : [i] "r"((uint64_t)i));
    return (uint32_t)value;
}

static inline void mkperf_port_counter_write(unsigned i, uint32_t value)
{
    uint64_t at;

    __asm__ volatile(PORT_EACH_COUNTER("msr pmevcntr\\n\\()_el0, %[value]")
                     : [at] "=&r"(at)
                     : [i] "r"((uint64_t)i), [value] "r"((uint64_t)value));
}

/*
 * The MMU translates, as for a load by EL0; for another task than the current one, a walk by hand.
 * Nothing else in pocket uses PAR_EL1 and PDs cannot, so it need not be saved. Device memory is
 * never in RAM: the packer maps what is in RAM as normal.
 */
static inline uintptr_t mkperf_port_user_page(uint64_t va)
{
    const struct core *core = core_self();
    uint64_t par;

    if (core->subject != core->current) {
        return (uintptr_t)irq_find_memory(core->subject, va, 4096, false);
    }
    __asm__ volatile("at s1e0r, %1\n\tisb\n\tmrs %0, par_el1" : "=r"(par) : "r"(va) : "memory");
    if ((par & PORT_PAR_FAILED) != 0 || !in_ram(par & PORT_ADDRESS)) {
        return 0;
    }
    return (par & PORT_ADDRESS) + POCKET_KERNEL_BASE;
}

/*
 * The profiler PD's tables are not the current ones, so its ring is found by a walk by hand
 * (irq.c). Page tables never change in pocket, so the last answer stays right.
 */
static inline struct mkperf_ring *mkperf_port_ring(const struct mkperf_descriptor *d,
                                                   uint64_t bytes)
{
    struct core *core = core_self();
    uint64_t va = d->ring[core->number];

    if (va != core->ring_va || bytes != core->ring_bytes) {
        core->ring = irq_find_memory(pmu_task, va, bytes, true);
        core->ring_va = va;
        core->ring_bytes = bytes;
    }
    return core->ring;
}

static inline struct mkperf_soft *mkperf_port_soft(const struct mkperf_descriptor *d)
{
    struct core *core = core_self();

    core->watched = d->counts != 0 || d->soft_mask != 0;
    return irq_soft(core);
}

static inline void mkperf_port_wake(void)
{
    ipc_notify(pmu_task, pmu_badge);
}

#endif
