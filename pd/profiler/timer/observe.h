/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads that the profiler PD observes. It holds the capabilities of their TCBs: those of its
 * child PDs with any Microkit, and those that its <cspace> names with Microkit 2.3.
 *
 * Owns: struct mkperf_observation: the host's data on each PD (priority, addresses of its system
 * call instructions, stacks that both map), its registers at the last snapshot, and the
 * observations from them. Called by ticks*.c. A snapshot costs a system call for
 * each PD.
 */
#ifndef MKPERF_OBSERVE_PD_H
#define MKPERF_OBSERVE_PD_H

#include <stdbool.h>
#include <stdint.h>

#include <microkit.h>

#include <mkperf/observe.h>
#include <mkperf/session.h>

#include "attribute.h"

enum mkperf_observation_limits {
    MKPERF_OBSERVED = 62,    /* a Microkit system has at most 63 PDs */
    MKPERF_ALL_SITES = 8192, /* of all observed PDs */
    MKPERF_ALL_CALLS = 512,  /* of all observed PDs */
    MKPERF_MAX_CHILD_ID = 61,
};

struct mkperf_observed_call {
    uint64_t callee;
    uint32_t channel;
};

struct mkperf_observed {
    uint64_t thread;
    uint32_t child;      /* id of the child, if slot is 0 */
    uint32_t slot;       /* slot in the cspace */
    uint32_t first_site; /* in the observation's list */
    uint32_t sites;
    uint32_t first_call; /* the same */
    uint32_t calls;
    uint32_t windows;
    mkperf_StackWindow window[MKPERF_OBSERVE_WINDOWS];
    seL4_UserContext regs;
};

struct mkperf_observation {
    bool reported;       /* part 0 was received */
    uint32_t part;       /* the last one */
    uint64_t self;       /* identity of the profiler PD */
    int32_t unobserved;  /* highest priority of PDs that cannot be observed, -1 */
    uint32_t unreadable; /* snapshots of a PD that the kernel refused */
    bool partial;        /* a PD was unreadable in the last snapshot */
    uint64_t stopped;    /* children that faulted, bit = id */
    unsigned n;
    struct mkperf_observed thread[MKPERF_OBSERVED];
    struct mkperf_evidence evidence[MKPERF_OBSERVED];
    uint32_t all_sites;
    uint32_t site[MKPERF_ALL_SITES]; /* addresses / 4 */
    uint32_t all_calls;
    struct mkperf_observed_call call[MKPERF_ALL_CALLS];
};

/* Takes a part that mkperf_request_take_observe gave. False: *error has the reason, and the part is
 * discarded. */
bool mkperf_observe_reported(struct mkperf_observation *o, const mkperf_Observe *part,
                             mkperf_Error *error);

/* Takes a snapshot of all threads. evidence[].ran: compared with the previous snapshot. */
void mkperf_observe_look(struct mkperf_observation *o);

/*
 * The thread whose protected call the thread `callee` was serving at the last snapshot, if
 * registers prove it: its pc is at its call to `callee`, and that of no other PD is. -1: there is
 * no proof. docs/stock.md has the argument. The time is bounded by the numbers of threads and
 * channels.
 */
int mkperf_observe_caller(const struct mkperf_observation *o, uint64_t callee);

/*
 * The callers of thread i at the last snapshot, by its frame pointer, as far as its stack is in
 * memory that this PD maps, too: at most max return addresses into frame, innermost first. *flags:
 * bits of enum mkperf_sample_flags, the reason for its end. It is bounded, and reads only within
 * the reported windows.
 */
unsigned mkperf_observe_walk(const struct mkperf_observation *o, unsigned i, uint64_t *frame,
                             unsigned max, unsigned *flags);

#endif
