/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interrupt of an overflow on AArch64, and the exit from the slow path. riscv.c has the same for RISC-V.
 *
 * Owns no state. Called by the copies of the kernel's entries (entries.c).
 */
#include <mkperf_port.h>

/* Replaces restore_user_context in the copies of the entries (entries.c), where it is decided which thread runs next. */
NO_INLINE void NORETURN mkperf_leave(void)
{
    if (mkperf_reports() && mkperf_holdsLock()) {
        mkperf_tellSwitch(NODE_STATE(ksCurThread));
    }
    restore_user_context();
    UNREACHABLE();
}

/*
 * Handles an interrupt that arrived with a counter's overflow. The samples are taken in any case. If the
 * interrupt is the profiling one, the kernel returns to user mode from here. Otherwise the caller continues
 * with the interrupt. It also does so if no counter of the session has overflowed: the interrupt is then
 * masked and signalled as any other, and cannot arrive again before its handler is invoked.
 *
 * If no thread has to be woken, neither updateTimestamp nor checkBudget is called. That is sound for the
 * scheduler. ksCurTime and ksConsumed keep their values of the last entry. The thread that continues is the
 * one that was running. The next entry computes from the timer, as always, what that thread has consumed,
 * and that includes the hook's time. No thread state, queue or scheduler action changes, so there is nothing
 * to schedule. The deadline timer stays programmed, and fires late by at most one sample. To the scheduler it
 * is as if the processor had been slower for a moment.
 */
NO_INLINE __attribute__((flatten)) void mkperf_interrupt(word_t flags)
{
    struct mkperf_node *node = &mkperf_node[CURRENT_CPU_INDEX()];
    uint32_t hit = flags & node->hook.mask;
    uint64_t now = mkperf_port_time();
    irq_t irq = getActiveIRQ();

    if (unlikely(IRQT_TO_IRQ(irq) != CONFIG_MKPERF_IRQ)) {
        mkperf_boundary(flags);
        if (mkperf_reports()) {
            mkperf_tellInterrupt(irq);
        }
        return;
    }
    if (unlikely(hit == 0)) {
        node->hook.answer.spurious++;
        mkperf_setVectors(node->hook.mask != 0); /* Another core may have ended the session. */
        return;
    }
    c_entry_hook();
    mkperf_capture(&node->hook, hit, now);
    mkperf_follow(&node->hook);
    /* The interrupt ends: it is unmasked, inactive, and can arrive again. */
    ackInterrupt(irq);
#ifdef CONFIG_ARM_GIC_V3_SUPPORT
    /* If a user holds the interrupt, ackInterrupt leaves this to the user's acknowledgement. */
    isb();
    deactivateInterrupt(irq);
#endif
    mkperf_captured(&node->hook, now);
    mkperf_entered((word_t)c_handle_interrupt); /* the sample needed the last one */
    if (unlikely(node->wake)) {
        mkperf_wake(node);
    }
    restore_user_context();
    UNREACHABLE();
}
