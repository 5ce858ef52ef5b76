/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * seL4's side of the kernel hook: what kernel/capture.c needs to know from the kernel.
 *
 * Owns: how the hook reads the interrupted thread, its memory and the PMU on seL4 (AArch64, MCS,
 * with and without hypervisor support). User memory is found through the kernel's own page table
 * structures, never by dereferencing or by asking the MMU, so that nothing a user address holds can
 * fault, and no register of a guest (PAR_EL1) is touched.
 */
#ifndef MKPERF_SEL4_PORT_H
#define MKPERF_SEL4_PORT_H

#include <linker.h>

#include <arch/kernel/vspace.h>
#include <arch/machine.h>
#include <kernel/boot.h>
#include <kernel/thread.h>
#include <machine/registerset.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UINT32_C(x) x##u
#define UINT64_C(x) x##ull

#include <mkperf.h>
#include <mkperf/descriptor.h>
#include <mkperf/ring.h>
#include <mkperf/soft.h>

struct mkperf_port_context {
    uint64_t pc;
    uint64_t lr;
    uint64_t fp;
};

/* Microkit's badges of fault handlers: a child PD's is this bit and its id in its parent. */
#define MKPERF_CHILD_BADGE BIT(62)

/*
 * mkperf_translate in the address space of thread, through the last answer that it gave for this
 * purpose: like an entry of the TLB, it holds until the kernel changes or removes a mapping. The
 * second word of a capability for a mapped address space (its root and its ASID) names it; nothing
 * but such capabilities, or none, can be in a TCB's slot for it.
 */
static inline word_t mkperf_port_window(struct mkperf_translation *last, tcb_t *thread, word_t va,
                                        bool_t write)
{
    word_t space = TCB_PTR_CTE_PTR(thread, tcbVTable)->cap.words[1];

    if (likely(((last->space ^ space) | (last->va ^ va)) == 0)) {
        return last->window;
    }
    return mkperf_translate(last, thread, va, write);
}

static inline uintptr_t mkperf_port_user_page(uint64_t va)
{
    struct mkperf_node *node = &mkperf_node[CURRENT_CPU_INDEX()];

    return mkperf_port_window(&node->stack, node->subject, va, false);
}

static inline struct mkperf_ring *mkperf_port_ring(const struct mkperf_descriptor *d,
                                                   uint64_t bytes)
{
    word_t core = CURRENT_CPU_INDEX();

    if (unlikely(core >= MKPERF_MAX_CORES)) {
        return NULL;
    }

    struct mkperf_node *node = &mkperf_node[core];
    word_t window = mkperf_port_window(&node->ring, node->consumer, d->ring[core], true);

    return likely(bytes <= node->ring.room) ? (struct mkperf_ring *)window : NULL;
}

/* The table of counts by thread, NULL if nobody wants them (any more). */
static inline struct mkperf_counts *mkperf_port_counts(const struct mkperf_descriptor *d)
{
    struct mkperf_node *node = &mkperf_node[CURRENT_CPU_INDEX()];
    word_t window = 0;

    if (d->counts != 0) {
        window = mkperf_port_window(&node->counts, node->consumer, d->counts, true);
        window = node->counts.room >= sizeof(struct mkperf_counts) ? window : 0;
    }
    node->counted = window != 0;
    return (struct mkperf_counts *)window;
}

/* Beside finding the table, this says whether events, or counts, are wanted from now on. */
static inline struct mkperf_soft *mkperf_port_soft(const struct mkperf_descriptor *d)
{
    struct mkperf_node *node = &mkperf_node[CURRENT_CPU_INDEX()];
    word_t window = 0;

    if (d->soft_mask != 0) {
        window = mkperf_port_window(&node->soft, node->consumer, d->soft, true);
        window = node->soft.room >= sizeof(struct mkperf_soft) ? window : 0;
    }
    mkperf_port_counts(d);
    node->attention &= ~(word_t)MKPERF_ATTENTION_WATCH;
    node->attention |= window != 0 || node->counted ? MKPERF_ATTENTION_WATCH : 0;
    return (struct mkperf_soft *)window;
}

/* Where the interrupt was taken. */
static inline word_t mkperf_port_elr(void)
{
    word_t elr;
#ifdef CONFIG_ARM_HYPERVISOR_SUPPORT
    MRS("elr_el2", elr);
#else
    MRS("elr_el1", elr);
#endif
    return elr;
}

/*
 * Who a sample is about. An event in user mode: the thread that was interrupted. An event in the
 * kernel, which is noticed only when the kernel returns to user mode, maybe to another thread: the
 * thread from which the kernel was entered. The idle thread's code is the kernel's, too; what
 * happened before its first instruction belongs to the entry before.
 *
 * A vCPU's thread has a program counter and a link register of its guest, but no frames that could
 * be reached: what its frame pointer says is an address in the guest's own translation.
 */
static inline bool mkperf_port_context(struct mkperf_port_context *c, bool kernel)
{
    struct mkperf_node *node = &mkperf_node[CURRENT_CPU_INDEX()];
    tcb_t *thread = NODE_STATE(ksCurThread);
    register_t pc = NextIP;

    if (unlikely(kernel)) {
        pc = FaultIP;
        if (thread != NODE_STATE(ksIdleThread) || mkperf_port_elr() == (word_t)idle_thread) {
            thread = node->entryThread;
        }
    }
    node->subject = thread;
    if (unlikely(thread == NODE_STATE(ksIdleThread) || (kernel && thread == NULL))) {
        c->pc = 0;
        c->lr = 0;
        c->fp = 0;
        return false;
    }
    c->pc = getRegister(thread, pc);
    c->lr = getRegister(thread, X30);
    c->fp = getRegister(thread, X29);
#ifdef CONFIG_ARM_HYPERVISOR_SUPPORT
    if (unlikely(thread->tcbArch.tcbVCPU != NULL)) {
        c->fp = 0;
    }
#endif
    return true;
}

