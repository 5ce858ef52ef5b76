/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fixed-priority preemptive scheduling.
 *
 * Owns: each core's ready queues, time slice and timer. The running task is in no queue. There is no
 * periodic tick: the timer runs only while a task of the running one's priority waits for its turn,
 * a budget is being used, or a task waits for its budget's refill (budget.c).
 *
 * With a domain schedule, on one core, only tasks of the present window's domain run. A window ends a
 * multiple of its frame after the first one began, whenever the kernel gets to it.
 */
#include "mkperf_port.h"

enum { SLICE_HZ = 200 };

const struct pocket_image *sched_image;

uint64_t sched_clock(void)
{
    return arch_clock();
}

/* Makes t, which waited and is in no queue, ready on its core: behind its equals or in front of
 * them. Or it waits on, for its budget. */
void sched_ready(struct task *t, bool front)
{
    struct budget *b = budgets ? budget_of(t) : NULL;

    if (b != NULL) {
        uint64_t now = sched_clock();
        if (b != core_self()->payer) {
            budget_resume(b, now);
        }
        if (b->refill[0].at > now) {
            t->state = TASK_THROTTLED;
            t->core->reschedule = true;
            return;
        }
    }
    sched_enqueue(t, front);
}

void sched_enqueue(struct task *t, bool front)
{
    struct ready_queues *ready = t->queues;
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
    struct ready_queues *ready = t->queues;
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

/* Returns the first ready task of the highest priority, NULL if none. */
static struct task *best(const struct core *core)
{
    const struct ready_queues *ready = core->queues;

#pragma GCC unroll 4
    for (int i = PRIORITIES / 64 - 1; i >= 0; i--) {
        if (ready->occupied[i] != 0) {
            return ready->head[i * 64 + 63 - __builtin_clzll(ready->occupied[i])];
        }
    }
    return NULL;
}

/* Returns why a task that no longer runs stopped (enum mkperf_sched_reason). */
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
    case TASK_THROTTLED:
        return MKPERF_STOPPED_BUDGET;
    case TASK_STOPPED:
        break;
    }
    return MKPERF_STOPPED_SUSPENDED;
}

/* Reports that a window begins, in which t is the first to run, and the switch to t if that is another task. */
static __attribute__((noinline)) void report_window(struct core *core, unsigned reason,
                                                    const struct task *t, uint64_t time)
{
    const struct task *now = core->current;

    mkperf_sched_event(&core->hook, MKPERF_SCHED_WINDOW, core->window, t, time);
    if (now != t) {
        mkperf_sched_switch(&core->hook, reason, now, t, time);
    }
}

/* Called if something is watched, when the current task makes way for t or a window begins. What
 * the kernel did until now was the current task's work. */
static inline __attribute__((always_inline)) void watch_switch(struct core *core,
                                                               const struct task *t)
{
    const struct task *now = core->current;
    unsigned reason = reason_of(now); /* taken before counters and time are read */
    uint64_t time = mkperf_port_time();

    if (pmu_watches_kernel(&core->hook)) {
        uint32_t hit = qemu_pmu_kernel_overflow(&core->hook);
        if (hit != 0) {
            irq_boundary_inside(core, hit);
        }
        /* After the sample. And, on one core, with as many instructions before the counts are read as
         * always, so that times and counts agree. */
        if (hit != 0 || ncores == 1) {
            time = mkperf_port_time();
        }
    }
    if (core->hook.reports && __builtin_expect(core->window_new, 0)) {
        report_window(core, reason, t, time);
    } else if (core->hook.reports) {
        mkperf_sched_switch(&core->hook, reason, now, t, time);
    }
}

