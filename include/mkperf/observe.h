/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the profiler PD has to know of the PDs that it observes, and how it tells what it made of
 * it.
 *
 * Owns: the argument of MKPERF_OP_OBSERVE (session.h), which the client PD writes into the session
 * page part by part, and the confidence of a sample whose thread was inferred. docs/stock.md says
 * how.
 */
#ifndef MKPERF_OBSERVE_H
#define MKPERF_OBSERVE_H

#include <stdint.h>

enum mkperf_observe_limits {
    MKPERF_OBSERVE_SITES = 64, /* in one part */
    MKPERF_OBSERVE_WINDOWS = 2,
    MKPERF_OBSERVE_NAME_BYTES = 64, /* Microkit's limit of a PD's name */
};

/* How surely a sample's thread is known: bits 6 and 7 of its flags. */
enum mkperf_confidence {
    MKPERF_KNOWN = 0,    /* the kernel's hook was there */
    MKPERF_PROVED = 1,   /* of all threads it alone ran until the sample */
    MKPERF_INFERRED = 2, /* several did, or might have: it has the highest priority */
    MKPERF_AMBIGUOUS = 3 /* the sample's thread is MKPERF_THREAD_AMBIGUOUS */
};

#define MKPERF_CONFIDENCE_SHIFT 6

static inline enum mkperf_confidence mkperf_confidence(unsigned flags)
{
    return (enum mkperf_confidence)(flags >> MKPERF_CONFIDENCE_SHIFT & 3);
}

struct mkperf_observe_window { /* memory that both the PD and the profiler PD map */
    uint64_t theirs;
    uint64_t ours;
    uint64_t bytes;
};

struct mkperf_observe_part {
    uint32_t part;     /* 0 forgets all that was told before, and is about the profiler PD */
    uint32_t child;    /* id; of part 0: nothing */
    uint64_t thread;   /* identity */
    uint32_t priority; /* of part 0: the highest of PDs that cannot be observed + 1; 0: all can */
    uint32_t limited;  /* != 0: the budget is below the period */
    uint32_t slot; /* 0: a child; else where in the profiler PD's cspace its TCB's capability is */
    uint32_t sites;
    uint32_t windows;
    uint64_t site[MKPERF_OBSERVE_SITES]; /* addresses of system call instructions, ascending over
                                            all parts of a PD */
    struct mkperf_observe_window window[MKPERF_OBSERVE_WINDOWS];
};

struct mkperf_observer { /* the answer to part 0 */
    char pd[MKPERF_OBSERVE_NAME_BYTES];
    char timer[32];
};

/* Totals of a session with the timer, see Attribution in proto/mkperf.proto. */
struct mkperf_attribution {
    uint64_t proved;
    uint64_t inferred;
    uint64_t ambiguous;
    uint64_t right;
    uint64_t wrong;
    uint64_t marked;
    uint32_t faults;
    uint32_t cost_ns;
    uint64_t spent_us;
    uint64_t unread;
};

#endif
