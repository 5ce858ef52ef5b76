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

/*
 * What the hook needs at each entry into the kernel while a session runs. An event that happens in the
 * kernel is noticed when the kernel has returned to user mode, perhaps to another thread; its sample
 * has the entry before. Apart from the rest of the hook's state, so that the compiler can reach it from
 * where it reaches ksCurThread.
 */
struct mkperf_entry {
    word_t function; /* the kernel's function that was entered */
    tcb_t *thread;   /* the thread from which it was entered; NULL: it was deleted since */
    bool_t reports;  /* the session has scheduling events or counts: mkperf_hook_reports */
#ifdef ENABLE_SMP_SUPPORT
    bool_t asked; /* a thread of another core has a request for this core */
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

/* At boot, on each core. */
void mkperf_initCPU(void);

/* A mapping was changed or removed, or an address space deleted: forget what was translated. */
void mkperf_mappingsChanged(void);

/* A thread, or an interrupt's handler, is being deleted: forget it; its session is over. */
void mkperf_threadDeleted(tcb_t *tcb);
void mkperf_handlerDeleted(irq_t irq);

/* The rest of the functions below, if there is something to do. */
void mkperf_preemption(word_t flags);
void mkperf_request(word_t handled);
void mkperf_tellMessage(tcb_t *sender, endpoint_t *endpoint, tcb_t *receiver);
void mkperf_tellSignal(notification_t *ntfn);
void mkperf_tellFault(tcb_t *tcb);
#ifdef ENABLE_SMP_SUPPORT
void mkperf_askedRequest(void);
#endif

/* Whether the session has scheduling events or counts. A kernel without KernelMkperfEvents has none. */
static inline bool_t mkperf_reports(void)
{
    return config_set(CONFIG_MKPERF_EVENTS) && unlikely(mkperf_entry[CURRENT_CPU_INDEX()].reports);
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
        mkperf_request(IRQT_TO_CORE(irq));
    }
}

/* In handleIPI, with the lock held: another core's reschedule interrupt, perhaps with a request. */
#ifdef ENABLE_SMP_SUPPORT
static inline void mkperf_rescheduled(void)
{
    if (unlikely(mkperf_entry[CURRENT_CPU_INDEX()].asked)) {
        mkperf_askedRequest();
    }
}
#endif

/* In doIPCTransfer: a message through an endpoint, also that of a fault; without an endpoint, a
 * reply. */
static inline void mkperf_delivered(tcb_t *sender, endpoint_t *endpoint, tcb_t *receiver)
{
    if (mkperf_reports()) {
        mkperf_tellMessage(sender, endpoint, receiver);
    }
}

/* In performInvocation_Notification: the current thread signals ntfn. */
static inline void mkperf_notified(notification_t *ntfn)
{
    if (mkperf_reports()) {
        mkperf_tellSignal(ntfn);
    }
}

/* In handleFault: current_fault is that of tcb. */
static inline void mkperf_fault(tcb_t *tcb)
{
    if (mkperf_reports()) {
        mkperf_tellFault(tcb);
    }
}

#endif