/* Reports a window of the domain schedule that begins while the same task goes on. */
static __attribute__((noinline)) void watch_window(struct core *core, const struct task *t)
{
    watch_switch(core, t);
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
    arch_use_space(t->space);
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
 * and QEMU may have to be made to look (LOOK_HZ).
 */
static void set_slice(struct core *core, const struct task *t, bool switched)
{
    bool peers = t->pd != NULL && t->queues->head[t->priority] != NULL;
    bool on = peers || (LOOK_HZ != 0 && t == pmu_task);

    if (on && (switched || !core->ticking)) {
        uint64_t full = arch_clock_hz() / (t == pmu_task && LOOK_HZ != 0 ? LOOK_HZ : SLICE_HZ);
        core->slice_end = sched_clock() + (t->slice != 0 ? t->slice : full);
    }
    core->ticking = on;
}

/* Sets the timer to what is due next, for the scheduler or the pacer (smp.c). */
void sched_arm_timer(struct core *core)
{
    uint64_t due = core->timer < core->pace_at ? core->timer : core->pace_at;

    if (due != core->armed) {
        arch_timer(due);
        core->armed = due;
    }
}

/* Sets the timer to when the scheduler needs it next, while t runs. */
static void set_timer(struct core *core, struct task *t)
{
    uint64_t due = core->ticking ? core->slice_end : NEVER;

    if (budgets) {
        uint64_t deadline = budget_deadline(core, t);
        due = deadline < due ? deadline : due;
    }
    if (core->window_end < due) {
        due = core->window_end;
    }
    core->timer = due;
    sched_arm_timer(core);
}

/* Returns what is left of the slice of the current task, which is preempted: at least a tick. */
static uint64_t left_of_slice(const struct core *core)
{
    int64_t left = core->ticking ? (int64_t)(core->slice_end - sched_clock()) : 0;

    return !core->ticking ? 0 : left > 0 ? (uint64_t)left : 1;
}

void sched_tick(void)
{
    struct core *core = core_self();

    core->timer = NEVER;
    sched_arm_timer(core);
    core->slice_over = core->ticking && sched_clock() >= core->slice_end;
    core->ticking &= !core->slice_over;
    core->reschedule = true;
}

/* Settles the core's budgets, before it is seen who runs. */
static void settle(struct core *core)
{
    struct task *now = core->current;
    uint64_t time = sched_clock();

    budget_charge(core, time);
    budget_release(core, time);
    const struct budget *b = budget_of(now);
    if (now->state == TASK_READY && b != NULL && b->refill[0].at > time) {
        now->state = TASK_THROTTLED;
    }
    for (struct task *t = best(core); t != NULL; t = best(core)) {
        b = budget_of(t);
        if (b == NULL || b->refill[0].at <= time) {
            break;
        }
        sched_remove(t);
        t->state = TASK_THROTTLED;
    }
}

/* Goes on to the window that is due. */
static __attribute__((noinline)) void settle_window(struct core *core)
{
    const struct pocket_image *image = sched_image;
    uint64_t now = sched_clock();

    if (core->window_end == 0) {
        core->window = (unsigned)image->first_window - 1; /* the system starts */
        core->window_end = now;
    }
    while (core->window_end <= now) {
        unsigned next = core->window + 1 - (unsigned)image->first_window;
        core->window = (unsigned)(image->first_window + next % image->windows);
        const struct pocket_window *w = &image->window[core->window];
        core->queues = &core->ready[w->domain];
        core->window_end += w->in_ticks ? w->duration : ticks_of(w->duration);
        core->window_new = true;
    }
}

/* Ends every kernel entry that may have changed which task should run, and returns that task. A sample at a switch may
 * make the profiler ready, and then the core switches once more. */
struct task *sched_exit(void)
{
    struct core *core = core_self();
    struct task *now = core->current;

    if (!core->reschedule) {
        return now;
    }
    bool windows = __builtin_expect(core->window_end != NEVER, 0);
    if (windows) {
        settle_window(core);
    }
    if (budgets) {
        settle(core);
    }
    core->reschedule = false;
    bool ready = now->state == TASK_READY;
    bool runs = ready && (!windows || now->pd == NULL || now->queues == core->queues);
    struct task *next = best(core);
    bool turn = core->slice_over && next != NULL && next->priority == now->priority;
    core->slice_over = false;

    if (next == NULL && !runs) {
        next = &core->idle;
    } else if (!runs || (next != NULL && (next->priority > now->priority || turn))) {
        sched_remove(next);
    } else {
        next = now;
    }
    if (next != now) {
        now->slice = ready && !turn && now != pmu_task ? left_of_slice(core) : 0;
        if (ready && now->pd != NULL) {
            sched_enqueue(now, !turn);
            core->reschedule = false;
        }
        switch_to(core, next);
    } else if (windows && core->window_new && watched(core)) {
        watch_window(core, next);
    }
    if (windows) {
        core->window_new = false;
    }
    set_slice(core, next, next != now);
    if (budgets) {
        core->payer = budget_of(next);
    }
    set_timer(core, next);
    return __builtin_expect(core->reschedule, 0) ? sched_exit() : next;
}
