/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see deadline.h. */
#include "deadline.h"

void mkperf_deadline_observe(struct mkperf_deadline *d, bool has_samples, double target_s,
                             double now_s)
{
    if (has_samples && (!d->has_samples || target_s != d->target_s)) {
        d->has_samples = true;
        d->target_s = target_s;
        d->progress_s = now_s;
    }
}

/* Host seconds in one second of the target, estimated from samples' times: 1 to MAX_SLOWDOWN. */
static double slowdown(const struct mkperf_deadline *d)
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

bool mkperf_deadline_over(const struct mkperf_deadline *d, double now_s)
{
    if (d->duration_s <= 0) {
        return false;
    }
    if (d->has_samples && d->target_s >= d->duration_s) {
        return true;
    }
    return now_s - d->began_s >= d->duration_s &&
           now_s - d->progress_s >= MKPERF_DEADLINE_GRACE_S * slowdown(d);
}
