/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What can be taken away while the system runs: a page of a PD's, and a child.
 *
 * Owns: sys_page and sys_pd_delete, for the test of what the hook does then (tests/pd/race.c). With the
 * lock, as all of the kernel; when either returns, no core has a translation of the page in its TLB, and
 * no hook an address that was found by it, or the thread in an event.
 */
#include <pocket_syscall.h>

#include "core.h"

/* Returns the entry of the page or block with that address, or NULL if there never was one. */
static uint64_t *entry_of(const struct task *t, uint64_t va)
{
    uint64_t *table = ram(t->pd->tables);

    for (unsigned shift = 30; va < POCKET_USER_TOP; shift -= 9) {
        uint64_t *entry = &table[va >> shift & 511];
        if (*entry == 0) {
            return NULL;
        }
        if (arch_is_leaf(*entry, shift)) {
            return entry;
        }
        table = ram(arch_entry_address(*entry));
    }
    return NULL;
}

void sys_page(struct task *t)
{
    uint64_t who = t->context.x[A0] & ~POCKET_PAGE_MAP;
    const struct task *of = who == POCKET_PAGE_OWN ? t : task_child(t, who);
    uint64_t *entry = of != NULL ? entry_of(of, t->context.x[A1]) : NULL;
    bool map = (t->context.x[A0] & POCKET_PAGE_MAP) != 0;

    t->context.x[A0] = entry != NULL;
    if (entry == NULL) {
        return;
    }
    *entry = map ? *entry | ENTRY_VALID : *entry & ~ENTRY_VALID;
    arch_flush();
    for (unsigned i = 0; i < ncores; i++) {
        mkperf_hook_unmapped(&cores[i]->hook);
    }
}

/* Deletes a PD, which a restart can make again. */
void sys_pd_delete(struct task *t)
{
    struct task *child = task_child(t, t->context.x[A0]);

    t->context.x[A0] = child != NULL;
    if (child == NULL) {
        return;
    }
    ipc_cancel(child);
    for (unsigned i = 0; i < ncores; i++) {
        struct mkperf_hook *hook = &cores[i]->hook;
        mkperf_sched_forget(hook, child);
        if (hook->owner == child) {
            mkperf_hook_end(hook, cores[i] == core_self());
        }
    }
}
