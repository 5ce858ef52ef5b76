/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts by PD and software events on seL4: what is looked at while a session watches.
 *
 * Owns: who ran when. Called with the big kernel lock held, from the functions of mkperf.h and from
 * entries.c, while mkperf_watching.
 */
#include <mkperf_port.h>

#include <kernel/thread.h>
#include <object/notification.h>

#ifdef MKPERF_WATCHES

static inline struct mkperf_node *this(void)
{
    return &mkperf_node[CURRENT_CPU_INDEX()];
}

/* What the counters counted since the last time: in user mode for `user`, in the kernel for
 * `kernel`. */
static void count(struct mkperf_node *node, struct mkperf_identity user,
                  struct mkperf_identity kernel)
{
#ifdef CONFIG_MKPERF_COUNTS
    if (node->hook.session.counts != 0) {
        mkperf_counts_entry(&node->hook, user, kernel);
    }
#endif
}

#ifdef CONFIG_MKPERF_SOFT
static void event(struct mkperf_node *node, word_t kind, struct mkperf_identity from,
                  struct mkperf_identity to)
{
    if (node->hook.session.soft_mask != 0) {
        mkperf_soft_event(&node->hook, kind, from, to);
    }
}

static bool_t blockedOnReply(tcb_t *tcb)
{
    return thread_state_get_tsType(tcb->tcbState) == ThreadState_BlockedOnReply &&
           seL4_Fault_get_seL4_FaultType(tcb->tcbFault) == seL4_Fault_NullFault;
}
#endif

/*
 * At an entry: entry.thread is the thread of the last one. If that now waits for a reply to a
 * message that no doIPCTransfer has delivered, it called through the fast path, and the thread that
 * runs was called: the fast path switches to no other.
 */
NO_INLINE void mkperf_watch(void)
{
    struct mkperf_node *node = this();
    tcb_t *thread = NODE_STATE(ksCurThread);
    struct mkperf_identity id = mkperf_port_identity(thread);

    /* The idle thread is the kernel's own code. */
    count(node, id, node->known && thread != NODE_STATE(ksIdleThread) ? node->id : id);
#ifdef CONFIG_MKPERF_SOFT
    tcb_t *last = mkperf_entry[CURRENT_CPU_INDEX()].thread;

    if (node->known && last != thread) {
        event(node, MKPERF_SOFT_SWITCH, node->id, id);
        if (last != NULL && !node->delivered && blockedOnReply(last)) {
            event(node, MKPERF_SOFT_PPCALL, node->id, id);
        }
    }
#endif
    node->delivered = false;
    node->id = id;
    node->known = true;
}

/* What was counted since the entry is the kernel's, for the thread that entered it: idle follows. */
#ifdef CONFIG_MKPERF_COUNTS
void mkperf_countIdle(void)
{
    struct mkperf_node *node = this();

    if (node->known) {
        count(node, node->id, node->id);
    }
}
#endif

#ifdef CONFIG_MKPERF_SOFT
void mkperf_countDelivery(tcb_t *sender, tcb_t *receiver)
{
    struct mkperf_node *node = this();

    node->delivered = true;
    if (seL4_Fault_get_seL4_FaultType(sender->tcbFault) == seL4_Fault_NullFault) {
        event(node, MKPERF_SOFT_PPCALL, mkperf_port_identity(sender),
              mkperf_port_identity(receiver));
    }
}

void mkperf_countNotification(notification_t *ntfn)
{
    tcb_t *bound = TCB_PTR(notification_ptr_get_ntfnBoundTCB(ntfn));

    event(this(), MKPERF_SOFT_NOTIFICATION, mkperf_port_identity(NODE_STATE(ksCurThread)),
          mkperf_port_identity(bound));
}

/* What a thread itself did wrong: not a guest's exit, nor a budget that is used up. */
void mkperf_countFault(tcb_t *tcb)
{
    struct mkperf_node *node = this();
    word_t type = seL4_Fault_get_seL4_FaultType(current_fault);
    bool_t memory = type == seL4_Fault_VMFault;

    if (node->hook.session.soft_mask != 0 &&
        (memory || type == seL4_Fault_CapFault || type == seL4_Fault_UnknownSyscall ||
         type == seL4_Fault_UserException)) {
        mkperf_soft_fault(&node->hook, mkperf_port_identity(tcb), getRegister(tcb, FaultIP),
                          memory ? seL4_Fault_VMFault_get_address(current_fault) : 0);
    }
}
#endif

#endif
