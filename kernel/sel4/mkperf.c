/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples and requests on seL4: what happens at the profiling interrupt, and to whom it belongs.
 *
 * Owns: the state of each core, requests, and what the hook forgets. Called by the kernel through mkperf.h,
 * and by the copies of its entries (entries.c).
 *
 * Authority: a request is the invocation of the interrupt's handler. Whoever holds that capability may
 * profile. The handler of one core's interrupt is enough for all cores: a system may give a thread only
 * that of its own core, as Microkit does, and a profiler that sees one core sees who calls others and is
 * called by them anyway. The owner is woken through the notification that the handler was given, as for
 * any interrupt. Nothing else was added: no object, no invocation, no right.
 */
#include <mkperf_port.h>

#include <object/notification.h>

struct mkperf_entry mkperf_entry[CONFIG_MAX_NUM_NODES];
/* On pages of its own: the compiler reaches the kernel's variables from one address, as far as it can, and
 * this one by a single adrp. */
struct mkperf_node mkperf_node[CONFIG_MAX_NUM_NODES] ALIGN_BSS(BIT(seL4_PageBits));

BOOT_CODE void mkperf_initCPU(void)
{
    mkperf_initGuests();
    mkperf_pmu_boot();
    mkperf_initMemory();
    mkperf_setVectors(false);
}

/* Signals the owner as handleInterrupt would, but does not mask the interrupt. */
static void signal(struct mkperf_node *node)
{
    cap_t cap = intStateIRQNode[IRQT_TO_IDX(node->irq)].cap;

    node->wake = false;
    if (cap_get_capType(cap) == cap_notification_cap &&
        cap_notification_cap_get_capNtfnCanSend(cap)) {
        sendSignal(NTFN_PTR(cap_notification_cap_get_capNtfnPtr(cap)),
                   cap_notification_cap_get_capNtfnBadge(cap));
    }
}

/* Does the rest of c_handle_interrupt after a sample. */
NO_INLINE void NORETURN mkperf_wake(struct mkperf_node *node)
{
    updateTimestamp();
    checkBudget();
    signal(node);
    schedule();
    activateThread();
    mkperf_leave();
}

/*
 * Carries out a request on this core. d NULL: the descriptor is no longer mapped. function: the one through
 * which the kernel was entered, which no entry has stored if there was no session.
 */
static void carryOut(struct mkperf_descriptor *d, tcb_t *thread, bool_t here, word_t function)
{
    struct mkperf_node *node = &mkperf_node[CURRENT_CPU_INDEX()];
    struct mkperf_entry *entry = &mkperf_entry[CURRENT_CPU_INDEX()];

    if (d == NULL) {
        return;
    }
    mkperf_inKernel(&node->hook);
    mkperf_hook_request(&node->hook, d, thread, here);
    mkperf_inKernel(&node->hook); /* again, for the counters that the request started */
    if (!entry->reports) {
        node->running = NODE_STATE(ksCurThread); /* mkperf_sched_begin has reported it */
        node->window = mkperf_window();          /* that began at an unknown time */
    }
    entry->function = function;
    entry->thread = NODE_STATE(ksCurThread);
    entry->reports = node->hook.reports;
    mkperf_setVectors(node->hook.mask != 0); /* a session uses the copies of entries.c */
    mkperf_follow(&node->hook);
    if (node->wake) {
        signal(node);
    }
}

/* Carries out the request that a thread of another core has stored here. This core's PMU interrupt is unmasked
 * for the session. It needs no handler: if it arrives outside a session, the kernel masks it again. */
void mkperf_askedRequest(void)
{
    word_t core = CURRENT_CPU_INDEX();
    struct mkperf_node *node = &mkperf_node[core];

    mkperf_entry[core].asked = false;
    carryOut(mkperf_port_memory(node->asker, node->request, sizeof(struct mkperf_descriptor)),
             node->asker, true, (word_t)c_handle_interrupt);
    maskInterrupt(false, CORE_IRQ_TO_IRQT(core, CONFIG_MKPERF_IRQ));
}

