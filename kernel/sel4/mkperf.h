/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What mkperf adds to seL4: the calls in the kernel's own files, each as MKPERF(call).
 *
 * Owns: the inline part of these calls. The other files of this folder do the rest; README.md has an overview,
 * and docs/hook.md describes how the hook fits into the kernel.
 */
#pragma once

#include <config.h>

#include <machine/interrupt.h>
#include <model/statedata.h>
#include <object/structures.h>
#include <smp/lock.h>
#include <types.h>

/*
 * What the hook needs at each entry into the kernel while a session runs. An event that happens in the
 * kernel is noticed when the kernel has returned to user mode, perhaps to another thread, and its sample
 * needs the entry before. This is apart from the rest of the hook's state, so that the compiler can reach it
 * from the address from which it reaches ksCurThread.
 */
struct mkperf_entry {
    word_t function; /* the kernel's function that was entered */
    tcb_t *thread;   /* the thread from which it was entered; NULL: it was deleted since */
    bool_t reports;  /* the session has scheduling events or counts: `reports` in hook.h */
    bool_t asked;    /* a thread of another core has a request for this core */
};

extern struct mkperf_entry mkperf_entry[CONFIG_MAX_NUM_NODES];

/*
 * Fields of page table entries, for memory.c: the attributes of memory with the cache attributes of the
 * kernel's own view, and the rights of user code (Arm ARM, "S2AP data access permissions" and "AP[2:1]"). The
 * bit that permits reading is set in both encodings of rights.
 */
#define MKPERF_PTE_ATTRIBUTES config_ternary(CONFIG_ARM_HYPERVISOR_SUPPORT, 15, 7)
#define MKPERF_PTE_NORMAL config_ternary(CONFIG_ARM_HYPERVISOR_SUPPORT, 15, 4)
#define MKPERF_AP_READ_WRITE config_ternary(CONFIG_ARM_HYPERVISOR_SUPPORT, 3, 1)
#define MKPERF_AP_READ 1
/* In vspace.c, which alone has the enumerators S2_NORMAL and NORMAL: checks MKPERF_PTE_NORMAL. */
#define MKPERF_CHECK_PAGE_ATTRIBUTES     \
    compile_assert(mkperf_normal_memory, \
                   MKPERF_PTE_NORMAL ==  \
                       config_ternary(CONFIG_ARM_HYPERVISOR_SUPPORT, S2_NORMAL, NORMAL))

/* Called in init_cpu: each core calls it at boot. It closes the PMU to user mode and to guests. */
void mkperf_initCPU(void);

/* Forgets all translations, because a mapping was changed or removed, or an address space was
 * deleted. */
void mkperf_mappingsChanged(void);

/* Forgets a thread or an interrupt's handler that is being deleted, and ends its session. */
void mkperf_threadDeleted(tcb_t *tcb);
void mkperf_handlerDeleted(irq_t irq);

/* The inline functions below call these if there is something to do. */
void mkperf_request(word_t handled);
void mkperf_askedRequest(void);

/* Returns whether the session has scheduling events or counts. */
static inline bool_t mkperf_reports(void)
{
    return unlikely(mkperf_entry[CURRENT_CPU_INDEX()].reports);
}

/* Each is called only while mkperf_reports().
 *
 *   tellMessage   in doIPCTransfer: a message was copied. endpoint: NULL if it is a reply. The message of a fault has an
 *                 endpoint, too
 *   tellSignal    in performInvocation_Notification: the current thread signals ntfn
 *   tellAwakened  in tcbReleaseDequeue: tcb has a budget again and can run
 *   tellFault     in handleFault: current_fault is that of tcb
 */
void mkperf_tellMessage(tcb_t *sender, endpoint_t *endpoint, tcb_t *receiver);
void mkperf_tellSignal(notification_t *ntfn);
void mkperf_tellAwakened(tcb_t *tcb);
void mkperf_tellFault(tcb_t *tcb);

/* Called in handleVCPUFault: if a guest has accessed a register of the PMU, carries that out and
 * returns true (guest.c). */
bool_t mkperf_guestTried(word_t hsr);

/* Called in mcsPreemptionPoint: a long operation ends early, perhaps because of the profiling
 * interrupt. Its sample clears the overflow flags, and the interrupt is no longer pending. */
void mkperf_preempted(void);

/* Called in invokeIRQHandler_AckIRQ. */
static inline void mkperf_acknowledged(irq_t irq)
{
    if (unlikely(IRQT_TO_IRQ(irq) == CONFIG_MKPERF_IRQ)) {
        mkperf_request(IRQT_TO_CORE(irq));
    }
}

/* Called in handleIPI, with the lock held: a reschedule interrupt of another core, perhaps with a
 * request. */
static inline void mkperf_rescheduled(void)
{
    if (unlikely(mkperf_entry[CURRENT_CPU_INDEX()].asked)) {
        mkperf_askedRequest();
    }
}
