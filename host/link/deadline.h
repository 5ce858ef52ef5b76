/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a recording of a given duration ends.
 *
 * The duration is in the target's time, which only samples show. Samples may stop: all threads of the
 * target wait, or a filter excludes those that run. The deadline is then in the host's time, plus a grace
 * period. That is GRACE_S of the target's time, multiplied by how slow the target has been: an emulated
 * target may need many host seconds for one of its own.
 *
 * Owns: this decision, for recorder_run.c. It reads no clock; all times are monotonic, in seconds.
 */
#ifndef MKPERF_HOST_LINK_DEADLINE_H
#define MKPERF_HOST_LINK_DEADLINE_H

#include "base/base.h"

/* Seconds of the target's time, and the most host seconds that are allowed for one of them. */
#define MKPERF_DEADLINE_GRACE_S 2.0
#define MKPERF_DEADLINE_MAX_SLOWDOWN 10.0

struct mkperf_deadline {
    double duration_s; /* 0: no deadline */
    double began_s;    /* host's time */
    /* The host's time when a sample last advanced the target's time, or the link came back. */
    double progress_s;
    double target_s; /* the target's time from the first sample to the last */
    bool has_samples;
};

static inline void mkperf_deadline_begin(struct mkperf_deadline *d, double duration_s, double now_s)
{
    *d = (struct mkperf_deadline){.duration_s = duration_s, .began_s = now_s, .progress_s = now_s};
}

/* Notes what is known at now_s. target_s: as in the structure; it is ignored without samples. */
static inline void mkperf_deadline_observe(struct mkperf_deadline *d, bool has_samples,
                                           double target_s, double now_s)
{
    if (has_samples && (!d->has_samples || target_s != d->target_s)) {
        d->has_samples = true;
        d->target_s = target_s;
        d->progress_s = now_s;
    }
}

/* The link has come back: the wait for samples begins again. */
static inline void mkperf_deadline_restart_wait(struct mkperf_deadline *d, double now_s)
{
    d->progress_s = now_s;
}

/* Host seconds in one second of the target, estimated from the times of samples: 1 to MAX_SLOWDOWN. */
static inline double mkperf_deadline_slowdown(const struct mkperf_deadline *d)
{
    double host_s = d->progress_s - d->began_s;

    if (!d->has_samples || host_s <= d->target_s) {
        return 1;
    }
    if (host_s >= MKPERF_DEADLINE_MAX_SLOWDOWN * d->target_s) {
        return MKPERF_DEADLINE_MAX_SLOWDOWN;
    }
    return host_s / d->target_s;
}

/* Whether the duration is over. */
static inline bool mkperf_deadline_over(const struct mkperf_deadline *d, double now_s)
{
    if (d->duration_s <= 0) {
        return false;
    }
    if (d->has_samples && d->target_s >= d->duration_s) {
        return true;
    }
    return now_s - d->began_s >= d->duration_s &&
           now_s - d->progress_s >= MKPERF_DEADLINE_GRACE_S * mkperf_deadline_slowdown(d);
}

#endif
