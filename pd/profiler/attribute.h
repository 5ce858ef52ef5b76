/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who was running when the timer interrupted? From what was seen of the threads to a verdict.
 *
 * Owns: the rule, as a pure function; docs/stock.md argues for it. Called by observe.c, and by
 * tests.
 */
#ifndef MKPERF_ATTRIBUTE_H
#define MKPERF_ATTRIBUTE_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/observe.h>

/* What was seen of a thread between two looks at its registers, shortly one after the other. */
struct mkperf_evidence {
    int32_t priority;
    bool ran;     /* its registers changed */
    bool at_call; /* it stands at a system call instruction, so it was not interrupted in user mode
                   */
    bool waits;   /* at_call: the call is one that waits for messages or notifications */
    bool calls;   /* at_call: the call is one that waits for an answer */
    bool limited; /* may be out of budget anywhere */
    bool stopped; /* it faulted, and was left so */
};

enum { MKPERF_WHO_IDLE = -1, MKPERF_MAX_CANDIDATES = 4 };

struct mkperf_verdict {
    enum mkperf_confidence confidence;
    int who;             /* index, or idle; with AMBIGUOUS nothing */
    unsigned candidates; /* with AMBIGUOUS: threads that may have run */
    uint8_t candidate[MKPERF_MAX_CANDIDATES];
};

/* unobserved: the highest priority of PDs of which there is no evidence, -1 if there are none. */
struct mkperf_verdict mkperf_attribute(const struct mkperf_evidence *e, unsigned n,
                                       int32_t unobserved);

#endif
