/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cores' start in C: tasks from the image that the packer left, then the first switch.
 */
#include "mkperf_port.h"

struct task tasks[POCKET_MAX_PDS];
unsigned ntasks;
struct core *cores[POCKET_MAX_CORES];
unsigned ncores;

/* A core's stack grows down from its struct core; see regs.h. */
struct boot_memory {
    uint8_t stack[KERNEL_STACK_BYTES];
    struct core core;
};
extern struct boot_memory boot_memory[POCKET_MAX_CORES];
struct boot_memory boot_memory[POCKET_MAX_CORES];

_Static_assert(offsetof(struct boot_memory, core) == KERNEL_STACK_BYTES, "boot.S relies on it");

void idle_loop(void);
void __attribute__((noreturn)) restore(struct task *t);

static void task_init(struct task *t, const struct pocket_pd *pd, unsigned asid)
{
    t->pd = pd;
    t->core = cores[pd->cpu];
    t->queues = &t->core->ready[pd->domain];
    /* As Microkit has it: the badges of a child's fault handler and of its scheduling context. */
    bool child = (pd->thread & MKPERF_THREAD_CHILD_BIT) != 0;
    t->identity.badge = child ? pd->thread & (MKPERF_THREAD_CHILD_BIT | MKPERF_THREAD_CHILD_ID)
                              : pd->thread;
    t->number = asid - 1;
    t->identity.sc = child ? pd->thread >> 8 & MKPERF_THREAD_SC : 0x100 + asid - 1;
    t->space = arch_space(pd->tables, asid);
    t->message = (uint64_t *)ram(pd->ipc_buffer) + 1; /* behind the tag */
    t->priority = (int)pd->priority;
    budget_init(t);
    t->context.pc = pd->entry;
    t->context.sp = pd->stack_top;
    t->context.pstate = PSTATE_USER;
}

static void idle_init(struct core *core)
{
    core->idle.identity.badge = MKPERF_THREAD_IDLE;
    core->idle.number = POCKET_MAX_PDS;
    core->idle.core = core;
    core->queues = &core->ready[0];
    core->idle.priority = -1;
    core->idle.context.pc = (uint64_t)idle_loop;
    core->idle.context.pstate = PSTATE_IDLE;
    core->current = &core->idle;
    core->timer = NEVER;
    core->armed = NEVER;
    core->pace_at = NEVER;
}

/* Starts another core; the boot core has done the rest. */
static void __attribute__((noreturn)) boot_other(struct core *core)
{
    arch_irq_init_core();
    mkperf_pmu_boot();
    irq_bind_all(core);
    restore(smp_first(core));
}

void boot_main(struct core *core)
{
    const struct pocket_image *image = ram(POCKET_IMAGE);

    if (POCKET_MAX_CORES > 1 && core->number != 0) {
        boot_other(core);
    }
    idle_init(core);
    if (image->magic != POCKET_IMAGE_MAGIC || image->npds > POCKET_MAX_PDS || image->cores == 0 ||
        image->cores > POCKET_MAX_CORES) {
        console_puts("pocket: no system was packed with this kernel\n");
        restore(core->current);
    }
    sched_image = image;
    ncores = (unsigned)image->cores;
    for (unsigned i = 0; i < ncores; i++) {
        cores[i] = &boot_memory[i].core;
        cores[i]->number = i;
        idle_init(cores[i]);
        cores[i]->window_end = image->windows != 0 ? 0 : NEVER;
    }
    arch_irq_init();
    arch_irq_init_core();
    mkperf_pmu_boot();
    ntasks = (unsigned)image->npds;
    for (unsigned i = 0; i < ntasks; i++) {
        task_init(&tasks[i], &image->pd[i], i + 1);
        for (unsigned c = 0; c < POCKET_CHANNELS; c++) {
            const struct pocket_channel *channel = &tasks[i].pd->channel[c];
            if (channel->flags & POCKET_CHANNEL_CALL) {
                tasks[channel->pd].served = true;
            }
        }
        if (tasks[i].pd->parent >= 0) {
            tasks[tasks[i].pd->parent].served = true;
        }
        sched_ready(&tasks[i], false);
    }
    irq_bind_all(core);
    if (POCKET_MAX_CORES > 1 && ncores > 1) {
        smp_boot();
        restore(smp_first(core));
    }
    restore(sched_exit());
}
