/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel hook's entry and its per-core state. A kernel includes this where it dispatches
 * interrupts; kernel/capture.c says what happens then.
 */
#ifndef MKPERF_CAPTURE_H
#define MKPERF_CAPTURE_H

#include <mkperf/descriptor.h>

/* What the hook remembers for one core between samples. The kernel owns it, zero at boot. */
struct mkperf_capture_state {
    uint32_t generation; /* of the descriptor that the rest belongs to */
    uint32_t ring_bytes;
    uint32_t max_frames;
    uint64_t head;   /* our position in the core's ring */
    uint64_t random; /* state of the jitter's generator */
    uint64_t dropped_samples;
    uint64_t dropped_events;
    uint64_t spurious;
    uint64_t late_events;
    uint32_t armed[MKPERF_MAX_COUNTERS]; /* period that each counter is running with */
    uint64_t read[MKPERF_MAX_COUNTERS];  /* as in the descriptor */
};

/*
 * One profiling interrupt: takes a sample for each of the session's counters that overflowed,
 * re-arms them, and wakes the consumer when the ring reaches the watermark.
 *
 * d is the consumer's descriptor (kernel address, magic seen by the caller); s this core's state.
 * Called in the interrupt path with interrupts masked, the interrupted thread's registers saved
 * and its address space current. Bounded: at most MKPERF_MAX_COUNTERS samples of at most
 * MKPERF_MAX_FRAMES frames each. Never faults, whatever the descriptor or user memory holds.
 */
void mkperf_capture(const struct mkperf_descriptor *d, struct mkperf_capture_state *s);

#endif
