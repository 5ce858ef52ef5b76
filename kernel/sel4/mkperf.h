/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What mkperf adds to seL4: the calls that stand in the kernel's own files, each as MKPERF(call).
 *
 * Owns: what is done at every entry into the kernel, inline. The rest is in mkperf.c (samples,
 * requests), watch.c (counts by PD, software events) and memory.c (translation). docs/sel4.md says
 * how the hook fits into the kernel.
 */
#ifndef MKPERF_SEL4_H
#define MKPERF_SEL4_H

#include <config.h>

#include <machine/interrupt.h>
#include <model/statedata.h>
#include <object/structures.h>
#include <smp/lock.h>
#include <types.h>

#if defined CONFIG_MKPERF_COUNTS || defined CONFIG_MKPERF_SOFT || defined CONFIG_MKPERF_SCHED
#define MKPERF_WATCHES 1
#endif

/* Bits of mkperf_entry.watched. */
#define MKPERF_WATCHED_ENTRIES 1  /* counts by PD, software events: each entry is looked at */
#define MKPERF_WATCHED_SWITCHES 2 /* scheduling events */

/*
 * The last entry into the kernel, for the sample of an event that happens in it and is noticed when
 * the kernel has returned to user mode, perhaps to another thread. Apart from the rest of the
 * hook's state so that the compiler can reach it from where it reaches ksCurThread.
 */
struct mkperf_entry {
    word_t function; /* an address in the function that was entered, or MKPERF_INTERRUPTED */
    tcb_t *thread;   /* the thread that it was entered from; NULL if that was deleted since */
    word_t watched;  /* what the session watches, MKPERF_WATCHED_*; 0: nothing */
#ifdef ENABLE_SMP_SUPPORT
    word_t asked; /* MKPERF_ASKED: another core's thread has a request for this one */
#endif
};

#define MKPERF_INTERRUPTED 0 /* c_handle_interrupt */

#ifdef ENABLE_SMP_SUPPORT
/* The overflow flag of the cycle counter, which no session has. */
#define MKPERF_ASKED BIT(31)
#endif

extern struct mkperf_entry mkperf_entry[CONFIG_MAX_NUM_NODES];

/*
 * Page table entries, for memory.c: memory that is cached as the kernel's own view of it is, and
 * the rights of user code (Arm ARM, "S2AP data access permissions" and "AP[2:1]"). The bit that
 * allows to read is set in both.
 */
#ifdef CONFIG_ARM_HYPERVISOR_SUPPORT
#define MKPERF_PTE_NORMAL 15
#define MKPERF_AP_READ_WRITE 3
#define MKPERF_CHECK_PAGE_ATTRIBUTES \
    compile_assert(mkperf_normal_memory, MKPERF_PTE_NORMAL == S2_NORMAL)
#else
#define MKPERF_PTE_NORMAL 4
#define MKPERF_AP_READ_WRITE 1
#define MKPERF_CHECK_PAGE_ATTRIBUTES \
    compile_assert(mkperf_normal_memory, MKPERF_PTE_NORMAL == NORMAL)
#endif
#define MKPERF_AP_READ 1

void mkperf_interrupt(word_t flags);
void mkperf_preemption(word_t flags);
void mkperf_request(irq_t irq);
void mkperf_watch(void);

#ifdef MKPERF_WATCHES
/* mkperf_watch by way of watch.c's mkperf_watchSaving, which keeps all registers but x30: so a
 * function that does not get here need not save its arguments. "memory" is missing so that the
 * compiler may keep ksCurThread: mkperf_watch changes nothing that its callers have read before. */
#define MKPERF_WATCH() asm volatile("bl mkperf_watchSaving" : : : "x30", "cc")
#else
#define MKPERF_WATCH()
#endif

/* At boot, on each core. */
void mkperf_initCPU(void);

/* A mapping was changed or removed, or an address space deleted: forget what was translated. */
void mkperf_mappingsChanged(void);

