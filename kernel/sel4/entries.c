/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the kernel is entered and left while a session runs on a core.
 *
 * Without a session a core uses the kernel's own vectors and entry functions, and nothing in them is
 * the hook's. During a session the core's vector base leads to a second copy of the vectors (vectors.S),
 * and from there to second copies of the entry functions and fast paths, which are compiled here from the
 * kernel's own sources. A copy does what the original does. In addition, an interrupt may be a sample,
 * each entry stores its function and thread, the fast paths report their switch, and the exit from the slow
 * path reports which thread runs next.
 *
 * Owns: what the copies do differently. Called by the vectors of a core with a session.
 *
 * Outside the big kernel lock (an IPI that stalls or flushes, and a trap of the FPU) nothing is stored
 * or reported, so all code of the hook that uses this state runs with the lock held. The entry of an
 * IPI does not prove that the lock's holder waits for this core: an IPI that was answered while this
 * core waited for the lock arrives again as an interrupt. Without the lock, the hook reads only this
 * core's overflow flags and its interrupt number.
 */
#include <mkperf_port.h>

#ifdef CONFIG_ARCH_ARM
#include <arch/object/vcpu.h>
#include <mode/machine/debug.h>
#endif
#include <machine/fpu.h>
#include <object/endpoint.h>
#include <object/notification.h>

/* Returns the function of which `copy` is a copy, by its name. All of it is done at compile time. */
#define MKPERF_IS(name) (__builtin_strcmp(copy, "mkperf_" #name) == 0)
#define MKPERF_RETURN_IF(name) \
    if (MKPERF_IS(name)) {     \
        return (word_t)name;   \
    }
static inline FORCE_INLINE word_t mkperf_originalOf(const char *copy)
{
    MKPERF_RETURN_IF(c_handle_interrupt)
#ifdef CONFIG_ARCH_RISCV
    MKPERF_RETURN_IF(c_handle_exception)
#else
    MKPERF_RETURN_IF(c_handle_undefined_instruction)
#endif
#ifdef CONFIG_FASTPATH
    MKPERF_RETURN_IF(c_handle_fastpath_call)
    MKPERF_RETURN_IF(c_handle_fastpath_reply_recv)
#ifdef CONFIG_ARCH_ARM
    MKPERF_RETURN_IF(c_handle_fastpath_signal)
#endif
#endif
#ifdef CONFIG_ARM_HYPERVISOR_SUPPORT
    MKPERF_RETURN_IF(c_handle_vcpu_fault)
#endif
#ifdef CONFIG_ARCH_ARM
    if (MKPERF_IS(c_handle_vm_fault)) {
        return getESR() >> ESR_EC_SHIFT == ESR_EC_LEL_IABT ? (word_t)c_handle_instruction_fault
                                                           : (word_t)c_handle_data_fault;
    }
#endif
    return (word_t)c_handle_syscall;
}
#undef MKPERF_RETURN_IF

/* Replaces c_entry_hook in the copies. Overflows become samples before the entry is stored. An entry that
 * has taken the lock uses the overflow flags as they were before it waited. */
#ifdef CONFIG_ARCH_ARM
static inline FORCE_INLINE void mkperf_entryHook(const char *copy)
{
    word_t flags = config_set(CONFIG_ENABLE_SMP_SUPPORT) && mkperf_holdsLock()
                       ? mkperf_node[CURRENT_CPU_INDEX()].overflows
                       : mkperf_pmu_overflow();

    if (MKPERF_IS(c_handle_interrupt)) {
        if (flags != 0) {
            mkperf_interrupt(flags);
        } else if (mkperf_reports()) {
            mkperf_tellInterrupt(getActiveIRQ());
        }
    } else if (unlikely(flags != 0)) {
        mkperf_boundary(flags);
    }
    c_entry_hook();
    mkperf_entered(mkperf_originalOf(copy));
}
#else
static inline FORCE_INLINE void mkperf_entryHook(const char *copy)
{
    struct mkperf_hook *hook = &mkperf_node[CURRENT_CPU_INDEX()].hook;
    word_t flags;

    mkperf_setMode(hook, NODE_STATE(ksCurThread) == NODE_STATE(ksIdleThread), false);
    flags = mkperf_pmu_overflow();
    if (MKPERF_IS(c_handle_interrupt) && read_scause() == MKPERF_CAUSE_OVERFLOW) {
        mkperf_overflowed(flags);
    }
    if (unlikely(flags != 0)) {
        mkperf_boundary(flags);
    }
    mkperf_inKernel(hook);
    if (MKPERF_IS(c_handle_interrupt) && mkperf_reports()) {
        mkperf_tellInterrupt(getActiveIRQ());
    }
    c_entry_hook();
    mkperf_entered(mkperf_originalOf(copy));
}

