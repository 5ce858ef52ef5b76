/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorting: the order of numbers, and qsort for arrays that may be empty. */
#ifndef MKPERF_HOST_BASE_SORT_H
#define MKPERF_HOST_BASE_SORT_H

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

/* The result of a comparison for ascending order. Exchanged operands give descending order. */
static inline int mkperf_compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* p may be NULL if n is 0. */
static inline void mkperf_sort(void *p, size_t n, size_t size,
                               int (*compare)(const void *a, const void *b))
{
    assert(p != NULL || n == 0);
    if (n > 1) {
        qsort(p, n, size, compare);
    }
}

#endif
