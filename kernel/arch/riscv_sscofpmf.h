/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RISC-V's counters as the kernel hook uses them, in S-mode (Sscofpmf; the SBI's PMU extension; Smcdeleg, Ssccfg).
 *
 * Owns: every access to the PMU, and struct mkperf_pmu_state, which a port keeps for each core (mkperf_port_pmu).
 * Included by ports (mkperf_port.h). armv8_pmuv3.h is the contract.
 *
 * Counter i of the hook is hpmcounter 3 + i. The hook's values have 32 bits, and the upper half of the register is
 * all ones until the overflow. mhpmevent and mhpmcounter are M-mode's: the firmware writes them at a call, and sets
 * a value only together with the start of its counter. Where the firmware delegates them to S-mode
 * (scountinhibit can be read), the hook writes them itself.
 *
 * The overflow interrupt (LCOFI) has one pending bit, sip.LCOFIP, for all counters, and each counter has an overflow
 * flag (OF, in scountovf). A counter with OF set interrupts no more. The firmware clears OF only at a start, and only
 * if LCOFIP is clear. So LCOFIP is cleared first, and OF afterwards. With delegation, a write to sireg2 clears OF and
 * precedes the write to sireg: the other order leaves the next overflow without an interrupt.
 *
 * QEMU before 9 ignores the filters of modes, and in every QEMU only one counter of an event counts. The boot finds that
 * (MKPERF_RISCV_FILTERS). A counter then counts in all modes, in M-mode too, and the port says in which mode an overflow was
 * found (kernel_mask in hook.h).
 */
#ifndef MKPERF_RISCV_SSCOFPMF_H
#define MKPERF_RISCV_SSCOFPMF_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/bits.h>
#include <mkperf/record.h>

#ifndef MKPERF_CSR_READ /* a test has a model of the registers and of the firmware */
#define MKPERF_CSR_READ(number)                                       \
    __extension__({                                                   \
        uint64_t value_;                                              \
        __asm__ volatile("csrr %0, %1" : "=r"(value_) : "i"(number)); \
        value_;                                                       \
    })
#define MKPERF_CSR_WRITE(number, value) \
    __asm__ volatile("csrw %1, %0" : : "r"((uint64_t)(value)), "i"(number) : "memory")
#define MKPERF_CSR_SET(number, value) \
    __asm__ volatile("csrs %1, %0" : : "r"((uint64_t)(value)), "i"(number) : "memory")
#define MKPERF_CSR_CLEAR(number, value) \
    __asm__ volatile("csrc %1, %0" : : "r"((uint64_t)(value)), "i"(number) : "memory")
/* Whether S-mode may read scountinhibit. The access that traps goes to the label: a port calls this at boot, with
 * interrupts off, and saves sepc and scause nowhere. */
#define MKPERF_CSR_DELEGATED()                                                              \
    __extension__({                                                                         \
        uint64_t there_, vector_, value_;                                                   \
        __asm__ volatile("la %2, 1f\n\tcsrrw %1, stvec, %2\n\tli %0, 0\n\tcsrr %2, 0x120\n" \
                         "\tli %0, 1\n\t.balign 4\n1:\tcsrw stvec, %1"                      \
                         : "=&r"(there_), "=&r"(vector_), "=&r"(value_)                     \
                         :                                                                  \
                         : "memory");                                                       \
        there_ != 0;                                                                        \
    })
#endif

enum mkperf_riscv_csr {
    MKPERF_CSR_SIE = 0x104,
    MKPERF_CSR_SCOUNTEREN = 0x106,
    MKPERF_CSR_SCOUNTINHIBIT = 0x120,
    MKPERF_CSR_SIP = 0x144,
    MKPERF_CSR_SISELECT = 0x150,
    MKPERF_CSR_SIREG = 0x151,  /* the selected counter */
    MKPERF_CSR_SIREG2 = 0x152, /* the event of the selected counter */
    MKPERF_CSR_HPMCOUNTER3 = 0xc03,
    MKPERF_CSR_SCOUNTOVF = 0xda0,
};

#define MKPERF_LCOFI (UINT64_C(1) << 13) /* its bit in sie and sip */
#define MKPERF_RISCV_FIRST 3             /* hpmcounter3 is counter 0 */
#define MKPERF_RISCV_MOST 29
#define MKPERF_SISELECT_COUNTER 0x40 /* + the number of a counter */
#define MKPERF_SCOUNTEREN_TIME 2     /* user mode may read the time and no counter */

