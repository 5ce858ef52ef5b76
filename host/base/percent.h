/* SPDX-License-Identifier: BSD-2-Clause */
/* The one way to say which part of a whole something is. */
#ifndef MKPERF_HOST_BASE_PERCENT_H
#define MKPERF_HOST_BASE_PERCENT_H

#include <stdint.h>

/* In per cent; 0 of nothing. */
static inline double mkperf_percent(uint64_t part, uint64_t whole)
{
    return whole != 0 ? 100.0 * (double)part / (double)whole : 0;
}

#endif
