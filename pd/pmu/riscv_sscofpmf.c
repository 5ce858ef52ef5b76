/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The back-end for RISC-V's counters (RISC-V SBI specification, chapter 11; Sscofpmf).
 *
 * Owns: nothing that changes. id: what the boot found (bits below), the SBI's hardware events and its cache events that a counter
 * can count, mvendorid and marchid (kernel/arch/riscv_sscofpmf.h). An event's code is the SBI's number of it:
 * hardware events from 1, cache events from 0x10000 (cache << 3 | operation << 1 | miss), and raw events 0x20000 | data.
 */
#include "../lib/text.h"
#include "pmu.h"

enum {
    ID_FOUND = 0,
    ID_HARDWARE = 1,
    ID_CACHE = 2,
    ID_CPU = 3,
    FOUND_FILTERS = 2,
    TYPE_SHIFT = 16,
    CACHE = 1, /* types */
    RAW = 2,
    BUSY = MKPERF_RATE_BUSY,
    RARE = MKPERF_RATE_RARE,
};

#define SELECT_U (UINT32_C(1) << 31)
#define SELECT_K (UINT32_C(1) << 30)

/* Generic names mean what perf makes of them on riscv_pmu_sbi (Linux, drivers/perf/riscv_pmu_sbi.c). */
static const struct mkperf_pmu_event events[] = {
    {"cycles", 0x1, BUSY, "CPU cycles"},
    {"instructions", 0x2, BUSY, "instructions that the CPU completed"},
    {"cache-references", 0x3, BUSY, "accesses to the last-level cache"},
    {"cache-misses", 0x4, RARE, "misses of the last-level cache"},
    {"branches", 0x5, BUSY, "branches that completed"},
    {"branch-misses", 0x6, RARE, "branches predicted wrongly"},
    {"bus-cycles", 0x7, BUSY, "cycles of the bus"},
    {"stalled-cycles-frontend", 0x8, BUSY, "cycles without an instruction to issue"},
    {"stalled-cycles-backend", 0x9, BUSY, "cycles in which nothing could be issued"},
    {"ref-cycles", 0xa, BUSY, "cycles of a clock with a fixed rate"},
    {"L1-dcache-loads", 0x10000, BUSY, "reads of the first-level data cache"},
    {"L1-dcache-load-misses", 0x10001, RARE, "read misses of the first-level data cache"},
    {"L1-dcache-stores", 0x10002, BUSY, "writes to the first-level data cache"},
    {"L1-dcache-store-misses", 0x10003, RARE, "write misses of the first-level data cache"},
    {"L1-icache-loads", 0x10008, BUSY, "reads of the first-level instruction cache"},
    {"L1-icache-load-misses", 0x10009, RARE, "read misses of the first-level instruction cache"},
    {"LLC-loads", 0x10010, BUSY, "reads of the last-level cache"},
    {"LLC-load-misses", 0x10011, RARE, "read misses of the last-level cache"},
    {"dTLB-loads", 0x10018, BUSY, "reads that the data TLB translates"},
    {"dTLB-load-misses", 0x10019, RARE, "reads that the data TLB misses"},
    {"dTLB-stores", 0x1001a, BUSY, "writes that the data TLB translates"},
    {"dTLB-store-misses", 0x1001b, RARE, "writes that the data TLB misses"},
    {"iTLB-loads", 0x10020, BUSY, "fetches that the instruction TLB translates"},
    {"iTLB-load-misses", 0x10021, RARE, "fetches that the instruction TLB misses"},
    {NULL, 0, BUSY, NULL},
};

static void cpu(const uint64_t *id, char *name, size_t n)
{
    struct mkperf_text t = mkperf_text_begin(name, n);

    if (id[ID_CPU] != 0) {
        mkperf_text_print(&t, "vendor 0x%x arch 0x%x", (unsigned)(id[ID_CPU] >> 32),
                          (unsigned)id[ID_CPU]);
    }
}

static bool supported(const uint64_t *id, uint32_t code)
{
    uint32_t type = code >> TYPE_SHIFT;
    uint32_t number = code & ((UINT32_C(1) << TYPE_SHIFT) - 1);

    return type == RAW || (type <= CACHE && number < 64 && id[ID_HARDWARE + type] >> number & 1);
}

static uint32_t selector(const uint64_t *id, uint32_t code, unsigned modes)
{
    (void)id;
    return code | (modes & MKPERF_PMU_USER ? 0 : SELECT_U) |
           (modes & MKPERF_PMU_KERNEL ? 0 : SELECT_K);
}

static bool infers_modes(const uint64_t *id)
{
    return !(id[ID_FOUND] & FOUND_FILTERS);
}

const struct mkperf_pmu mkperf_riscv_sscofpmf = {
    .name = "riscv_sscofpmf",
    .cpu = cpu,
    .supported = supported,
    .infers_modes = infers_modes,
    .select = selector,
    .events = events,
};
