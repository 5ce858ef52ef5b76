/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of a ring for its tests with two threads: each has a number, which gives its length and its content.
 *
 * Owns: these records, and the two threads on a ring.
 */
#ifndef TESTS_TSAN_RING_RECORDS_H
#define TESTS_TSAN_RING_RECORDS_H

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include <mkperf/ring.h>

enum { SIZE = 8192 };

static inline void fail(const char *what, uint64_t n)
{
    fprintf(stderr, "record %llu: %s\n", (unsigned long long)n, what);
    exit(1);
}

static inline unsigned words_of(uint64_t n)
{
    return 2 + (unsigned)(n * 2654435761u >> 7) % 20;
}

/* Writes record n. */
static inline void fill(uint64_t *w, uint64_t n)
{
    unsigned words = words_of(n);

    w[0] = mkperf_record_header(MKPERF_RECORD_SAMPLE, 8 * words, 0, 0, 0, 0);
    for (unsigned i = 1; i < words; i++) {
        w[i] = n * 31 + i;
    }
}

/* Checks that it is record n. */
static inline void check(const uint64_t *r, unsigned size, uint64_t n)
{
    if (size != 8 * words_of(n)) {
        fail("size", n);
    }
    for (unsigned i = 1; i < size / 8; i++) {
        if (r[i] != n * 31 + i) {
            fail("content", n);
        }
    }
}

/* Runs both threads on a ring until they end. Returns the exit status. */
static inline int run_threads(void *(*produce)(void *ring), void *(*consume)(void *ring))
{
    struct mkperf_ring *ring = calloc(1, MKPERF_RING_HEADER_BYTES + SIZE);
    pthread_t producer;
    pthread_t consumer;

    if (ring == NULL || pthread_create(&producer, NULL, produce, ring) != 0 ||
        pthread_create(&consumer, NULL, consume, ring) != 0) {
        return 1;
    }
    pthread_join(consumer, NULL);
    pthread_join(producer, NULL);
    free(ring);
    return 0;
}

#endif
