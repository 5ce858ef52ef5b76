/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Software events, for kernels that call these functions where the events happen: include/mkperf/
 * soft.h says what they are.
 *
 * Owns: the writing side of the table. A kernel keeps a flag for each core that says whether events
 * are wanted, set in mkperf_port_soft, so that off costs one load and one branch; it is cleared by
 * the first event that finds no descriptor.
 */
#ifndef MKPERF_KERNEL_SOFT_H
#define MKPERF_KERNEL_SOFT_H

#include <mkperf/soft.h>

#include "capture.h"

/* The table that d speaks of, as it was found, is now written. */
void mkperf_soft_begin(struct mkperf_soft *t);

/*
 * One event, of thread `from`. to: whom a call or notification reached; not looked at for other
 * kinds. d: the published descriptor; t: its table. Not to be called on two cores at a time.
 * Bounded: MKPERF_COUNT_THREADS and MKPERF_SOFT_PROBES entries are looked at.
 */
void mkperf_soft_event(const struct mkperf_descriptor *d, struct mkperf_soft *t, unsigned kind,
                       uint64_t from, uint64_t to);

/*
 * A fault of `thread` at user address pc; address: of the memory that it wanted, 0 if that was not
 * it. Beside the count, a FAULT record in the core's ring, and the consumer is woken for it. s:
 * this core's capture state. Interrupts masked.
 */
void mkperf_soft_fault(const struct mkperf_descriptor *d, struct mkperf_capture_state *s,
                       struct mkperf_soft *t, uint64_t thread, uint64_t pc, uint64_t address);

#endif
