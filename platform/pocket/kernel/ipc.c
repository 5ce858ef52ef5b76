/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notifications, protected procedure calls, and what a parent may do to a child.
 *
 * Owns: the states of tasks except for being ready. A fault travels as a call to the parent that the
 * faulting task never made (see trap.c). The callee's priority is above the caller's (the packer
 * sees to it), so a call runs at the callee's own priority and never waits behind its caller.
 * Whatever is made ready runs on its own core, which smp.c calls if that is another one.
 */
#include <mkperf_port.h>
#include <pocket_syscall.h>

#include "core.h"

static unsigned message_length(uint64_t info)
{
    unsigned n = info & 127;

    return n <= MESSAGE_WORDS ? n : MESSAGE_WORDS;
}

static void copy(uint64_t *to, const uint64_t *from, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        to[i] = from[i];
    }
}

/* Ends the wait of a task that receives, or lets one that runs continue. */
static void received(struct task *t, uint64_t badge, uint64_t info)
{
    t->context.x[A0] = badge;
    t->context.x[A1] = info;
    if (t->state == TASK_RECEIVING) {
        sched_ready(t, false);
    }
}

/* Records an event of the current task about another one, if events are wanted. */
static void tell(unsigned kind, const struct task *about)
{
    if (reported(core_self())) {
        mkperf_sched_event(&core_self()->hook, kind, 0, about, mkperf_port_time());
    }
}

/* Hands the message of `from` to `to`, which receives. */
static void deliver(struct task *from, struct task *to)
{
    copy(to->message, from->faulted ? from->fault : from->message, message_length(from->info));
    from->state = TASK_AWAITING;
    to->serving = from;
    received(to, from->badge, from->info);
    if (reported(core_self())) {
        mkperf_sched_message(&core_self()->hook, from, to,
                             from->faulted ? MKPERF_FAULT_THREAD : MKPERF_FAULT_NONE,
                             to->core == core_self());
    }
}

/* Sends a message that wants a reply. `from` runs no more until then. */
void ipc_send(struct task *from, struct task *to, uint64_t badge, uint64_t info)
{
    struct task **place = &to->senders;

    from->badge = badge;
    from->info = info;
    from->server = to;
    from->state = TASK_SENDING;
    core_self()->reschedule = true;
    if (to->state == TASK_RECEIVING) {
        deliver(from, to);
        return;
    }
    while (*place != NULL && (*place)->priority >= from->priority) {
        place = &(*place)->next;
    }
    from->next = *place;
    *place = from;
}

static void receive_notification(struct task *t)
{
    uint64_t badge = t->notified;

    t->notified = 0;
    received(t, badge, 0);
}

void ipc_notify(struct task *to, uint64_t badge)
{
    to->notified |= badge;
    if (to->state == TASK_RECEIVING) {
        receive_notification(to);
    }
}

/* Takes a task out of whatever it waits for. It is then in no queue. */
void ipc_cancel(struct task *t)
{
    if (t->state == TASK_SENDING) {
        struct task **place = &t->server->senders;
        while (*place != t) {
            place = &(*place)->next;
        }
        *place = t->next;
    } else if (t->state == TASK_AWAITING) {
        t->server->serving = NULL;
    } else if (t->state == TASK_READY && t != t->core->current) {
        sched_remove(t);
    } else if (t->state == TASK_READY) {
        t->core->reschedule = true; /* it runs on another core, until that enters the kernel */
    }
    t->restart = false;
    t->state = TASK_STOPPED;
    t->faulted = false;
}

static void reply(struct task *t, uint64_t info)
{
    struct task *client = t->serving;

    if (client == NULL) {
        return;
    }
    t->serving = NULL;
    if (client->faulted) {
        client->faulted = false; /* continues where it faulted, registers as they were */
        tell(MKPERF_SCHED_WAKE, client);
    } else {
        copy(client->message, t->message, message_length(info));
        client->context.x[A0] = 0; /* a reply's badge, as on seL4 */
        client->context.x[A1] = info;
        if (reported(core_self())) {
            mkperf_sched_reply(&core_self()->hook, client, client->core == core_self());
        }
    }
    sched_ready(client, false);
}

