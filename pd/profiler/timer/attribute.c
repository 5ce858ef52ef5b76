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

#include <stddef.h>

enum { NOBODY = -2 };

static bool interrupted(const struct mkperf_evidence *e)
{
    return !e->at_call && !e->stopped;
}

/* The thread of highest priority among those interrupted that ran, or did not, since the last
 * snapshot; NOBODY if there is none. *tie: another one has that priority. */
static int highest(const struct mkperf_evidence *e, unsigned n, bool ran, bool *tie)
{
    int best = NOBODY;

    *tie = false;
    for (unsigned i = 0; i < n; i++) {
        if (!interrupted(&e[i]) || e[i].ran != ran) {
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

/* The threads that ran, and those that can run. */
static struct mkperf_verdict ambiguous(const struct mkperf_evidence *e, unsigned n)
{
    struct mkperf_verdict v = {.confidence = MKPERF_AMBIGUOUS, .who = MKPERF_WHO_IDLE};

    for (unsigned i = 0; i < n && v.candidates < MKPERF_MAX_CANDIDATES; i++) {
        if (!e[i].stopped && (e[i].ran || !e[i].at_call)) {
            v.candidate[v.candidates++] = (uint8_t)i;
        }
    }
    return v;
}

/* Whether a thread above that priority can run although it was not interrupted: it is at a call
 * that does not wait, which it is about to make, or which woke a thread above it. */
static bool passed_over(const struct mkperf_evidence *e, unsigned n, int32_t priority)
{
    for (unsigned i = 0; i < n; i++) {
        if (e[i].at_call && !e[i].waits && !e[i].calls && !e[i].stopped &&
            e[i].priority > priority) {
            return true;
        }
    }
    return false;
}

static bool any_ran(const struct mkperf_evidence *e, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (e[i].ran) {
            return true;
        }
    }
    return false;
}

/* Threads below that priority that ran. They could not have run if the other thread had been able
 * to. */
static bool lower_ran(const struct mkperf_evidence *e, unsigned n, int32_t priority)
{
    for (unsigned i = 0; i < n; i++) {
        if (e[i].ran && e[i].priority < priority) {
            return true;
        }
    }
    return false;
}

static bool only_one_ran(const struct mkperf_evidence *e, unsigned n)
{
    unsigned ran = 0;

    for (unsigned i = 0; i < n; i++) {
        ran += e[i].ran;
    }
    return ran == 1;
}

/* No thread was interrupted: all wait, or one is about to make a call. */
static struct mkperf_verdict nobody(const struct mkperf_evidence *e, unsigned n, int32_t unobserved)
{
    struct mkperf_verdict v = {.confidence = MKPERF_PROVED, .who = MKPERF_WHO_IDLE};

    for (unsigned i = 0; i < n; i++) {
        if (!e[i].stopped && !e[i].waits) {
            return ambiguous(e, n); /* it calls, so another thread replies */
        }
    }
    if (unobserved >= 0) {
        return ambiguous(e, n);
    }
    if (any_ran(e, n)) {
        v.confidence = MKPERF_INFERRED;
    }
    return v;
}

/* A thread can run, and none that can has run since the last snapshot. */
static struct mkperf_verdict unchanged(const struct mkperf_evidence *e, unsigned n, int who,
                                       int32_t unobserved)
{
    const struct mkperf_evidence *t = &e[who];

    if (t->limited || unobserved >= t->priority || lower_ran(e, n, t->priority) ||
        passed_over(e, n, t->priority)) {
        return ambiguous(e, n);
    }
    return (struct mkperf_verdict){.confidence = MKPERF_INFERRED, .who = who};
}

struct mkperf_verdict mkperf_attribute(const struct mkperf_evidence *e, unsigned n,
                                       int32_t unobserved)
{
    bool tie;
    int who = highest(e, n, true, &tie);

    if (who == NOBODY) {
        who = highest(e, n, false, &tie);
        if (who == NOBODY) {
            return nobody(e, n, unobserved);
        }
        return tie ? ambiguous(e, n) : unchanged(e, n, who, unobserved);
    }
    if (tie || passed_over(e, n, e[who].priority)) {
        return ambiguous(e, n);
    }
    bool alone = only_one_ran(e, n) && unobserved < e[who].priority;
    return (struct mkperf_verdict){.confidence = alone ? MKPERF_PROVED : MKPERF_INFERRED,
                                   .who = who};
}
