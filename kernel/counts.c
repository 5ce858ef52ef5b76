/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact counts by thread: see hook.h, which says who calls and when.
 *
 * Counters are never stopped or written here, so counts by thread lose nothing and their sum is
 * what the counters say. Bounded: MKPERF_MAX_COUNTERS counters, MKPERF_COUNT_THREADS entries. The
 * session was checked when it began, and the table is the profiler PD's own.
 */
#include <mkperf_port.h>

#include "hook.h"

/* A thread as the tables tell it, see sc_if in descriptor.h. */
static uint64_t sc_of(const struct mkperf_hook *s, struct mkperf_identity id)
{
    return (id.badge & s->session.sc_if) != 0 ? id.sc & s->session.sc_mask : 0;
}

/* The thread's entry, maybe a new one; NULL if the table is full. */
static struct mkperf_counts_thread *find(const struct mkperf_hook *s, struct mkperf_identity id)
{
    uint64_t key = mkperf_counts_key(id.badge);
    uint64_t sc = sc_of(s, id);
    uint64_t at = (key + sc) * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    for (unsigned i = 0; i < MKPERF_COUNT_THREADS; i++, at++) {
        struct mkperf_counts_thread *entry = &s->counts->thread[at % MKPERF_COUNT_THREADS];
        if (entry->key == 0) {
            entry->key = key;
            entry->sc = sc;
        }
        if (entry->key == key && entry->sc == sc) {
            return entry;
        }
    }
    return NULL;
}

/* The session's table, NULL if it has none or it is not mapped any more. */
static struct mkperf_counts *counts_table(struct mkperf_hook *s)
{
    if (s->counts == NULL && s->session.counts != 0) {
        s->counts = mkperf_port_memory(s->owner, s->session.counts, sizeof(struct mkperf_counts));
        s->count_known = false;
    }
    return s->counts;
}

void mkperf_counts_entry(struct mkperf_hook *s, struct mkperf_identity user,
                         struct mkperf_identity kernel)
{
    struct mkperf_counts *t = counts_table(s);

    if (t == NULL) {
        return;
    }
    struct mkperf_counts_thread *of_user = find(s, user);
    struct mkperf_counts_thread *of_kernel =
        user.badge == kernel.badge && user.sc == kernel.sc ? of_user : find(s, kernel);
    bool known = s->count_known && of_user != NULL && of_kernel != NULL;

    if (!known) { /* counters were set again since: only the next interval is known */
        struct mkperf_identity self = mkperf_port_identity(s->owner);
        t->self = mkperf_counts_key(self.badge);
        t->self_sc = sc_of(s, self);
        s->count_known = true;
    }
    for (uint32_t rest = s->session.count_mask; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        uint32_t value = mkperf_pmu_read(i);
        if (known) {
            struct mkperf_counts_thread *entry = s->kernel_mask >> i & 1 ? of_kernel : of_user;
            entry->count[s->session.slot[i]] += (value - s->count_last[i]) & MKPERF_COUNT_BITS;
        }
        s->count_last[i] = value;
    }
}

void mkperf_counts_switch(struct mkperf_hook *s, struct mkperf_identity thread)
{
    mkperf_counts_entry(s, thread, thread);
}
