/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profiler PD's view of an architecture's counters.
 *
 * Owns: struct mkperf_pmu, a back-end: names of events and the values of selectors, as data. It has
 * no registers; the kernel hook writes them (kernel/arch/) and reports which PMU it is (the
 * answer's `pmu` in descriptor.h, `id` here). Called by the profiler PD and by tests.
 */
#ifndef MKPERF_PMU_H
#define MKPERF_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The highest rate of an event: determines the shortest permitted period. */
enum mkperf_pmu_rate {
    MKPERF_RATE_BUSY = 0, /* about once a cycle */
    MKPERF_RATE_RARE = 1, /* tens of cycles at least between two */
};

/* Where a counter counts. */
enum mkperf_pmu_modes {
    MKPERF_PMU_USER = 1, /* PDs, and the programs of guests */
    MKPERF_PMU_KERNEL = 2,
    MKPERF_PMU_GUEST = 4, /* the kernels of guests, if there are guests */
    MKPERF_PMU_THREADS = MKPERF_PMU_USER | MKPERF_PMU_GUEST,
    MKPERF_PMU_ALL = MKPERF_PMU_THREADS | MKPERF_PMU_KERNEL,
};

struct mkperf_pmu_event {
    const char *name; /* shorter than 32; a name may occur twice; the first supported one is used */
    uint32_t code;    /* the back-end's number for it, and the user's: rNN */
    uint8_t rate;     /* enum mkperf_pmu_rate */
    const char *description; /* shorter than 64 */
};

enum { MKPERF_PMU_ID_WORDS = 4 };

struct mkperf_cpu;

/*
 * Counters from user mode, if a kernel without the hook exports the PMU (seL4's
 * KernelArmExportPMUUser): for group reads in the timer's samples only. Then every PD
 * can use, stop and falsify them.
 */
struct mkperf_pmu_user {
    /* Fills in the counters and the id. NULL: they can be used; otherwise why not. */
    const char *(*find)(struct mkperf_cpu *cpu);
    /* Programs a stopped counter with the selector, from 0 on. False: the hardware refused it. */
    bool (*program)(unsigned counter, uint32_t select);
    /* Counters in the mask (bit = number) start or stop counting; others are unchanged. */
    void (*start)(uint32_t mask);
    void (*stop)(uint32_t mask);
    uint32_t (*read)(unsigned counter);
};

struct mkperf_pmu {
    const char *name; /* perf's name of the PMU, shorter than 16 bytes */
    const char *none; /* the reason for which the architecture has none; NULL: there may be one */

    /* The CPU's name as far as it is known, NUL-terminated within n bytes; may be empty. */
    void (*cpu)(const uint64_t *id, char *name, size_t n);
    /* Whether the CPU implements the event, as far as it reports that. */
    bool (*supported)(const uint64_t *id, uint32_t code);
    /* Whether an emulator counts the event over the whole machine instead of over a core. NULL: the
     * architecture has no such PMU. */
    bool (*machine_wide)(const uint64_t *id, uint32_t code);
    /* Whether it is the PMU of an emulator that runs the cores in turns. NULL: as above. */
    bool (*in_turns)(const uint64_t *id);
    /* Whether counters count in all modes, whatever their selectors say. The hook then infers the mode of an overflow from
     * where it was found. NULL: never. */
    bool (*infers_modes)(const uint64_t *id);
    /* The selector of a counter that counts the event in these modes (enum mkperf_pmu_modes). */
    uint32_t (*select)(const uint64_t *id, uint32_t code, unsigned modes);

    const struct mkperf_pmu_user *user;    /* NULL: the architecture has no such access */
    const struct mkperf_pmu_event *events; /* ends with one whose name is NULL */
};

/* The available counters. */
struct mkperf_cpu {
    const struct mkperf_pmu *pmu;
    uint32_t counters; /* that sessions may use, from 0 on; 0: none */
    uint32_t cores;    /* that the kernel was built for */
    bool followers;    /* MKPERF_FEATURE_FOLLOWERS */
    bool unwinds; /* the hook finds frames by tables, which costs more than by frame pointers */
    uint64_t id[MKPERF_PMU_ID_WORDS];
};

/* Returns whether one counter counts user mode and the kernel, and samples tell the modes
 * (infers_modes). */
static inline bool mkperf_cpu_infers_modes(const struct mkperf_cpu *cpu)
{
    return cpu->pmu->infers_modes != NULL && cpu->pmu->infers_modes(cpu->id);
}

/* Returns whether the kernel has guests, whose kernels can then be counted. */
static inline bool mkperf_cpu_guests(const struct mkperf_cpu *cpu)
{
    return cpu->pmu->select(cpu->id, 0, MKPERF_PMU_GUEST) != cpu->pmu->select(cpu->id, 0, 0);
}

static inline bool mkperf_cpu_supports(const struct mkperf_cpu *cpu, uint32_t code)
{
    return cpu->counters != 0 && cpu->pmu->supported(cpu->id, code);
}

extern const struct mkperf_pmu mkperf_armv8_pmuv3;
extern const struct mkperf_pmu mkperf_riscv_sscofpmf;
extern const struct mkperf_pmu mkperf_no_pmu;

/* The one that this build of the profiler PD uses: `make MKPERF_PMU=NAME` (pd/build.mk). */
#ifndef MKPERF_PMU
#define MKPERF_PMU mkperf_armv8_pmuv3
#endif
extern const struct mkperf_pmu MKPERF_PMU; // NOLINT(readability-redundant-declaration)

extern const struct mkperf_pmu_user mkperf_armv8_user;

/* The events of the Arm architecture, for back-ends that count them. */
extern const struct mkperf_pmu_event mkperf_armv8_events[];

#endif
