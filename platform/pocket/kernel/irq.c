/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupts: the GICv2, delivery to PDs as notifications, and the way to the profiler's hook.
 *
 * Owns: which task holds which interrupt. A delivered interrupt stays masked until its holder
 * acknowledges it. Not so the PMU's where a counter of a session overflowed: the hook silences it.
 */
#include <microkit.h>

#include "mkperf_port.h"

enum {
    GICD = 0x08000000,
    GICD_CTLR = 0x000,
    GICD_ISENABLER = 0x100,
    GICD_ICENABLER = 0x180,
    GICD_IPRIORITYR = 0x400,
    GICD_ITARGETSR = 0x800,
    GICD_ICFGR = 0xc00,
    GICD_SGIR = 0xf00,
    SGIR_TARGETS = 16, /* the first target's bit */
    GICC = 0x08010000,
    GICC_CTLR = 0x00,
    GICC_PMR = 0x04,
    GICC_IAR = 0x0c,
    GICC_EOIR = 0x10,
    IRQ_NUMBER = 0x3ff,
    IRQ_NONE = 1020, /* from here on: special numbers of the interrupt controller */
    FIRST_SPI = 32,
};

#define ENTRY_VALID UINT64_C(1)
#define ENTRY_TABLE UINT64_C(2)
#define ENTRY_RIGHTS UINT64_C(0xc0)
#define ENTRY_USER UINT64_C(0x40)
#define ENTRY_ADDRESS UINT64_C(0x0000fffffffff000)

static struct {
    struct task *task; /* NULL: no task's */
    uint64_t badge;
} holders[POCKET_MAX_IRQS];

struct task *pmu_task;
uint64_t pmu_badge;

extern char vectors[];
extern char vectors_session[];

static volatile uint32_t *gicd(unsigned offset)
{
    return ram(GICD + offset);
}

static volatile uint32_t *gicc(unsigned offset)
{
    return ram(GICC + offset);
}

void irq_enable(unsigned irq)
{
    *gicd(GICD_ISENABLER + irq / 32 * 4) = UINT32_C(1) << irq % 32;
}

static void irq_disable(unsigned irq)
{
    *gicd(GICD_ICENABLER + irq / 32 * 4) = UINT32_C(1) << irq % 32;
}

static void set_byte(unsigned offset, unsigned irq, uint8_t value)
{
    *(volatile uint8_t *)ram(GICD + offset + irq) = value;
}

/* Calls the cores of the mask: interrupt 0 there. */
void irq_call(uint32_t mask)
{
    *gicd(GICD_SGIR) = mask << SGIR_TARGETS;
}

void irq_init(void)
{
    *gicd(GICD_CTLR) = 1;
}

/* On each core: what is its own of the interrupt controller. */
void irq_init_core(void)
{
    *gicc(GICC_PMR) = 0xff;
    *gicc(GICC_CTLR) = 1;
    set_byte(GICD_IPRIORITYR, TICK_IRQ, 0x80);
    irq_enable(TICK_IRQ);
}

