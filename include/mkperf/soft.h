/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Software events: the kernel counts them, by thread and by pairs of a caller and its callee.
 *
 * Owns: the kinds, and their part of the table of counts (counts.h). A kernel that does not report such
 * events has no MKPERF_FEATURE_EVENTS.
 *
 * The names are those of perf, if perf has the event:
 *
 * - context-switches: the thread stopped and another one ran. The event belongs to the first.
 * - faults: the thread caused a message to its fault handler (Microkit: the parent PD or the monitor).
 *   These are memory faults, capability faults, unknown system calls and exceptions. perf's
 *   `faults` are only memory faults.
 * - ppcalls: the thread's protected call, or its plain send, was delivered to the callee.
 * - notifications: the thread signalled a notification that is bound to a thread. Interrupts are not
 *   counted.
 */
#ifndef MKPERF_SOFT_H
#define MKPERF_SOFT_H

#include <stdint.h>

enum mkperf_soft_kind {
    MKPERF_SOFT_SWITCH = 0,
    MKPERF_SOFT_FAULT = 1,
    MKPERF_SOFT_PPCALL = 2, /* this kind and the next have edges */
    MKPERF_SOFT_NOTIFICATION = 3,
    MKPERF_SOFT_KINDS = 4,
};

enum mkperf_soft_limits {
    MKPERF_SOFT_EDGE_KINDS = 2,
    MKPERF_SOFT_EDGES = 512, /* a power of two */
    MKPERF_SOFT_PROBES = 16, /* places tried for an edge; if all are taken, it is not kept */
};

/* The event of kind k has the number MKPERF_SOFT_CODE + k. A PMU's numbers have only 16 bits. */
#define MKPERF_SOFT_CODE UINT32_C(0x10000)

#define MKPERF_SOFT_ALL ((UINT32_C(1) << MKPERF_SOFT_KINDS) - 1)
/* A bit of the descriptor's soft_mask: the hook writes a FAULT record for each fault. */
#define MKPERF_SOFT_FAULT_RECORDS (UINT32_C(1) << 31)
/* The hook notes the least stack pointer of each thread, at its samples and when it stops. */
#define MKPERF_SOFT_STACKS (UINT32_C(1) << 30)

/* What is known about the stack of a thread: addresses in its address space; 0: not known. */
struct mkperf_soft_stack {
    uint64_t least;  /* the least stack pointer that the hook has seen */
    uint64_t bottom; /* the first byte of the mapped pages around it */
    uint64_t top;    /* the byte after the last one */
    uint64_t lowest; /* the lowest word of these pages that was not 0 */
};

struct mkperf_soft_edge {
    uint64_t from; /* `from` and `to` are keys; from == 0: the place is free */
    uint64_t from_sc;
    uint64_t to;
    uint64_t to_sc;
    uint64_t count[MKPERF_SOFT_EDGE_KINDS]; /* protected calls, notifications */
};

#endif
