/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Synchronous exceptions: system calls, faults of PDs, and the kernel's own, which are the end.
 *
 * Owns: what becomes of a system call, and of a PD that faults (the architecture tells them apart). A child's fault is a message to
 * its parent; a root PD is reported on the console and stopped, and the rest of the system runs on.
 */
#include <microkit.h>

#include "mkperf_port.h"

static void report(const struct task *t, uint64_t esr, uint64_t far)
{
    console_puts("pocket: PD '");
    console_puts(t->pd->name);
    console_puts("' stopped: ");
    console_puts(arch_fault_kind(esr));
    console_puts(", pc ");
    console_hex(t->context.pc);
    console_puts(", address ");
    console_hex(far);
    console_puts(", syndrome ");
    console_hex(esr);
    console_puts("\n");
}

/* Handles a fault of t, which was running. */
void fault_entry(struct task *t, uint64_t esr, uint64_t far)
{
    bool fetch = arch_is_fetch(esr);
    bool memory = arch_is_memory(esr);

    if (reported(core_self())) {
        mkperf_soft_fault(&core_self()->hook, t->identity, t->context.pc, memory ? far : 0);
    }
    if (t->pd->parent < 0) {
        report(t, esr, memory ? far : 0);
        t->state = TASK_STOPPED;
        core_self()->reschedule = true;
        return;
    }
    t->faulted = true;
    t->fault[0] = t->context.pc;
    if (memory) {
        t->fault[seL4_VMFault_Addr] = far;
        t->fault[seL4_VMFault_PrefetchFault] = fetch;
        t->fault[seL4_VMFault_FSR] = esr;
    } else {
        t->fault[seL4_UserException_SP] = t->context.sp;
        t->fault[seL4_UserException_SPSR] = t->context.pstate;
        t->fault[seL4_UserException_Number] = arch_class(esr);
        t->fault[seL4_UserException_Code] = esr;
    }
    ipc_send(t, &tasks[t->pd->parent], POCKET_BADGE_FAULT | t->pd->child_id,
             memory ? (uint64_t)seL4_Fault_VMFault << 12 | seL4_VMFault_Length
                    : (uint64_t)seL4_Fault_UserException << 12 | seL4_UserException_Length);
}

static void (*const system_calls[POCKET_SYSCALLS])(struct task *t) = {
    [POCKET_SYS_NOTIFY] = sys_notify,
    [POCKET_SYS_IRQ_ACK] = sys_irq_ack,
    [POCKET_SYS_PPCALL] = sys_ppcall,
    [POCKET_SYS_RECV] = sys_recv,
    [POCKET_SYS_REPLY_RECV] = sys_reply_recv,
    [POCKET_SYS_DBG_PUTC] = sys_dbg_putc,
    [POCKET_SYS_PD_RESTART] = sys_pd_restart,
    [POCKET_SYS_PD_STOP] = sys_pd_stop,
    [POCKET_SYS_TCB_READ_REGISTERS] = sys_tcb_read_registers,
    [POCKET_SYS_PAGE] = sys_page,
    [POCKET_SYS_PD_DELETE] = sys_pd_delete,
};

/* Handles an exception of user mode. vectors.S calls it with the current task's registers saved. */
struct task *trap_from_user(void)
{
    struct core *core = core_self();
    struct task *t = core->current;
    uint64_t esr = arch_syndrome();
    unsigned number = arch_call_number(esr, &t->context);

    t->calling = arch_is_call(esr);
    if (arch_is_call(esr) && number < POCKET_SYSCALLS) {
        core->last_entry = (uint64_t)system_calls[number];
        system_calls[number](t);
    } else {
        core->last_entry = (uint64_t)fault_entry;
        fault_entry(t, esr, arch_fault_address());
    }
    return sched_exit();
}

/* Stops the machine after a fault in the kernel: a bug in pocket, after which nothing can be
 * trusted. */
void trap_in_kernel(uint64_t vector)
{
    console_puts("\npocket: exception in the kernel, vector ");
    console_hex(vector);
    console_puts(", pc ");
    console_hex(arch_pc());
    console_puts(", address ");
    console_hex(arch_fault_address());
    console_puts(", syndrome ");
    console_hex(arch_syndrome());
    console_puts("\n");
    console_flush(true);
    for (;;) {
        __asm__ volatile("wfi");
    }
}
