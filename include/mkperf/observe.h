/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timer's samples: their event, and the confidence of their attribution.
 *
 * Owns: the values of both. docs/stock.md has the rule; the messages are Observe, Observer and
 * Attribution in proto/mkperf.proto.
 */
#ifndef MKPERF_OBSERVE_H
#define MKPERF_OBSERVE_H

#include <stdint.h>

/* The event's name, and its number in a list of events. No PMU has that number. Periods are in
 * microseconds. */
#define MKPERF_TIMER_EVENT "timer"
#define MKPERF_TIMER_CODE UINT32_C(0x10000)

/* Confidence of a sample's thread: bits 6 and 7 of its flags. */
enum mkperf_confidence {
    MKPERF_KNOWN = 0,    /* the kernel hook took the sample */
    MKPERF_PROVED = 1,   /* only this thread ran until the sample */
    MKPERF_INFERRED = 2, /* several threads may have run; this one has the highest priority */
    MKPERF_AMBIGUOUS = 3 /* the thread is unknown: MKPERF_THREAD_AMBIGUOUS */
};

#define MKPERF_CONFIDENCE_SHIFT 6

static inline enum mkperf_confidence mkperf_confidence(unsigned flags)
{
    return (enum mkperf_confidence)(flags >> MKPERF_CONFIDENCE_SHIFT & 3);
}

#endif