/* A selector: the SBI's number of the event (its type 2, raw events, with the event's data in place of the code), and the
 * modes that do not count. M-mode never counts, where filters work. */
#define MKPERF_SELECT_U (UINT32_C(1) << 31) /* not in user mode */
#define MKPERF_SELECT_K (UINT32_C(1) << 30) /* not in the kernel */
#define MKPERF_SELECT_EVENT UINT32_C(0xfffff)
#define MKPERF_SELECT_BITS (MKPERF_SELECT_U | MKPERF_SELECT_K | MKPERF_SELECT_EVENT)
#define MKPERF_SELECT_NONE UINT32_C(0xffffffff) /* no event has this selector */

#define MKPERF_SBI_PMU 0x504d55
enum mkperf_sbi_pmu {
    MKPERF_SBI_BASE = 0x10,
    MKPERF_SBI_BASE_PROBE = 3,
    MKPERF_SBI_BASE_VENDOR = 4,
    MKPERF_SBI_BASE_ARCH = 5,
    MKPERF_SBI_PMU_COUNTERS = 0,
    MKPERF_SBI_PMU_INFO = 1,
    MKPERF_SBI_PMU_CONFIG = 2,
    MKPERF_SBI_PMU_START = 3,
    MKPERF_SBI_PMU_STOP = 4,
    MKPERF_SBI_CONFIG_CLEAR_VALUE = 1 << 1,
    MKPERF_SBI_CONFIG_UINH = 1 << 5,
    MKPERF_SBI_CONFIG_SINH = 1 << 6,
    MKPERF_SBI_CONFIG_MINH = 1 << 7,
    MKPERF_SBI_START_VALUE = 1,
    MKPERF_SBI_STOP_RESET = 1,
    MKPERF_SBI_RAW = 2, /* type of events */
    MKPERF_SBI_TYPE_SHIFT = 16,
    MKPERF_SBI_INFO_WIDTH_SHIFT = 12, /* less 1 */
    MKPERF_SBI_INFO_WIDTH = 0x3f,
    MKPERF_SBI_INSTRUCTIONS = 2,
    MKPERF_SBI_HW_EVENTS = 11,
    MKPERF_SBI_CACHE_EVENTS = 7 << 3, /* cache << 3 | operation << 1 | miss */
};

/* Bits of mhpmevent that sireg2 has, too. */
#define MKPERF_HPMEVENT_MINH (UINT64_C(1) << 62)
#define MKPERF_HPMEVENT_SINH (UINT64_C(1) << 61)
#define MKPERF_HPMEVENT_UINH (UINT64_C(1) << 60)

/* What the boot found, in the first word of mkperf_pmu_describe. */
enum mkperf_riscv_found {
    MKPERF_RISCV_PMU = 1,       /* the firmware has the SBI's PMU extension */
    MKPERF_RISCV_FILTERS = 2,   /* two counters of an event can be limited to a mode each */
    MKPERF_RISCV_DELEGATED = 4, /* S-mode writes counters itself */
};

struct mkperf_pmu_state {
    uint32_t found;    /* enum mkperf_riscv_found */
    uint32_t counters; /* that the CPU has, as a mask */
    uint32_t running;  /* that were started */
    uint32_t cleared;  /* whose OF, if it is set, was cleared for the hook */
    uint32_t waiting;  /* that are stopped and get value[] when they start */
    uint32_t value[MKPERF_RISCV_MOST];
    uint32_t select[MKPERF_RISCV_MOST]; /* MKPERF_SELECT_NONE: the counter has no event */
    uint64_t hw_events;                 /* that the CPU counts: bit = number */
    uint64_t cache_events;
    uint64_t cpu; /* mvendorid << 32 | the lower half of marchid */
};

struct mkperf_pmu_state *mkperf_port_pmu(void); /* this core's; zero before the boot */

struct mkperf_sbi_result {
    uint64_t error; /* 0: none */
    uint64_t value;
};

