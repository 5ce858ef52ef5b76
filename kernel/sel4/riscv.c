/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interrupt of an overflow on RISC-V, and the boundary where the kernel is left.
 *
 * Owns: struct mkperf_riscv. The interrupt (LCOFI, 13 in scause) is the core's own, and has no number: the number of the
 * capability belongs to no device, and nothing else of the kernel takes part. It is enabled in a session only.
 */
#include <mkperf_port.h>

struct mkperf_riscv mkperf_riscv;

struct mkperf_pmu_state *mkperf_port_pmu(void)
{
    return &mkperf_riscv.pmu;
}

/*
 * Takes the samples and returns to user mode. mkperf_interrupt (mkperf.c) says why the scheduler need not know. Without a
 * flag, the overflow became a sample at a boundary, or mkperf_leaving wants the owner to be signalled.
 */
NO_INLINE void NORETURN mkperf_overflowed(word_t flags)
{
    struct mkperf_node *node = &mkperf_node[CURRENT_CPU_INDEX()];
    uint32_t hit = (uint32_t)flags & node->hook.mask;
    uint64_t now = mkperf_port_time();

    c_entry_hook();
    if (likely(hit != 0)) {
        mkperf_capture(&node->hook, hit, now);
        mkperf_captured(&node->hook, now);
        mkperf_entered((word_t)c_handle_interrupt); /* the sample needed the last one */
    } else {
        mkperf_pmu_clear(0);
    }
    mkperf_inKernel(&node->hook);
    if (unlikely(node->wake)) {
        mkperf_wake(node);
    }
    mkperf_leave();
}

/* Makes samples of what the kernel's work since the entry overflowed. What overflows after this,
 * within some 60 instructions, is found in user mode. An owner that waits for a signal gets it at
 * once: the interrupt is set for it. */
void mkperf_leaving(void)
{
    word_t flags = mkperf_pmu_overflow();

    if (unlikely(flags != 0)) {
        mkperf_boundary(flags);
    }
    if (mkperf_reports()) {
        mkperf_tellSwitch(NODE_STATE(ksCurThread));
    }
    mkperf_pmu_remind();
    if (unlikely(mkperf_node[CURRENT_CPU_INDEX()].wake)) {
        MKPERF_CSR_SET(MKPERF_CSR_SIP, MKPERF_LCOFI);
    }
}