/* A thread, or an interrupt's handler, is being deleted: forget it; its session is over. */
void mkperf_threadDeleted(tcb_t *tcb);
void mkperf_handlerDeleted(irq_t irq);

/* Whether the session watches anything: all that is looked at if not. */
static inline bool_t mkperf_watching(void)
{
#ifdef MKPERF_WATCHES
    return unlikely(mkperf_entry[CURRENT_CPU_INDEX()].watched != 0);
#else
    return false;
#endif
}

/*
 * In c_entry_hook: which function the kernel was entered by, and from which thread. That another
 * thread was running than at the last entry is a context switch, seen here because all ways to a
 * thread, and the fast path's above all, end in an entry again.
 *
 * Outside the big kernel lock (an IPI that stalls or flushes, and a trap of the FPU) the record is
 * left as it is: so whatever follows from it runs with the lock held. An IPI's own entry does not
 * prove that the lock's holder waits for this core: one that was answered while this core waited
 * for the lock comes again as an interrupt later.
 */
static inline FORCE_INLINE void mkperf_entered(void)
{
    struct mkperf_entry *e = &mkperf_entry[CURRENT_CPU_INDEX()];
    word_t here;

    if (!SMP_TERNARY(clh_is_self_in_queue(), true)) {
        return;
    }
    if (mkperf_watching() && (e->watched & MKPERF_WATCHED_ENTRIES) != 0) {
        MKPERF_WATCH();
    }
    if (__builtin_constant_p(e->function)) { /* of mkperf_interrupted, as the compiler sees */
        here = MKPERF_INTERRUPTED;
    } else {
        asm volatile("adr %0, ." : "=r"(here));
    }
    e->function = here;
    e->thread = NODE_STATE(ksCurThread);
}

/* With mkperf_entered in it the compiler would make c_entry_hook a call; and the address that is
 * recorded is to be the entry's own. */
static inline FORCE_INLINE void c_entry_hook(void);

/* The counters that have overflowed since their flags were last cleared. */
static inline word_t mkperf_overflows(void)
{
    word_t flags;

    asm volatile("mrs %0, pmovsclr_el0" : "=r"(flags));
    return flags;
}

/*
 * In c_handle_interrupt, before its c_entry_hook. Returns if the interrupt is not the hook's.
 * Outside the big kernel lock nothing is looked at but this core's flags and its interrupt.
 * Another core asks for a request by a flag and the kernel's own reschedule IPI, which is handled
 * with the lock held.
 */
