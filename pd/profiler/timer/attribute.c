/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which thread was running when the timer interrupted: see attribute.h.
 *
 * The rule uses four facts. A thread that was interrupted in user mode has the interrupted pc in
 * its registers. A thread that entered the kernel has the address of its system call instruction
 * there until it runs again. The registers of a thread that ran have changed since the last
 * snapshot. The kernel runs the highest priority that can run.
 */
#include "attribute.h"

enum { NOBODY = -2 };

/* Returns the thread of highest priority among those interrupted that ran, or did not, since the
 * last snapshot; NOBODY if there is none. *tie: another one has that priority. */
static int highest(const struct mkperf_evidence *e, unsigned n, bool ran, bool *tie)
{
    int best = NOBODY;

    *tie = false;
    for (unsigned i = 0; i < n; i++) {
        if (e[i].at_call || e[i].stopped || e[i].ran != ran) {
            continue;
        }
        if (best == NOBODY || e[i].priority > e[best].priority) {
            best = (int)i;
            *tie = false;
        } else if (e[i].priority == e[best].priority) {
            *tie = true;
        }
    }
    return best;
}

struct mkperf_verdict mkperf_attribute(const struct mkperf_evidence *e, unsigned n,
                                       int32_t unobserved)
{
    bool tie;
    bool any_call = false; /* a thread is about to make a call, or another one replies to it */
    int who = highest(e, n, true, &tie);
    bool changed = who != NOBODY;

    if (!changed) {
        who = highest(e, n, false, &tie);
    }
    int32_t priority = who != NOBODY ? e[who].priority : -1;
    unsigned ran = 0;
    bool lower_ran = false;   /* It could not have if `who` had been able to. */
    bool passed_over = false; /* A thread above `who` can run although it was not interrupted: it is
                               * at a call that does not wait, which it is about to make, or which
                               * woke a thread above it. */
    for (unsigned i = 0; i < n; i++) {
        bool call = e[i].at_call && !e[i].waits && !e[i].stopped;
        ran += e[i].ran;
        lower_ran |= e[i].ran && e[i].priority < priority;
        passed_over |= call && !e[i].calls && e[i].priority > priority;
        any_call |= call;
    }
    bool alone = ran == 1 && unobserved < priority;
    bool doubtful = tie || passed_over;
    if (who == NOBODY) { /* No thread was interrupted: all wait, or one is at a call. */
        doubtful = any_call || unobserved >= 0;
        alone = ran == 0;
        who = MKPERF_WHO_IDLE;
    } else if (!changed) { /* No thread that can run has run since the last snapshot. */
        doubtful |= e[who].limited || unobserved >= priority || lower_ran;
        alone = false;
    }
    if (!doubtful) {
        return (struct mkperf_verdict){.confidence = alone ? MKPERF_PROVED : MKPERF_INFERRED,
                                       .who = who};
    }
    /* The candidates are the threads that ran, and those that can run. */
    struct mkperf_verdict v = {.confidence = MKPERF_AMBIGUOUS, .who = MKPERF_WHO_IDLE};
    for (unsigned i = 0; i < n && v.candidates < MKPERF_MAX_CANDIDATES; i++) {
        if (!e[i].stopped && (e[i].ran || !e[i].at_call)) {
            v.candidate[v.candidates++] = (uint8_t)i;
        }
    }
    return v;
}
