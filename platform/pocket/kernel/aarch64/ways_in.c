/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ways into the kernel on AArch64, and where a sample is taken on each (hook.h, mkperf_hook_take).
 *
 * Owns: the first half of interrupts, which a sample is usually all of, and the boundary at system calls. Called by vectors.S
 * and smp.c.
 */
#include "ways_in.h"

extern char vectors[];
extern char vectors_session[];

/* Changes the vectors when a session begins or ends: with one core, system calls look at counters
 * only in a session. */
void entry_session(const struct core *core)
{
    if (ncores == 1) {
        WRITE_REG(vbar_el1, core->hook.mask != 0 ? vectors_session : vectors);
    }
}

unsigned irq_number(const struct core *core)
{
    return core->iar & IRQ_NUMBER;
}

/* Ends an interrupt. */
void irq_end(struct core *core)
{
    arch_irq_end(core->iar);
    core->last_entry = (uint64_t)irq_entry;
    core->iar = IRQ_NONE;
}

/* Calls qemu_pmu_arm, except where a PD runs and only counter 0 counts it, as in most samples. */
static inline void arm(const struct mkperf_hook *hook, bool idle)
{
    if (!idle && (hook->mask & ~hook->kernel_mask) == 1) {
        qemu_pmu_set(mkperf_pmu_read(0));
    } else {
        qemu_pmu_arm(hook, idle);
    }
}

/* hit: overflows of the session. iar: the interrupt. now: when it was taken. */
static inline __attribute__((always_inline)) bool sampled(struct core *core, uint32_t hit,
                                                          uint32_t iar, uint64_t now)
{
    struct mkperf_hook *hook = &core->hook;

    if (hit == 0 || (iar & IRQ_NUMBER) != PMU_IRQ) {
        core->iar = iar;
        irq_boundary(core, hit);
        return false;
    }
    mkperf_capture(hook, hit, now);
    arm(hook, core->current->pd == NULL);
    arch_irq_end(iar);
    core->last_entry = (uint64_t)mkperf_capture;
    mkperf_captured(hook, now);
    if (core->reschedule) {
        core->iar = IRQ_NONE;
    }
    return !core->reschedule;
}

/*
 * Handles the first half of every interrupt. vectors.S calls it with only half of the registers
 * saved. Returns true if it was the profiler's and all is done, and false if irq_slow must follow.
 */
bool irq_fast(struct core *core)
{
    uint64_t now = mkperf_port_time();
    uint32_t hit = mkperf_pmu_overflow() & core->hook.mask;

    return sampled(core, hit, arch_irq_take(), now);
}

/* The same in two steps, the first without the lock. */
void irq_take(struct core *core)
{
    core->iar = arch_irq_take();
}

bool irq_taken(struct core *core)
{
    return sampled(core, core->overflowed & core->hook.mask, core->iar, mkperf_port_time());
}

/* Handles a boundary (hook.h) at an exception that was just taken. hit: counters of the session.
 * What ran last is the system call instruction, and ELR_EL1 is behind it. */
void trap_boundary(struct core *core, uint32_t hit)
{
    uint64_t elr = arch_pc();

    if (hit == 0) {
        return;
    }
    WRITE_REG(elr_el1, elr - (arch_is_call(arch_syndrome()) ? 4 : 0));
    irq_boundary(core, hit);
    WRITE_REG(elr_el1, elr);
}

/* The same, called by vectors_session. */
struct task *trap_in_session(void)
{
    struct core *core = core_self();
    uint32_t hit = mkperf_pmu_overflow() & core->hook.mask;

    if (__builtin_expect(hit != 0, 0)) {
        trap_boundary(core, hit);
    }
    return trap_from_user();
}
