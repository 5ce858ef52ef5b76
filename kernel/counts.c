/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact counts by thread: see counts.h, which says who calls and when.
 *
 * Counters are never stopped or written here, so counts by thread lose nothing and their sum is
 * what the counters say. Bounded: MKPERF_MAX_COUNTERS counters, MKPERF_COUNT_THREADS entries. The
 * descriptor is trusted in nothing: slots are clamped, and the table is the profiler PD's own.
 */
#include <mkperf_port.h>

#include "counts.h"

/* The thread's entry, maybe a new one; NULL if the table is full. */
static struct mkperf_counts_thread *find(struct mkperf_counts *t, uint64_t thread)
{
    uint64_t key = mkperf_counts_key(thread);
    uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    for (unsigned i = 0; i < MKPERF_COUNT_THREADS; i++, at++) {
        struct mkperf_counts_thread *entry = &t->thread[at % MKPERF_COUNT_THREADS];
        if (entry->key == key || entry->key == 0) {
            entry->key = key;
            return entry;
        }
    }
    return NULL;
}

void mkperf_counts_entry(const struct mkperf_descriptor *d, struct mkperf_counts_state *s,
                         struct mkperf_counts *t, uint64_t user, uint64_t kernel, uint64_t self)
{
    struct mkperf_counts_thread *of_user = find(t, user);
    struct mkperf_counts_thread *of_kernel = user == kernel ? of_user : find(t, kernel);
    uint32_t epoch = d->count_epoch;
    bool known = s->epoch == epoch && of_user != NULL && of_kernel != NULL;

    if (!known) { /* counters were set anew since: only the next interval is known */
        t->self = mkperf_counts_key(self);
        t->magic = MKPERF_COUNTS_MAGIC;
        s->epoch = epoch;
    }
    for (uint32_t rest = d->count_mask & mkperf_port_counters(); rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        uint32_t value = mkperf_port_counter_read(i);
        if (known) {
            struct mkperf_counts_thread *entry = d->kernel_mask >> i & 1 ? of_kernel : of_user;
            entry->count[d->slot[i] % MKPERF_COUNT_SLOTS] += (value - s->last[i]) &
                                                             MKPERF_COUNT_BITS;
        }
        s->last[i] = value;
    }
}

void mkperf_counts_switch(const struct mkperf_descriptor *d, struct mkperf_counts_state *s,
                          struct mkperf_counts *t, uint64_t thread, uint64_t self)
{
    mkperf_counts_entry(d, s, t, thread, thread, self);
}
