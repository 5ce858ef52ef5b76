/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hook's port to seL4 with MCS (docs/porting.md has the contract): what AArch64 (arm_port.h) and RISC-V (riscv_port.h)
 * have in common.
 *
 * Owns: what kernel/ reads of threads: registers, badges, callers. memory.c reads user memory.
 */
#pragma once

#include <linker.h>

#include <api/syscall.h>
#include <arch/kernel/vspace.h>
#include <arch/machine.h>
#include <kernel/cspace.h>
#include <kernel/thread.h>
#include <machine/registerset.h>

/* The headers behind these need them and do not include them. */
#include <benchmark/benchmark_track.h>
#include <benchmark/benchmark_utilisation.h>
#ifdef CONFIG_HARDWARE_DEBUG_API
#include <arch/machine/debug.h>
#endif

#include <kernel/traps.h>

#include <arch/fastpath/fastpath.h>
#include <fastpath/fastpath.h>

#define UINT32_C(x) x##u
#define UINT64_C(x) x##ull

#ifdef CONFIG_ARCH_RISCV
#include <riscv_port.h>
#else
#include <arm_port.h>
#endif

#define MKPERF_PORT_CORES CONFIG_MAX_NUM_NODES
#define MKPERF_PORT_FEATURES \
    (MKPERF_FEATURE_EVENTS | config_ternary(CONFIG_MKPERF_QEMU, MKPERF_FEATURE_FOLLOWERS, 0))

/*
 * The last page that was found is remembered with its address space. Like an entry of the TLB, it is valid
 * until the kernel changes or removes a mapping.
 */
static inline uintptr_t mkperf_port_user_page(const void *thread, unsigned level, uint64_t page)
{
    struct mkperf_stack *stack = &mkperf_node[CURRENT_CPU_INDEX()].stack[level];

    if (likely(((stack->space ^ mkperf_spaceOf((tcb_t *)thread)) | (stack->page ^ page)) == 0)) {
        return stack->window;
    }
    return mkperf_stackPage(stack, (tcb_t *)thread, page);
}

/* Returns the kernel's view of memory of a session's owner (memory.c). It is NULL if va is not 8-byte aligned, or if
 * the bytes are not within one page that the owner may write. */
void *mkperf_port_memory(const void *owner, uint64_t va, uint64_t bytes);

/* Copies the registers that a thread has saved. pc: the register with its program counter. */
static inline void mkperf_savedContext(struct mkperf_port_context *c, tcb_t *thread, word_t pc)
{
    c->thread = thread;
    c->pc = getRegister(thread, pc);
    c->lr = getRegister(thread, MKPERF_LR);
    c->fp = getRegister(thread, MKPERF_FP);
    c->guest = MKPERF_GUEST_NONE;
}

/* Completes the context of a vCPU's thread, and returns its mode. It has the program counter and the link register of the
 * guest, but no frames: its frame pointer is an address in the guest's own translation. Called after mkperf_port_identity,
 * whose test the compiler does not repeat: samples of PDs have one. */
static inline uint32_t mkperf_port_guest(struct mkperf_port_context *c)
{
    tcb_t *thread = (tcb_t *)c->thread;

    if (unlikely(thread != NULL && mkperf_isVCPU(thread))) {
        c->fp = 0;
        c->guest = mkperf_guestMode(thread);
    }
    return c->guest;
}

/*
 * The thread that a sample is about. An event in user mode belongs to the thread that was interrupted. An event
 * in the kernel is noticed only when the kernel returns to user mode, perhaps to another thread: it belongs to
 * the thread from which the kernel was entered.
 */
static inline bool mkperf_port_context(struct mkperf_port_context *c, bool kernel)
{
    tcb_t *thread = NODE_STATE(ksCurThread);

    if (unlikely(kernel)) {
        if (thread != NODE_STATE(ksIdleThread) || mkperf_isOfEntry(mkperf_interruptedAt())) {
            thread = mkperf_entry[CURRENT_CPU_INDEX()].thread;
        }
    }
    if (unlikely(thread == NODE_STATE(ksIdleThread) || (kernel && thread == NULL))) {
        *c = (struct mkperf_port_context){.thread = thread};
        return false;
    }
    mkperf_savedContext(c, thread, FaultIP); /* the address of the system call */
    return true;
}

/*
 * Returns the badges of a thread's fault handler and of its scheduling context, unchanged. The thread of a vCPU has
 * its core and priority in place of the second one (record.h). The initial thread has no fault handler, and is
 * recognized by its address space.
 */
