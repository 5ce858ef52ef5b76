/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several cores: their start, the kernel's lock, calls from core to core, and the pacer.
 *
 * Owns: the lock, and the code between vectors_smp and the kernel's entries, which do not know about it.
 * With one core the vectors call the entries directly, and no code of this file runs.
 *
 * A core holds the lock from the moment at which an entry has saved the registers until they are restored,
 * as in seL4. Without the lock, a core changes only the context of its current task, its FP registers and
 * its own timers. Another core writes to that context only while no core runs the task. If a core stops or
 * restarts a task that runs on another core, it only sets flags and calls that core, which does the rest at
 * its next entry. A sample is taken with the lock held. It may read every task, except the registers of
 * those that run on other cores. It does not need these, because it is about the task of its own core and
 * about callers, which wait.
 */
#include "ways_in.h"

enum {
    SGIS = 16,       /* interrupts below this are another core's calls */
    PACE_NS = 16384, /* the pacer's mean interval on each core */
    NS_PER_SECOND = 1000000000,
};

#define PSCI_CPU_ON UINT64_C(0xc4000003)

extern char vectors_smp[];
void start_other(void);

/* A ticket lock: first come, first served. */
static struct {
    uint32_t next;
    uint32_t served;
} lock;

static void take_lock(struct core *core);

/* Waits until `mine` is served. A counter of the kernel that overflows meanwhile samples take_lock. */
static void await_lock(struct core *core, uint32_t mine)
{
    uint64_t began = mkperf_port_time();

    while (__atomic_load_n(&lock.served, __ATOMIC_ACQUIRE) != mine) {
        __asm__ volatile("yield"); /* QEMU lets another core run */
    }
    uint64_t got = mkperf_port_time();
    if (reported(core)) {
        mkperf_sched_event(&core->hook, MKPERF_SCHED_LOCK_WAIT, 0, core->current, began);
        mkperf_sched_event(&core->hook, MKPERF_SCHED_LOCK, 0, core->current, got);
    }
    uint64_t last_entry = core->last_entry; /* the entry to which earlier overflows belong */
    core->last_entry = (uint64_t)take_lock;
    irq_boundary_inside(core, qemu_pmu_kernel_overflow(&core->hook) & ~core->overflowed);
    core->last_entry = last_entry;
}

/* Takes the lock. It is not inlined, so that its name shows the time that it takes, in samples and
 * in perf's lock events. */
__attribute__((noinline)) static void take_lock(struct core *core)
{
    uint32_t mine = __atomic_fetch_add(&lock.next, 1, __ATOMIC_RELAXED);

    if (__atomic_load_n(&lock.served, __ATOMIC_ACQUIRE) != mine) {
        await_lock(core, mine);
    }
}

/* Calls the cores that have something new to run, and lets others into the kernel. */
static void leave(struct core *self)
{
    uint32_t mask = 0;

    for (unsigned i = 0; i < ncores; i++) {
        struct core *other = cores[i];
        if (other != self && (other->reschedule || other->asked != NULL) && !other->called) {
            other->called = true;
            mask |= UINT32_C(1) << i;
        }
    }
    if (mask != 0) {
        arch_irq_call(mask);
    }
    __atomic_store_n(&lock.served, lock.served + 1, __ATOMIC_RELEASE);
}

/*
 * QEMU runs one core after the other, each for as long as no timer is due: tens of milliseconds.
 * So the timer of each core that is not idle is due soon, for the pacer if the scheduler needs it later. The
 * interval has jitter, so that no program is in step with the cores' turns.
 */
static void pace(struct core *core, uint64_t now)
{
    uint64_t mean = PACE_NS * arch_clock_hz() / NS_PER_SECOND;

    core->pace_random = core->pace_random * 1664525 + 1013904223;
    core->pace_at = now + mean / 2 + (core->pace_random >> 8) % (mean + 1);
    sched_arm_timer(core);
}

/* Stops the counters of an idle core until it runs something. It executes nothing, and QEMU's counters count for it
 * what others execute. */
