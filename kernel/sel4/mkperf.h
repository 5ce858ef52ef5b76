/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What mkperf adds to seL4: the calls that mkperf.patch puts into the kernel's own files.
 *
 * Owns: the hook's state of each core. docs/sel4.md says how the hook fits into the kernel.
 */
#ifndef MKPERF_SEL4_H
#define MKPERF_SEL4_H

#include <config.h>
#include <linker.h>

#include <arch/kernel/vspace.h>
#include <arch/machine.h>
#include <machine/interrupt.h>
#include <model/statedata.h>
#include <object/structures.h>
#include <types.h>

#include <capture.h>
#include <counts.h>
#include <soft.h>

/* An answer of mkperf_translate, and what the question was. */
struct mkperf_translation {
    word_t space; /* the address space: second word of the thread's capability for it */
    word_t va;
    word_t window; /* where the kernel sees va */
    word_t room;   /* bytes from there to the end of the page */
};

/* No address space: a root table is aligned. */
#define MKPERF_NO_SPACE (~SEL4_WORD_CONST(0))

/* Bits of mkperf_node.attention: the way of a sample looks at both at once. */
enum {
    /* The consumer is to be signalled at a profiling interrupt: this or, after a fault, the next.
     */
    MKPERF_ATTENTION_WAKE = BIT(0),
    /* Software events or counts by thread are wanted, or were a moment ago. */
    MKPERF_ATTENTION_WATCH = BIT(1),
};

struct mkperf_node {
    struct mkperf_capture_state capture;
    struct mkperf_translation ring;
    struct mkperf_translation stack;
    struct mkperf_translation soft;
    struct mkperf_translation counts;
    struct mkperf_counts_state counting;
    tcb_t *consumer;    /* during a capture: the thread that published the descriptor */
    tcb_t *subject;     /* and the one that the present sample is about */
    word_t entry;       /* the function of the last kernel entry, see MKPERF_ENTRY */
    tcb_t *entryThread; /* the thread that it was entered from; NULL if it is gone */
    word_t attention;   /* 0 but for the bits above */
    bool_t counted;     /* counts by thread are wanted */
    bool_t entryKnown;  /* while watched: the identity that the thread had then, which may */
    uint64_t entryId;   /* change with its scheduling context while another runs */
    bool_t captured;    /* the interrupt in service is a profiling interrupt, its sample taken */
};

extern struct mkperf_node mkperf_node[CONFIG_MAX_NUM_NODES];

/*
 * At each entry into the kernel: what a later profiling interrupt says the kernel was doing. That
 * another thread was running than at the last entry is a context switch, counted here because all
 * ways to a thread, and the fast path's above all, end in an entry again.
 */
#define MKPERF_ENTRY(function)                                     \
    do {                                                           \
        struct mkperf_node *n = &mkperf_node[CURRENT_CPU_INDEX()]; \
                                                                   \
        n->entry = (word_t)(function);                             \
        if (unlikely(n->attention & MKPERF_ATTENTION_WATCH)) {     \
            mkperf_softSwitch();                                   \
        }                                                          \
        n->entryThread = NODE_STATE(ksCurThread);                  \
    } while (0)

/* Whether somebody wants software events (soft.h), or did a moment ago. */
static inline bool_t mkperf_watching(void)
{
    return unlikely(mkperf_node[CURRENT_CPU_INDEX()].attention & MKPERF_ATTENTION_WATCH);
}

/*
 * The kernel's view of va in the address space of thread, as far as the end of its page, or 0
 * unless it is mapped there for user access (writable, if asked), as cached memory, in RAM, and
 * 8-byte aligned. The address space is looked up through its ASID as the kernel itself does when it
 * switches to a thread: a page table is reachable from there as long as it exists, and no longer. A
 * positive answer is left in *t.
 */
word_t mkperf_translate(struct mkperf_translation *t, tcb_t *thread, word_t va, bool_t write);

/* Where the kernel invalidates entries of the TLB: forget translations. */
static inline void mkperf_mappingsChanged(void)
{
    for (word_t i = 0; i < CONFIG_MAX_NUM_NODES; i++) {
        mkperf_node[i].ring.space = MKPERF_NO_SPACE;
        mkperf_node[i].stack.space = MKPERF_NO_SPACE;
        mkperf_node[i].soft.space = MKPERF_NO_SPACE;
        mkperf_node[i].counts.space = MKPERF_NO_SPACE;
    }
}

/* At boot, on each core: the PMU's overflow interrupts, and user access to the PMU. */
void mkperf_initCPU(void);

/* In handleInterrupt: true if irq was a profiling interrupt; it has then been acknowledged. */
bool_t mkperf_handleInterrupt(irq_t irq);

/* A thread is being deleted: forget it. */
void mkperf_threadDeleted(tcb_t *tcb);

/* In switchToIdleThread: what the kernel did until now is the work of who entered it. */
void mkperf_countIdle(void);

static inline void mkperf_idle(void)
{
    if (mkperf_watching()) {
        mkperf_countIdle();
    }
}

/* Software events, while somebody may want them. to: NULL if nobody is known. */
void mkperf_softSwitch(void);
void mkperf_softEvent(word_t kind, tcb_t *from, tcb_t *to);

/* In handleFault: current_fault is tcb's. */
void mkperf_softFault(tcb_t *tcb);