static inline void mkperf_interrupted(void)
{
    word_t flags = mkperf_overflows();

#ifdef ENABLE_SMP_SUPPORT
    flags |= mkperf_entry[CURRENT_CPU_INDEX()].asked;
#endif
#ifdef CONFIG_MKPERF_SCHED
    if (unlikely((flags | mkperf_entry[CURRENT_CPU_INDEX()].watched) != 0)) {
#else
    if (unlikely(flags != 0)) {
#endif
        mkperf_interrupt(flags);
    }
#ifndef ENABLE_SMP_SUPPORT
    /* Tells mkperf_entered, which comes next, that it need not make an address: an instruction less.
     * This store is not left. With several cores the lock may not be held. */
    mkperf_entry[0].function = !MKPERF_INTERRUPTED;
#endif
}

/* In mcsPreemptionPoint: the kernel was preempted, perhaps by a profiling interrupt. */
static inline void mkperf_preempted(void)
{
    word_t flags = mkperf_overflows();

    if (unlikely(flags != 0)) {
        mkperf_preemption(flags);
    }
}

/* In invokeIRQHandler_AckIRQ. */
static inline void mkperf_acknowledged(irq_t irq)
{
    if (unlikely(IRQT_TO_IRQ(irq) == CONFIG_MKPERF_IRQ)) {
        mkperf_request(irq);
    }
}

/* For the calls below, each of which stands where something is watched. */
#if defined CONFIG_MKPERF_COUNTS
void mkperf_countIdle(void);
#else
static inline void mkperf_countIdle(void)
{
}
#endif

#ifdef CONFIG_MKPERF_SOFT
void mkperf_countDelivery(tcb_t *sender, tcb_t *receiver);
void mkperf_countNotification(notification_t *ntfn);
void mkperf_countFault(tcb_t *tcb);
#else
static inline void mkperf_countDelivery(tcb_t *sender, tcb_t *receiver)
{
}
static inline void mkperf_countNotification(notification_t *ntfn)
{
}
static inline void mkperf_countFault(tcb_t *tcb)
{
}
#endif

#ifdef CONFIG_MKPERF_SCHED
void mkperf_tellSwitch(tcb_t *thread);
void mkperf_tellDelivery(tcb_t *sender, endpoint_t *endpoint, tcb_t *receiver);
void mkperf_tellNotification(notification_t *ntfn);
void mkperf_tellInterrupt(irq_t irq);
void mkperf_watchedCall(word_t cptr, word_t msgInfo) NORETURN;
void mkperf_watchedReplyRecv(word_t cptr, word_t msgInfo, word_t reply) NORETURN;
#else
static inline void mkperf_tellSwitch(tcb_t *thread)
{
}
static inline void mkperf_tellDelivery(tcb_t *sender, endpoint_t *endpoint, tcb_t *receiver)
{
}
static inline void mkperf_tellNotification(notification_t *ntfn)
{
}
static inline void mkperf_tellInterrupt(irq_t irq)
{
}
#endif

void mkperf_signalSlowly(void) NORETURN;

/* In switchToIdleThread: what the kernel did until now is the work of the thread that entered it.
 */
static inline void mkperf_idle(void)
{
    if (mkperf_watching()) {
        mkperf_countIdle();
        mkperf_tellSwitch(NODE_STATE(ksIdleThread));
    }
}

/* In switchToThread: before it is the current one. */
static inline void mkperf_switched(tcb_t *thread)
{
    if (mkperf_watching()) {
        mkperf_tellSwitch(thread);
    }
}

/* In doIPCTransfer: a message through an endpoint, a fault's too; without an endpoint a reply. */
static inline void mkperf_delivered(tcb_t *sender, endpoint_t *endpoint, tcb_t *receiver)
{
    if (mkperf_watching()) {
        if (endpoint != NULL) {
            mkperf_countDelivery(sender, receiver);
        }
        mkperf_tellDelivery(sender, endpoint, receiver);
    }
}

/* In performInvocation_Notification: the current thread signals ntfn. */
static inline void mkperf_notified(notification_t *ntfn)
{
    if (mkperf_watching()) {
        mkperf_countNotification(ntfn);
        mkperf_tellNotification(ntfn);
    }
}

/* In fastpath_signal: it goes the slow path, which calls mkperf_notified. */
static inline void mkperf_fastSignal(void)
{
    if (mkperf_watching()) {
        mkperf_signalSlowly();
    }
}

/* In handleFault: current_fault is tcb's. */
static inline void mkperf_fault(tcb_t *tcb)
{
    if (mkperf_watching()) {
        mkperf_countFault(tcb);
    }
}

/* In c_handle_fastpath_call and c_handle_fastpath_reply_recv, behind their c_entry_hook: it goes
 * through the copy of the fast path that tells events (switches.c). Whether something is watched the
 * compiler knows from c_entry_hook. */
#ifdef CONFIG_MKPERF_SCHED
static inline FORCE_INLINE void mkperf_fastCall(word_t cptr, word_t msgInfo)
{
    if (mkperf_watching()) {
        mkperf_watchedCall(cptr, msgInfo);
    }
}

static inline FORCE_INLINE void mkperf_fastReplyRecv(word_t cptr, word_t msgInfo, word_t reply)
{
    if (mkperf_watching()) {
        mkperf_watchedReplyRecv(cptr, msgInfo, reply);
    }
}
#else
static inline void mkperf_fastCall(word_t cptr, word_t msgInfo)
{
}
static inline void mkperf_fastReplyRecv(word_t cptr, word_t msgInfo, word_t reply)
{
}
#endif

#endif