#ifndef MKPERF_SBI_CALL
#define MKPERF_SBI_CALL mkperf_sbi_call
static inline struct mkperf_sbi_result mkperf_sbi_call(uint64_t extension, uint64_t function,
                                                       uint64_t base, uint64_t mask, uint64_t flags,
                                                       uint64_t a3, uint64_t a4)
{
    register uint64_t x10 __asm__("a0") = base;
    register uint64_t x11 __asm__("a1") = mask;
    register uint64_t x12 __asm__("a2") = flags;
    register uint64_t x13 __asm__("a3") = a3;
    register uint64_t x14 __asm__("a4") = a4;
    register uint64_t x16 __asm__("a6") = function;
    register uint64_t x17 __asm__("a7") = extension;

    __asm__ volatile("ecall"
                     : "+r"(x10), "+r"(x11)
                     : "r"(x12), "r"(x13), "r"(x14), "r"(x16), "r"(x17)
                     : "memory");
    return (struct mkperf_sbi_result){x10, x11};
}
#endif

/* One of the firmware's PMU functions for the counters of a mask. */
static inline struct mkperf_sbi_result mkperf_sbi_pmu(unsigned function, uint32_t mask,
                                                      uint64_t flags, uint64_t a3, uint64_t a4)
{
    return MKPERF_SBI_CALL(MKPERF_SBI_PMU, function, MKPERF_RISCV_FIRST, mask, flags, a3, a4);
}

/* Returns whether an overflow in the kernel, or in user mode, is to become a sample. */
static inline int mkperf_pmu_wants(uint32_t select, bool kernel)
{
    return !(select & (kernel ? MKPERF_SELECT_K : MKPERF_SELECT_U));
}

static inline uint32_t mkperf_pmu_counters(void)
{
    return mkperf_port_pmu()->counters;
}

/* Bits of counters that the hook does not use may be set in scountovf. */
static inline uint32_t mkperf_hpm_flags(void)
{
    return (uint32_t)(MKPERF_CSR_READ(MKPERF_CSR_SCOUNTOVF) >> MKPERF_RISCV_FIRST) &
           ~mkperf_port_pmu()->cleared;
}

static inline void mkperf_pmu_clear(uint32_t mask)
{
    MKPERF_CSR_CLEAR(MKPERF_CSR_SIP, MKPERF_LCOFI);
    mkperf_port_pmu()->cleared |= mask & mkperf_hpm_flags();
}

/* Counters that were not cleared interrupt again. */
static inline void mkperf_pmu_remind(void)
{
    if (__builtin_expect(mkperf_hpm_flags() & mkperf_port_pmu()->running, 0)) {
        MKPERF_CSR_SET(MKPERF_CSR_SIP, MKPERF_LCOFI);
    }
}

#define MKPERF_HPMCOUNTER_CASE(n) \
    case n:                       \
        return MKPERF_CSR_READ(MKPERF_CSR_HPMCOUNTER3 + (n));
/* clang-format off */
#define MKPERF_EACH_HPMCOUNTER(X)                                                   \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) \
    X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28)
/* clang-format on */
static inline uint64_t mkperf_hpm_read(unsigned i)
{
    switch (i) {
        MKPERF_EACH_HPMCOUNTER(MKPERF_HPMCOUNTER_CASE)
    default:
        return 0;
    }
}

static inline uint32_t mkperf_pmu_read(unsigned i)
{
    const struct mkperf_pmu_state *p = mkperf_port_pmu();

    return p->waiting >> i & 1 ? p->value[i] : (uint32_t)mkperf_hpm_read(i);
}

static inline uint64_t mkperf_hpm_value(uint32_t value)
{
    return UINT64_C(0xffffffff00000000) | value;
}

static inline uint64_t mkperf_hpm_event(uint32_t select)
{
    return (select & MKPERF_SELECT_EVENT) | MKPERF_HPMEVENT_MINH |
           (select & MKPERF_SELECT_U ? MKPERF_HPMEVENT_UINH : 0) |
           (select & MKPERF_SELECT_K ? MKPERF_HPMEVENT_SINH : 0);
}

static inline bool mkperf_hpm_passed(uint64_t value)
{
    return value >> 32 != 0xffffffff;
}

/* Starts a counter that is stopped with this value, and without OF. An overflow of another counter during the call
 * sets LCOFIP again, and the firmware then leaves OF as it is: hence the second and third time. The counter may have
 * overflowed since the start, too. */
