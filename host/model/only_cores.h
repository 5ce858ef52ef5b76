/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sink in front of another: samples of some cores only.
 *
 * Owns: the choice. What is left out counts nowhere: the session says that the others are not
 * sampled, and totals are those of the chosen cores. Losses of samples of an unknown core stay.
 */
#ifndef MKPERF_HOST_MODEL_ONLY_CORES_H
#define MKPERF_HOST_MODEL_ONLY_CORES_H

#include "base/cpu_list.h"
#include "model.h"

struct mkperf_only_cores {
    struct mkperf_sink to; /* first: it relays */
    struct mkperf_cpu_list cores;
    uint64_t samples, dropped_lost[MKPERF_LOST_PLACES];
};

/* o->to and o->cores are set. Passes everything on if no cores were given. */
struct mkperf_sink mkperf_only_cores_sink(struct mkperf_only_cores *o);

#endif
