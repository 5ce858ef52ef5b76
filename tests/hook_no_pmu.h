/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A part of the hook's port and its PMU, for tests of the walk: one core without counters, whose time is a count. Nobody is woken.
 *
 * Owns: these functions. Included behind the kernel's sources.
 */
#ifndef MKPERF_TESTS_HOOK_NO_PMU_H
#define MKPERF_TESTS_HOOK_NO_PMU_H

unsigned mkperf_port_core(void)
{
    return 0;
}

uint64_t mkperf_port_time(void)
{
    static uint64_t now;

    return ++now;
}

void mkperf_port_wake(void)
{
}

void mkperf_pmu_clear(uint32_t mask)
{
    (void)mask;
}

uint32_t mkperf_pmu_read(unsigned i)
{
    (void)i;
    return 0;
}

void mkperf_pmu_write(unsigned i, uint32_t value)
{
    (void)i;
    (void)value;
}

void mkperf_pmu_disable(uint32_t mask)
{
    (void)mask;
}

#endif
