/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What mkperf adds to seL4: the calls that stand in the kernel's own files, each as MKPERF(call).
 *
 * Owns: what is done where such a call stands, inline. How the kernel is entered and left while a
 * session runs is in entries.c; the rest is in mkperf.c (samples, requests), watch.c (counts by PD,
 * software events), switches.c (scheduling events) and memory.c (translation). docs/sel4.md says how
 * the hook fits into the kernel.
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
 * The last entry into the kernel while a session runs, for the sample of an event that happens in it
 * and is noticed when the kernel has returned to user mode, perhaps to another thread. Apart from
 * the rest of the hook's state so that the compiler can reach it from where it reaches ksCurThread.
 */
struct mkperf_entry {
    word_t function; /* the kernel's function that was entered */
    tcb_t *thread;   /* the thread that it was entered from; NULL if that was deleted since */
    word_t watched;  /* what the session watches, MKPERF_WATCHED_*; 0: nothing */
#ifdef ENABLE_SMP_SUPPORT
    bool_t asked; /* another core's thread has a request for this one */
#endif
};

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

void mkperf_preemption(word_t flags);

/*
 * Calls mkperf_NAME, whose arguments are in x0 to x2, by way of mkperf_keep_NAME (mkperf.c), which
 * keeps all registers: so a function that does not get here need not save any for it.
 */
#define MKPERF_KEEP(name, ...)                                        \
    asm volatile("stp x29, x30, [sp, #-16]!\n\tbl mkperf_keep_" #name \
                 "\n\tldp x29, x30, [sp], #16"                        \
                 :                                                    \
                 : __VA_ARGS__                                        \
                 : "cc", "memory")

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

/* The counters that have overflowed since their flags were last cleared. */
static inline word_t mkperf_overflows(void)
{
    word_t flags;

    asm volatile("mrs %0, pmovsclr_el0" : "=r"(flags));
    return flags;
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
        register word_t x0 asm("x0") = IRQT_TO_CORE(irq);

        MKPERF_KEEP(request, "r"(x0));
    }
}

/* In handleIPI, with the lock held: the reschedule interrupt of another core, maybe with a request. */
#ifdef ENABLE_SMP_SUPPORT
void mkperf_askedRequest(void);

static inline void mkperf_rescheduled(void)
{
    if (unlikely(mkperf_entry[CURRENT_CPU_INDEX()].asked)) {
        mkperf_askedRequest();
    }
}
#endif

/* In doIPCTransfer: a message through an endpoint, a fault's too; without an endpoint a reply. */
static inline void mkperf_delivered(tcb_t *sender, endpoint_t *endpoint, tcb_t *receiver)
{
    if (mkperf_watching()) {
        register tcb_t *x0 asm("x0") = sender;
        register endpoint_t *x1 asm("x1") = endpoint;
        register tcb_t *x2 asm("x2") = receiver;

        MKPERF_KEEP(tellDelivery, "r"(x0), "r"(x1), "r"(x2));
    }
}

/* In performInvocation_Notification: the current thread signals ntfn. */
static inline void mkperf_notified(notification_t *ntfn)
{
    if (mkperf_watching()) {
        register notification_t *x0 asm("x0") = ntfn;

        MKPERF_KEEP(tellNotification, "r"(x0));
    }
}

/* In handleFault: current_fault is tcb's. */
static inline void mkperf_fault(tcb_t *tcb)
{
    if (mkperf_watching()) {
        register tcb_t *x0 asm("x0") = tcb;

        MKPERF_KEEP(tellFault, "r"(x0));
    }
}

#endif