/*
 * Identity as the badge of the fault handler gives it. Microkit numbers children within their
 * parent, so a child's is made whole with the badge of its scheduling context; the initial thread
 * has no fault handler and is known by its address space.
 */
static inline uint64_t mkperf_port_identity(tcb_t *thread)
{
    if (unlikely(thread == NULL)) {
        return MKPERF_THREAD_NONE;
    }
    if (unlikely(thread == NODE_STATE(ksIdleThread))) {
        return MKPERF_THREAD_IDLE;
    }

    cap_t handler = TCB_PTR_CTE_PTR(thread, tcbFaultHandler)->cap;

    if (unlikely(cap_get_capType(handler) != cap_endpoint_cap)) {
        cap_t root = TCB_PTR_CTE_PTR(thread, tcbVTable)->cap;

        return cap_get_capType(root) == cap_vspace_cap &&
                       cap_vspace_cap_get_capVSMappedASID(root) == IT_ASID
                   ? MKPERF_THREAD_INITIAL
                   : MKPERF_THREAD_NONE;
    }

    word_t badge = cap_endpoint_cap_get_capEPBadge(handler);

    if (badge & MKPERF_CHILD_BADGE) {
        sched_context_t *sc = thread->tcbSchedContext;
        word_t scBadge = sc != NULL ? sc->scBadge & MASK(16) : 0;

        return MKPERF_CHILD_BADGE | scBadge << 8 | (badge & MASK(8));
    }
    return badge;
}

static inline uint64_t mkperf_port_thread(void)
{
    return mkperf_port_identity(mkperf_node[CURRENT_CPU_INDEX()].subject);
}

/* Of the idle thread where it was; otherwise the function of the last entry. */
static inline uint64_t mkperf_port_kernel_pc(void)
{
    if (NODE_STATE(ksCurThread) == NODE_STATE(ksIdleThread)) {
        word_t pc = mkperf_port_elr();

        if (pc != (word_t)idle_thread) {
            return pc;
        }
    }
    return mkperf_node[CURRENT_CPU_INDEX()].entry;
}

static inline unsigned mkperf_port_core(void)
{
    return CURRENT_CPU_INDEX();
}

static inline uint64_t mkperf_port_time(void)
{
    word_t time;
    MRS(CNT_CT, time);
    return time;
}

static inline uint64_t mkperf_port_tick_hz(void)
{
    word_t hz;
    MRS(CNTFRQ, hz);
    return hz;
}

/* The cycle counter's bit stays: it belongs to the kernel's benchmark configurations. */
static inline uint32_t mkperf_port_overflow_take(void)
{
    word_t bits;
    MRS("pmovsclr_el0", bits);
    bits &= MASK(MKPERF_MAX_COUNTERS);
    MSR("pmovsclr_el0", bits);
    isb();
    return bits;
}

/* The counters that there are: an access to another is undefined. mkperf_initCPU set the bits of
 * all, and those of others read as zero. */
static inline uint32_t mkperf_port_counters(void)
{
    word_t bits;
    MRS("pmintenset_el1", bits);
    return bits & MASK(MKPERF_MAX_COUNTERS);
}

/*
 * Event counters have a register each and no index. This branches to the right one of 31 pairs of
 * instructions; going through PMSELR_EL0 would have to save and restore what its user has there.
 */
#define MKPERF_EACH_COUNTER(instruction)                                                 \
    "adr %[at], 1f\n"                                                                    \
    "add %[at], %[at], %[i], lsl #3\n"                                                   \
    "br %[at]\n"                                                                         \
    "1:\n"                                                                               \
    ".irp "                                                                              \
    "n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29," \
    "30\n" instruction "\n"                                                              \
    "b 2f\n"                                                                             \
    ".endr\n"                                                                            \
    "2:\n"

compile_assert(mkperf_counters_have_a_register, MKPERF_MAX_COUNTERS == 31)

    /* i < MKPERF_MAX_COUNTERS, here and in mkperf_port_counter_write. */
    static inline uint32_t mkperf_port_counter_read(unsigned i)
{
    word_t at;
    word_t value;

    asm volatile(MKPERF_EACH_COUNTER("mrs %[value], pmevcntr\\n\\()_el0")
                 : [at] "=&r"(at), [value] "=r"(value)
                 : [i] "r"((word_t)i));
    return value;
}

static inline void mkperf_port_counter_write(unsigned i, uint32_t value)
{
    word_t at;

    asm volatile(MKPERF_EACH_COUNTER("msr pmevcntr\\n\\()_el0, %[value]")
                 : [at] "=&r"(at)
                 : [i] "r"((word_t)i), [value] "r"((word_t)value));
}

/* The signal itself is given where the kernel delivers interrupts: mkperf_handleInterrupt. */
static inline void mkperf_port_wake(void)
{
    mkperf_node[CURRENT_CPU_INDEX()].attention |= MKPERF_ATTENTION_WAKE;
}

#endif