static inline void mkperf_sbi_start(unsigned i, uint32_t value)
{
    for (unsigned times = 0;; times++) {
        MKPERF_CSR_CLEAR(MKPERF_CSR_SIP, MKPERF_LCOFI);
        mkperf_sbi_pmu(MKPERF_SBI_PMU_START, UINT32_C(1) << i, MKPERF_SBI_START_VALUE,
                       mkperf_hpm_value(value), 0);
        if (!(MKPERF_CSR_READ(MKPERF_CSR_SCOUNTOVF) >> (MKPERF_RISCV_FIRST + i) & 1) ||
            mkperf_hpm_passed(mkperf_hpm_read(i)) || times == 2) {
            break;
        }
        mkperf_sbi_pmu(MKPERF_SBI_PMU_STOP, UINT32_C(1) << i, 0, 0, 0);
    }
    mkperf_port_pmu()->cleared &= ~(UINT32_C(1) << i);
}

static inline void mkperf_pmu_write(unsigned i, uint32_t value)
{
    struct mkperf_pmu_state *p = mkperf_port_pmu();

    if (p->found & MKPERF_RISCV_DELEGATED) {
        MKPERF_CSR_WRITE(MKPERF_CSR_SISELECT, MKPERF_SISELECT_COUNTER + MKPERF_RISCV_FIRST + i);
        MKPERF_CSR_WRITE(MKPERF_CSR_SIREG2, mkperf_hpm_event(p->select[i])); /* OF first */
        MKPERF_CSR_WRITE(MKPERF_CSR_SIREG, mkperf_hpm_value(value));
        p->cleared &= ~(UINT32_C(1) << i);
    } else if (p->running >> i & 1) {
        mkperf_sbi_pmu(MKPERF_SBI_PMU_STOP, UINT32_C(1) << i, 0, 0, 0);
        mkperf_sbi_start(i, value);
    } else {
        p->value[i] = value;
        p->waiting |= UINT32_C(1) << i;
        p->cleared |= UINT32_C(1) << i;
    }
    mkperf_pmu_remind();
}

/*
 * QEMU has one timer for cycles and instructions, and sets the OF of both when it ends. A counter whose upper half is still all
 * ones has not overflowed: it continues with its value, and without OF.
 */
static __attribute__((noinline, unused)) uint32_t mkperf_hpm_overflow(uint32_t hit)
{
    for (uint32_t left = hit & ~mkperf_port_pmu()->waiting; left != 0; left &= left - 1) {
        unsigned i = mkperf_lowest_bit(left);
        uint64_t value = mkperf_hpm_read(i);
        if (__builtin_expect(!mkperf_hpm_passed(value), 0)) {
            hit &= ~(UINT32_C(1) << i);
            mkperf_pmu_write(i, (uint32_t)value);
        }
    }
    return hit;
}

/* The kernel looks at each entry, mostly for nothing. */
static inline uint32_t mkperf_pmu_overflow(void)
{
    uint32_t hit = mkperf_hpm_flags();

    return __builtin_expect(hit == 0, 1) ? 0 : mkperf_hpm_overflow(hit);
}

/* Returns what a counter counts, as it was asked for: only the firmware could change it. */
static inline uint32_t mkperf_pmu_selected(unsigned i)
{
    return mkperf_port_pmu()->select[i];
}

static inline bool mkperf_sbi_config(unsigned i, uint32_t select)
{
    uint64_t event = select & MKPERF_SELECT_EVENT;
    bool raw = event >> MKPERF_SBI_TYPE_SHIFT == MKPERF_SBI_RAW;
    uint64_t flags = MKPERF_SBI_CONFIG_CLEAR_VALUE | MKPERF_SBI_CONFIG_MINH |
                     (select & MKPERF_SELECT_U ? MKPERF_SBI_CONFIG_UINH : 0) |
                     (select & MKPERF_SELECT_K ? MKPERF_SBI_CONFIG_SINH : 0);
    uint64_t raw_type = (uint64_t)MKPERF_SBI_RAW << MKPERF_SBI_TYPE_SHIFT;
    struct mkperf_sbi_result r = mkperf_sbi_pmu(MKPERF_SBI_PMU_CONFIG, UINT32_C(1) << i, flags,
                                                raw ? raw_type : event, raw ? event - raw_type : 0);

    return r.error == 0;
}

/* Returns whether counter k has this event of an earlier session. Of two counters with one event, QEMU counts only with the
 * one that got it first. */
