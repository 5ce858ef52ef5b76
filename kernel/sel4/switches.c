/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scheduling events on seL4: from the kernel's state to kernel/sched.c's calls.
 *
 * Owns: why a thread stopped, as its state tells it. Called with the big kernel lock held, from the
 * functions of mkperf.h and from entries.c, while mkperf_watching.
 */
#include <mkperf_port.h>

#ifdef CONFIG_MKPERF_SCHED

#include <api/syscall.h>
#include <kernel/sporadic.h>
#include <kernel/thread.h>
#include <object/endpoint.h>
#include <object/notification.h>

static inline struct mkperf_hook *mkperf_schedHook(void)
{
    return &mkperf_node[CURRENT_CPU_INDEX()].hook;
}

static bool_t mkperf_faulted(tcb_t *thread)
{
    return seL4_Fault_get_seL4_FaultType(thread->tcbFault) != seL4_Fault_NullFault;
}

/* thread: NULL if it was deleted. */
static word_t mkperf_reasonOf(tcb_t *thread)
{
    if (thread == NULL) {
        return MKPERF_STOPPED_UNKNOWN;
    }
    if (thread == NODE_STATE(ksIdleThread)) {
        return MKPERF_STOPPED_IDLE;
    }
    switch (thread_state_get_tsType(thread->tcbState)) {
    case ThreadState_BlockedOnReply:
        return mkperf_faulted(thread) ? MKPERF_STOPPED_FAULTED : MKPERF_STOPPED_CALLED;
    case ThreadState_BlockedOnSend:
        return mkperf_faulted(thread) ? MKPERF_STOPPED_FAULTED : MKPERF_STOPPED_QUEUED;
    case ThreadState_BlockedOnReceive:
        return MKPERF_STOPPED_WAIT_MESSAGE;
    case ThreadState_BlockedOnNotification:
        return MKPERF_STOPPED_WAIT_NOTIFICATION;
    case ThreadState_Running:
    case ThreadState_Restart:
#ifdef CONFIG_VTX
    case ThreadState_RunningVM:
#endif
        return thread_state_get_tcbInReleaseQueue(thread->tcbState) ? MKPERF_STOPPED_BUDGET
                                                                    : MKPERF_STOPPED_PREEMPTED;
    default:
        return mkperf_faulted(thread) ? MKPERF_STOPPED_FAULTED : MKPERF_STOPPED_SUSPENDED;
    }
}

/* `thread` waits in the release queue for a refill that is to be reported. */
static void mkperf_expectRefill(struct mkperf_node *node, tcb_t *thread)
{
    for (word_t i = 0; i < node->refills; i++) {
        if (node->refilled[i] == thread) {
            return;
        }
    }
    if (node->refills < MKPERF_REFILLS) {
        node->refilled[node->refills] = thread;
        node->refills++;
    }
}

/* The threads whose refills are expected, and that have left the release queue since. */
static NO_INLINE void mkperf_tellRefilled(struct mkperf_node *node)
{
    word_t left = 0;

    for (word_t i = 0; i < node->refills; i++) {
        tcb_t *thread = node->refilled[i];

        if (thread_state_get_tcbInReleaseQueue(thread->tcbState)) {
            node->refilled[left] = thread;
            left++;
        } else if (isRunnable(thread) && mkperf_hook_schedules(&node->hook)) {
            mkperf_sched_event(&node->hook, MKPERF_SCHED_WAKE, thread);
        }
    }
    node->refills = left;
}

/* `thread` is the current one when the kernel is left. */
NO_INLINE void mkperf_tellSwitch(tcb_t *thread)
{
    struct mkperf_node *node = &mkperf_node[CURRENT_CPU_INDEX()];
    tcb_t *last = node->running;

    if (unlikely(node->refills != 0)) {
        mkperf_tellRefilled(node);
    }
    if (mkperf_hook_schedules(&node->hook) && thread != last) {
        unsigned reason = mkperf_reasonOf(last);

        if (unlikely(reason == MKPERF_STOPPED_BUDGET)) {
            mkperf_expectRefill(node, last);
        }
        mkperf_sched_switch(&node->hook, reason, last, thread, mkperf_port_time());
        node->running = thread;
    }
}

/* The current thread's entry has waited for the lock, which it holds now. */
NO_INLINE void mkperf_tellLock(word_t began)
{
    struct mkperf_hook *hook = mkperf_schedHook();

    if (mkperf_hook_schedules(hook)) {
        mkperf_sched_lock(hook, NODE_STATE(ksCurThread), began, mkperf_port_time());
    }
}

