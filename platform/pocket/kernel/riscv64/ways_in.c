/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ways into the kernel on RISC-V and out of it, and where a sample is taken on each (hook.h, mkperf_hook_take).
 *
 * Owns: the boundaries. What overflowed before an entry is the interrupted task's, in user mode; what is found within the
 * kernel and on the way out is the kernel's. The overflow interrupt only makes the core enter. So modes are known even where
 * counters count in all modes (riscv_sscofpmf.h). Called by vectors.S.
 */
#include "ways_in.h"

#define CAUSE_INTERRUPT (UINT64_C(1) << 63)

enum { CAUSE_TIMER = 5, CAUSE_EXTERNAL = 9, CAUSE_PMU = 13, KERNEL_ENTRIES = 256, ENTRIES = 512 };

static struct mkperf_pmu_state pmu_state;

struct mkperf_pmu_state *mkperf_port_pmu(void)
{
    return &pmu_state;
}

/* Returns satp for an address space. The upper half of each address space is the kernel's. */
uint64_t arch_space(uint64_t tables, unsigned asid)
{
    extern const uint64_t kernel_root[];
    uint64_t *root = ram(tables);

    for (unsigned i = KERNEL_ENTRIES; i < ENTRIES; i++) {
        root[i] = kernel_root[i];
    }
    return SATP_SV39 | (uint64_t)asid << SATP_ASID_SHIFT | tables >> 12;
}

uint64_t arch_sp(void)
{
    return core_self()->current->context.sp;
}

/* Returns what has overflowed, of the session's counters. inside: within the kernel, or in the idle task. */
static uint32_t overflowed(struct mkperf_hook *hook, bool inside)
{
    if (!(pmu_state.found & MKPERF_RISCV_FILTERS)) {
        hook->kernel_mask = inside ? hook->mask : 0;
    }
    return mkperf_pmu_overflow() & hook->mask;
}

uint32_t qemu_pmu_kernel_overflow(struct mkperf_hook *hook)
{
    return overflowed(hook, true);
}

/* Makes samples at an entry, which is a boundary (hook.h). */
static void enter(struct core *core)
{
    if (core->hook.mask != 0) {
        irq_boundary(core, overflowed(&core->hook, core->current->pd == NULL));
    }
}

/* Handles the boundary on the way out, to task t. A counter that overflows after it interrupts at
 * once, as one of the task's: these are some 60 instructions, the firmware's return from the last
 * start among them. */
static struct task *leave(struct core *core, struct task *t)
{
    if (__builtin_expect(core->hook.mask != 0, 0)) {
        uint32_t hit = overflowed(&core->hook, true);
        if (hit != 0) {
            WRITE_REG(sepc, t->context.pc); /* the task may have changed */
            irq_boundary_inside(core, hit);
            t = sched_exit();
        }
        mkperf_pmu_remind();
    }
    return t;
}

struct task *trap_entered(void)
{
    struct core *core = core_self();

    enter(core);
    if (arch_is_call(arch_syndrome())) {
        core->current->context.pc += 4;
    }
    return leave(core, trap_from_user());
}

/* Handles the PMU's interrupt. True: its overflows are samples now. */
static bool sampled(struct core *core, uint64_t now)
{
    struct mkperf_hook *hook = &core->hook;
    uint32_t hit = hook->mask != 0 ? overflowed(hook, core->current->pd == NULL) : 0;

    if (hit == 0) {
        return false;
    }
    mkperf_capture(hook, hit, now);
    core->last_entry = (uint64_t)mkperf_capture;
    mkperf_captured(hook, now);
    return true;
}

struct task *irq_entered(void)
{
    struct core *core = core_self();
    uint64_t now = mkperf_port_time();
    uint64_t cause = arch_syndrome() & ~CAUSE_INTERRUPT;

    core->iar = IRQ_NONE;
    if (cause == CAUSE_PMU) {
        if (sampled(core, now)) {
            return leave(core, core->reschedule ? sched_exit() : core->current);
        }
        /* Its overflow became a sample at a boundary, or nobody asked for it. */
        WRITE_REG(sip, READ_REG(sip) & ~(uint64_t)SIE_PMU);
        core->hook.answer.spurious += core->hook.mask == 0;
        return leave(core, core->current);
    }
    enter(core);
    if (cause == CAUSE_TIMER) {
        core->iar = TICK_IRQ;
    } else if (cause == CAUSE_EXTERNAL) {
        core->iar = arch_irq_take();
    }
    struct task *next = irq_slow();
    console_flush(false);
    return leave(core, next);
}