/* Replaces c_exit_hook in the copy of restore_user_context. */
static inline FORCE_INLINE void mkperf_exitHook(void)
{
    mkperf_leaving();
    c_exit_hook();
}
#endif
#undef MKPERF_IS

/* Replaces NODE_LOCK in the copies. Whether another core holds the lock is read without the lock, so a
 * wait that begins right after the read is not reported. This is a separate function because perf
 * shows waits by its name. */
#ifdef ENABLE_SMP_SUPPORT
static NO_INLINE void mkperf_lock(bool_t irqPath)
{
    bool_t waits = mkperf_reports() &&
                   __atomic_load_n(&big_kernel_lock.tail, __ATOMIC_RELAXED)->state !=
                       CLHState_Granted;
    word_t began = waits ? mkperf_port_time() : 0;

    mkperf_node[CURRENT_CPU_INDEX()].overflows = mkperf_pmu_overflow();
    clh_lock_acquire(irqPath);
    if (unlikely(waits)) {
        struct mkperf_hook *hook = &mkperf_node[CURRENT_CPU_INDEX()].hook;

        mkperf_sched_event(hook, MKPERF_SCHED_LOCK_WAIT, 0, NODE_STATE(ksCurThread), began);
        mkperf_sched_event(hook, MKPERF_SCHED_LOCK, 0, NODE_STATE(ksCurThread), mkperf_port_time());
    }
}
#endif

/* Replaces switchToThread_fp in the copies, which is called for a call and for a reply. path: the name of
 * the fast path's function. */
#ifdef CONFIG_FASTPATH
static inline FORCE_INLINE void mkperf_switchDirectly(tcb_t *thread, vspace_root_t *root,
                                                      pde_t asid, const char *path)
{
    struct mkperf_node *node = &mkperf_node[CURRENT_CPU_INDEX()];
    tcb_t *last = NODE_STATE(ksCurThread);
    bool_t calls = __builtin_strcmp(path, "mkperf_fastCall") == 0;

#ifdef CONFIG_ARCH_RISCV
    word_t flags = mkperf_pmu_overflow();

    if (unlikely(flags != 0)) {
        mkperf_boundary(flags);
    }
#endif
    switchToThread_fp(thread, root, asid);
    if (node->hook.reports) {
        node->running = thread;
        mkperf_sched_switch(&node->hook, calls ? MKPERF_STOPPED_CALLED : MKPERF_STOPPED_REPLIED,
                            last, thread, mkperf_port_time());
    }
}
#endif

/* ---- the copies ------------------------------------------------------------------------------ */

/* vectors.S calls the copies, so they need no prototypes. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
void mkperf_slowpath(syscall_t syscall) NORETURN;
void mkperf_slowpathOfFault(vm_fault_type_t type) NORETURN;

#include <copies.h>
#define c_entry_hook() mkperf_entryHook(__func__)
#define restore_user_context mkperf_leave
#define slowpath mkperf_slowpath
#define vm_fault_slowpath mkperf_slowpathOfFault

#ifdef CONFIG_FASTPATH
#define switchToThread_fp(thread, root, asid) mkperf_switchDirectly(thread, root, asid, __func__)
#define fastpath_call mkperf_fastCall
#define fastpath_reply_recv mkperf_fastReplyRecv
#define fastpath_signal mkperf_fastSignal
#define fastpath_vm_fault mkperf_fastFault
static inline void NORETURN fastpath_call(word_t cptr, word_t msgInfo);
static inline void NORETURN fastpath_reply_recv(word_t cptr, word_t msgInfo, word_t reply);
#include <../src/fastpath/fastpath.c>
#undef switchToThread_fp

/* Signals and faults report nothing on their fast paths, and take the slow one in a session with events. */
#undef fastpath_signal
#undef fastpath_vm_fault
#define fastpath_signal(cptr, msgInfo) \
    (mkperf_reports() ? slowpath(SysSend) : mkperf_fastSignal(cptr, msgInfo))
#define fastpath_vm_fault(type) \
    (mkperf_reports() ? vm_fault_slowpath(type) : mkperf_fastFault(type))
#endif

#ifdef ENABLE_SMP_SUPPORT
#pragma push_macro("NODE_LOCK")
#undef NODE_LOCK
#define NODE_LOCK(irqPath) mkperf_lock(irqPath)
#endif

#ifdef CONFIG_ARCH_RISCV
#define c_exit_hook() mkperf_exitHook()
#include <../src/arch/riscv/c_traps.c>
#undef c_exit_hook
#else
#include <../src/arch/arm/c_traps.c>
#endif

#ifdef ENABLE_SMP_SUPPORT
#pragma pop_macro("NODE_LOCK")
#endif
#include <copies.h>
#undef c_entry_hook
#undef restore_user_context
#undef slowpath
#undef vm_fault_slowpath
#undef fastpath_call
#undef fastpath_reply_recv
#undef fastpath_signal
#undef fastpath_vm_fault
#pragma GCC diagnostic pop
