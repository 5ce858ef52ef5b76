/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stretch of time that a sample stands for, for pictures that have a time axis.
 *
 * Owns: the rule. The time of a core between two samples of an event is the later one's, so no
 * moment is two samples' and a core is never busy for more than the time there is. An event that
 * counts with time (cycles, a clock) says more: a sample of n cycles stands for no more time than n
 * cycles take. So time in which a core slept without counting stays empty, and a late sample, which
 * stands for several periods, fills all of them. Called by the page's data and by the Firefox
 * export.
 *
 * What may be wrong: a core's speed is taken from the samples themselves (its 90th percentile), so
 * it is too low if it never ran undisturbed between two samples.
 */
#ifndef MKPERF_HOST_PROFILE_SPANS_H
#define MKPERF_HOST_PROFILE_SPANS_H

#include "profile.h"

/*
 * The time in ns that ends with each of n samples, which are in the order of time. To be freed.
 * rate: NULL, or for each event of p how many of it a core counts in a nanosecond if it does nothing
 * else; 0 if that is not known, or if the event does not count with time.
 */
uint64_t *mkperf_profile_spans(const struct mkperf_profile *p,
                               const struct mkperf_profile_sample *sample, size_t n, double *rate);

/* Whether an event of that name counts with time. */
bool mkperf_event_is_time(const char *name);

#endif
