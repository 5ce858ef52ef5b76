/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How surely a timer's sample is attributed.
 *
 * Owns: the confidence of a sample whose thread was inferred. docs/stock.md says how; the messages
 * about it are Observe, Observer and Attribution in proto/mkperf.proto.
 */
#ifndef MKPERF_OBSERVE_H
#define MKPERF_OBSERVE_H

#include <stdint.h>

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

#endif
