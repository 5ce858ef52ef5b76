/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fixed-priority preemptive scheduling.
 *
 * Owns: each core's ready queues and time slice. The running task is in no queue. There is no
 * periodic tick: the timer runs only while a task of the running one's priority waits for its turn.
 */
#include "core.h"

enum { SLICE_HZ = 200, LOOK_HZ = 50000 };

/* Makes t, which is in no queue, ready on its core: behind its equals or in front of them. */
void sched_ready(struct task *t, bool front)
{
    struct ready_queues *ready = &t->core->ready;
    int p = t->priority;

    t->state = TASK_READY;
    if (front || ready->head[p] == NULL) {
        t->next = ready->head[p];
        ready->head[p] = t;
        if (t->next == NULL) {
            ready->tail[p] = t;
        }
    } else {
        t->next = NULL;
        ready->tail[p]->next = t;
        ready->tail[p] = t;
    }
    ready->occupied[p / 64] |= UINT64_C(1) << p % 64;
    t->core->reschedule = true;
}

/* Takes a ready task that is not running out of its queue. */
void sched_remove(struct task *t)
{
    struct ready_queues *ready = &t->core->ready;
    int p = t->priority;
    struct task *before = NULL;

    for (struct task *i = ready->head[p]; i != t; i = i->next) {
        before = i;
    }
    if (before != NULL) {
        before->next = t->next;
    } else {
        ready->head[p] = t->next;
    }
    if (ready->tail[p] == t) {
        ready->tail[p] = before;
    }
    if (ready->head[p] == NULL) {
        ready->occupied[p / 64] &= ~(UINT64_C(1) << p % 64);
    }
}

/* The first ready task of the highest priority, NULL if none. */
static struct task *best(const struct ready_queues *ready)
{
    for (int i = PRIORITIES / 64 - 1; i >= 0; i--) {
        if (ready->occupied[i] != 0) {
            return ready->head[i * 64 + 63 - __builtin_clzll(ready->occupied[i])];
        }
    }
    return NULL;
}

/* Why a task that no longer runs stopped (enum mkperf_sched_reason). */
static unsigned reason_of(const struct task *t)
{
    if (t->pd == NULL) {
        return MKPERF_STOPPED_IDLE;
    }
    switch (t->state) {
    case TASK_READY:
        return MKPERF_STOPPED_PREEMPTED;
    case TASK_RECEIVING:
        return t->served ? MKPERF_STOPPED_WAIT_MESSAGE : MKPERF_STOPPED_WAIT_NOTIFICATION;
    case TASK_SENDING:
        return t->faulted ? MKPERF_STOPPED_FAULTED : MKPERF_STOPPED_QUEUED;
    case TASK_AWAITING:
        return t->faulted ? MKPERF_STOPPED_FAULTED : MKPERF_STOPPED_CALLED;
    case TASK_STOPPED:
        break;
    }
    return MKPERF_STOPPED_SUSPENDED;
}

/* The current task makes way for t, and something is watched. */
static void watch_switch(struct core *core, const struct task *t)
{
    const struct task *now = core->current;

    if (core->hook.session.soft_mask != 0) {
        mkperf_soft_event(&core->hook, MKPERF_SOFT_SWITCH, now->identity, t->identity);
    }
    if (core->hook.session.counts != 0) {
        mkperf_counts_switch(&core->hook, now->identity);
    }
    if (scheduled(core)) {
        mkperf_sched_switch(&core->hook, reason_of(now), now, t);
    }
}

static void switch_to(struct core *core, struct task *t)
{
    bool follow = core->current == pmu_task || core->current->pd == NULL || t->pd == NULL;

    if (watched(core)) {
        watch_switch(core, t);
    }
    core->current = t;
    if (follow && core->hook.mask != 0) {
        qemu_pmu_follow(&core->hook, t->pd == NULL);
    }
    if (t->pd == NULL) {
        return; /* idle leaves the address space and the FP registers as they are */
    }
    WRITE_REG(ttbr0_el1, t->ttbr0);
    __asm__ volatile("isb");
    if (core->fp_owner != t) {
        if (core->fp_owner != NULL) {
            fp_save(&core->fp_owner->fp);
        }
        fp_load(&t->fp);
        core->fp_owner = t;
    }
}

/*
 * Starts or stops the time slice of t. A switch starts it, afresh unless t was preempted, who gets
 * what was left: else whoever is interrupted often would never give way. The PMU's holder is always
 * interrupted now and then, since it may wait for an overflow of counters that it has just armed,
 * and QEMU has to be made to look (see qemu_pmu.c).
 */
static void set_slice(struct core *core, const struct task *t, bool switched)
{
    bool peers = t->pd != NULL && core->ready.head[t->priority] != NULL;
    bool on = peers || t == pmu_task;

    if (on && (switched || !core->ticking)) {
        uint64_t full = READ_REG(cntfrq_el0) / (t == pmu_task ? LOOK_HZ : SLICE_HZ);
        WRITE_REG(cntp_tval_el0, t->slice != 0 ? t->slice : full);
        WRITE_REG(cntp_ctl_el0, 1);
    } else if (!on && core->ticking) {
        WRITE_REG(cntp_ctl_el0, 0);
    }
    core->ticking = on;
}

/* What is left of the slice of the current task, which is preempted: at least a tick. */
static uint64_t left_of_slice(const struct core *core)
{
    int32_t left = core->ticking ? (int32_t)READ_REG(cntp_tval_el0) : 0;

    return !core->ticking ? 0 : left > 0 ? (uint64_t)left : 1;
}

void sched_tick(void)
{
    struct core *core = core_self();

    WRITE_REG(cntp_ctl_el0, 0);
    core->ticking = false;
    core->slice_over = true;
    core->reschedule = true;
}

/* The end of every kernel entry that may have changed who should run. Returns who does. */
struct task *sched_exit(void)
{
    struct core *core = core_self();
    struct task *now = core->current;

    if (!core->reschedule) {
        return now;
    }
    core->reschedule = false;
    bool runs = now->state == TASK_READY;
    struct task *next = best(&core->ready);
    bool turn = core->slice_over && next != NULL && next->priority == now->priority;
    core->slice_over = false;

    if (next == NULL && !runs) {
        next = &core->idle;
    } else if (!runs || (next != NULL && (next->priority > now->priority || turn))) {
        sched_remove(next);
        now->slice = runs && !turn && now != pmu_task ? left_of_slice(core) : 0;
        if (runs && now->pd != NULL) {
            sched_ready(now, !turn);
            core->reschedule = false;
        }
    } else {
        next = now;
    }
    if (next != now) {
        switch_to(core, next);
    }
    set_slice(core, next, next != now);
    return next;
}
