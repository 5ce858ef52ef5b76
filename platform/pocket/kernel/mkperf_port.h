/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel hook needs of pocket. The contract stands in docs/porting.md.
 *
 * All of it runs with interrupts masked: early in an interrupt, with those registers of the interrupted task saved that
 * C may overwrite, its address space current and arch_pc() its pc, or in a system call, or where another core has called. Page tables change under the lock alone (revoke.c), which a sample holds (smp.c), and
 * identities never: so nothing is unmapped under a sample.
 */
#ifndef MKPERF_PORT_H
#define MKPERF_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "core.h"
#include "port_arch.h"

#define MKPERF_PORT_CORES ncores
enum { MKPERF_PORT_FEATURES = MKPERF_FEATURE_EVENTS };

/*
 * A sample is about the current task: overflows are taken where the kernel is entered and before it
 * switches. One of the kernel has the place in the task's program to which the kernel was to return.
 */
static inline bool mkperf_port_context(struct mkperf_port_context *c, bool kernel)
{
    const struct task *t = core_self()->current;

    (void)kernel;
    c->thread = t;
    c->guest = MKPERF_GUEST_NONE;
    if (t->pd == NULL) {
        c->pc = 0;
        c->lr = 0;
        c->fp = 0;
        return false;
    }
    c->pc = arch_pc();
    c->lr = t->context.x[CONTEXT_LR];
    c->fp = t->context.x[CONTEXT_FP];
    return true;
}

/* A call is served until it is answered. A fault is no call, and its thread did not ask for what its
 * parent does. */
static inline const void *mkperf_port_caller(const void *thread, uint64_t reply)
{
    const struct task *caller = ((const struct task *)thread)->serving;

    (void)reply; /* the server itself knows its caller */
    return caller != NULL && !caller->faulted ? caller : NULL;
}

static inline void mkperf_port_blocked(struct mkperf_port_context *c, const void *thread)
{
    const struct task *caller = thread;

    c->thread = caller;
    c->guest = MKPERF_GUEST_NONE;
    c->pc = caller->context.pc;
    c->lr = caller->context.x[CONTEXT_LR];
    c->fp = caller->context.x[CONTEXT_FP];
}

/* Returns the stack pointer. That of the running task is still in its register. */
static inline uint64_t mkperf_port_sp(const void *thread)
{
    return thread == core_self()->current ? arch_sp() : ((const struct task *)thread)->context.sp;
}

static inline uint32_t mkperf_port_guest(const struct mkperf_port_context *c)
{
    return c->guest;
}

static inline struct mkperf_identity mkperf_port_identity(const void *thread)
{
    return ((const struct task *)thread)->identity;
}

/* Returns a number that few threads have in common. */
static inline unsigned mkperf_port_slot(const void *thread)
{
    return ((const struct task *)thread)->number;
}

/* Returns the pc itself if the idle task was interrupted; else the function through which the kernel was entered. */
static inline uint64_t mkperf_port_kernel_pc(void)
{
    const struct core *core = core_self();

    return core->current->pd == NULL && !core->inside ? arch_pc() : core->last_entry;
}

static inline const void *mkperf_port_running(void)
{
    return core_self()->current;
}

static inline unsigned mkperf_port_core(void)
{
    return core_self()->number;
}

static inline uint64_t mkperf_port_time(void)
{
    return arch_time();
}

static inline uint64_t mkperf_port_tick_hz(void)
{
    return arch_clock_hz();
}

/*
 * The architecture translates for the current task; for another one, a walk by hand, whose last result is kept for
 * each level. Device memory is never in RAM: the packer maps what is in RAM as normal.
 */
static inline uintptr_t mkperf_port_user_page(const void *thread, unsigned level, uint64_t va)
{
    if (thread != core_self()->current) {
        struct found_page *last = &core_self()->stack[level];
        if (last->thread != thread || last->va != va) {
            *last = (struct found_page){thread, va,
                                        (uintptr_t)irq_find_memory(thread, va, 4096, false)};
        }
        return last->window;
    }
    return port_window(va);
}

static inline void *mkperf_port_memory(const void *thread, uint64_t va, uint64_t bytes)
{
    return irq_find_memory(thread, va, bytes, true);
}

static inline void mkperf_port_wake(void)
{
    ipc_notify(pmu_task, pmu_badge);
}

#include "port_frames.h"

#endif
