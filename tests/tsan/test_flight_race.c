/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ring's flight recorder policy between two threads: one records and overwrites; the other
 * sometimes requests all records and reads them while the first one waits, as a profiler PD waits
 * for its client. Every record is whole, and they are the newest, without a gap.
 */
#include <stdatomic.h>

#include "ring_records.h"

enum { RECORDS = 400000, DUMPS = 400 };

static atomic_bool asked, over; /* asked: a protected call; its reply is that it is false again */

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
    fill(mkperf_ring_place(p, UINT64_C(8) * words), n);
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
            uint64_t n = (r[1] - 1) / 31;
            check(r, size, n);
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
    return run_threads(produce, consume);
}
