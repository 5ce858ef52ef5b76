/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profiler PD's side of the kernel hook: a descriptor for each core, and requests by
 * acknowledging the PMU's interrupt (include/mkperf/descriptor.h).
 *
 * Owns: struct mkperf_kernel. Called by all parts of the profiler PD that use the PMU. A request
 * to the PD's own core has been executed when the function returns; percore.c waits for the others.
 */
#ifndef MKPERF_PROFILER_KERNEL_H
#define MKPERF_PROFILER_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/descriptor.h>
#include <mkperf/ring.h>
#include <mkperf/session.h>

struct mkperf_profiler;
struct mkperf_plan_event;

struct mkperf_kernel {
    struct mkperf_descriptor *d[MKPERF_TARGET_CORES]; /* each within one page */
    struct mkperf_descriptor *here;                   /* the own core's */
    uint32_t sequence[MKPERF_TARGET_CORES];
    bool hook; /* the last request to the own core was answered */
};

/* At boot: whether the kernel has the hook, and what the PMU is (p->cpu). */
void mkperf_kernel_init(struct mkperf_profiler *p);
/* One request to the own core: enum mkperf_request, maybe with MKPERF_REQUEST_SNAPSHOT; 0 requests the answer
 * alone. Adds the answer's disturbances and storms to the statistics. True: it was answered, with
 * MKPERF_REQUEST_OK. */
bool mkperf_kernel_request(struct mkperf_profiler *p, uint32_t op);
/* The same of another core; and whether it has answered its last request: then what the answer says
 * is added. */
void mkperf_kernel_ask(struct mkperf_profiler *p, unsigned core, uint32_t op);
bool mkperf_kernel_answered(struct mkperf_profiler *p, unsigned core);

/* The requested configuration, and the last answer, of the own core. */
static inline struct mkperf_configuration *mkperf_wanted(const struct mkperf_kernel *r)
{
    return &r->here->want;
}

static inline const struct mkperf_answer *mkperf_answered(const struct mkperf_kernel *r)
{
    return &r->here->answer;
}

/* The bit of a counter of the plan (+ 1, 0: none). */
static inline uint32_t mkperf_counter_bit(uint32_t counter)
{
    return counter != 0 ? UINT32_C(1) << (counter - 1) : 0;
}

/* An empty configuration with the ring and the identification of threads. */
struct mkperf_configuration *mkperf_kernel_blank(struct mkperf_profiler *p,
                                                 const struct mkperf_ring_consumer *core);

/* Writes the event into the configuration of its plan's counters. */
void mkperf_kernel_select(struct mkperf_profiler *p, const struct mkperf_plan_event *e);

#endif
