/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of profiling: the part of the samples that the profiler itself took.
 *
 * Owns: the sums for each event. Sinks add each sample or chain. The profiler is recognised by its functions: mkperf_capture in
 * the kernel, and the main function of the profiler or of a client in a PD. Therefore the cost is known only if their ELFs are.
 */
#ifndef MKPERF_HOST_PROFILE_COST_H
#define MKPERF_HOST_PROFILE_COST_H

#include "places.h"

/* Sums of periods for each event. */
struct mkperf_cost {
    uint64_t kernel[MKPERF_MODEL_EVENTS], pds[MKPERF_MODEL_EVENTS];
    uint64_t snapshots_us; /* a part of `pds` of the event `timer` */
};

/* Adds `period` events of PD pd whose innermost place is `leaf`. */
void mkperf_cost_add(struct mkperf_cost *c, const struct mkperf_places *s, uint32_t event,
                     uint32_t pd, uint32_t leaf, uint64_t period);

/* Adds snapshots_us of the totals: the time of register snapshots, which no sample shows. Called once after the last
 * mkperf_cost_add. Does nothing without the event `timer`. */
void mkperf_cost_snapshots(struct mkperf_cost *c, const struct mkperf_places *s, uint64_t us);

/*
 * The cost of an event with the period sum `all` as text: "0.42 % of cycles (kernel 0.11 %, PDs 0.31 %)", or which part is not
 * known.
 */
void mkperf_cost_text(const struct mkperf_cost *c, const struct mkperf_places *s, uint32_t event,
                      uint64_t all, char *text, size_t n);

/* Whether the kernel's part is known, and the PDs' part. With a timer no sample shows the kernel's part, and the target leaves
 * out the PDs' part of the events that it counts in addition. */
bool mkperf_cost_kernel_known(const struct mkperf_places *s);
bool mkperf_cost_pds_known(const struct mkperf_cost *c, const struct mkperf_places *s,
                           uint32_t event);

#endif