/*
 * Takes samples at a boundary (hook.h): counters have overflowed, and the kernel was entered by something else
 * than the profiling interrupt, or is in a long operation. The owner is signalled at the next profiling interrupt, because
 * the scheduler must not be changed here. The overflow of a counter that only wakes the owner is therefore
 * left to its interrupt, which follows when the kernel is left. The time of these samples is not measured
 * (mkperf_captured): a session that is switched off here could not wake its owner.
 */
NO_INLINE void mkperf_boundary(word_t flags)
{
    struct mkperf_hook *hook = &mkperf_node[CURRENT_CPU_INDEX()].hook;
    uint32_t hit = flags & hook->mask & ~hook->session.slice_mask;

    if (hit != 0 && !mkperf_hook_wakes_each(hook) && mkperf_holdsLock()) {
        mkperf_capture(hook, hit, mkperf_port_time());
        mkperf_follow(hook);
    }
}

void mkperf_preempted(void)
{
    mkperf_boundary(mkperf_pmu_overflow());
}

/*
 * Handles the current thread's acknowledgement of the PMU's interrupt of the core `handled`. `userData` in the
 * thread's IPC buffer is the address of its descriptor, or 0. lookupIPCBuffer finds the buffer and checks its
 * rights. A request for another core is stored there, and that core gets an interrupt when the kernel is left.
 */
NO_INLINE void mkperf_request(word_t handled)
{
    tcb_t *thread = NODE_STATE(ksCurThread);
    word_t here = CURRENT_CPU_INDEX();
    seL4_IPCBuffer *buffer = (seL4_IPCBuffer *)lookupIPCBuffer(true, thread);

    if (buffer == NULL || buffer->userData == 0) {
        return;
    }

    struct mkperf_descriptor *d = mkperf_port_memory(thread, buffer->userData, sizeof *d);
    word_t core = d != NULL && handled == here ? mkperf_hook_core(d, here) : CONFIG_MAX_NUM_NODES;

    if (core < CONFIG_MAX_NUM_NODES) {
        mkperf_node[core].irq = CORE_IRQ_TO_IRQT(here, CONFIG_MKPERF_IRQ);
    }
#ifdef ENABLE_SMP_SUPPORT
    if (core < CONFIG_MAX_NUM_NODES && core != here) {
        mkperf_node[core].asker = thread;
        mkperf_node[core].request = buffer->userData;
        mkperf_entry[core].asked = true;
        ARCH_NODE_STATE(ipiReschedulePending) |= BIT(core);
        return;
    }
#endif
    carryOut(d, thread, core == here,
             (word_t)config_ternary(CONFIG_FASTPATH, c_handle_fastpath_call, c_handle_syscall));
}

/* ---- what is forgotten ------------------------------------------------------------------------ */

void mkperf_mappingsChanged(void)
{
    for (word_t i = 0; i < CONFIG_MAX_NUM_NODES; i++) {
        memzero(mkperf_node[i].stack, sizeof mkperf_node[i].stack);
        mkperf_hook_unmapped(&mkperf_node[i].hook);
    }
}

static void end(word_t core)
{
    mkperf_hook_end(&mkperf_node[core].hook, core == CURRENT_CPU_INDEX());
    mkperf_entry[core].reports = false;
    if (core == CURRENT_CPU_INDEX()) {
        mkperf_setVectors(mkperf_node[core].hook.mask != 0);
    }
}

void mkperf_threadDeleted(tcb_t *tcb)
{
    for (word_t i = 0; i < CONFIG_MAX_NUM_NODES; i++) {
        struct mkperf_node *node = &mkperf_node[i];

        if (mkperf_entry[i].thread == tcb) {
            mkperf_entry[i].thread = NULL;
        }
        if (node->running == tcb) {
            node->running = NULL;
        }
        mkperf_sched_forget(&node->hook, tcb);
        if (node->hook.owner == tcb) {
            end(i);
        }
        if (node->asker == tcb) {
            mkperf_entry[i].asked = false;
        }
    }
}

void mkperf_handlerDeleted(irq_t irq)
{
    for (word_t i = 0; i < CONFIG_MAX_NUM_NODES; i++) {
        if (IRQT_TO_IDX(irq) == IRQT_TO_IDX(mkperf_node[i].irq)) {
            mkperf_entry[i].asked = false;
            end(i);
        }
    }
}
