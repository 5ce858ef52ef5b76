/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The back-end for Armv8-A's PMUv3 (names and bits: Arm ARM, D13.4 and chapter D7).
 *
 * Owns: nothing that changes. id: MIDR_EL1 (0 where user mode asks), PMCR_EL0, PMCEID0_EL0,
 * PMCEID1_EL0. Selectors are values of PMEVTYPER<n>_EL0 (bits: kernel/arch/armv8_pmuv3.h).
 * Cycles are event 0x11 on an event counter: the cycle counter belongs to the kernel.
 */
#include "../lib/text.h"
#include "pmu.h"

enum {
    ID_MIDR = 0,
    ID_PMCR = 1,
    ID_PMCEID = 2,
    MIDR_PART_SHIFT = 4,
    MIDR_PART_MASK = 0xfff,
    IMPLEMENTER_SHIFT = 24, /* the same place in both registers */
    IMPLEMENTER_ARM = 0x41,
    PMCR_IDCODE_SHIFT = 16,
    COMMON_EVENTS = 0x40,    /* PMCEID0/1 bits 0-31 */
    EXTENDED_FIRST = 0x4000, /* PMCEID0/1 bits 32-63, from Armv8.1 on */
    EXTENDED_AFTER = 0x4040,
    EVENT_AFTER = 0x10000,
    L1D_CACHE = 0x04,
    INST_RETIRED = 0x08,
    BR_PRED = 0x12,
};

#define KERNEL_AT_EL2 (UINT64_C(1) << 32) /* a flag that the hook adds to the word with PMCR_EL0 */

#define TYPER_P (UINT32_C(1) << 31)
#define TYPER_U (UINT32_C(1) << 30)
#define TYPER_NSH (UINT32_C(1) << 27)
#define TYPER_M (UINT32_C(1) << 26)

static const struct {
    uint16_t part; /* part number in MIDR_EL1 */
    uint8_t code;  /* IDCODE of PMCR_EL0, which newer cores leave at 0 */
    const char *name;
} arm[] = {
    {0xd03, 0x03, "Cortex-A53"},  {0xd04, 0x0a, "Cortex-A35"},  {0xd05, 0x05, "Cortex-A55"},
    {0xd07, 0x01, "Cortex-A57"},  {0xd08, 0x02, "Cortex-A72"},  {0xd09, 0x04, "Cortex-A73"},
    {0xd0a, 0x0a, "Cortex-A75"},  {0xd0b, 0x0b, "Cortex-A76"},  {0xd0c, 0x0c, "Neoverse-N1"},
    {0xd0d, 0x00, "Cortex-A77"},  {0xd40, 0x00, "Neoverse-V1"}, {0xd41, 0x00, "Cortex-A78"},
    {0xd49, 0x00, "Neoverse-N2"},
};

static void cpu(const uint64_t *id, char *name, size_t n)
{
    uint64_t from = id[ID_MIDR] != 0 ? id[ID_MIDR] : id[ID_PMCR];
    unsigned implementer = from >> IMPLEMENTER_SHIFT & 0xff;
    unsigned part = id[ID_MIDR] >> MIDR_PART_SHIFT & MIDR_PART_MASK;
    unsigned code = id[ID_PMCR] >> PMCR_IDCODE_SHIFT & 0xff;
    struct mkperf_text t = mkperf_text_begin(name, n);

    for (unsigned i = 0; i < sizeof arm / sizeof arm[0] && implementer == IMPLEMENTER_ARM; i++) {
        if (id[ID_MIDR] != 0 ? arm[i].part == part : code != 0 && arm[i].code == code) {
            mkperf_text_put(&t, arm[i].name);
            return;
        }
    }
    if (implementer != 0) {
        mkperf_text_print(&t, "implementer 0x%x %s 0x%x", implementer,
                          id[ID_MIDR] != 0 ? "part" : "PMU", id[ID_MIDR] != 0 ? part : code);
    }
}

/* The CPU reports only the architecture's own events. Any other event is assumed to exist. */
static bool supported(const uint64_t *id, uint32_t code)
{
    const uint64_t *ceid = id + ID_PMCEID;

    if (code < COMMON_EVENTS) {
        return ceid[code / 32] >> code % 32 & 1;
    }
    if (code >= EXTENDED_FIRST && code < EXTENDED_AFTER) {
        return ceid[code % COMMON_EVENTS / 32] >> (32 + code % 32) & 1;
    }
    return code < EVENT_AFTER;
}

/*
 * QEMU's PMU: it has none of the events that the architecture requires of a CPU with caches and branch
 * prediction (Arm ARM, D11.11.2). It has `instructions` only where it counts them for its clock, over all
 * cores; cycles are that clock. With that clock its cores take turns.
 */
static bool in_turns(const uint64_t *id)
{
    return supported(id, INST_RETIRED) && !supported(id, L1D_CACHE) && !supported(id, BR_PRED);
}

static bool machine_wide(const uint64_t *id, uint32_t code)
{
    return code == INST_RETIRED && in_turns(id);
}

/* User mode is EL0. EL1 is the kernel's, or that of guests' kernels if the kernel is at EL2. EL3, which has firmware, is not counted:
 * M differs from P. */
static uint32_t selector(const uint64_t *id, uint32_t code, unsigned modes)
{
    unsigned el1 = id[ID_PMCR] & KERNEL_AT_EL2 ? MKPERF_PMU_GUEST : MKPERF_PMU_KERNEL;

    return code | (modes & MKPERF_PMU_USER ? 0 : TYPER_U) | (modes & el1 ? TYPER_M : TYPER_P) |
           (modes & MKPERF_PMU_KERNEL ? TYPER_NSH : 0);
}

const struct mkperf_pmu mkperf_armv8_pmuv3 = {
    .name = "armv8_pmuv3",
    .cpu = cpu,
    .supported = supported,
    .machine_wide = machine_wide,
    .in_turns = in_turns,
    .select = selector,
    .user = &mkperf_armv8_user,
    .events = mkperf_armv8_events,
};
