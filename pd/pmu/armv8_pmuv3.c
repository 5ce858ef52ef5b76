/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The back-end for Armv8-A's PMUv3, from EL0 (names and bits: Arm ARM, D13.4 and chapter D7).
 *
 * Owns: the event counters. Called by the profiler PD through struct mkperf_pmu. The kernel must
 * let EL0 use the PMU (PMUSERENR_EL0.EN) and enable the overflow interrupts, for PMINTENSET_EL1 is
 * out of EL0's reach. The cycle counter PMCCNTR_EL0 belongs to the kernel: cycles are event 0x11 on
 * an event counter, and PMCR_EL0.E, once set, stays set for it.
 */
#include "armv8_pmuv3_regs.h"

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
    COMMON_EVENTS = 0x40,    /* PMCEID0/1 bits 0-31 */
    EXTENDED_FIRST = 0x4000, /* PMCEID0/1 bits 32-63, from Armv8.1 on */
    EXTENDED_AFTER = 0x4040,
    EVENT_AFTER = 0x10000,
};

/*
 * PMEVTYPER<n>_EL0. EL1 is counted unless P, EL0 unless U, EL2 only with NSH, EL3 when M equals P.
 * NSK and NSU stay 0: then Non-secure EL1 and EL0 follow P and U for "not counted" (both are
 * compared for equality with P and U) and for "counted".
 */
#define TYPER_P (UINT64_C(1) << 31)
#define TYPER_U (UINT64_C(1) << 30)
#define TYPER_NSH (UINT64_C(1) << 27)
#define TYPER_M (UINT64_C(1) << 26)
#define TYPER_EVENT UINT64_C(0xffff)

static unsigned counters(void)
{
    unsigned n = (unsigned)(pmu_read_pmcr() >> PMCR_N_SHIFT) & PMCR_N_MASK;

    return n < MKPERF_MAX_COUNTERS ? n : MKPERF_MAX_COUNTERS;
}

/* All counters of ours as a mask: never bit 31, the cycle counter. */
static uint32_t all(void)
{
    return (UINT32_C(1) << counters()) - 1;
}

/* PMUSERENR_EL0 is the one register that EL0 may read without permission, so it comes first. */
static const char *init(void)
{
    if (!(pmu_read_pmuserenr() & PMUSERENR_EN)) {
        return "the kernel does not let user mode use the PMU (PMUSERENR_EL0.EN = 0): build it "
               "with KernelMkperf, or KernelArmExportPMUUser for -e timer";
    }
    if (counters() == 0) {
        return "the PMU has no event counters for this exception level (PMCR_EL0.N = 0)";
    }
    pmu_write_pmcntenclr(all());
    pmu_write_pmovsclr(all());
    pmu_write_pmcr((pmu_read_pmcr() & ~(uint64_t)(PMCR_P | PMCR_C)) | PMCR_E);
    pmu_isb();
    return NULL;
}

/* MIDR_EL1 is EL1's; PMCR_EL0 has an implementer and a code that newer cores leave at 0. */
static void cpu(char *name, size_t n)
{
    static const struct {
        uint8_t code;
        const char *name;
    } arm[] = {
        {0x01, "Cortex-A57"}, {0x02, "Cortex-A72"},  {0x03, "Cortex-A53"},
        {0x0b, "Cortex-A76"}, {0x0c, "Neoverse-N1"},
    };
    uint64_t pmcr = pmu_read_pmcr();
    unsigned imp = pmcr >> PMCR_IMP_SHIFT & 0xff;
    unsigned code = pmcr >> PMCR_IDCODE_SHIFT & 0xff;
    struct mkperf_text t = mkperf_text_begin(name, n);

    for (unsigned i = 0; i < sizeof arm / sizeof arm[0] && imp == 0x41; i++) {
        if (arm[i].code == code) {
            mkperf_text_put(&t, arm[i].name);
            return;
        }
    }
    if (imp != 0) {
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
        uint64_t id = code < 32 ? pmu_read_pmceid0() : pmu_read_pmceid1();
        return id >> code % 32 & 1;
    }
    if (code >= EXTENDED_FIRST && code < EXTENDED_AFTER) {
        uint64_t id = code < EXTENDED_FIRST + 32 ? pmu_read_pmceid0() : pmu_read_pmceid1();
        return id >> (32 + code % 32) & 1;
    }
    return code < EVENT_AFTER;
}

static bool program(unsigned counter, uint32_t code, bool user, bool kernel)
{
    uint64_t type = code;

    if (counter >= counters() || !supported(code) || (!user && !kernel)) {
        return false;
    }
    type |= user ? 0 : TYPER_U;
    type |= kernel ? TYPER_NSH | TYPER_M : TYPER_P; /* M: firmware in EL3 is not the kernel */
    pmu_write_pmcntenclr(UINT64_C(1) << counter);
    pmu_isb();
    pmu_write_pmevtyper(counter, type);
    pmu_isb();
    pmu_write_pmovsclr(UINT64_C(1) << counter);
    pmu_isb();
    return (pmu_read_pmevtyper(counter) & TYPER_EVENT) == code;
}

static void arm(unsigned counter, uint32_t events)
{
    pmu_write_pmevcntr(counter, (uint32_t)-events);
    pmu_isb();
}

static void start(uint32_t mask)
{
    /* PMCR last: QEMU 7.2 looks when the next overflow is due at a write to it, not to PMCNTENSET.
     */
    pmu_write_pmcntenset(mask & all());
    pmu_write_pmcr((pmu_read_pmcr() & ~(uint64_t)(PMCR_P | PMCR_C)) | PMCR_E);
    pmu_isb();
}

static void stop(uint32_t mask)
{
    pmu_write_pmcntenclr(mask & all());
    pmu_isb();
}

static uint32_t read(unsigned counter)
{
    return (uint32_t)pmu_read_pmevcntr(counter);
}

static uint32_t overflow(void)
{
    return (uint32_t)pmu_read_pmovsclr() & all();
}

static void clear(uint32_t mask)
{
    pmu_write_pmovsclr(mask & all());
    pmu_isb();
}

static void raise(uint32_t mask)
{
    pmu_write_pmovsset(mask & all());
    pmu_isb();
}

/* Reading the cycle counter is harmless; it may stand still, then this says nothing. */
static uint64_t entropy(void)
{
    return pmu_read_pmccntr();
}

const struct mkperf_pmu mkperf_armv8_pmuv3 = {
    .version = MKPERF_PMU_VERSION,
    .name = "armv8_pmuv3",
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
    .raise = raise,
    .entropy = entropy,
    .events = mkperf_armv8_events,
};
