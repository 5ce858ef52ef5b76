/* SPDX-License-Identifier: BSD-2-Clause */
/* The host's own time, for patience. */
#ifndef MKPERF_HOST_BASE_MONOTONIC_H
#define MKPERF_HOST_BASE_MONOTONIC_H

#include <time.h>

static inline double mkperf_now_s(void) /* monotonic */
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#endif