static void sleep_counters(struct core *core, bool asleep)
{
    if (asleep != core->asleep) {
        core->asleep = asleep;
        qemu_pmu_sleep(&core->hook, asleep);
    }
}

/* Ends each way through the kernel, after which the core runs `next`. An idle core needs no turns. */
static struct task *next_is(struct core *core, struct task *next)
{
    sleep_counters(core, next->pd == NULL);
    if (next->pd == NULL && core->pace_at != NEVER) {
        core->pace_at = NEVER;
        sched_arm_timer(core);
    } else if (next->pd != NULL && core->pace_at == NEVER) {
        pace(core, sched_clock());
    }
    return next;
}

/* Returns whether the interrupt is the timer's for the pacer alone, which is nothing but this core's own: then it is
 * dealt with. */
static bool paced_only(struct core *core)
{
    uint64_t now = sched_clock();

    if (irq_number(core) != TICK_IRQ || core->timer <= now) {
        return false;
    }
    pace(core, now);
    irq_end(core);
    return true;
}

bool smp_irq_fast(struct core *core)
{
    irq_take(core);
    if (paced_only(core)) {
        return true;
    }
    core->overflowed = qemu_pmu_entered(&core->hook);
    take_lock(core);
    bool done = irq_taken(core);
    if (done) {
        leave(core);
    }
    return done; /* if not, smp_irq_slow follows, and the lock is kept */
}

/* Returns whether another core restarted the task while it ran here. Its registers are saved now. */
static bool stopped(struct core *core)
{
    struct task *t = core->current;

    if (t->restart) {
        t->restart = false;
        t->context.pc = t->restart_pc;
        t->state = TASK_READY;
        return true;
    }
    return t->state != TASK_READY;
}

struct task *smp_irq_slow(void)
{
    struct core *core = core_self();

    stopped(core);
    if (irq_number(core) < SGIS) {
        core->called = false;
        if (core->asked != NULL) {
            sleep_counters(core, false); /* counters are again as the session has them */
            irq_request_here(core);
        }
        irq_end(core);
    }
    struct task *next = next_is(core, irq_slow());
    leave(core);
    return next;
}

struct task *smp_trap_from_user(void)
{
    struct core *core = core_self();

    core->overflowed = qemu_pmu_entered(&core->hook);
    take_lock(core);
    trap_boundary(core, core->overflowed & core->hook.mask);
    /* What a task that was stopped in the meantime asks for is not carried out. */
    struct task *next = next_is(core, stopped(core) ? sched_exit() : trap_from_user());
    leave(core);
    return next;
}

/* Ends the start of a core. Returns the first task that it runs. The boot core has had the lock
 * since smp_boot. */
struct task *smp_first(struct core *core)
{
    if (core->number != 0) {
        take_lock(core);
    }
    core->pace_random = core->number;
    WRITE_REG(vbar_el1, vectors_smp);
    __asm__ volatile("isb");
    core->reschedule = true;
    struct task *first = next_is(core, sched_exit());
    leave(core);
    return first;
}

static int64_t psci_cpu_on(uint64_t core, uint64_t entry, uint64_t argument)
{
    register uint64_t x0 __asm__("x0") = PSCI_CPU_ON;
    register uint64_t x1 __asm__("x1") = core;
    register uint64_t x2 __asm__("x2") = entry;
    register uint64_t x3 __asm__("x3") = argument;

    __asm__ volatile("hvc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3) : : "memory");
    return (int64_t)x0;
}

/* Starts the other cores, which wait for the lock. The boot core has set up everything. */
void smp_boot(void)
{
    take_lock(core_self());
    for (unsigned i = 1; i < ncores; i++) {
        int64_t status =
            psci_cpu_on(i, (uint64_t)start_other - POCKET_KERNEL_BASE, (uint64_t)cores[i]);
        if (status != 0) {
            console_puts("pocket: this machine has no core ");
            console_hex(i);
            console_puts(": PDs on it do not run\n");
        }
    }
}
