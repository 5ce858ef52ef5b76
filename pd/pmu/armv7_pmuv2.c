/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The back-end for Armv7-A's PMUv2, from PL0 (names and bits: Arm ARM v7-A, chapter C12).
 *
 * Owns: the event counters. Called by the profiler PD through struct mkperf_pmu. As for PMUv3, the
 * kernel must set PMUSERENR.EN and enable the overflow interrupts, and keeps the cycle counter.
 *
 * Counters are reached through PMSELR alone, so a kernel hook on Armv7 has to put PMSELR back as it
 * found it: this code may be interrupted between a selection and its use.
 */
#include "armv7_pmuv2_regs.h"

#include <mkperf/record.h>

#include "../lib/text.h"
#include "pmu.h"

enum {
    PMUSERENR_EN = 1 << 0,
    PMCR_E = 1 << 0,
    PMCR_P = 1 << 1, /* write-only actions: never wanted when PMCR is written back */
    PMCR_C = 1 << 2,
    PMCR_N_SHIFT = 11,
    PMCR_N_MASK = 0x1f,
    PMCR_IDCODE_SHIFT = 16,
    PMCR_IMP_SHIFT = 24,
    ARM_LIMITED = 0x41,
    COMMON_EVENTS = 0x40,
    EVENT_AFTER = 0x100,
};

/* PMXEVTYPER: PL1 is counted unless P, PL0 unless U, Hyp mode only with NSH; NSK and NSU as 0 mean
 * that Non-secure state follows P and U. */
#define TYPER_P UINT32_C(0x80000000)
#define TYPER_U UINT32_C(0x40000000)
#define TYPER_NSH UINT32_C(0x08000000)
#define TYPER_EVENT UINT32_C(0xff)

static unsigned counters(void)
{
    unsigned n = (pmu_read_pmcr() >> PMCR_N_SHIFT) & PMCR_N_MASK;

    return n < MKPERF_MAX_COUNTERS ? n : MKPERF_MAX_COUNTERS;
}

/* All counters of ours as a mask: never bit 31, the cycle counter. */
static uint32_t all(void)
{
    return (UINT32_C(1) << counters()) - 1;
}

/* Writing E, and none of the actions beside it. */
static void enable(void)
{
    pmu_write_pmcr((pmu_read_pmcr() & ~(uint32_t)(PMCR_P | PMCR_C)) | PMCR_E);
}

static void select(unsigned counter)
{
    pmu_write_pmselr(counter);
    pmu_isb();
}

/* PMUSERENR is the one register that PL0 may read without permission, so it comes first. */
static const char *init(void)
{
    if (!(pmu_read_pmuserenr() & PMUSERENR_EN)) {
        return "the kernel does not let user mode use the PMU (PMUSERENR.EN = 0)";
    }
    if (counters() == 0) {
        return "the PMU has no event counters for user mode (PMCR.N = 0)";
    }
    pmu_write_pmcntenclr(all());
    pmu_write_pmovsr(all());
    enable();
    pmu_isb();
    return NULL;
}

/* MIDR is PL1's; PMCR has an implementer and a code. */
static void cpu(char *name, size_t n)
{
    uint32_t pmcr = pmu_read_pmcr();
    unsigned imp = pmcr >> PMCR_IMP_SHIFT;
    unsigned code = pmcr >> PMCR_IDCODE_SHIFT & 0xff;
    struct mkperf_text t = mkperf_text_begin(name, n);

    if (imp == ARM_LIMITED && (code == 0x07 || code == 0x09 || code == 0x0f)) {
        mkperf_text_put(&t, "Cortex-A");
        mkperf_text_dec(&t, code);
    } else {
        mkperf_text_put(&t, "implementer ");
        mkperf_text_hex(&t, imp);
        mkperf_text_put(&t, " PMU ");
        mkperf_text_hex(&t, code);
    }
}

/* Beyond the architecture's own events the CPU does not say; those are taken at their word. */
static bool supported(uint32_t code)
{
    if (code < COMMON_EVENTS) {
        uint32_t id = code < 32 ? pmu_read_pmceid0() : pmu_read_pmceid1();
        return id >> code % 32 & 1;
    }
    return code < EVENT_AFTER;
}

static bool program(unsigned counter, uint32_t code, bool user, bool kernel)
{
    uint32_t type = code;

    if (counter >= counters() || !supported(code) || (!user && !kernel)) {
        return false;
    }
    type |= user ? 0 : TYPER_U;
    type |= kernel ? TYPER_NSH : TYPER_P;
    pmu_write_pmcntenclr(UINT32_C(1) << counter);
    select(counter);
    pmu_write_pmxevtyper(type);
    pmu_write_pmovsr(UINT32_C(1) << counter);
    pmu_isb();
    return (pmu_read_pmxevtyper() & TYPER_EVENT) == code;
}

static void arm(unsigned counter, uint32_t events)
{
    select(counter);
    pmu_write_pmxevcntr(0 - events);
    pmu_isb();
}

static void start(uint32_t mask)
{
    pmu_write_pmcntenset(mask & all());
    enable();
    pmu_isb();
}

static void stop(uint32_t mask)
{
    pmu_write_pmcntenclr(mask & all());
    pmu_isb();
}

static uint32_t read(unsigned counter)
{
    select(counter);
    return pmu_read_pmxevcntr();
}

static uint32_t overflow(void)
{
    return pmu_read_pmovsr() & all();
}

static void clear(uint32_t mask)
{
    pmu_write_pmovsr(mask & all());
    pmu_isb();
}

static uint64_t entropy(void)
{
    return pmu_read_pmccntr();
}

/* No raise: PMOVSSET came with the Virtualization Extensions, and PL0 cannot ask for those. */
const struct mkperf_pmu mkperf_armv7_pmuv2 = {
    .version = MKPERF_PMU_VERSION,
    .name = "armv7_pmuv2",
    .init = init,
    .counters = counters,
    .cpu = cpu,
    .supported = supported,
    .program = program,
    .arm = arm,
    .start = start,
    .stop = stop,
    .read = read,
    .overflow = overflow,
    .clear = clear,
    .entropy = entropy,
    .events = mkperf_armv8_events, /* the common numbers are the same */
};
