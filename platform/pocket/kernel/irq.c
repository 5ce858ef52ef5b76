/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupts: delivery to PDs as notifications, and the profiler's requests.
 *
 * Owns: which task holds which interrupt. A delivered interrupt stays masked until its holder
 * acknowledges it. Not so the PMU's where a counter of a session overflowed: the hook silences it.
 */
#include <microkit.h>

#include "ways_in.h"

static struct {
    struct task *task; /* NULL: no task's */
    uint64_t badge;
} holders[POCKET_MAX_IRQS];

struct task *pmu_task;
uint64_t pmu_badge;

/* Gives t the interrupt of one of its channels. On t's core, if that is private to it. */
static void bind(struct task *t, unsigned channel)
{
    const struct pocket_channel *c = &t->pd->channel[channel];

    holders[c->irq].task = t;
    holders[c->irq].badge = UINT64_C(1) << channel;
    if (c->irq == PMU_IRQ) {
        pmu_task = t;
        pmu_badge = UINT64_C(1) << channel;
    }
    arch_irq_route(c->irq, c->edge, t->pd->cpu);
    arch_irq_enable(c->irq);
}

/* Gives all tasks of a core their interrupts, on that core. */
void irq_bind_all(const struct core *core)
{
    for (unsigned i = 0; i < ntasks; i++) {
        for (unsigned c = 0; c < POCKET_CHANNELS && tasks[i].core == core; c++) {
            if (tasks[i].pd->channel[c].flags & POCKET_CHANNEL_IRQ) {
                bind(&tasks[i], c);
            }
        }
    }
}

/*
 * Returns a task's memory as the kernel sees it: 8-byte aligned, readable or writable by the task,
 * normal RAM, wholly within one page or block. NULL if it is not.
 */
void *irq_find_memory(const struct task *t, uint64_t va, uint64_t bytes, bool write)
{
    uint64_t tables;

    if (t->pd == NULL || va % sizeof(uint64_t) != 0 || va >= POCKET_USER_TOP) {
        return NULL;
    }
    tables = t->pd->tables;
    for (unsigned shift = 30; shift >= 12; shift -= 9) {
        uint64_t entry = ((const uint64_t *)ram(tables))[va >> shift & 511];
        uint64_t offset = va & ((UINT64_C(1) << shift) - 1);
        if ((entry & ENTRY_VALID) == 0) {
            return NULL;
        }
        tables = arch_entry_address(entry);
        if (arch_is_leaf(entry, shift)) {
            uint64_t size = UINT64_C(1) << shift;
            bool good = arch_allows(entry, write) && in_ram(tables) && bytes <= size &&
                        offset <= size - bytes;
            return good ? ram(tables + offset) : NULL;
        }
    }
    return NULL;
}

static struct mkperf_descriptor *descriptor(const struct task *t, uint64_t va)
{
    return va != 0 && va % sizeof(uint64_t) == 0
               ? irq_find_memory(t, va, sizeof(struct mkperf_descriptor), true)
               : NULL;
}

static void request(struct core *core, struct mkperf_descriptor *d, const struct task *t)
{
    mkperf_hook_request(&core->hook, d, t, true);
    if (core->hook.mask != 0) {
        qemu_pmu_follow(&core->hook, core->current->pd == NULL);
    }
    entry_session(core);
}

/*
 * Handles the acknowledgement of the PMU's interrupt by its holder. It is a request of the
 * profiler, if its IPC buffer names a descriptor. A request about another core is carried out
 * there, when that core is called on the way out.
 */
void irq_request(struct core *core, struct task *t)
{
    uint64_t va = t->message[seL4_MsgMaxLength]; /* userData */
    struct mkperf_descriptor *d = descriptor(t, va);
    uint32_t number = d != NULL ? mkperf_hook_core(d, core->number) : 0;

    if (d == NULL) {
        return;
    }
    if (number == core->number) {
        request(core, d, t);
    } else if (number < ncores) {
        cores[number]->asked = t;
        cores[number]->asked_at = va;
    } else {
        mkperf_hook_request(&core->hook, d, t, false);
    }
}

/* Carries out a request of another core's caller about this core. */
void irq_request_here(struct core *core)
{
    struct mkperf_descriptor *d = descriptor(core->asked, core->asked_at);

    if (d != NULL) {
        request(core, d, core->asked);
        arch_irq_enable(PMU_IRQ);
    }
    core->asked = NULL;
}

/* Makes samples of overflows that have caused no interrupt yet, at a boundary (hook.h). hit: 0, or counters of the
 * session. The profiler may become ready. */
void irq_boundary(struct core *core, uint32_t hit)
{
    if (hit == 0 || mkperf_hook_wakes_each(&core->hook)) {
        return;
    }
    mkperf_hook_take(&core->hook, hit);
    qemu_pmu_arm(&core->hook, core->current->pd == NULL);
}

/* Makes samples at a boundary within the kernel. hit: counters of its present work. */
void irq_boundary_inside(struct core *core, uint32_t hit)
{
    core->inside = true;
    irq_boundary(core, hit);
    core->inside = false;
}

void irq_entry(struct core *core)
{
    unsigned irq = core->iar & IRQ_NUMBER;

    if (irq >= IRQ_NONE) {
        return;
    }
    core->last_entry = (uint64_t)irq_entry;
    if (irq == TICK_IRQ) {
        sched_tick();
    } else {
        core->hook.answer.spurious += irq == PMU_IRQ;
        arch_irq_disable(irq);
        if (irq < POCKET_MAX_IRQS && holders[irq].task != NULL) {
            if (reported(core)) {
                mkperf_sched_event(&core->hook, MKPERF_SCHED_IRQ, irq, holders[irq].task,
                                   mkperf_port_time());
            }
            ipc_notify(holders[irq].task, holders[irq].badge);
        }
    }
    arch_irq_end(core->iar);
}

struct task *irq_slow(void)
{
    core_self()->current->calling = false;
    irq_entry(core_self());
    return sched_exit();
}
