/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Software events: see soft.h, which says who calls.
 *
 * What may be lost: the attribution of an event whose thread or edge finds no place in the table
 * (the totals still have it), and the record of a fault for which the ring has no room (counted).
 */
#include <mkperf_port.h>

#include <mkperf/ring.h>

#include "soft.h"

#define SOFT_HASH UINT64_C(0x9e3779b97f4a7c15)

void mkperf_soft_begin(struct mkperf_soft *t)
{
    t->magic = MKPERF_SOFT_MAGIC;
}

static void count_thread(struct mkperf_soft *t, unsigned kind, uint64_t key)
{
    uint64_t at = key * SOFT_HASH >> 32;

    for (unsigned i = 0; i < MKPERF_COUNT_THREADS; i++, at++) {
        struct mkperf_soft_thread *entry = &t->thread[at % MKPERF_COUNT_THREADS];
        if (entry->key == key || entry->key == 0) {
            entry->key = key;
            entry->count[kind]++;
            return;
        }
    }
}

static void count_edge(struct mkperf_soft *t, unsigned kind, uint64_t from, uint64_t to)
{
    uint64_t at = (from * SOFT_HASH + to) * SOFT_HASH >> 32;

    for (unsigned i = 0; i < MKPERF_SOFT_PROBES; i++, at++) {
        struct mkperf_soft_edge *edge = &t->edge[at % MKPERF_SOFT_EDGES];
        if (edge->from == 0) {
            edge->from = from;
            edge->to = to;
        }
        if (edge->from == from && edge->to == to) {
            edge->count[kind]++;
            return;
        }
    }
}

void mkperf_soft_event(const struct mkperf_descriptor *d, struct mkperf_soft *t, unsigned kind,
                       uint64_t from, uint64_t to)
{
    if (!(d->soft_mask >> kind & 1)) {
        return;
    }
    t->total[kind]++;
    count_thread(t, kind, mkperf_counts_key(from));
    if (kind >= MKPERF_SOFT_PPCALL) {
        count_edge(t, kind - MKPERF_SOFT_PPCALL, mkperf_counts_key(from), mkperf_counts_key(to));
    }
}

void mkperf_soft_fault(const struct mkperf_descriptor *d, struct mkperf_capture_state *s,
                       struct mkperf_soft *t, uint64_t thread, uint64_t pc, uint64_t address)
{
    uint64_t bytes = UINT64_C(8) * MKPERF_FAULT_WORDS;

    mkperf_soft_event(d, t, MKPERF_SOFT_FAULT, thread, thread);
    if ((d->soft_mask & MKPERF_SOFT_FAULT_RECORDS) == 0) {
        return;
    }
    if (s->generation != d->generation) {
        t->records_dropped++; /* the hook does not know this ring yet */
        return;
    }
    struct mkperf_ring *ring =
        mkperf_port_ring(d, (uint64_t)s->ring_bytes + MKPERF_RING_HEADER_BYTES);
    if (ring == NULL) {
        return; /* the hook has not been able to write there, either */
    }
    struct mkperf_ring_producer p = {.ring = ring, .size = s->ring_bytes, .head = s->head};
    uint64_t *w = mkperf_ring_reserve(&p, bytes);

    if (w == NULL) {
        t->records_dropped++;
    } else {
        w[MKPERF_WORD_HEADER] =
            mkperf_record_header(MKPERF_RECORD_FAULT, (unsigned)bytes, 0, 0, 0, mkperf_port_core());
        w[MKPERF_WORD_TIME] = mkperf_port_time();
        w[MKPERF_WORD_THREAD] = thread;
        w[MKPERF_FAULT_PC] = pc;
        w[MKPERF_FAULT_ADDRESS] = address;
        mkperf_ring_commit(&p, bytes);
        s->head = p.head;
    }
    mkperf_port_wake();
}
