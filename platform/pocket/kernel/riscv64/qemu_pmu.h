/* SPDX-License-Identifier: BSD-2-Clause */
/* QEMU's PMU needs no help here; whether counters are looked at within the kernel. Included by core.h. */
#ifndef POCKET_QEMU_PMU_H
#define POCKET_QEMU_PMU_H

static inline void qemu_pmu_follow(const struct mkperf_hook *hook, bool idle)
{
    (void)hook;
    (void)idle;
}

static inline void qemu_pmu_arm(const struct mkperf_hook *hook, bool idle)
{
    (void)hook;
    (void)idle;
}

/* Returns the overflows of the kernel's present work: ways_in.c. */
uint32_t qemu_pmu_kernel_overflow(struct mkperf_hook *hook);

static inline bool pmu_watches_kernel(const struct mkperf_hook *hook)
{
    return hook->mask != 0;
}

#endif
