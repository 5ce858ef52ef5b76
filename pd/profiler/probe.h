/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions of the hook with one counter. They test whether counting works, and take the samples
 * with which timer sessions compare theirs.
 *
 * Owns no state. Called by main.c for INFO, by hook_session.c before each session, and by timer/
 * while a timer session checks itself; never during a session of hook_session.c. The ring is that
 * of the own core, and is empty afterwards.
 */
#ifndef MKPERF_PROFILER_PROBE_H
#define MKPERF_PROFILER_PROBE_H

#include "kernel.h"

/* Tests whether counters count and interrupt. Makes a boot id from the hook's time if there is
 * none. False: *error has the reason. */
bool mkperf_probe(struct mkperf_kernel *k, struct mkperf_ring_consumer *ring, mkperf_Error *error);
/* Begins a session with one stopped counter of cycles in both modes. callers: the greatest number
 * of callers in a sample. False: *error has the reason. */
bool mkperf_probe_begin(struct mkperf_kernel *k, struct mkperf_ring_consumer *ring,
                        uint32_t callers, mkperf_Error *error);
/* Starts the counter. After that many cycles the hook takes a sample and wakes this PD. */
void mkperf_probe_arm(struct mkperf_kernel *k, uint32_t cycles);

#endif
