/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a session counts in the kernel: PMU events by thread, and software events.
 *
 * Owns: how the table of counts is written (include/mkperf/counts.h), and the look
 * at a page of a stack. Called by sched.c when something happens to a thread, by capture.c and by
 * request.c.
 *
 * Rules
 * 1. No counter is stopped or written here. The sum over threads is therefore what the counters say.
 * 2. What counters counted between two calls of mkperf_counts_take belongs to the thread that was
 *    running, s->running. The kernel's work belongs to the thread that ran before the next switch.
 * 3. A row, once taken, keeps its key for the session.
 * 4. Of a stack, only a page that the thread itself could read is read, and only compared with 0.
 *
 * What may be lost: the attribution of an event if the table has no free row. The totals still
 * contain it.
 */
#include <mkperf_port.h>

#include "hook.h"

#define ROW_HASH UINT64_C(0x9e3779b97f4a7c15)

/* Returns the key of a thread in the table. */
static struct mkperf_identity key_of(const struct mkperf_hook *s, struct mkperf_identity id)
{
    return (struct mkperf_identity){mkperf_counts_key(id.badge), mkperf_hook_sc(s, id)};
}

/* Finds the row of a thread, or a free one, which then has its key. NULL: no row is free. */
MKPERF_INLINE struct mkperf_counts_thread *thread_row(struct mkperf_counts *t,
                                                      struct mkperf_identity key)
{
    uint64_t at = (key.badge + key.sc) * ROW_HASH >> 32;

    for (unsigned i = 0; i < MKPERF_COUNT_THREADS; i++, at++) {
        struct mkperf_counts_thread *row = &t->thread[at % MKPERF_COUNT_THREADS];
        if (row->key == 0) {
            row->key = key.badge;
            row->sc = key.sc;
        }
        if (row->key == key.badge && row->sc == key.sc) {
            return row;
        }
    }
    return NULL;
}

void mkperf_counts_take(struct mkperf_hook *s)
{
    struct mkperf_counts_thread *row = NULL;

    if (s->session.count_mask != 0 && s->tables != NULL) {
        row = thread_row(&s->tables->counts, key_of(s, s->running));
    }
    MKPERF_EACH_BIT (i, s->session.count_mask) {
        struct mkperf_request_counter *c = &s->session.counter[i];
        uint32_t left = 0 - mkperf_pmu_read(i);
        if (row != NULL) {
            row->count[s->session.slot[i] % MKPERF_COUNT_SLOTS] += (c->left - left) &
                                                                   MKPERF_COUNT_BITS;
        }
        c->left = left;
    }
}

static void count_edge(struct mkperf_counts *t, unsigned kind, struct mkperf_identity from,
                       struct mkperf_identity to)
{
    uint64_t at = ((from.badge + from.sc) * ROW_HASH + to.badge + to.sc) * ROW_HASH >> 32;

    for (unsigned i = 0; i < MKPERF_SOFT_PROBES; i++, at++) {
        struct mkperf_soft_edge *edge = &t->edge[at % MKPERF_SOFT_EDGES];
        if (edge->from == 0) {
            *edge = (struct mkperf_soft_edge){from.badge, from.sc, to.badge, to.sc, {0}};
        }
        if (edge->from == from.badge && edge->from_sc == from.sc && edge->to == to.badge &&
            edge->to_sc == to.sc) {
            edge->count[kind]++;
            return;
        }
    }
}

void mkperf_soft_stack(struct mkperf_hook *s, const void *thread, struct mkperf_identity id)
{
    if (s->tables == NULL || id.badge == MKPERF_THREAD_IDLE || (id.sc & MKPERF_SC_VCPU) != 0) {
        return;
    }
    struct mkperf_counts_thread *row = thread_row(&s->tables->counts, key_of(s, id));
    uint64_t sp = mkperf_port_sp(thread);
    if (row != NULL && row->stack.least - 1 >= sp) { /* 0 is none */
        row->stack.least = sp;
    }
    if (s->session.sched == 0) { /* otherwise an event gives it the slot, and a record names it */
        s->sched.slot[mkperf_port_slot(thread) % MKPERF_SCHED_SLOTS] = thread;
    }
}

uint32_t mkperf_soft_page(struct mkperf_hook *s, const struct mkperf_descriptor *d)
{
    uint32_t slot = __atomic_load_n(&d->slot, __ATOMIC_RELAXED) % MKPERF_SCHED_SLOTS;
    uint64_t page = __atomic_load_n(&d->page, __ATOMIC_RELAXED) & ~(MKPERF_PAGE_BYTES - 1);
    const void *thread = s->sched.slot[slot];

    if (thread == NULL || (s->session.soft_mask & MKPERF_SOFT_STACKS) == 0) {
        return MKPERF_REQUEST_BAD_STATE;
    }
    struct mkperf_identity id = mkperf_port_identity(thread);
    const uint64_t *word = (const uint64_t *)mkperf_port_user_page(thread, 0, page);
    unsigned words = word != NULL ? MKPERF_PAGE_BYTES / sizeof *word : 0;
    unsigned i = 0;

    while (i < words && __atomic_load_n(word + i, __ATOMIC_RELAXED) == 0) {
        i++;
    }
    s->answer.badge = id.badge;
    s->answer.sc = id.sc;
    s->answer.readable = words != 0;
    s->answer.word = i < words ? page + i * sizeof *word : 0;
    return MKPERF_REQUEST_OK;
}

void mkperf_soft_event(struct mkperf_hook *s, unsigned kind, struct mkperf_identity from,
                       struct mkperf_identity to)
{
    if (s->tables == NULL || (s->session.soft_mask >> kind & 1) == 0) {
        return;
    }
    struct mkperf_counts *t = &s->tables->counts;
    struct mkperf_identity key = key_of(s, from);
    struct mkperf_counts_thread *row = thread_row(t, key);
    t->total[kind]++;
    if (row != NULL) {
        row->soft[kind]++;
    }
    if (kind >= MKPERF_SOFT_PPCALL) {
        count_edge(t, kind - MKPERF_SOFT_PPCALL, key, key_of(s, to));
    }
}