static const struct pocket_channel *channel(const struct task *t, uint64_t id, unsigned use)
{
    if (id >= POCKET_CHANNELS || (t->pd->channel[id].flags & use) == 0) {
        return NULL;
    }
    return &t->pd->channel[id];
}

void sys_notify(struct task *t)
{
    const struct pocket_channel *c = channel(t, t->context.x[A0], POCKET_CHANNEL_NOTIFY);

    if (c != NULL) {
        tell(MKPERF_SCHED_NOTIFY, &tasks[c->pd]);
        ipc_notify(&tasks[c->pd], UINT64_C(1) << c->id);
    }
}

void sys_irq_ack(struct task *t)
{
    const struct pocket_channel *c = channel(t, t->context.x[A0], POCKET_CHANNEL_IRQ);

    if (c != NULL) {
        if (c->irq == PMU_IRQ) {
            irq_request(core_self(), t);
        }
        arch_irq_enable(c->irq);
    }
}

void sys_ppcall(struct task *t)
{
    const struct pocket_channel *c =
        channel(t, t->context.x[A0] - POCKET_ENDPOINT, POCKET_CHANNEL_CALL);

    if (c == NULL) {
        t->context.x[A0] = 0;
        t->context.x[A1] = 0;
        return;
    }
    ipc_send(t, &tasks[c->pd], POCKET_BADGE_CALL | c->id, t->context.x[A1]);
}

/* Receives a notification, or else a message. A caller that was not answered never runs again. */
void sys_recv(struct task *t)
{
    if (t->serving != NULL) {
        ipc_cancel(t->serving);
    }
    if (t->notified != 0) {
        receive_notification(t);
    } else if (t->senders != NULL) {
        struct task *from = t->senders;
        t->senders = from->next;
        deliver(from, t);
        core_self()->reschedule |= budgets; /* whose is used may be another's now */
    } else {
        t->state = TASK_RECEIVING;
        core_self()->reschedule = true;
    }
}

void sys_reply_recv(struct task *t)
{
    reply(t, t->context.x[A1]);
    sys_recv(t);
}

/* Returns the child of t with that id, NULL if there is none. */
struct task *task_child(const struct task *t, uint64_t child_id)
{
    for (unsigned i = 0; i < ntasks; i++) {
        const struct pocket_pd *pd = tasks[i].pd;
        if (pd->parent == t - tasks && pd->child_id == child_id) {
            return &tasks[i];
        }
    }
    return NULL;
}

/* Returns the task whose TCB's capability is in that slot of t's cspace, NULL if there is none. */
static const struct task *task_shared(const struct task *t, uint64_t slot)
{
    unsigned of = slot < POCKET_SLOTS ? t->pd->tcb[slot] : 0;

    return of != 0 && of <= ntasks ? &tasks[of - 1] : NULL;
}

void sys_pd_restart(struct task *t)
{
    struct task *child = task_child(t, t->context.x[A0]);

    t->context.x[A0] = child != NULL;
    if (child == NULL) {
        return;
    }
    ipc_cancel(child);
    if (child == child->core->current) {
        /* The child's registers are in its core, so that core restarts it: see smp.c. */
        child->restart = true;
        child->restart_pc = t->context.x[A1];
    } else {
        child->context.pc = t->context.x[A1];
        tell(MKPERF_SCHED_WAKE, child);
        sched_ready(child, false);
    }
}

void sys_pd_stop(struct task *t)
{
    struct task *child = task_child(t, t->context.x[A0]);

    t->context.x[A0] = child != NULL;
    if (child != NULL) {
        ipc_cancel(child);
    }
}

void sys_tcb_read_registers(struct task *t)
{
    uint64_t which = t->context.x[A0];
    const struct task *child = which & POCKET_TCB_SLOT ? task_shared(t, which & ~POCKET_TCB_SLOT)
                                                       : task_child(t, which);

    t->context.x[A0] = child != NULL;
    if (child == NULL) {
        return;
    }
    arch_user_context(&child->context, child->context.pc - (child->calling ? 4 : 0), t->message);
}
