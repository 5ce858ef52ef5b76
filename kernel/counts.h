/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact counts by thread, for kernels that can afford to read counters at each switch.
 *
 * Owns: the state of one core between switches. Optional: a port that never calls it has no counts
 * by thread, and everything else works.
 */
#ifndef MKPERF_KERNEL_COUNTS_H
#define MKPERF_KERNEL_COUNTS_H

#include <mkperf/counts.h>
#include <mkperf/descriptor.h>

struct mkperf_counts_state { /* of one core; zero at boot */
    uint32_t epoch;          /* of the descriptor that the rest belongs to */
    uint32_t last[MKPERF_MAX_COUNTERS];
};

/*
 * Gives what the counters counted since the last call to `thread`, which ran meanwhile. To be
 * called before another thread runs, and after each mkperf_capture (a counter must not pass 2^31
 * events between two calls). d: the published descriptor with `counts` set; t: the table there;
 * self: the identity of the profiler PD. Interrupts masked. About 12 instructions for each counter.
 */
void mkperf_counts_switch(const struct mkperf_descriptor *d, struct mkperf_counts_state *s,
                          struct mkperf_counts *t, uint64_t thread, uint64_t self);

/*
 * The same where counts are read at each entry into the kernel instead: what was counted in user
 * mode since the last call is `user`'s, who ran until the entry, and what was counted in the kernel
 * is `kernel`'s, who had entered it before.
 */
void mkperf_counts_entry(const struct mkperf_descriptor *d, struct mkperf_counts_state *s,
                         struct mkperf_counts *t, uint64_t user, uint64_t kernel, uint64_t self);

#endif
