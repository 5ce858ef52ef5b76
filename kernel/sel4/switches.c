/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happens to threads on seL4: from the kernel's state to the calls of kernel/sched.c.
 *
 * Owns: the reason for which a thread stopped, and the thread that a message or a signal reaches. Called
 * with the big kernel lock held, from the functions of mkperf.h and from entries.c, while
 * mkperf_reports().
 */
#include <mkperf_port.h>

#include <object/endpoint.h>
#include <object/notification.h>

static inline struct mkperf_node *thisNode(void)
{
    return &mkperf_node[CURRENT_CPU_INDEX()];
}

static bool_t faulted(tcb_t *thread)
{
    return seL4_Fault_get_seL4_FaultType(thread->tcbFault) != seL4_Fault_NullFault;
}

/* Why a thread stopped. thread: NULL if it was deleted. */
static word_t reasonOf(tcb_t *thread)
{
    if (thread == NULL) {
        return MKPERF_STOPPED_UNKNOWN;
    }
    switch (thread_state_get_tsType(thread->tcbState)) {
    case ThreadState_IdleThreadState:
        return MKPERF_STOPPED_IDLE;
    case ThreadState_BlockedOnReply:
        return faulted(thread) ? MKPERF_STOPPED_FAULTED : MKPERF_STOPPED_CALLED;
    case ThreadState_BlockedOnSend:
        return faulted(thread) ? MKPERF_STOPPED_FAULTED : MKPERF_STOPPED_QUEUED;
    case ThreadState_BlockedOnReceive:
        return MKPERF_STOPPED_WAIT_MESSAGE;
    case ThreadState_BlockedOnNotification:
        return MKPERF_STOPPED_WAIT_NOTIFICATION;
    case ThreadState_Running:
    case ThreadState_Restart:
        return thread_state_get_tcbInReleaseQueue(thread->tcbState) ? MKPERF_STOPPED_BUDGET
                                                                    : MKPERF_STOPPED_PREEMPTED;
    default:
        return faulted(thread) ? MKPERF_STOPPED_FAULTED : MKPERF_STOPPED_SUSPENDED;
    }
}

/* `thread` is the current one when the kernel is left. */
NO_INLINE void mkperf_tellSwitch(tcb_t *thread)
{
    struct mkperf_node *node = thisNode();
    tcb_t *last = node->running;
    word_t time;

    /* A window that has only the idle thread, as the one before it, begins without a switch. */
    if (thread == last && mkperf_window() == node->window) {
        return;
    }
    time = mkperf_port_time();
    if (unlikely(mkperf_window() != node->window)) {
        node->window = mkperf_window();
        mkperf_sched_event(&node->hook, MKPERF_SCHED_WINDOW, node->window, thread, time);
    }
    if (thread != last) {
        mkperf_sched_switch(&node->hook, reasonOf(last), last, thread, time);
        node->running = thread;
    }
}

/* Reports that a message was transferred. endpoint: NULL for a reply, also to a fault. */
NO_INLINE void mkperf_tellMessage(tcb_t *sender, endpoint_t *endpoint, tcb_t *receiver)
{
    struct mkperf_hook *hook = &thisNode()->hook;
    bool_t here = SMP_TERNARY(receiver->tcbAffinity == CURRENT_CPU_INDEX(), true);

    if (endpoint == NULL) {
        mkperf_sched_reply(hook, receiver, here);
    } else {
        mkperf_sched_message(
            hook, sender, receiver,
            faulted(sender) ? mkperf_faultOf(hook, sender, receiver) : MKPERF_FAULT_NONE, here);
    }
}

/* Reports an event of a thread now. NULL: there is none. */
static void tell(unsigned kind, unsigned number, tcb_t *thread)
{
    if (thread != NULL) {
        mkperf_sched_event(&thisNode()->hook, kind, number, thread, mkperf_port_time());
    }
}

/* Returns the thread that a signal reaches: the bound one, or the one that waits first. */
static tcb_t *listener(notification_t *ntfn)
{
    tcb_t *bound = TCB_PTR(notification_ptr_get_ntfnBoundTCB(ntfn));

    if (bound == NULL && notification_ptr_get_state(ntfn) == NtfnState_Waiting) {
        return TCB_PTR(notification_ptr_get_ntfnQueue_head(ntfn));
    }
    return bound;
}

NO_INLINE void mkperf_tellSignal(notification_t *ntfn)
{
    tell(MKPERF_SCHED_NOTIFY, 0, listener(ntfn));
}

NO_INLINE void mkperf_tellAwakened(tcb_t *tcb)
{
    tell(MKPERF_SCHED_WAKE, 0, tcb);
}

/* Reports a fault. What a thread itself did wrong is a fault, and not a guest's exit. */
NO_INLINE void mkperf_tellFault(tcb_t *tcb)
{
    bool_t memory = seL4_Fault_get_seL4_FaultType(current_fault) == seL4_Fault_VMFault;

    if (!mkperf_isVCPU(tcb)) {
        mkperf_soft_fault(&thisNode()->hook, mkperf_port_identity(tcb), getRegister(tcb, FaultIP),
                          memory ? seL4_Fault_VMFault_get_address(current_fault) : 0);
    }
}

/* Reports the thread that an interrupt reaches, which is about to be delivered and is not the profiler's. */
NO_INLINE void mkperf_tellInterrupt(irq_t irq)
{
    if (IRQT_TO_IRQ(irq) > maxIRQ || intStateIRQTable[IRQT_TO_IDX(irq)] != IRQSignal) {
        return;
    }

    cap_t cap = intStateIRQNode[IRQT_TO_IDX(irq)].cap;

    if (cap_get_capType(cap) == cap_notification_cap) {
        tell(MKPERF_SCHED_IRQ, (unsigned)IRQT_TO_IRQ(irq),
             listener(NTFN_PTR(cap_notification_cap_get_capNtfnPtr(cap))));
    }
}
