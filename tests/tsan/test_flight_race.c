/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ring's flight recorder policy between two threads: one records and overwrites; the other
 * sometimes requests all records and reads them while the first one waits, as a profiler PD waits
 * for its client. Every record is whole, and they are the newest, without a gap.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <mkperf/ring.h>

enum { SIZE = 8192, RECORDS = 400000, DUMPS = 400 };

static atomic_bool asked, over; /* asked: a protected call; its reply is that it is false again */

static unsigned words_of(uint64_t n)
{
    return 2 + (unsigned)(n * 2654435761u >> 7) % 20;
}

static void fail(const char *what, uint64_t n)
{
    fprintf(stderr, "record %llu: %s\n", (unsigned long long)n, what);
    exit(1);
}

static void keep(struct mkperf_ring_producer *p, uint64_t n)
{
    unsigned words = words_of(n);
    unsigned size;

    while (!mkperf_ring_fits(p, UINT64_C(8) * words)) {
        if (mkperf_ring_oldest(p, &size) == NULL) {
            fail("no oldest record, and no room", n);
        }
        p->tail += size;
    }
    uint64_t *w = mkperf_ring_place(p, UINT64_C(8) * words);
    w[0] = mkperf_record_header(MKPERF_RECORD_SAMPLE, 8 * words, 0, 0, 0, 0);
    for (unsigned i = 1; i < words; i++) {
        w[i] = n * 31 + i;
    }
    mkperf_ring_keep(p, UINT64_C(8) * words);
}

static void *produce(void *arg)
{
    struct mkperf_ring_producer p = {.ring = arg, .size = SIZE};

    for (uint64_t n = 0; n < RECORDS || !atomic_load(&over); n++) {
        keep(&p, n);
        if (!atomic_load(&asked)) {
            continue;
        }
        mkperf_ring_show(&p, p.tail);
        atomic_store(&asked, false);
        while (mkperf_ring_used(&p) != 0) { /* owned by the consumer until it has released all */
            sched_yield();
        }
    }
    return NULL;
}

/* Checks one record. Returns its number. */
static uint64_t check(const uint64_t *r, unsigned size)
{
    uint64_t n = (r[1] - 1) / 31;

    if (size != 8 * words_of(n)) {
        fail("size", n);
    }
    for (unsigned i = 1; i < size / 8; i++) {
        if (r[i] != n * 31 + i) {
            fail("content", n);
        }
    }
    return n;
}

static void *consume(void *arg)
{
    struct mkperf_ring_consumer c = {.ring = arg, .size = SIZE};
    uint64_t records = 0;

    for (unsigned dump = 0; dump < DUMPS; dump++) {
        uint64_t last = 0, here = 0;
        const uint64_t *r;
        bool corrupt = false;
        unsigned size;
        atomic_store(&asked, true);
        while (atomic_load(&asked)) {
            sched_yield();
        }
        c.tail = __atomic_load_n(&c.ring->tail, __ATOMIC_RELAXED);
        while ((r = mkperf_ring_peek(&c, &size, &corrupt)) != NULL) {
            uint64_t n = check(r, size);
            if (here != 0 && n != last + 1) {
                fail("a hole before it", n);
            }
            last = n;
            here++;
            mkperf_ring_release(&c, size);
        }
        if (corrupt || here == 0) {
            fail(corrupt ? "corrupt" : "nothing was shown", last);
        }
        records += here;
    }
    printf("%llu records in %d dumps\n", (unsigned long long)records, DUMPS);
    atomic_store(&over, true);
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
    pthread_join(consumer, NULL);
    pthread_join(producer, NULL);
    free(ring);
    return 0;
}
