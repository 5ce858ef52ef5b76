/* SPDX-License-Identifier: BSD-2-Clause */
/* The ring between two threads: millions of records, each checked, under ThreadSanitizer. Both
 * sides alternate between single records and contiguous runs. */
#include "ring_records.h"

enum { RECORDS = 2000000 };

/* Writes up to seven records at once, from n on, as far as they fit. Returns how many. */
static unsigned produce_some(struct mkperf_ring_producer *p, uint64_t n)
{
    uint64_t room;
    uint64_t *w = mkperf_ring_room(p, &room);
    uint64_t bytes = 0;
    unsigned some = 0;

    while (some < 7 && n + some < RECORDS && bytes + 8 * (uint64_t)words_of(n + some) <= room) {
        fill(w + bytes / 8, n + some);
        bytes += 8 * (uint64_t)words_of(n + some);
        some++;
    }
    mkperf_ring_commit(p, bytes);
    return some;
}

static void *produce(void *arg)
{
    struct mkperf_ring_producer p = {.ring = arg, .size = SIZE};

    for (uint64_t n = 0; n < RECORDS;) {
        unsigned some = n % 5 != 0 ? produce_some(&p, n) : 0;
        if (some != 0) {
            n += some;
            continue;
        }
        unsigned words = words_of(n);
        uint64_t *w = mkperf_ring_reserve(&p, 8 * (words + n % 3)); /* more than is used, too */
        if (w == NULL) {
            sched_yield();
            continue;
        }
        fill(w, n);
        mkperf_ring_commit(&p, 8 * (uint64_t)words);
        n++;
    }
    return NULL;
}

/* Reads all contiguous readable records, from n on. Returns how many. */
static unsigned consume_some(struct mkperf_ring_consumer *c, uint64_t n)
{
    uint64_t bytes;
    uint64_t head = __atomic_load_n(&c->ring->head, __ATOMIC_ACQUIRE);
    const uint64_t *r = mkperf_ring_stretch(c, head, &bytes);
    uint64_t at = 0;
    unsigned some = 0;

    while (at < bytes && mkperf_record_type(r[at / 8]) == MKPERF_RECORD_SAMPLE) {
        unsigned size = mkperf_record_size(r[at / 8]);
        check(r + at / 8, size, n + some);
        at += size;
        some++;
    }
    mkperf_ring_release(c, (unsigned)at);
    return some;
}

static void *consume(void *arg)
{
    struct mkperf_ring_consumer c = {.ring = arg, .size = SIZE};
    uint64_t stretches = 0;

    for (uint64_t n = 0; n < RECORDS;) {
        bool corrupt = false;
        unsigned size;
        unsigned some = n % 7 != 0 ? consume_some(&c, n) : 0;
        if (some != 0) {
            n += some;
            stretches++;
            continue;
        }
        const uint64_t *r = mkperf_ring_peek(&c, &size, &corrupt);
        if (corrupt) {
            fail("corrupt", n);
        }
        if (r == NULL) {
            sched_yield();
            continue;
        }
        check(r, size, n);
        mkperf_ring_release(&c, size);
        n++;
    }
    if (stretches == 0) {
        fail("never a stretch", RECORDS);
    }
    printf("%d records\n", RECORDS);
    return NULL;
}

int main(void)
{
    return run_threads(produce, consume);
}
