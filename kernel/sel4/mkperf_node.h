/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hook's state of one core on seL4.
 *
 * Owns: struct mkperf_node. (struct mkperf_entry, in mkperf.h, is the part that each entry needs.) It is read and
 * written on its core, with the big kernel lock held and interrupts masked. mkperf_mappingsChanged,
 * mkperf_threadDeleted, mkperf_handlerDeleted and a request for another core write to the states of all cores,
 * with the lock.
 */
#pragma once

#include <guest.h>
#include <hook.h>
#include <mkperf.h>

/* A page of a stack. All of it is 0 if there is none: a thread without an address space then finds no page. */
struct mkperf_stack {
    word_t space;  /* the address space: mkperf_spaceOf */
    word_t page;   /* the page's address there */
    word_t window; /* the page's address in the kernel */
};

struct mkperf_node {
    /* The page in which a walk of frames was last: of the sampled thread, of the thread whose call it
     * was serving, and so on. */
    struct mkperf_stack stack[1 + MKPERF_MAX_CALLERS];
    bool_t wake;      /* the owner has to be signalled, now or at the next profiling interrupt */
    word_t window;    /* the last reported window of the domain schedule */
    tcb_t *running;   /* the thread of the last reported switch; NULL: it was deleted since */
    irq_t irq;        /* the interrupt of the last request: the owner is signalled by its handler */
    tcb_t *asker;     /* while mkperf_entry's `asked`: the thread with the request */
    word_t request;   /* the address of that thread's descriptor */
    word_t overflows; /* the PMU's flags when the last entry began to wait for the lock */
    struct mkperf_hook hook;
};

extern struct mkperf_node mkperf_node[CONFIG_MAX_NUM_NODES];

/*
 * The identity of a thread's address space: the second word of the thread's capability for it, which has the
 * root table's address and the ASID. A TCB's slot for it contains such a capability or none.
 */
static inline word_t mkperf_spaceOf(tcb_t *thread)
{
    return TCB_PTR_CTE_PTR(thread, tcbVTable)->cap.words[1];
}

/* Returns the entry of the domain schedule that this core is in. */
static inline FORCE_INLINE word_t mkperf_window(void)
{
    return CONFIG_NUM_DOMAINS > 1 ? ksDomScheduleIdx : 0;
}

/* Returns whether this core may use what belongs to all cores. */
static inline FORCE_INLINE bool_t mkperf_holdsLock(void)
{
    return SMP_TERNARY(clh_is_self_in_queue(), true);
}

/* Stores the function by which the kernel was entered, and the thread from which. */
static inline FORCE_INLINE void mkperf_entered(word_t function)
{
    if (mkperf_holdsLock()) {
        mkperf_entry[CURRENT_CPU_INDEX()].function = function;
        mkperf_entry[CURRENT_CPU_INDEX()].thread = NODE_STATE(ksCurThread);
    }
}

extern char mkperf_vectors[1]; /* vectors.S, like the kernel's arm_vector_table; riscv_vectors.S */

/* mkperf.c */
void mkperf_leave(void) NORETURN;
void mkperf_interrupt(word_t flags);
void mkperf_wake(struct mkperf_node *node) NORETURN;
void mkperf_boundary(word_t flags);

/* switches.c, each only while mkperf_reports() */
void mkperf_tellSwitch(tcb_t *thread);
void mkperf_tellInterrupt(irq_t irq);

/* qemu.c. Sets the followers of the session's counters, where these were programmed or armed, and where the session is
 * over. Nothing is left of it without KernelMkperfQEMU. */
void mkperf_qemuFollow(const struct mkperf_hook *hook);
#define mkperf_follow(hook) (config_set(CONFIG_MKPERF_QEMU) ? mkperf_qemuFollow(hook) : (void)0)

/* memory.c */
void mkperf_initMemory(void);
word_t mkperf_stackPage(struct mkperf_stack *stack, tcb_t *thread, word_t page);