static inline void mkperf_fault(tcb_t *tcb)
{
    if (mkperf_watching()) {
        mkperf_softFault(tcb);
    }
}

/* In fastpath_call, which can no longer fail: the current thread calls dest. */
static inline void mkperf_called(tcb_t *dest)
{
    if (mkperf_watching()) {
        mkperf_softEvent(MKPERF_SOFT_PPCALL, NODE_STATE(ksCurThread), dest);
    }
}

/* In doIPCTransfer: a message through an endpoint, or a fault's, or without an endpoint a reply. */
static inline void mkperf_delivered(tcb_t *sender, endpoint_t *endpoint, tcb_t *receiver)
{
    if (mkperf_watching() && endpoint != NULL &&
        seL4_Fault_get_seL4_FaultType(sender->tcbFault) == seL4_Fault_NullFault) {
        mkperf_softEvent(MKPERF_SOFT_PPCALL, sender, receiver);
    }
}

/* In performInvocation_Notification: a thread signals ntfn. */
static inline void mkperf_notified(notification_t *ntfn)
{
    if (mkperf_watching()) {
        mkperf_softEvent(MKPERF_SOFT_NOTIFICATION, NODE_STATE(ksCurThread),
                         TCB_PTR(notification_ptr_get_ntfnBoundTCB(ntfn)));
    }
}

/*
 * The notification capability that says who gets this interrupt, a null capability if no one does.
 * There is one only while the interrupt is a user's (IRQSignal).
 */
static inline cap_t mkperf_notificationOf(irq_t irq)
{
    cap_t cap = intStateIRQNode[IRQT_TO_IDX(irq)].cap;

    if (unlikely(cap_get_capType(cap) != cap_notification_cap ||
                 !cap_notification_cap_get_capNtfnCanSend(cap))) {
        return cap_null_cap_new();
    }
    return cap;
}

/*
 * The descriptor that the thread has published, NULL if it has none. It stands at a fixed place in
 * the frame of the IPC buffer, which exists as long as the TCB holds the frame's capability.
 */
static inline const struct mkperf_descriptor *mkperf_descriptorOf(tcb_t *thread)
{
    cap_t frame = TCB_PTR_CTE_PTR(thread, tcbBuffer)->cap;

    if (unlikely(cap_get_capType(frame) != cap_frame_cap ||
                 cap_frame_cap_get_capFIsDevice(frame))) {
        return NULL;
    }

    const struct mkperf_descriptor *d =
        (const struct mkperf_descriptor *)(cap_frame_cap_get_capFBasePtr(frame) +
                                           MKPERF_DESCRIPTOR_OFFSET);

    return __atomic_load_n(&d->magic, __ATOMIC_ACQUIRE) == MKPERF_DESCRIPTOR_MAGIC ? d : NULL;
}

/* The descriptor of whoever gets this interrupt, NULL without; node->consumer is its thread. */
static inline const struct mkperf_descriptor *mkperf_published(struct mkperf_node *node, irq_t irq)
{
    cap_t cap = mkperf_notificationOf(irq);

    if (unlikely(cap_get_capType(cap) != cap_notification_cap)) {
        return NULL;
    }

    notification_t *ntfn = NTFN_PTR(cap_notification_cap_get_capNtfnPtr(cap));
    tcb_t *consumer = TCB_PTR(notification_ptr_get_ntfnBoundTCB(ntfn));

    if (unlikely(consumer == NULL)) {
        return NULL;
    }
    node->consumer = consumer;
    return mkperf_descriptorOf(consumer);
}

/* Takes the samples of a profiling interrupt; false if no one has asked for them. */
static inline bool_t mkperf_sample(struct mkperf_node *node, irq_t irq)
{
    const struct mkperf_descriptor *d = mkperf_published(node, irq);

    if (unlikely(d == NULL)) {
        return false;
    }
    mkperf_capture(d, &node->capture);
    if (unlikely(node->attention != 0)) {
        MKPERF_ENTRY(mkperf_capture);
        return true;
    }
    node->entry = (word_t)mkperf_capture; /* the same, when there is nothing to look at */
    node->entryThread = NODE_STATE(ksCurThread);
    return true;
}

/* The interrupt is over: unmasked, inactive, and ready to come again. */
static inline void mkperf_complete(irq_t irq)
{
    ackInterrupt(irq);
#ifdef CONFIG_ARM_GIC_V3_SUPPORT
    /* For an interrupt of a user's, ackInterrupt leaves this to the user's acknowledgement. */
    isb();
    deactivateInterrupt(irq);
#endif
}

/*
 * On entry for an interrupt, before anything else. True if it was a profiling interrupt that has
 * been dealt with completely, so that the kernel can return to where it came from.
 */
static inline bool_t mkperf_handleInterruptEarly(void)
{
    struct mkperf_node *node = &mkperf_node[CURRENT_CPU_INDEX()];
    irq_t irq = getActiveIRQ();

    if (IRQT_TO_IRQ(irq) != CONFIG_MKPERF_IRQ || !mkperf_sample(node, irq)) {
        return false;
    }
    if (unlikely(node->attention & MKPERF_ATTENTION_WAKE)) {
        node->captured = true;
        return false;
    }
    mkperf_complete(irq);
    return true;
}

#endif
