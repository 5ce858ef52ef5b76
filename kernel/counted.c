/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a session counts in the kernel: PMU events by thread, and software events.
 *
 * Owns: how the two tables of the profiler PD are written (include/mkperf/counts.h, soft.h), and the look
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

/* Returns the key of a thread in the tables. */
static struct mkperf_identity key_of(const struct mkperf_hook *s, struct mkperf_identity id)
{
    return (struct mkperf_identity){mkperf_counts_key(id.badge), mkperf_hook_sc(s, id)};
}

/*
 * Finds the row of a thread, or a free one, which then has its key. Returns the counts behind the key;
 * NULL if no row is free. rows: MKPERF_COUNT_THREADS rows of `words` words, which begin with the key. A
 * first word of 0 is a free row.
 */
MKPERF_INLINE uint64_t *thread_counts(uint64_t *rows, unsigned words, struct mkperf_identity key)
{
    uint64_t at = (key.badge + key.sc) * ROW_HASH >> 32;

    for (unsigned i = 0; i < MKPERF_COUNT_THREADS; i++, at++) {
        uint64_t *row = rows + at % MKPERF_COUNT_THREADS * words;
        if (row[0] == 0) {
            row[0] = key.badge;
            row[1] = key.sc;
        }
        if (row[0] == key.badge && row[1] == key.sc) {
            return row + 2;
        }
    }
    return NULL;
}

void mkperf_counts_take(struct mkperf_hook *s)
{
    struct mkperf_counts *t = s->memory.counts;
    uint64_t *count =
        t != NULL ? thread_counts(&t->thread->key, sizeof t->thread[0] / 8, key_of(s, s->running))
                  : NULL;

    MKPERF_EACH_BIT (i, s->session.count_mask) {
        uint32_t left = 0 - mkperf_pmu_read(i);
        if (count != NULL) {
            count[s->session.slot[i] % MKPERF_COUNT_SLOTS] += (s->session.counter[i].left - left) &
                                                              MKPERF_COUNT_BITS;
        }
        s->session.counter[i].left = left;
    }
}

static void count_edge(struct mkperf_soft *t, unsigned kind, struct mkperf_identity from,
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
    struct mkperf_soft *t = s->memory.soft;

    if (t == NULL || id.badge == MKPERF_THREAD_IDLE || (id.sc & MKPERF_SC_VCPU) != 0) {
        return;
    }
    uint64_t *count = thread_counts(&t->thread->key, sizeof t->thread[0] / 8, key_of(s, id));
    uint64_t sp = mkperf_port_sp(thread);
    if (count != NULL && count[MKPERF_SOFT_KINDS] - 1 >= sp) { /* the member `least`; 0 is none */
        count[MKPERF_SOFT_KINDS] = sp;
    }
    if (s->session.sched == 0) { /* otherwise an event gives it the slot, and a record names it */
        s->sched.slot[mkperf_port_slot(thread) % MKPERF_SCHED_SLOTS] = thread;
    }
}

uint32_t mkperf_soft_page(struct mkperf_hook *s, struct mkperf_descriptor *d)
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
    d->answer.badge = id.badge;
    d->answer.sc = id.sc;
    d->answer.readable = words != 0;
    d->answer.word = i < words ? page + i * sizeof *word : 0;
    return MKPERF_REQUEST_OK;
}

void mkperf_soft_event(struct mkperf_hook *s, unsigned kind, struct mkperf_identity from,
                       struct mkperf_identity to)
{
    struct mkperf_soft *t = s->memory.soft;

    if (t == NULL || (s->session.soft_mask >> kind & 1) == 0) {
        return;
    }
    struct mkperf_identity key = key_of(s, from);
    uint64_t *count = thread_counts(&t->thread->key, sizeof t->thread[0] / 8, key);
    t->total[kind]++;
    if (count != NULL) {
        count[kind]++;
    }
    if (kind >= MKPERF_SOFT_PPCALL) {
        count_edge(t, kind - MKPERF_SOFT_PPCALL, key, key_of(s, to));
    }
}
