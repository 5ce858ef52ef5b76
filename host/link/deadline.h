/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a recording of a given duration ends.
 *
 * The duration is in the target's time, which only samples tell. If samples stop (the target's
 * threads all wait, or a filter lets nothing through), the deadline falls back to the host's time
 * plus a grace period: GRACE_S of the target's time, scaled by how slowly the target has been
 * running, since an emulated target may need many host seconds for one of its own.
 *
 * Owns: that decision. It reads no clock; all times are in seconds, monotonic.
 */
#ifndef MKPERF_HOST_LINK_DEADLINE_H
#define MKPERF_HOST_LINK_DEADLINE_H

#include <stdbool.h>

/* Seconds of the target's time, and the host seconds for one of them that are allowed at most. */
#define MKPERF_DEADLINE_GRACE_S 2.0
#define MKPERF_DEADLINE_MAX_SLOWDOWN 10.0

struct mkperf_deadline {
    double duration_s; /* 0: none */
    double began_s;    /* host's time */
    double
        progress_s;  /* host's time when a sample moved the target's time, or the link came back */
    double target_s; /* the target's time from the first sample to the last */
    bool has_samples;
};

static inline void mkperf_deadline_begin(struct mkperf_deadline *d, double duration_s, double now_s)
{
    *d = (struct mkperf_deadline){.duration_s = duration_s, .began_s = now_s, .progress_s = now_s};
}

/* What is known at now_s: target_s as above, ignored without samples. */
void mkperf_deadline_observe(struct mkperf_deadline *d, bool has_samples, double target_s,
                             double now_s);

/* The link came back: the wait for samples begins again. */
static inline void mkperf_deadline_restart_wait(struct mkperf_deadline *d, double now_s)
{
    d->progress_s = now_s;
}

/* Whether the duration is over. */
bool mkperf_deadline_over(const struct mkperf_deadline *d, double now_s);

#endif
