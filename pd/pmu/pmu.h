/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contract between the profiler PD and a PMU back-end.
 *
 * Owns: struct mkperf_pmu, the whole of what the profiler PD knows of an architecture's counters.
 * A back-end is one const struct; registers appear nowhere else. Called by the profiler PD only,
 * which runs on one core and is the PMU's one user beside the kernel hook. The hook may interrupt
 * any of these functions; it touches only counters of the running session, after their overflow.
 */
#ifndef MKPERF_PMU_H
#define MKPERF_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MKPERF_PMU_VERSION = 2 };

/* How often an event can occur at most: decides the shortest period that is allowed. */
enum mkperf_pmu_rate {
    MKPERF_RATE_BUSY = 0, /* about once a cycle */
    MKPERF_RATE_RARE = 1, /* tens of cycles at least between two */
};

struct mkperf_pmu_event {
    const char *name; /* shorter than 32; a name may stand twice, then the first supported counts */
    uint32_t code;    /* the back-end's number for it, and the user's: rNN */
    uint8_t rate;     /* enum mkperf_pmu_rate */
    const char *description; /* shorter than 64 */
};

struct mkperf_pmu {
    uint32_t version; /* MKPERF_PMU_VERSION */
    const char *name; /* as perf calls it; shorter than 16 */

    /* Finds the PMU. NULL: it is here and nothing counts; otherwise why it cannot be used. */
    const char *(*init)(void);
    /* Event counters that a session may use, at most MKPERF_MAX_COUNTERS. */
    unsigned (*counters)(void);
    /* What can be known of the CPU's name, NUL-terminated within n bytes; may be empty. */
    void (*cpu)(char *name, size_t n);
    /* Whether the CPU implements the event, as far as it says. */
    bool (*supported)(uint32_t code);
    /* Lets a stopped counter count an event in user mode, the kernel, or both; its overflow flag
     * is cleared. False: the hardware did not take it. */
    bool (*program)(unsigned counter, uint32_t code, bool user, bool kernel);
    /* The counter overflows `events` events from now; 1 .. 2^31. */
    void (*arm)(unsigned counter, uint32_t events);
    /* Counters in the mask (bit = number) begin or cease to count; others are left alone. When
     * stop returns, no more overflows of them happen. */
    void (*start)(uint32_t mask);
    void (*stop)(uint32_t mask);
    /* The raw value, 2^32 - n when n events are left to the overflow. */
    uint32_t (*read)(unsigned counter);
    /* Counters whose overflow nobody has taken yet, and forgetting it. */
    uint32_t (*overflow)(void);
    void (*clear)(uint32_t mask);
    /* Sets the overflow of counters as if they had overflowed: an interrupt on purpose. NULL: the
     * hardware cannot, and counts have no time. */
    void (*raise)(uint32_t mask);
    /* Some bits that differ from boot to boot if anything of the PMU does. */
    uint64_t (*entropy)(void);

    const struct mkperf_pmu_event *events; /* ends with one whose name is NULL */
};

extern const struct mkperf_pmu mkperf_armv8_pmuv3;
extern const struct mkperf_pmu mkperf_armv7_pmuv2;
extern const struct mkperf_pmu mkperf_riscv_sscofpmf;

/* The one that this build of the profiler PD uses: `make MKPERF_PMU=NAME` (pd/build.mk). */
#ifndef MKPERF_PMU
#define MKPERF_PMU mkperf_armv8_pmuv3
#endif
extern const struct mkperf_pmu MKPERF_PMU; // NOLINT(readability-redundant-declaration)

/* The events of the Arm architecture, for back-ends that count them. */
extern const struct mkperf_pmu_event mkperf_armv8_events[];

#endif
