/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Software events: see hook.h, which says who calls, and include/mkperf/soft.h, which says what
 * they are.
 *
 * What may be lost: the attribution of an event whose thread or edge finds no place in the table
 * (the totals still have it), and the record of a fault for which the ring has no room (counted).
 */
#include <mkperf_port.h>

#include "hook.h"

#define SOFT_HASH UINT64_C(0x9e3779b97f4a7c15)

/* The session's table, NULL if it has none or it is not mapped any more. */
static struct mkperf_soft *soft_table(struct mkperf_hook *s)
{
    if (s->soft == NULL && s->session.soft_mask != 0) {
        s->soft = mkperf_port_memory(s->owner, s->session.soft, sizeof(struct mkperf_soft));
    }
    return s->soft;
}

/* A thread as the tables tell it, see sc_if in descriptor.h. */
static struct mkperf_identity key_of(const struct mkperf_hook *s, struct mkperf_identity id)
{
    uint64_t sc = (id.badge & s->session.sc_if) != 0 ? id.sc & s->session.sc_mask : 0;

    return (struct mkperf_identity){mkperf_counts_key(id.badge), sc};
}

static void count_thread(struct mkperf_soft *t, unsigned kind, struct mkperf_identity key)
{
    uint64_t at = (key.badge + key.sc) * SOFT_HASH >> 32;

    for (unsigned i = 0; i < MKPERF_COUNT_THREADS; i++, at++) {
        struct mkperf_soft_thread *entry = &t->thread[at % MKPERF_COUNT_THREADS];
        if (entry->key == 0) {
            entry->key = key.badge;
            entry->sc = key.sc;
        }
        if (entry->key == key.badge && entry->sc == key.sc) {
            entry->count[kind]++;
            return;
        }
    }
}

static void count_edge(struct mkperf_soft *t, unsigned kind, struct mkperf_identity from,
                       struct mkperf_identity to)
{
    uint64_t at = ((from.badge + from.sc) * SOFT_HASH + to.badge + to.sc) * SOFT_HASH >> 32;

    for (unsigned i = 0; i < MKPERF_SOFT_PROBES; i++, at++) {
        struct mkperf_soft_edge *edge = &t->edge[at % MKPERF_SOFT_EDGES];
        if (edge->from == 0) {
            edge->from = from.badge;
            edge->from_sc = from.sc;
            edge->to = to.badge;
            edge->to_sc = to.sc;
        }
        if (edge->from == from.badge && edge->from_sc == from.sc && edge->to == to.badge &&
            edge->to_sc == to.sc) {
            edge->count[kind]++;
            return;
        }
    }
}

void mkperf_soft_event(struct mkperf_hook *s, unsigned kind, struct mkperf_identity from,
                       struct mkperf_identity to)
{
    struct mkperf_soft *t = soft_table(s);

    if (t == NULL || !(s->session.soft_mask >> kind & 1)) {
        return;
    }
    t->total[kind]++;
    count_thread(t, kind, key_of(s, from));
    if (kind >= MKPERF_SOFT_PPCALL) {
        count_edge(t, kind - MKPERF_SOFT_PPCALL, key_of(s, from), key_of(s, to));
    }
}

void mkperf_soft_fault(struct mkperf_hook *s, struct mkperf_identity thread, uint64_t pc,
                       uint64_t address)
{
    uint64_t bytes = UINT64_C(8) * MKPERF_FAULT_WORDS;
    struct mkperf_soft *t = soft_table(s);

    mkperf_soft_event(s, MKPERF_SOFT_FAULT, thread, thread);
    if (t == NULL || (s->session.soft_mask & MKPERF_SOFT_FAULT_RECORDS) == 0) {
        return;
    }
    struct mkperf_ring *ring = mkperf_port_memory(
        s->owner, s->session.ring, (uint64_t)s->ring_bytes + MKPERF_RING_HEADER_BYTES);
    if (ring == NULL) {
        t->records_dropped++;
        return;
    }
    struct mkperf_ring_producer p = {.ring = ring, .size = s->ring_bytes, .head = s->head};
    uint64_t *w = mkperf_ring_reserve(&p, bytes);

    if (w == NULL) {
        t->records_dropped++;
    } else {
        w[MKPERF_WORD_HEADER] =
            mkperf_record_header(MKPERF_RECORD_FAULT, (unsigned)bytes, 0, 0, 0, mkperf_port_core());
        w[MKPERF_WORD_TIME] = mkperf_port_time();
        w[MKPERF_WORD_THREAD] = thread.badge;
        w[MKPERF_WORD_SC] = thread.sc;
        w[MKPERF_FAULT_PC] = pc;
        w[MKPERF_FAULT_ADDRESS] = address;
        mkperf_ring_commit(&p, bytes);
        s->head = p.head;
    }
    mkperf_port_wake();
}