static inline struct mkperf_identity mkperf_port_identity(const void *of)
{
    tcb_t *thread = (tcb_t *)of;
    struct mkperf_identity id = {MKPERF_THREAD_NONE, 0};

    if (unlikely(thread == NULL)) {
        return id;
    }
    if (unlikely(thread == NODE_STATE(ksIdleThread))) {
        id.badge = MKPERF_THREAD_IDLE;
        return id;
    }

    cap_t handler = TCB_PTR_CTE_PTR(thread, tcbFaultHandler)->cap;

    if (unlikely(cap_get_capType(handler) != cap_endpoint_cap)) {
        if (mkperf_isInitialSpace(TCB_PTR_CTE_PTR(thread, tcbVTable)->cap)) {
            id.badge = MKPERF_THREAD_INITIAL;
        }
        return id;
    }
    id.badge = cap_endpoint_cap_get_capEPBadge(handler);
    if (likely(thread->tcbSchedContext != NULL)) {
        id.sc = thread->tcbSchedContext->scBadge;
    }
    if (unlikely(mkperf_isVCPU(thread))) {
        id.sc = MKPERF_SC_VCPU | SMP_TERNARY(thread->tcbAffinity, 0) << 8 | thread->tcbPriority;
    }
    return id;
}

/*
 * Returns the thread whose protected call `of` is serving, or NULL. A thread that serves a call holds a reply
 * object on which the caller is blocked. reply: the place of the object's capability in the CSpace of `of`.
 * While `of` waits for the next call, the object's thread is `of`, which is blocked on receiving. After a
 * deletion or another reply the object has no thread. No call is served in these cases. A fault is not a call.
 */
static inline const void *mkperf_port_caller(const void *of, uint64_t reply)
{
    cap_t cap = lookup_fp(TCB_PTR_CTE_PTR((tcb_t *)of, tcbCTable)->cap, reply);

    if (unlikely(cap_get_capType(cap) != cap_reply_cap)) {
        return NULL;
    }

    tcb_t *caller = REPLY_PTR(cap_reply_cap_get_capReplyPtr(cap))->replyTCB;

    if (likely(caller == NULL) ||
        thread_state_get_tsType(caller->tcbState) != ThreadState_BlockedOnReply ||
        seL4_Fault_get_seL4_FaultType(caller->tcbFault) != seL4_Fault_NullFault) {
        return NULL;
    }
    return caller;
}

/* The registers of a thread that waits. */
static inline void mkperf_port_blocked(struct mkperf_port_context *c, const void *of)
{
    mkperf_savedContext(c, (tcb_t *)of, NextIP);
}

/* Returns the stack pointer that a thread has saved. */
static inline uint64_t mkperf_port_sp(const void *thread)
{
    return getRegister((tcb_t *)thread, MKPERF_SP);
}

/* Returns the number of the TCB's place in memory. Threads that were made one after the other have
 * different slots. */
static inline unsigned mkperf_port_slot(const void *thread)
{
    return (unsigned)((word_t)thread >> seL4_TCBBits);
}

/* Returns the address at which the idle thread was interrupted; otherwise the function of the last
 * entry. */
static inline uint64_t mkperf_port_kernel_pc(void)
{
    word_t pc = mkperf_interruptedAt();

    /* If another core has stopped the interrupted thread since, the idle thread is current and pc is not in
     * the kernel. At EL2 the kernel's addresses are below USER_TOP, so PPTR_BASE decides. */
    if (NODE_STATE(ksCurThread) == NODE_STATE(ksIdleThread) && pc >= PPTR_BASE &&
        !mkperf_isOfEntry(pc)) {
        return pc;
    }
    return mkperf_entry[CURRENT_CPU_INDEX()].function;
}

static inline const void *mkperf_port_running(void)
{
    return NODE_STATE(ksCurThread);
}

static inline unsigned mkperf_port_core(void)
{
    return CURRENT_CPU_INDEX();
}

/* Notes that the owner is to be signalled. It is signalled where the handling of the interrupt ends
 * (mkperf.c). */
static inline void mkperf_port_wake(void)
{
    mkperf_node[CURRENT_CPU_INDEX()].wake = true;
}

#ifdef CONFIG_ARCH_RISCV
#include <arch/riscv_frames.h>
#else
#include <arch/aapcs64.h>
#endif
