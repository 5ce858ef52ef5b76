/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The back-end for RISC-V counters with overflow interrupts (Sscofpmf), through the SBI's PMU
 * extension.
 *
 * Owns: the event counters. Called by the profiler PD through struct mkperf_pmu.
 *
 * What a PD could do, which runs in U-mode: read hpmcounter3 to hpmcounter31, once the kernel sets
 * their bits in scounteren. It cannot do the rest: mhpmevent and mhpmcounter are M-mode's and are
 * reached through the SBI, whose calls are answered when S-mode makes them (a PD's ecall is a
 * system call of its kernel's), and scountovf is S-mode's. So this needs a kernel that passes on
 * the calls of extension 0x504d55 and reads of scountovf for the owner of the overflow interrupt
 * (local interrupt 13). No released seL4 does, there is no hook for RISC-V, and nothing here boots
 * it: the back-end is known from a model of SBI and CSRs alone (tests/unit/test_pmu_riscv.c).
 *
 * Counters have 32 to 64 bits. They are started such that the overflow of all their bits is that of
 * their low 32, which is what the contract speaks of.
 */
#include "riscv_sscofpmf_regs.h"

#include <mkperf/record.h>

#include "../lib/text.h"
#include "pmu.h"

enum sbi_extension { SBI_BASE = 0x10, SBI_PMU = 0x504d55 };

enum sbi_base_function { SBI_GET_MVENDORID = 4, SBI_GET_MARCHID = 5 };

enum sbi_pmu_function {
    PMU_NUM_COUNTERS = 0,
    PMU_COUNTER_GET_INFO = 1,
    PMU_COUNTER_CONFIG_MATCHING = 2,
    PMU_COUNTER_START = 3,
    PMU_COUNTER_STOP = 4,
};

enum sbi_pmu_flags {
    CONFIG_CLEAR_VALUE = 1 << 1,
    CONFIG_UINH = 1 << 5, /* not counted in U-mode, */
    CONFIG_SINH = 1 << 6, /* S-mode, */
    CONFIG_MINH = 1 << 7, /* M-mode */
    START_SET_VALUE = 1 << 0,
    STOP_RESET = 1 << 0,
};

enum {
    SBI_ERR_ALREADY_STOPPED = -8,
    SBI_COUNTERS_MAX = 64, /* that are asked about */
    CSR_HPMCOUNTER3 = 0xc03,
    CSR_HPMCOUNTER31 = 0xc1f,
    INFO_CSR = 0xfff,
    INFO_WIDTH_SHIFT = 12,
    INFO_WIDTH = 0x3f,
    MIN_WIDTH = 32,
    TYPE_SHIFT = 16,
    TYPE_GENERAL = 0,
    TYPE_CACHE = 1,
    TYPE_RAW = 2,
    RAW_FIRST = 0x20000, /* event numbers from here on are raw ones, plus this */
};

#define INFO_FIRMWARE (UINT64_C(1) << 63)

/* SBI's event_idx: general events, and caches as cache << 3 | operation << 1 | miss. */
#define CACHE(cache, op, miss) \
    ((uint32_t)TYPE_CACHE << TYPE_SHIFT | (cache) << 3 | (op) << 1 | (miss))

enum { BUSY = MKPERF_RATE_BUSY, RARE = MKPERF_RATE_RARE };

static const struct mkperf_pmu_event event_table[] = {
    {"cycles", 1, BUSY, "CPU cycles"},
    {"instructions", 2, BUSY, "instructions that the CPU completed"},
    {"cache-references", 3, BUSY, "accesses to the last-level cache"},
    {"cache-misses", 4, RARE, "accesses that missed the last-level cache"},
    {"branches", 5, BUSY, "branches that completed"},
    {"branch-misses", 6, RARE, "branches predicted wrongly"},
    {"bus-cycles", 7, BUSY, "cycles of the bus"},
    {"stalled-cycles-frontend", 8, BUSY, "cycles without an instruction to issue"},
    {"stalled-cycles-backend", 9, BUSY, "cycles in which nothing could be issued"},
    {"ref-cycles", 10, BUSY, "cycles at a constant rate"},
    {"L1-dcache-loads", CACHE(0, 0, 0), BUSY, "reads of the first-level data cache"},
    {"L1-dcache-load-misses", CACHE(0, 0, 1), RARE, "reads that missed it"},
    {"L1-dcache-stores", CACHE(0, 1, 0), BUSY, "writes to the first-level data cache"},
    {"L1-dcache-store-misses", CACHE(0, 1, 1), RARE, "writes that missed it"},
    {"L1-icache-loads", CACHE(1, 0, 0), BUSY, "reads of the first-level instruction cache"},
    {"L1-icache-load-misses", CACHE(1, 0, 1), RARE, "reads that missed it"},
    {"LLC-loads", CACHE(2, 0, 0), RARE, "reads of the last-level cache"},
    {"LLC-load-misses", CACHE(2, 0, 1), RARE, "reads that missed the last-level cache"},
    {"dTLB-loads", CACHE(3, 0, 0), BUSY, "reads of the data TLB"},
    {"dTLB-load-misses", CACHE(3, 0, 1), RARE, "reads that missed the data TLB"},
    {"iTLB-loads", CACHE(4, 0, 0), BUSY, "reads of the instruction TLB"},
    {"iTLB-load-misses", CACHE(4, 0, 1), RARE, "reads that missed the instruction TLB"},
    {NULL, 0, BUSY, NULL},
};

/* What init found, and what the SBI does not remember for us. */
static struct {
    unsigned n;
    struct {
        uint8_t index; /* the SBI's number */
        uint8_t csr;   /* low five bits of its CSR's number */
        uint8_t width; /* bits */
    } counter[MKPERF_MAX_COUNTERS];
    uint32_t armed; /* have a value to start with, */
    uint32_t value[MKPERF_MAX_COUNTERS];
    uint32_t programmed;
    uint32_t cleared; /* overflows that were forgotten; the hardware does so at the next start */
} known;

static struct pmu_sbi_result call(uint64_t fid, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3,
                                  uint64_t a4)
{
    const uint64_t arg[5] = {a0, a1, a2, a3, a4};

    return pmu_sbi(SBI_PMU, fid, arg);
}

/* One counter, by its number here. */
static bool halt(unsigned counter, uint64_t flags)
{
    int64_t error = call(PMU_COUNTER_STOP, known.counter[counter].index, 1, flags, 0, 0).error;

    return error == 0 || error == SBI_ERR_ALREADY_STOPPED;
}

static void find_counters(uint64_t there)
{
    for (uint64_t i = 0; i < there && i < SBI_COUNTERS_MAX && known.n < MKPERF_MAX_COUNTERS; i++) {
        struct pmu_sbi_result info = call(PMU_COUNTER_GET_INFO, i, 0, 0, 0, 0);
        unsigned csr = info.value & INFO_CSR;
        unsigned width = (info.value >> INFO_WIDTH_SHIFT & INFO_WIDTH) + 1;
        if (info.error == 0 && !(info.value & INFO_FIRMWARE) && csr >= CSR_HPMCOUNTER3 &&
            csr <= CSR_HPMCOUNTER31 && width >= MIN_WIDTH) {
            known.counter[known.n].index = (uint8_t)i;
            known.counter[known.n].csr = csr & 0x1f;
            known.counter[known.n++].width = (uint8_t)width;
        }
    }
}

static const char *init(void)
{
    struct pmu_sbi_result counters = call(PMU_NUM_COUNTERS, 0, 0, 0, 0, 0);

    known.n = 0;
    known.armed = known.programmed = known.cleared = 0;
    if (counters.error != 0) {
        return "the SBI's PMU extension does not answer: the firmware lacks it, or the kernel does "
               "not pass on its calls";
    }
    find_counters(counters.value);
    if (known.n == 0) {
        return "the SBI has no programmable counter of at least 32 bits";
    }
    for (unsigned i = 0; i < known.n; i++) {
        if (!halt(i, STOP_RESET)) {
            return "the SBI does not stop a counter";
        }
    }
    return NULL;
}

static unsigned counters(void)
{
    return known.n;
}

static void cpu(char *name, size_t n)
{
    static const uint64_t none[5] = {0};
    struct pmu_sbi_result vendor = pmu_sbi(SBI_BASE, SBI_GET_MVENDORID, none);
    struct pmu_sbi_result arch = pmu_sbi(SBI_BASE, SBI_GET_MARCHID, none);
    struct mkperf_text t = mkperf_text_begin(name, n);

    if (vendor.error == 0 && arch.error == 0) {
        mkperf_text_put(&t, "RISC-V ");
        mkperf_text_hex(&t, vendor.value);
        mkperf_text_put(&t, "/");
        mkperf_text_hex(&t, arch.value);
    }
}

/* Gives a counter an event. What it then counts is in `flags`. */
static bool configure(unsigned counter, uint32_t code, uint64_t flags)
{
    bool raw = code >= RAW_FIRST;
    uint64_t index = raw ? (uint64_t)TYPE_RAW << TYPE_SHIFT : code;
    struct pmu_sbi_result got = call(PMU_COUNTER_CONFIG_MATCHING, known.counter[counter].index, 1,
                                     flags | CONFIG_CLEAR_VALUE | CONFIG_MINH, index,
                                     raw ? code - RAW_FIRST : 0);

    return got.error == 0 && got.value == known.counter[counter].index;
}

/* Tried on a counter that is free; with none the event is taken at its word, and program tells. */
static bool supported(uint32_t code)
{
    for (unsigned i = 0; i < known.n; i++) {
        if (!(known.programmed >> i & 1)) {
            bool there = configure(i, code, 0);
            halt(i, STOP_RESET);
            if (there) {
                return true;
            }
        }
    }
    return known.programmed == (UINT32_C(1) << known.n) - 1;
}

static bool program(unsigned counter, uint32_t code, bool user, bool kernel)
{
    if (counter >= known.n || (!user && !kernel)) {
        return false;
    }
    uint32_t bit = UINT32_C(1) << counter;

    known.programmed &= ~bit;
    known.armed &= ~bit;
    if (!halt(counter, STOP_RESET) ||
        !configure(counter, code, (user ? 0 : CONFIG_UINH) | (kernel ? 0 : CONFIG_SINH))) {
        return false;
    }
    known.programmed |= bit;
    known.cleared |= bit;
    return true;
}

/* The SBI writes a counter when it starts it. */
static void arm(unsigned counter, uint32_t events)
{
    known.value[counter] = 0 - events;
    known.armed |= UINT32_C(1) << counter;
}

static void start(uint32_t mask)
{
    for (mask &= known.programmed; mask != 0; mask &= mask - 1) {
        unsigned i = (unsigned)__builtin_ctz(mask);
        uint32_t bit = UINT32_C(1) << i;
        /* All bits above the low 32 are 1, so that they overflow together. */
        uint64_t value = (UINT64_C(0xffffffff) << 32 | known.value[i]) &
                         (UINT64_MAX >> (64 - known.counter[i].width));
        call(PMU_COUNTER_START, known.counter[i].index, 1, known.armed & bit ? START_SET_VALUE : 0,
             value, 0);
        known.armed &= ~bit;
        known.cleared &= ~bit;
    }
}

static void stop(uint32_t mask)
{
    for (mask &= known.programmed; mask != 0; mask &= mask - 1) {
        halt((unsigned)__builtin_ctz(mask), 0);
    }
}

static uint32_t read(unsigned counter)
{
    if (known.armed >> counter & 1) {
        return known.value[counter]; /* not in the hardware yet */
    }
    return (uint32_t)pmu_read_hpmcounter(known.counter[counter].csr);
}

static uint32_t overflow(void)
{
    uint32_t bits = pmu_read_scountovf();
    uint32_t mask = 0;

    for (unsigned i = 0; i < known.n; i++) {
        mask |= (bits >> known.counter[i].csr & 1) << i;
    }
    return mask & known.programmed & ~known.cleared;
}

static void clear(uint32_t mask)
{
    known.cleared |= mask & overflow();
}

static uint64_t entropy(void)
{
    return known.n != 0 ? pmu_read_hpmcounter(known.counter[0].csr) : 0;
}

/* No raise: nothing sets an overflow bit but an overflow. */
const struct mkperf_pmu mkperf_riscv_sscofpmf = {
    .version = MKPERF_PMU_VERSION,
    .name = "riscv_sscofpmf",
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
    .events = event_table,
};
