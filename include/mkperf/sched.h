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
 *   word 0   bits 32-35 kind; 36-39 reason of a switch, or the low bits of a number; 40-47 slot of the
 *            thread; 48-55 the high bits of the number
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
    /* Two of these precede the exit of a guest that accessed a page. Each has 12 bits of the page's number, the first one
     * the high bits. */
    MKPERF_SCHED_PAGE = 12,
};

/*
 * The number of a FAULT, and of a RECEIVE of a fault. Numbers from MKPERF_EXIT on are reasons for which a guest exited:
 * its virtual CPU stopped.
 */
enum mkperf_fault {
    MKPERF_FAULT_NONE = 0,   /* no fault: a call */
    MKPERF_FAULT_THREAD = 1, /* a fault of a thread */
    MKPERF_EXIT = 64,        /* + the exception class, 0 to 63 (Arm ARM, ESR_EL2.EC) */
    MKPERF_EXIT_WFX = MKPERF_EXIT + 0x01,
    MKPERF_EXIT_HVC32 = MKPERF_EXIT + 0x12,
    MKPERF_EXIT_SMC32 = MKPERF_EXIT + 0x13,
    MKPERF_EXIT_HVC = MKPERF_EXIT + 0x16,
    MKPERF_EXIT_SMC = MKPERF_EXIT + 0x17,
    MKPERF_EXIT_REGISTER = MKPERF_EXIT + 0x18,
    MKPERF_EXIT_FETCH = MKPERF_EXIT + 0x20,  /* the guest fetched an instruction from a page */
    MKPERF_EXIT_ACCESS = MKPERF_EXIT + 0x24, /* the guest read or wrote a page */
    MKPERF_EXIT_GIC = MKPERF_EXIT + 64,      /* maintenance of the virtual interrupt controller */
    MKPERF_EXIT_TIMER,                       /* the virtual timer's interrupt */
    MKPERF_EXIT_OTHER,
    MKPERF_EXITS,
    /* page numbers are below this; the greatest one also represents all pages above it */
    MKPERF_EXIT_PAGES = 1 << 24,
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
    MKPERF_SCHED_WORDS = 2,        /* words of an event in the core's ring */
    MKPERF_SCHED_OUTPUT_WORDS = 3, /* words of an event in the output ring */
    MKPERF_SCHED_IDENTITY = 2,
    MKPERF_SCHED_THREAD_WORDS = 4,
    MKPERF_SCHED_LOST = 2,
    MKPERF_SCHED_LOSS_WORDS = 3,
};

/* Returns kind, reason and number for word 0 of an event in the core's ring. reason: of a switch, otherwise 0. number:
 * below 4096, of an interrupt, a fault, a page or a window, otherwise 0. */
static inline uint64_t mkperf_sched_what(unsigned kind, unsigned reason, unsigned number)
{
    return (uint64_t)kind << 32 | (uint64_t)(reason | (number & 15)) << 36 |
           (uint64_t)(number >> 4 & 0xff) << 48;
}

/* Returns word 0 of an event, without slot and core. */
static inline uint64_t mkperf_sched_header(unsigned kind, unsigned reason, unsigned number)
{
    return MKPERF_RECORD_SCHED | (uint64_t)(8 * MKPERF_SCHED_WORDS) << 16 |
           mkperf_sched_what(kind, reason, number);
}

static inline unsigned mkperf_sched_kind_of(uint64_t header)
{
    return header >> 32 & 15;
}

static inline unsigned mkperf_sched_reason_of(uint64_t header)
{
    return mkperf_sched_kind_of(header) == MKPERF_SCHED_SWITCH ? header >> 36 & 15 : 0;
}

static inline unsigned mkperf_sched_number_of(uint64_t header)
{
    return mkperf_sched_kind_of(header) == MKPERF_SCHED_SWITCH
               ? 0
               : (header >> 36 & 15) | (header >> 48 & 0xff) << 4;
}

static inline unsigned mkperf_sched_slot_of(uint64_t header)
{
    return header >> 40 & 0xff;
}

#endif
