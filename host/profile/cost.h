/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the profile cost: the part of what was sampled that the profiler itself took.
 *
 * Owns: sums by event. Sinks add each sample or chain. The profiler is recognised by functions of
 * its own, so a cost is known only where the ELFs are: the kernel's mkperf_capture, and PDs whose
 * program has the profiler's or a client's main function.
 */
#ifndef MKPERF_HOST_PROFILE_COST_H
#define MKPERF_HOST_PROFILE_COST_H

#include "places.h"

struct mkperf_cost { /* by event; sums of periods */
    uint64_t kernel[MKPERF_MODEL_EVENTS], pds[MKPERF_MODEL_EVENTS];
    uint64_t snapshots_us; /* in pds of the timer */
};

/* Adds `period` events of PD pd whose innermost place is `leaf`. */
void mkperf_cost_add(struct mkperf_cost *c, const struct mkperf_places *s, uint32_t event,
                     uint32_t pd, uint32_t leaf, uint64_t period);

/* Where a timer took the samples (`-e timer`): what the register snapshots took, totals' snapshots_us, which no sample
 * shows. Behind the last mkperf_cost_add, once; otherwise nothing. */
void mkperf_cost_snapshots(struct mkperf_cost *c, const struct mkperf_places *s, uint64_t us);

/*
 * In words, for an event whose period sum is `all`: "0.42 % of cycles (kernel 0.11 %, PDs 0.31 %)",
 * or what of it is not known.
 */
void mkperf_cost_text(const struct mkperf_cost *c, const struct mkperf_places *s, uint32_t event,
                      uint64_t all, char *text, size_t n);

/* Whether the kernel's part of an event, and that of PDs, are known separately. With a timer the kernel's is
 * in no sample, and of what was counted beside it the PDs' part is left out by the target. */
bool mkperf_cost_kernel_known(const struct mkperf_places *s);
bool mkperf_cost_pds_known(const struct mkperf_cost *c, const struct mkperf_places *s,
                           uint32_t event);

#endif
