/* SPDX-License-Identifier: BSD-2-Clause */
/* Percentages, which all outputs compute in one way. */
#ifndef MKPERF_HOST_BASE_PERCENT_H
#define MKPERF_HOST_BASE_PERCENT_H

#include <stdint.h>

/* part of whole in per cent; 0 if whole is 0. */
static inline double mkperf_percent(uint64_t part, uint64_t whole)
{
    return whole != 0 ? 100.0 * (double)part / (double)whole : 0;
}

#endif