/* A call or a reply was delivered: with the switch, if that follows on this core. */
static void mkperf_tellDelivered(struct mkperf_hook *hook, unsigned kind, tcb_t *receiver)
{
    if (SMP_TERNARY(receiver->tcbAffinity == CURRENT_CPU_INDEX(), true)) {
        mkperf_sched_delivered(hook, kind, receiver, mkperf_port_time());
    } else {
        mkperf_sched_event(hook, kind, receiver);
    }
}

/* A message was transferred. endpoint: NULL for a reply, to a fault, too. */
void mkperf_tellMessage(tcb_t *sender, endpoint_t *endpoint, tcb_t *receiver)
{
    struct mkperf_hook *hook = mkperf_schedHook();

    if (!mkperf_hook_schedules(hook)) {
        return;
    }
    if (endpoint == NULL) {
        mkperf_tellDelivered(hook, MKPERF_SCHED_REPLY, receiver);
    } else if (receiver == NODE_STATE(ksCurThread)) {
        mkperf_sched_event(hook, MKPERF_SCHED_RECEIVE, sender);
    } else if (mkperf_faulted(sender)) {
        mkperf_sched_event(hook, MKPERF_SCHED_FAULT, receiver);
    } else {
        mkperf_tellDelivered(hook, MKPERF_SCHED_CALL, receiver);
    }
}

/* The thread that a signal reaches: the bound one, or the one that waits first. */
static tcb_t *mkperf_listener(notification_t *ntfn)
{
    tcb_t *bound = TCB_PTR(notification_ptr_get_ntfnBoundTCB(ntfn));

    if (bound == NULL && notification_ptr_get_state(ntfn) == NtfnState_Waiting) {
        return TCB_PTR(notification_ptr_get_ntfnQueue_head(ntfn));
    }
    return bound;
}

void mkperf_tellSignal(notification_t *ntfn)
{
    struct mkperf_hook *hook = mkperf_schedHook();
    tcb_t *thread = mkperf_listener(ntfn);

    if (mkperf_hook_schedules(hook) && thread != NULL) {
        mkperf_sched_event(hook, MKPERF_SCHED_NOTIFY, thread);
    }
}

/* At the timer's interrupt: refills that are due, of threads that were ready without a budget, too. It arrives a
 * little early, so threads get their refills in this entry or in one of the next. A refill is reported when its
 * thread has left the release queue. */
static void mkperf_expectRefills(struct mkperf_node *node)
{
    ticks_t time = getCurrentTime() + getKernelWcetTicks();
    tcb_t *thread = NODE_STATE(ksReleaseQueue).head;

    for (word_t i = 0; i < MKPERF_REFILLS && thread != NULL &&
                       refill_head(thread->tcbSchedContext)->rTime <= time;
         i++) {
        mkperf_expectRefill(node, thread);
        thread = thread->tcbSchedNext;
    }
}

void mkperf_forgetRefill(struct mkperf_node *node, tcb_t *thread)
{
    for (word_t i = 0; i < node->refills; i++) {
        if (node->refilled[i] == thread) {
            node->refills--;
            node->refilled[i] = node->refilled[node->refills];
            return;
        }
    }
}

/* An interrupt that is not the profiler's, before it is delivered. */
NO_INLINE void mkperf_tellInterrupt(irq_t irq)
{
    struct mkperf_node *node = &mkperf_node[CURRENT_CPU_INDEX()];
    struct mkperf_hook *hook = &node->hook;

    if (!mkperf_hook_schedules(hook) || IRQT_TO_IRQ(irq) > maxIRQ) {
        return;
    }
    if (intStateIRQTable[IRQT_TO_IDX(irq)] == IRQTimer) {
        mkperf_expectRefills(node);
    } else if (intStateIRQTable[IRQT_TO_IDX(irq)] == IRQSignal) {
        cap_t cap = intStateIRQNode[IRQT_TO_IDX(irq)].cap;
        tcb_t *thread = cap_get_capType(cap) == cap_notification_cap
                            ? mkperf_listener(NTFN_PTR(cap_notification_cap_get_capNtfnPtr(cap)))
                            : NULL;

        if (thread != NULL) {
            mkperf_sched_irq(hook, (unsigned)IRQT_TO_IRQ(irq), thread);
        }
    }
}

#endif
