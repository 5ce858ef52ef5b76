/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A help for QEMU 7.2, which loses overflows of event counters under -icount.
 *
 * QEMU sets its timer one event before an event counter's overflow. With exact instruction counting
 * it finds no overflow then, and nothing left to wait for, so that the overflow is not noticed
 * before the next change of exception level. Its timer for the cycle counter is right, and looks at
 * all counters. So the cycle counter, which has no other user, is set to overflow together with the
 * next event counter; its own interrupt stays off.
 *
 * Counters of user events stand still in the kernel and the other way around; the cycle counter
 * follows whichever kind can overflow while the present task runs. Kernel events of a PD's own
 * system calls need no help: there is a change of level at their end.
 *
 * With several cores each core's event counters count what all of them execute. A core that sleeps executes
 * nothing: meanwhile its counters are off, except for time's.
 */
#include "mkperf_port.h"

enum { COUNTERS = 6, CPU_CYCLES = 0x11 }; /* QEMU's Cortex-A53 has six */

#define NOT_AT_EL1 (UINT64_C(1) << 31)
#define NOT_AT_EL0 (UINT64_C(1) << 30)
#define CYCLE_COUNTER (UINT64_C(1) << 31)

/* Returns whether counter i counts the idle task's waiting: only one of the kernel's cycles does. */
static bool counts_idle(const struct mkperf_hook *hook, unsigned i)
{
    uint32_t select = hook->session.counter[i].select;

    return (select & MKPERF_SELECT_EVENT) == CPU_CYCLES && (select & MKPERF_SELECT_P) == 0;
}

/* Sets the cycle counter after the hook has re-armed counters, so that it overflows with the
 * nearest of them. */
void qemu_pmu_arm(const struct mkperf_hook *hook, bool idle)
{
    uint32_t mask = idle ? hook->mask : hook->mask & ~hook->kernel_mask;
    uint32_t nearest = 0; /* the highest count, which is the nearest to its overflow */

    for (mask &= (1u << COUNTERS) - 1; mask != 0; mask &= mask - 1) {
        unsigned i = (unsigned)__builtin_ctz(mask);
        uint32_t count = idle && !counts_idle(hook, i) ? 0 : mkperf_pmu_read(i);
        nearest = count > nearest ? count : nearest;
    }
    qemu_pmu_set(nearest);
}

/* Makes the cycle counter count in the mode that runs next, after a switch of tasks or a change of
 * the session. */
void qemu_pmu_follow(const struct mkperf_hook *hook, bool idle)
{
    WRITE_REG(pmccfiltr_el0, idle ? NOT_AT_EL0 : NOT_AT_EL1);
    WRITE_REG(pmcntenset_el0, CYCLE_COUNTER);
    qemu_pmu_arm(hook, idle);
}

/* Returns the session's counters that have overflowed when the kernel is entered, of a core among several. QEMU gives a
 * core its turn one event before a counter's overflow. If another core's interrupt is pending by then, it is taken
 * first, and the overflow follows in whatever runs next. So a counter that is one event short has overflowed, too, and
 * its next interval begins one event early. */
uint32_t qemu_pmu_entered(const struct mkperf_hook *hook)
{
    uint32_t flags = mkperf_pmu_overflow();

    for (uint32_t rest = hook->mask & ~flags; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        if (mkperf_pmu_read(i) == UINT32_MAX) {
            mkperf_pmu_write(i, 0);
            flags |= UINT32_C(1) << i;
        }
    }
    return flags;
}

/* Returns the kernel's counters that have overflowed by now. Without the reads, QEMU sets flags only when the exception
 * level changes. */
uint32_t qemu_pmu_kernel_overflow(const struct mkperf_hook *hook)
{
    uint32_t mask = hook->mask & hook->kernel_mask;

    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        (void)mkperf_pmu_read((unsigned)__builtin_ctz(rest));
    }
    return mkperf_pmu_overflow() & mask;
}

/* Stops the counters of a core that is about to sleep, except those of cycles, or starts them
 * again. */
void qemu_pmu_sleep(const struct mkperf_hook *hook, bool asleep)
{
    uint32_t mask = 0;

    for (uint32_t rest = hook->session.enable_mask; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        bool time = (hook->session.counter[i].select & MKPERF_SELECT_EVENT) == CPU_CYCLES;
        mask |= (uint32_t)!time << i;
    }
    if (mask != 0 && asleep) {
        mkperf_pmu_disable(mask);
    } else if (mask != 0) {
        mkperf_pmu_enable(mask);
    }
}
