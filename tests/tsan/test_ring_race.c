/* SPDX-License-Identifier: BSD-2-Clause */
/* The ring between two threads: millions of records, each checked, under ThreadSanitizer. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include <mkperf/ring.h>

enum { SIZE = 8192, RECORDS = 2000000 };

static unsigned words_of(uint64_t n)
{
    return 2 + (unsigned)(n * 2654435761u >> 7) % 20;
}

static void *produce(void *arg)
{
    struct mkperf_ring_producer p = {.ring = arg, .size = SIZE};

    for (uint64_t n = 0; n < RECORDS;) {
        unsigned words = words_of(n);
        uint64_t *w = mkperf_ring_reserve(&p, 8 * (words + n % 3)); /* more than is used, too */
        if (w == NULL) {
            sched_yield();
            continue;
        }
        w[0] = mkperf_record_header(MKPERF_RECORD_SAMPLE, 8 * words, 0, 0, 0, 0);
        for (unsigned i = 1; i < words; i++) {
            w[i] = n * 31 + i;
        }
        mkperf_ring_commit(&p, 8 * (uint64_t)words);
        n++;
    }
    return NULL;
}

static void fail(const char *what, uint64_t n)
{
    fprintf(stderr, "record %llu: %s\n", (unsigned long long)n, what);
    exit(1);
}

static void *consume(void *arg)
{
    struct mkperf_ring_consumer c = {.ring = arg, .size = SIZE};

    for (uint64_t n = 0; n < RECORDS;) {
        bool corrupt = false;
        unsigned size;
        const uint64_t *r = mkperf_ring_peek(&c, &size, &corrupt);
        if (corrupt) {
            fail("corrupt", n);
        }
        if (r == NULL) {
            sched_yield();
            continue;
        }
        if (size != 8 * words_of(n)) {
            fail("size", n);
        }
        for (unsigned i = 1; i < size / 8; i++) {
            if (r[i] != n * 31 + i) {
                fail("content", n);
            }
        }
        mkperf_ring_release(&c, size);
        n++;
    }
    return NULL;
}

int main(void)
{
    struct mkperf_ring *ring = calloc(1, MKPERF_RING_HEADER_BYTES + SIZE);
    pthread_t producer;
    pthread_t consumer;

    if (ring == NULL || pthread_create(&producer, NULL, produce, ring) != 0 ||
        pthread_create(&consumer, NULL, consume, ring) != 0) {
        return 1;
    }
    pthread_join(producer, NULL);
    pthread_join(consumer, NULL);
    free(ring);
    printf("%d records\n", RECORDS);
    return 0;
}