/* Gives t the interrupt of one of its channels. On t's core, if that is private to it. */
static void bind(struct task *t, unsigned channel)
{
    const struct pocket_channel *c = &t->pd->channel[channel];
    unsigned shift = c->irq % 16 * 2;

    holders[c->irq].task = t;
    holders[c->irq].badge = UINT64_C(1) << channel;
    if (c->irq == PMU_IRQ) {
        pmu_task = t;
        pmu_badge = UINT64_C(1) << channel;
    }
    set_byte(GICD_IPRIORITYR, c->irq, 0x80);
    if (c->irq >= FIRST_SPI) {
        volatile uint32_t *config = gicd(GICD_ICFGR + c->irq / 16 * 4);
        set_byte(GICD_ITARGETSR, c->irq, (uint8_t)(1U << t->pd->cpu));
        *config = (*config & ~(UINT32_C(3) << shift)) | (c->edge ? UINT32_C(2) << shift : 0);
    }
    irq_enable(c->irq);
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
 * A task's memory as the kernel sees it: 8-byte aligned, readable or writable by the task, normal
 * RAM, wholly within one page or block. NULL if it is not.
 */
void *irq_find_memory(const struct task *t, uint64_t va, uint64_t bytes, bool write)
{
    uint64_t rights = write ? ENTRY_RIGHTS : ENTRY_USER;
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
        tables = entry & ENTRY_ADDRESS;
        if (shift == 12 || (entry & ENTRY_TABLE) == 0) {
            uint64_t size = UINT64_C(1) << shift;
            bool good = (entry & rights) == ENTRY_USER && in_ram(tables) && bytes <= size &&
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
    if (ncores == 1) {
        WRITE_REG(vbar_el1, core->hook.mask != 0 ? vectors_session : vectors);
    }
}

/*
 * The PMU's interrupt is acknowledged by its holder: a request of the profiler's, if its IPC buffer
 * names a descriptor. That of another core is carried out there, when it is called on the way out.
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

/* What another core was asked by this one's caller. */
void irq_request_here(struct core *core)
{
    struct mkperf_descriptor *d = descriptor(core->asked, core->asked_at);

    if (d != NULL) {
        request(core, d, core->asked);
        irq_enable(PMU_IRQ);
    }
    core->asked = NULL;
}

unsigned irq_number(const struct core *core)
{
    return core->iar & IRQ_NUMBER;
}

/* The interrupt is over. */
void irq_end(struct core *core)
{
    *gicc(GICC_EOIR) = core->iar;
    core->last_entry = (uint64_t)irq_entry;
    core->iar = IRQ_NONE;
}

/* As qemu_pmu_arm, which is not called where a PD runs and counter 0 alone counts it: most samples. */
static inline void arm(const struct mkperf_hook *hook, bool idle)
{
    if (!idle && (hook->mask & ~hook->kernel_mask) == 1) {
        qemu_pmu_set(mkperf_pmu_read(0));
    } else {
        qemu_pmu_arm(hook, idle);
    }
}

/* A boundary (hook.h): overflows whose interrupt was not taken become samples. hit: 0, or counters of the
 * session. The profiler may become ready. */
void irq_boundary(struct core *core, uint32_t hit)
{
    if (hit == 0 || mkperf_hook_wakes_each(&core->hook)) {
        return;
    }
    mkperf_hook_take(&core->hook, hit);
    qemu_pmu_arm(&core->hook, core->current->pd == NULL);
}

/* The same within the kernel: hit are counters of its present work. */
void irq_boundary_inside(struct core *core, uint32_t hit)
{
    core->inside = true;
    irq_boundary(core, hit);
    core->inside = false;
}

/* hit: overflows of the session. iar: the interrupt. now: when it was taken. */
static inline __attribute__((always_inline)) bool sampled(struct core *core, uint32_t hit,
                                                          uint32_t iar, uint64_t now)
{
    struct mkperf_hook *hook = &core->hook;

    if (hit == 0 || (iar & IRQ_NUMBER) != PMU_IRQ) {
        core->iar = iar;
        irq_boundary(core, hit);
        return false;
    }
    mkperf_capture(hook, hit, now);
    arm(hook, core->current->pd == NULL);
    *gicc(GICC_EOIR) = iar;
    core->last_entry = (uint64_t)mkperf_capture;
    mkperf_captured(hook, now);
    if (core->reschedule) {
        core->iar = IRQ_NONE;
    }
    return !core->reschedule;
}

/*
 * The first half of every interrupt, called by vectors.S with only half the registers saved. True:
 * it was the profiler's and all is done. False: irq_slow must follow.
 */
bool irq_fast(struct core *core)
{
    uint64_t now = mkperf_port_time();
    uint32_t hit = mkperf_pmu_overflow() & core->hook.mask;

    return sampled(core, hit, *gicc(GICC_IAR), now);
}

/* The same in two steps, the first without the lock. */
void irq_take(struct core *core)
{
    core->iar = *gicc(GICC_IAR);
}

bool irq_taken(struct core *core)
{
    return sampled(core, core->overflowed & core->hook.mask, core->iar, mkperf_port_time());
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
        core->hook.spurious += irq == PMU_IRQ;
        irq_disable(irq);
        if (irq < POCKET_MAX_IRQS && holders[irq].task != NULL) {
            if (reported(core)) {
                mkperf_sched_irq(&core->hook, irq, holders[irq].task);
            }
            ipc_notify(holders[irq].task, holders[irq].badge);
        }
    }
    *gicc(GICC_EOIR) = core->iar;
}

struct task *irq_slow(void)
{
    core_self()->current->calling = false;
    irq_entry(core_self());
    return sched_exit();
}
