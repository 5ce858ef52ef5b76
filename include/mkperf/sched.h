/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scheduling events: a kernel's records of the thread that runs on a core, and of the reason.
 *
 * Owns: their layout in the rings. kernel/sched.c writes them into the core's ring. The profiler PD
 * replaces slots by identities and writes the output ring. The client PD encodes them
 * (pd/client/sched.c). Kinds and reasons have the numbers of the wire, and proto/mkperf.proto
 * defines each. A kernel without scheduling events has no MKPERF_FEATURE_EVENTS.
 *
 * SCHED, an event
 *   word 0   bits 32-35 kind; 36-39 reason, or the low bits of the number of an IRQ or a window;
 *            40-47 slot of the thread; 48-55 the high bits of that number
 *   word 1   time, ticks
 *   word 2   only in the output ring: the thread's identity
 *
 * SCHED_THREAD, only in the core's ring: from now on the slot belongs to this thread
 *   word 0   bits 40-47 slot
 *   word 1   time, ticks
 *   words 2, 3  as in a sample
 *
 * SCHED_LOSS: events are missing between the last one and the next
 *   word 1   time of the first of them, ticks
 *   word 2   their number
 */
#ifndef MKPERF_SCHED_H
#define MKPERF_SCHED_H

#include <stdint.h>

#include <mkperf/record.h>

enum mkperf_sched_kind {
    MKPERF_SCHED_SWITCH = 0,
    MKPERF_SCHED_CALL = 1,
    MKPERF_SCHED_REPLY = 2,
    MKPERF_SCHED_NOTIFY = 3,
    MKPERF_SCHED_IRQ = 4,
    MKPERF_SCHED_FAULT = 5,
    MKPERF_SCHED_LOCK = 6,
    MKPERF_SCHED_LOCK_WAIT = 7,
    MKPERF_SCHED_WAKE = 8,
    MKPERF_SCHED_RECEIVE = 9,
    MKPERF_SCHED_WINDOW = 10,
    MKPERF_SCHED_GAP = 11, /* only on the host: events of a core are missing */
    MKPERF_SCHED_KINDS,
};

/* The reason for which a thread stopped. */
enum mkperf_sched_reason {
    MKPERF_STOPPED_UNKNOWN = 0,
    MKPERF_STOPPED_CALLED = 1,
    MKPERF_STOPPED_REPLIED = 2,
    MKPERF_STOPPED_WAIT_MESSAGE = 3,
    MKPERF_STOPPED_WAIT_NOTIFICATION = 4,
    MKPERF_STOPPED_PREEMPTED = 5,
    MKPERF_STOPPED_BUDGET = 6,
    MKPERF_STOPPED_FAULTED = 7,
    MKPERF_STOPPED_SUSPENDED = 8,
    MKPERF_STOPPED_IDLE = 9,
    MKPERF_STOPPED_QUEUED = 10,
    MKPERF_STOPPED_REASONS,
};

enum mkperf_sched_words {
    MKPERF_SCHED_SLOTS = 256,
    MKPERF_SCHED_WORDS = 2,        /* of an event in the core's ring */
    MKPERF_SCHED_OUTPUT_WORDS = 3, /* of an event in the output ring */
    MKPERF_SCHED_IDENTITY = 2,
    MKPERF_SCHED_THREAD_WORDS = 4,
    MKPERF_SCHED_LOST = 2,
    MKPERF_SCHED_LOSS_WORDS = 3,
};

/* Kind, reason and IRQ in word 0 of an event in the core's ring. irq: below 4096, of a window its
 * number; 0 for other kinds. reason: 0 except for switches. */
static inline uint64_t mkperf_sched_what(unsigned kind, unsigned reason, unsigned irq)
{
    return (uint64_t)kind << 32 | (uint64_t)(reason | (irq & 15)) << 36 |
           (uint64_t)(irq >> 4 & 0xff) << 48;
}

/* Word 0 of an event, without slot and core. */
static inline uint64_t mkperf_sched_header(unsigned kind, unsigned reason, unsigned irq)
{
    return MKPERF_RECORD_SCHED | (uint64_t)(8 * MKPERF_SCHED_WORDS) << 16 |
           mkperf_sched_what(kind, reason, irq);
}

static inline unsigned mkperf_sched_kind_of(uint64_t header)
{
    return header >> 32 & 15;
}

static inline int mkperf_sched_has_number(uint64_t header)
{
    return (1 << MKPERF_SCHED_IRQ | 1 << MKPERF_SCHED_WINDOW) >> mkperf_sched_kind_of(header) & 1;
}

static inline unsigned mkperf_sched_reason_of(uint64_t header)
{
    return mkperf_sched_has_number(header) ? 0 : header >> 36 & 15;
}

static inline unsigned mkperf_sched_irq_of(uint64_t header)
{
    return mkperf_sched_has_number(header) ? (header >> 36 & 15) | (header >> 48 & 0xff) << 4 : 0;
}

static inline unsigned mkperf_sched_slot_of(uint64_t header)
{
    return header >> 40 & 0xff;
}

#endif
