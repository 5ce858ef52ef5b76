/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PMUv3 from EL0, on a kernel without the hook that exports it (PMUSERENR_EL0.EN): see struct
 * mkperf_pmu_user for the callers. With the hook, EL0 has no access, and `find` reports that.
 */
#include "armv8_user_regs.h"

#include <mkperf/record.h>

#include "pmu.h"

enum {
    PMUSERENR_EN = 1 << 0,
    PMCR_E = 1 << 0,
    PMCR_P = 1 << 1, /* write-only actions: never wanted when PMCR is written back */
    PMCR_C = 1 << 2,
    PMCR_N_SHIFT = 11,
    PMCR_N_MASK = 0x1f,
};

static uint32_t counters(void)
{
    return (uint32_t)(pmu_read_pmcr() >> PMCR_N_SHIFT) & PMCR_N_MASK;
}

/* Returns all event counters as a mask: never bit 31, the cycle counter. */
static uint32_t all_counters(void)
{
    return (UINT32_C(1) << counters()) - 1;
}

/* PMUSERENR_EL0 is the one register that EL0 may read without permission, so it comes first. */
static const char *find(struct mkperf_cpu *cpu)
{
    if (!(pmu_read_pmuserenr() & PMUSERENR_EN)) {
        return "the kernel does not let user mode use the PMU (PMUSERENR_EL0.EN = 0): build it "
               "with KernelMkperf, or KernelArmExportPMUUser for -e timer";
    }
    if (counters() == 0) {
        return "the PMU has no event counters for this exception level (PMCR_EL0.N = 0)";
    }
    cpu->counters = counters();
    cpu->id[0] = 0; /* EL0 cannot read MIDR_EL1. */
    cpu->id[1] = pmu_read_pmcr();
    cpu->id[2] = pmu_read_pmceid0();
    cpu->id[3] = pmu_read_pmceid1();
    return NULL;
}

static bool program(unsigned counter, uint32_t select)
{
    if (counter >= counters()) {
        return false;
    }
    pmu_write_pmcntenclr(UINT64_C(1) << counter);
    pmu_isb();
    pmu_write_pmevtyper(counter, select);
    pmu_write_pmevcntr(counter, 0);
    pmu_isb();
    return (uint32_t)pmu_read_pmevtyper(counter) == select;
}

static void start(uint32_t mask)
{
    pmu_write_pmovsclr(mask &
                       all_counters()); /* No counter samples, so overflows have no meaning. */
    pmu_write_pmcntenset(mask & all_counters());
    pmu_write_pmcr((pmu_read_pmcr() & ~(uint64_t)(PMCR_P | PMCR_C)) | PMCR_E);
    pmu_isb();
}

static void stop(uint32_t mask)
{
    pmu_write_pmcntenclr(mask & all_counters());
    pmu_write_pmovsclr(mask & all_counters());
    pmu_isb();
}

static uint32_t read_counter(unsigned counter)
{
    return (uint32_t)pmu_read_pmevcntr(counter);
}

const struct mkperf_pmu_user mkperf_armv8_user = {
    .find = find,
    .program = program,
    .start = start,
    .stop = stop,
    .read = read_counter,
};
