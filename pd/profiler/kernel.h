/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests to the kernel hook, of this PD's core and of the others.
 *
 * Owns: struct mkperf_kernel: a descriptor for each core, and what the answers said. A request is
 * an acknowledgement of the PMU's interrupt (include/mkperf/descriptor.h). Called by every stage
 * that uses the PMU.
 *
 *   want (configuration) --> request --> kernel on that core --> answer (status, counters, time)
 *
 * 1. A request to this PD's own core has been executed when the function returns.
 * 2. Another core executes a request when the kernel has called it. This PD waits for that for at
 *    most MKPERF_CORES_PATIENCE_MS. A core that has not answered by then is late, and the status of
 *    the session names it.
 * 3. Of several pending requests for a core only the last one is executed.
 */
#ifndef MKPERF_PROFILER_KERNEL_H
#define MKPERF_PROFILER_KERNEL_H

#include <mkperf/bits.h>
#include <mkperf/descriptor.h>

#include "../pmu/pmu.h"
#include "plan.h"

/* Channels of the profiler PD: the PMU's interrupt, its client, a timer's interrupt. */
enum mkperf_profiler_channels {
    MKPERF_CHANNEL_PMU = 0,
    MKPERF_CHANNEL_CLIENT = 1,
    MKPERF_CHANNEL_TIMER = 2,
};

enum { MKPERF_CORES_PATIENCE_MS = 10 };

struct mkperf_kernel_core {
    struct mkperf_descriptor *d; /* within one page */
    uint32_t sequence;           /* sequence number of the last request */
    /* The numbers of its last answer, which the status includes as far as they are the session's. */
    uint64_t spurious;
    uint64_t guest_accesses;
    uint64_t disturbed;
};

struct mkperf_kernel {
    const char *missing;   /* the reason for which the hook cannot have a session, or NULL */
    uint32_t missing_code; /* enum mkperf_session_result for `missing` */
    uintptr_t rings;       /* region with the cores' rings and the tables */
    uint64_t self;         /* the identity of this PD's threads, from the last answer */
    unsigned cores;        /* number of the cores that can be sampled, which are the first */
    unsigned here;         /* the core of this PD */
    uint32_t on;           /* cores that the session runs on, bit = number */
    uint32_t heard;        /* cores that have answered at least once, and this PD's */
    uint32_t pending;      /* cores whose last request has no answer yet */
    uint32_t stale;        /* cores whose configuration changed since their last request */
    bool session;          /* A session runs, of the hook or of the timer. */
    uint64_t tick_hz;      /* ticks per second, from the last answer */
    uint64_t began;        /* ticks: when the session was applied; 0: not yet */
    uint64_t boot_id;      /* 0: not known yet */
    struct mkperf_kernel_core core[MKPERF_TARGET_CORES];
};

extern struct mkperf_kernel mkperf_kernel;
extern mkperf_Status mkperf_status; /* status of the session, in which every stage counts */

/* At boot: finds out whether the kernel has the hook, and what the PMU is (mkperf_cpu), of which
 * cpu.pmu is known. */
void mkperf_kernel_init(void);
/* Called when a session begins: forgets the answers about the last one. */
void mkperf_kernel_begin(void);

/* One request to the own core: enum mkperf_request, maybe with MKPERF_REQUEST_SNAPSHOT; 0 asks for
 * the answer only. True: it was answered, with MKPERF_REQUEST_OK. */
bool mkperf_kernel_request(uint32_t op);
/* Returns the kernel's time in ticks, by a request. */
uint64_t mkperf_kernel_time(void);
/* Returns the time of the own core's last answer, or by a request if the session is not on that
 * core. */
uint64_t mkperf_kernel_answer_time(void);

/* Returns an empty configuration for the own core, with its ring of that many data bytes and the
 * identification of threads. */
struct mkperf_configuration *mkperf_kernel_blank(uint64_t ring_bytes);
/* Writes the selectors of the counters of that event into the own core's configuration. */
void mkperf_kernel_select(unsigned event);

/* Waits for the cores that have never answered. Only while no session runs. */
void mkperf_cores_probe(void);
/* Copies the own core's configuration to the other cores of the mask, each with its own ring. */
void mkperf_cores_share(uint32_t mask);
/* Makes one request to each core of the mask, to the own core last. Late cores get no request.
 * Returns the cores that executed it. */
uint32_t mkperf_cores_request(uint32_t mask, uint32_t op);
/* Reads answers of cores that were late. */
void mkperf_cores_collect(void);
/* Ends the session on late cores of the mask, too, as soon as they answer. */
void mkperf_cores_give_up(uint32_t mask);

/* Completes the cores' part of the status. With several cores, cores[i] is core i. */
void mkperf_kernel_status(void);

/* Returns the requested configuration of the own core. */
static inline struct mkperf_configuration *mkperf_wanted(void)
{
    return &mkperf_kernel.core[mkperf_kernel.here].d->want;
}

/* Returns the session's time until `time` (ticks); 0: it is not known. */
static inline uint64_t mkperf_kernel_enabled(uint64_t time)
{
    return mkperf_kernel.began != 0 && time > mkperf_kernel.began ? time - mkperf_kernel.began : 0;
}

/* Returns the last answer of the own core. */
static inline const struct mkperf_answer *mkperf_answered(void)
{
    return &mkperf_kernel.core[mkperf_kernel.here].d->answer;
}

/* Returns whether the kernel's last answer had MKPERF_FEATURE_EVENTS. */
static inline bool mkperf_kernel_events(void)
{
    return (mkperf_answered()->features & MKPERF_FEATURE_EVENTS) != 0;
}

/* Returns whether the session counts its events by thread. */
static inline bool mkperf_counts_by_thread(void)
{
    return (mkperf_plan.request.per_pd || mkperf_plan.leaves_out) && mkperf_kernel_events();
}

/* Returns the kernel's table of counts. */
static inline struct mkperf_counts *mkperf_counts_table(void)
{
    return &mkperf_tables_in(mkperf_kernel.rings)->counts;
}

/* Returns the settings of a counter that overflows every `events` events. */
static inline struct mkperf_request_counter mkperf_counter_every(uint32_t select, uint32_t events)
{
    return (struct mkperf_request_counter){
        .select = select, .left = events, .interval = events, .period = events};
}

/* Returns the cores of the mask other than this PD's. */
static inline uint32_t mkperf_cores_others(uint32_t mask)
{
    return mask & ~(UINT32_C(1) << mkperf_kernel.here);
}

/*
 * ---- probe.c ----
 *
 * Sessions of the hook with one counter. They test whether counting works, and take the samples
 * with which timer sessions compare theirs.
 *
 * Owns no state. Called by main.c for INFO, by hook_session.c before each session, and by timer/
 * while a timer session checks itself; never during a session of hook_session.c. The ring is that
 * of the own core, and is empty afterwards.
 */

/* Tests whether counters count and interrupt. Makes a boot id from the hook's time if there is
 * none. False: mkperf_refusal has the reason. */
bool mkperf_probe(struct mkperf_ring_consumer *ring);
/* Begins a session with one stopped counter of cycles in both modes. callers: the greatest number
 * of callers in a sample. False: mkperf_refusal has the reason. */
bool mkperf_probe_begin(struct mkperf_ring_consumer *ring, uint32_t callers);
/* Starts the counter. After that many cycles the hook takes a sample and wakes this PD. */
void mkperf_probe_arm(uint32_t cycles);

#endif
