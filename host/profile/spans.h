/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stretch of time that a sample represents, for pictures with a time axis.
 *
 * Owns: the rule. The time of a core between two samples of an event belongs to the later sample. Therefore no moment belongs to
 * two samples of an event on a core. For an event that counts with time (cycles, a clock), a sample of n cycles represents at
 * most the time that n cycles take. Therefore time in which a core slept without counting is empty, and a late sample, which
 * represents several periods, fills all of them. The data of the page and the Firefox export call it.
 *
 * What may be wrong: the speed of a core is the 90th percentile of the rates between its samples. It is too low if the core never
 * ran undisturbed between two samples.
 */
#ifndef MKPERF_HOST_PROFILE_SPANS_H
#define MKPERF_HOST_PROFILE_SPANS_H

#include "profile.h"

/*
 * The time in ns that ends with each of n samples, which are in the order of time. The caller frees it. `rate` is NULL, or gets
 * for each event of p the number that a core counts in a nanosecond if it does nothing else; 0 if that is not known, or if the
 * event does not count with time.
 */
uint64_t *mkperf_profile_spans(const struct mkperf_profile *p,
                               const struct mkperf_profile_sample *sample, size_t n, double *rate);

/* Whether an event of that name counts with time. */
bool mkperf_event_is_time(const char *name);

#endif
