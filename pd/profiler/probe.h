/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions of the hook with one counter: whether counting works at all, and the samples that the
 * timer's are compared with.
 *
 * Owns: no state. Called by main.c for INFO, by hook_session.c before each session, and by the timer's way
 * (timer/) while it checks itself. Only while no session of hook_session.c runs. The ring is the own
 * core's, which is empty afterwards.
 */
#ifndef MKPERF_PROFILER_PROBE_H
#define MKPERF_PROFILER_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include <mkperf/ring.h>
#include <mkperf/session.h>

#include "kernel.h"

/* Finds out whether counters count and their interrupt comes. Makes a boot id of the time that the hook
 * saw, if there is none. False: *error says what is wrong. */
bool mkperf_probe(struct mkperf_kernel *k, struct mkperf_ring_consumer *ring, mkperf_Error *error);
/* A session with one counter of cycles, in both modes, which stands still; samples have that many
 * callers. False: *error says why there is none. */
bool mkperf_probe_begin(struct mkperf_kernel *k, struct mkperf_ring_consumer *ring,
                        uint32_t callers, mkperf_Error *error);
/* That many cycles from now the hook takes a sample of what runs, and wakes this PD. */
void mkperf_probe_arm(struct mkperf_kernel *k, uint32_t cycles);

#endif
