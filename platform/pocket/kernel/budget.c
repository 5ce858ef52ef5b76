/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Budgets: how much of each period a PD may run, as sporadic servers.
 *
 * Owns: each budget's refills, who pays for what runs, and which tasks wait for a refill. Called by
 * sched.c, at each reschedule; nothing here is executed if no PD has a budget below its period.
 *
 * What was used at a time is refilled one period later. A budget is a list of refills, the first of
 * which is being used from its time on; the amounts add up to the budget, always. A passive PD runs
 * on the budget of the PD whose call it serves.
 */
#include "mkperf_port.h"

enum { US_PER_S = 1000000 };

bool budgets; /* some task has one */

static uint64_t least; /* ticks of POCKET_LEAST_BUDGET */

uint64_t ticks_of(uint64_t us)
{
    uint64_t hz = arch_clock_hz();

    return us / US_PER_S * hz + us % US_PER_S * hz / US_PER_S;
}

void budget_init(struct task *t)
{
    struct budget *b = &t->budget;

    if (t->pd->budget == 0) {
        return;
    }
    b->period = ticks_of(t->pd->period);
    b->refills = 1;
    b->refill[0].amount = ticks_of(t->pd->budget);
    least = ticks_of(POCKET_LEAST_BUDGET);
    budgets = true;
}

/* Returns the budget that t runs on, or NULL if it has none and may always run. A call that is
 * served waits for its reply, so no task serves itself. */
struct budget *budget_of(struct task *t)
{
    while (t->pd != NULL && t->pd->passive && t->serving != NULL) {
        t = t->serving;
    }
    return t->pd != NULL && t->budget.refills != 0 ? &t->budget : NULL;
}

static void drop_first(struct budget *b)
{
    b->refills--;
    for (unsigned i = 0; i < b->refills; i++) {
        b->refill[i] = b->refill[i + 1];
    }
}

/* Adds a refill behind all others. If there is no room for one more, it is merged into the last
 * one, at the later time of the two. */
static void add_last(struct budget *b, struct refill r)
{
    struct refill *last = b->refills != 0 ? &b->refill[b->refills - 1] : NULL;

    if (last != NULL && r.at <= last->at + last->amount) {
        last->amount += r.amount; /* they follow one another */
    } else if (last != NULL && b->refills == BUDGET_REFILLS) {
        last->at = r.at - last->amount;
        last->amount += r.amount;
    } else {
        b->refill[b->refills++] = r;
    }
}

static void use(struct budget *b, uint64_t used)
{
    while (used >= b->refill[0].amount) {
        struct refill r = b->refill[0];
        used -= r.amount;
        r.at += b->period;
        drop_first(b);
        add_last(b, r);
    }
    if (used != 0) {
        struct refill r = {b->refill[0].at + b->period, used};
        b->refill[0].at += used;
        b->refill[0].amount -= used;
        add_last(b, r);
    }
    while (b->refills > 1 && b->refill[0].amount < least) {
        b->refill[1].at -= b->refill[0].amount;
        b->refill[1].amount += b->refill[0].amount;
        drop_first(b);
    }
}

/* Charges the task that ran on the core until now. */
void budget_charge(struct core *core, uint64_t now)
{
    if (core->payer != NULL && now > core->charged) {
        use(core->payer, now - core->charged);
    }
    core->charged = now;
}

/* Moves the first refill to `now`. No task used the budget until then, so what was left before is
 * left from now on. */
void budget_resume(struct budget *b, uint64_t now)
{
    struct refill *first = &b->refill[0];

    first->at = first->at > now ? first->at : now;
    while (b->refills > 1 && b->refill[1].at <= first->at + first->amount) {
        b->refill[1].amount += first->amount;
        b->refill[1].at = first->at;
        drop_first(b);
    }
}

/* Makes the tasks of the core ready whose refills are there. */
void budget_release(struct core *core, uint64_t now)
{
    for (unsigned i = 0; i < ntasks; i++) {
        struct task *t = &tasks[i];
        if (t->core != core || t->state != TASK_THROTTLED) {
            continue;
        }
        const struct budget *b = budget_of(t);
        if (b == NULL || b->refill[0].at <= now) {
            if (reported(core)) {
                mkperf_sched_event(&core->hook, MKPERF_SCHED_WAKE, 0, t, mkperf_port_time());
            }
            sched_enqueue(t, false);
        }
    }
}

/* Returns when something is due next on the core of which t is the current task: its payer has used its refill, or a
 * task that waits gets one. UINT64_MAX: never. */
uint64_t budget_deadline(const struct core *core, struct task *t)
{
    const struct budget *payer = budget_of(t);
    uint64_t due = payer != NULL ? core->charged + payer->refill[0].amount : UINT64_MAX;

    for (unsigned i = 0; i < ntasks; i++) {
        if (tasks[i].core == core && tasks[i].state == TASK_THROTTLED) {
            const struct budget *b = budget_of(&tasks[i]);
            uint64_t at = b != NULL ? b->refill[0].at : 0; /* 0 if the caller was stopped */
            due = at < due ? at : due;
        }
    }
    return due;
}
