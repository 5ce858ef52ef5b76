/* SPDX-License-Identifier: BSD-2-Clause */
/* What QEMU's PMU needs of the kernel, and whether counters are looked at within it. Included by core.h. */
#ifndef POCKET_QEMU_PMU_H
#define POCKET_QEMU_PMU_H

/* Sets the cycle counter so that it overflows together with an event counter that has this count. */
static inline void qemu_pmu_set(uint32_t count)
{
    WRITE_REG(pmccntr_el0, UINT64_C(0xffffffff00000000) | count);
}

void qemu_pmu_follow(const struct mkperf_hook *hook, bool idle);
void qemu_pmu_arm(const struct mkperf_hook *hook, bool idle);
void qemu_pmu_sleep(const struct mkperf_hook *hook, bool asleep);
uint32_t qemu_pmu_entered(const struct mkperf_hook *hook);
uint32_t qemu_pmu_kernel_overflow(const struct mkperf_hook *hook);

/* Returns whether a counter can overflow in the kernel. */
static inline bool pmu_watches_kernel(const struct mkperf_hook *hook)
{
    return hook->kernel_mask != 0;
}

#endif
