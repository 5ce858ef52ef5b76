/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which thread was running when the timer interrupted? From observations of threads to a verdict.
 *
 * Owns: the rule, as a pure function; docs/stock.md argues for it. Called by observe.c, and by
 * tests.
 */
#ifndef MKPERF_ATTRIBUTE_H
#define MKPERF_ATTRIBUTE_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/observe.h>

/* Observations of a thread from two register snapshots, shortly after one another. */
struct mkperf_evidence {
    int32_t priority;
    bool ran;     /* the thread ran: its registers changed */
    bool at_call; /* it is at a system call instruction, so it was not interrupted in user mode
                   */
    bool waits;   /* at_call: the call is one that waits for messages or notifications */
    bool calls;   /* at_call: the call is one that waits for a reply */
    bool limited; /* it may be out of budget at any instruction */
    bool stopped; /* it faulted and stays stopped */
};

enum { MKPERF_WHO_IDLE = -1, MKPERF_MAX_CANDIDATES = 4 };

struct mkperf_verdict {
    enum mkperf_confidence confidence;
    int who;             /* index, or idle; undefined with AMBIGUOUS */
    unsigned candidates; /* number of threads that may have run, with AMBIGUOUS */
    uint8_t candidate[MKPERF_MAX_CANDIDATES];
};

/* unobserved: the highest priority of PDs that cannot be observed; -1 if there are none. */
struct mkperf_verdict mkperf_attribute(const struct mkperf_evidence *e, unsigned n,
                                       int32_t unobserved);

#endif
