/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profiler PD's state, and what its files offer each other.
 *
 * Owns: struct mkperf_profiler. There is one, in main.c; a PD has one thread, so nothing is locked.
 * Shared with others: the page and the output ring (client PD), the core's ring and the descriptor
 * (kernel hook). Everything else is private.
 */
#ifndef MKPERF_PROFILER_H
#define MKPERF_PROFILER_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/descriptor.h>
#include <mkperf/ring.h>
#include <mkperf/session.h>

#include "../pmu/pmu.h"
#include "counting.h"
#include "flight.h"
#include "kernel.h"
#include "multiplex.h"
#include "percore.h"
#include "plan.h"
#include "policy.h"
#include "sched.h"
#include "soft.h"
#include "ticks.h"
#include "timer_reads.h"

/* Channels of the profiler PD: the PMU's interrupt, its client, a timer's interrupt. */
enum mkperf_profiler_channels {
    MKPERF_CHANNEL_PMU = 0,
    MKPERF_CHANNEL_CLIENT = 1,
    MKPERF_CHANNEL_TIMER = 2,
};

struct mkperf_profiler {
    struct mkperf_cpu cpu;
    const char *no_pmu;   /* why the hook's sessions cannot be, or NULL; */
    uint32_t no_pmu_code; /* then as an enum mkperf_session_result */
    struct mkperf_kernel kernel;
    struct mkperf_session_page *page;
    struct mkperf_core core[MKPERF_TARGET_CORES];
    unsigned cores;                     /* that are sampled: the first of */
    unsigned kernel_cores;              /* those that the kernel has; 0: not known */
    unsigned here;                      /* this PD's */
    uint32_t on;                        /* cores that the session runs on, bit = number */
    struct mkperf_ring_producer output; /* to the client */

    struct mkperf_counts *counts; /* by thread; the kernel writes it */

    struct mkperf_soft *soft; /* software events; the kernel writes it */

    struct mkperf_plan plan;
    struct mkperf_counting counting;
    struct mkperf_flight flight;
    struct mkperf_soft_view soft_view;
    struct mkperf_sched sched;
    struct mkperf_multiplex multiplex;
    uint32_t id; /* sessions started since boot */
    bool running;
    bool silent; /* no sample since the last STATUS */
    uint64_t boot_id;
    uint64_t tick_hz;

    mkperf_Status statistics; /* period[] is filled on request */
    uint64_t now;             /* time of the last record of any core */
    uint64_t asked;           /* when all cores were last asked */

    uint8_t number[MKPERF_MAX_COUNTERS]; /* of the plan, by hardware counter of the current slice */

    struct mkperf_ticks ticks;
    struct mkperf_timer_reads timer_reads;
};

/* Space for a record in the output ring by the session's policy, or NULL; and its end. */
static inline uint64_t *mkperf_output_room(struct mkperf_profiler *p,
                                           struct mkperf_ring_producer *output, unsigned size)
{
    return p->flight.on ? mkperf_flight_room(p, output, size) : mkperf_ring_reserve(output, size);
}

static inline void mkperf_output_commit(const struct mkperf_profiler *p,
                                        struct mkperf_ring_producer *output, unsigned size)
{
    if (p->flight.on) {
        mkperf_ring_keep(output, size);
    } else {
        mkperf_ring_commit(output, size);
    }
}

/* drain.c: moves the records of the session's cores' rings to the output ring; reports losses in the
 * stream. Returns the number of samples that left the rings. *bytes: their bytes. Bounded by the
 * rings' contents at the call. */
uint32_t mkperf_drain_ring(struct mkperf_profiler *p, uint64_t *bytes);

/* pace.c: drains until the ring is below its watermark, and adapts periods and watermark to the
 * samples. Returns whether the output ring has new records. */
bool mkperf_pace_drain(struct mkperf_profiler *p);
/* Adapts frequencies to silence: called for each STATUS. */
void mkperf_pace_status(struct mkperf_profiler *p);
/* Begins a session: the periods of its plan. */
void mkperf_pace_begin(struct mkperf_profiler *p);

/* sampling.c: enum mkperf_session_result; on anything but OK, *error has the reason and nothing is
 * running. */
uint32_t mkperf_sampling_start(struct mkperf_profiler *p, mkperf_Error *error);
void mkperf_sampling_stop(struct mkperf_profiler *p);
/* Finds out whether counters count and their interrupt comes, and takes the boot id from the time
 * that the hook saw. Only while stopped. */
bool mkperf_sampling_probe(struct mkperf_profiler *p, mkperf_Error *error);

/* A new session: its number, empty statistics and rings. */
void mkperf_sampling_reset(struct mkperf_profiler *p);
/* For ticks.c: a session of the hook's whose counter 0 counts cycles, in either mode, stopped; and
 * so many cycles from now the hook takes a sample of whatever runs, and wakes this PD; until it is
 * stopped again. begin, false: *error says why not. */
bool mkperf_sampling_check_begin(struct mkperf_profiler *p, mkperf_Error *error);
void mkperf_sampling_check_arm(struct mkperf_profiler *p, uint32_t cycles);
void mkperf_sampling_check_stop(struct mkperf_profiler *p);
void mkperf_sampling_check_end(struct mkperf_profiler *p);

extern uintptr_t mkperf_rings;

#endif