static inline bool mkperf_riscv_hinders(const struct mkperf_pmu_state *p, unsigned k,
                                        uint32_t select)
{
    return !(p->found & MKPERF_RISCV_FILTERS) && !(p->running >> k & 1) &&
           ((p->select[k] ^ select) & MKPERF_SELECT_EVENT) == 0;
}

static inline void mkperf_pmu_select(unsigned i, uint32_t select)
{
    struct mkperf_pmu_state *p = mkperf_port_pmu();

    select &= MKPERF_SELECT_BITS;
    if (p->found & MKPERF_RISCV_DELEGATED) {
        p->select[i] = select; /* mkperf_pmu_write, which follows, writes it */
        return;
    }
    for (unsigned k = 0; k < MKPERF_RISCV_MOST; k++) {
        if (p->select[k] != MKPERF_SELECT_NONE && (k == i || mkperf_riscv_hinders(p, k, select))) {
            mkperf_sbi_pmu(MKPERF_SBI_PMU_STOP, UINT32_C(1) << k, MKPERF_SBI_STOP_RESET, 0, 0);
            p->running &= ~(UINT32_C(1) << k);
            p->select[k] = MKPERF_SELECT_NONE;
        }
    }
    p->select[i] = mkperf_sbi_config(i, select) ? select : MKPERF_SELECT_NONE;
}

static inline uint32_t mkperf_pmu_running(void)
{
    return mkperf_port_pmu()->running;
}

static inline void mkperf_pmu_enable(uint32_t mask)
{
    struct mkperf_pmu_state *p = mkperf_port_pmu();
    uint32_t start = mask & ~p->running;

    p->running |= mask;
    if (p->found & MKPERF_RISCV_DELEGATED) {
        MKPERF_CSR_CLEAR(MKPERF_CSR_SCOUNTINHIBIT, (uint64_t)start << MKPERF_RISCV_FIRST);
    } else {
        for (; start != 0; start &= start - 1) {
            unsigned i = mkperf_lowest_bit(start);
            uint32_t value = mkperf_pmu_read(i);
            p->waiting &= ~(UINT32_C(1) << i);
            mkperf_sbi_start(i, value);
        }
    }
    mkperf_pmu_remind();
}

static inline void mkperf_pmu_disable(uint32_t mask)
{
    struct mkperf_pmu_state *p = mkperf_port_pmu();
    uint32_t stop = mask & p->running;

    p->running &= ~mask;
    if (stop != 0 && (p->found & MKPERF_RISCV_DELEGATED)) {
        MKPERF_CSR_SET(MKPERF_CSR_SCOUNTINHIBIT, (uint64_t)stop << MKPERF_RISCV_FIRST);
    } else if (stop != 0) {
        mkperf_sbi_pmu(MKPERF_SBI_PMU_STOP, stop, 0, 0, 0);
        /* QEMU has the value of a stopped counter once, and then the value that was written last. */
        for (; stop != 0; stop &= stop - 1) {
            unsigned i = mkperf_lowest_bit(stop);
            uint64_t value = mkperf_hpm_read(i);
            p->value[i] = (uint32_t)value;
            p->waiting |= UINT32_C(1) << i;
            p->cleared |= (uint32_t)!mkperf_hpm_passed(value) << i;
        }
    }
}

/* Returns the counters that have 64 bits, from hpmcounter3 on. */
static inline uint32_t mkperf_riscv_counters(void)
{
    uint64_t n = mkperf_sbi_pmu(MKPERF_SBI_PMU_COUNTERS, 0, 0, 0, 0).value;
    uint32_t mask = 0;

    for (unsigned i = 0; i < MKPERF_RISCV_MOST && MKPERF_RISCV_FIRST + i < n; i++) {
        struct mkperf_sbi_result r = MKPERF_SBI_CALL(MKPERF_SBI_PMU, MKPERF_SBI_PMU_INFO,
                                                     MKPERF_RISCV_FIRST + i, 0, 0, 0, 0);
        unsigned width = (unsigned)(r.value >> MKPERF_SBI_INFO_WIDTH_SHIFT) & MKPERF_SBI_INFO_WIDTH;
        unsigned csr = (unsigned)r.value & 0xfff;
        if (r.error != 0 || (int64_t)r.value < 0 || width != 63 ||
            csr != MKPERF_CSR_HPMCOUNTER3 + i) {
            break;
        }
        mask |= UINT32_C(1) << i;
    }
    return mask;
}

/* Returns whether counter 0 can count the event. It has none afterwards. */
static inline bool mkperf_riscv_counts(uint32_t event)
{
    bool counts = mkperf_sbi_config(0, event);

    if (counts) {
        mkperf_sbi_pmu(MKPERF_SBI_PMU_STOP, 1, MKPERF_SBI_STOP_RESET, 0, 0);
    }
    return counts;
}

/* Returns whether of two counters of one event the one that must not count in the kernel stands
 * still here, and the other counts. */
static inline bool mkperf_riscv_filters(void)
{
    bool filters = false;

    if (mkperf_sbi_config(0, MKPERF_SBI_INSTRUCTIONS | MKPERF_SELECT_K) &&
        mkperf_sbi_config(1, MKPERF_SBI_INSTRUCTIONS | MKPERF_SELECT_U)) {
        mkperf_sbi_pmu(MKPERF_SBI_PMU_START, 3, MKPERF_SBI_START_VALUE, 0, 0);
        uint64_t still = MKPERF_CSR_READ(MKPERF_CSR_HPMCOUNTER3);
        uint64_t counts = MKPERF_CSR_READ(MKPERF_CSR_HPMCOUNTER3 + 1);
        filters = MKPERF_CSR_READ(MKPERF_CSR_HPMCOUNTER3) == still &&
                  MKPERF_CSR_READ(MKPERF_CSR_HPMCOUNTER3 + 1) != counts;
    }
    mkperf_sbi_pmu(MKPERF_SBI_PMU_STOP, 3, MKPERF_SBI_STOP_RESET, 0, 0);
    return filters;
}

/* At boot: finds what there is. User mode reads no counter, nothing counts, and the interrupt is enabled. */
static inline void mkperf_pmu_boot(void)
{
    struct mkperf_pmu_state *p = mkperf_port_pmu();

    MKPERF_CSR_WRITE(MKPERF_CSR_SCOUNTEREN, MKPERF_SCOUNTEREN_TIME);
    p->cleared = ~UINT32_C(0);
    for (unsigned i = 0; i < MKPERF_RISCV_MOST; i++) {
        p->select[i] = MKPERF_SELECT_NONE;
    }
    if (MKPERF_SBI_CALL(MKPERF_SBI_BASE, MKPERF_SBI_BASE_PROBE, MKPERF_SBI_PMU, 0, 0, 0, 0).value ==
        0) {
        return;
    }
    p->found = MKPERF_RISCV_PMU;
    p->cpu = MKPERF_SBI_CALL(MKPERF_SBI_BASE, MKPERF_SBI_BASE_VENDOR, 0, 0, 0, 0, 0).value << 32 |
             (uint32_t)MKPERF_SBI_CALL(MKPERF_SBI_BASE, MKPERF_SBI_BASE_ARCH, 0, 0, 0, 0, 0).value;
    p->counters = mkperf_riscv_counters();
    if (p->counters == 0) {
        return;
    }
    for (uint32_t n = 1; n < MKPERF_SBI_HW_EVENTS; n++) {
        p->hw_events |= (uint64_t)mkperf_riscv_counts(n) << n;
    }
    for (uint32_t n = 0; n < MKPERF_SBI_CACHE_EVENTS; n++) {
        uint32_t event = UINT32_C(1) << MKPERF_SBI_TYPE_SHIFT | n;
        p->cache_events |= (uint64_t)mkperf_riscv_counts(event) << n;
    }
    p->found |= mkperf_riscv_filters() ? MKPERF_RISCV_FILTERS : 0;
    p->found |= MKPERF_CSR_DELEGATED() ? MKPERF_RISCV_DELEGATED : 0;
    MKPERF_CSR_CLEAR(MKPERF_CSR_SIP, MKPERF_LCOFI);
    MKPERF_CSR_SET(MKPERF_CSR_SIE, MKPERF_LCOFI);
}

/* Writes the words by which pd/pmu/riscv_sscofpmf.c knows this PMU. */
static inline void mkperf_pmu_describe(uint64_t *out)
{
    const struct mkperf_pmu_state *p = mkperf_port_pmu();

    out[0] = p->found;
    out[1] = p->hw_events;
    out[2] = p->cache_events;
    out[3] = p->cpu;
}

#endif
