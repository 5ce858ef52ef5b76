/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Synchronous exceptions: system calls, faults of PDs, and the kernel's own, which are the end.
 *
 * Owns: telling them apart, and what becomes of a PD that faults. A child's fault is a message to
 * its parent; a root PD is reported on the console and stopped, and the rest of the system runs on.
 */
#include <microkit.h>

#include "mkperf_port.h"

enum exception_class {
    EC_UNKNOWN = 0x00,
    EC_WFX = 0x01,
    EC_SVC = 0x15,
    EC_SYSREG = 0x18,
    EC_FETCH_USER = 0x20,
    EC_PC_ALIGN = 0x22,
    EC_DATA_USER = 0x24,
    EC_SP_ALIGN = 0x26,
    EC_BRK = 0x3c,
};

static unsigned class_of(uint64_t esr)
{
    return esr >> 26 & 0x3f;
}

static const char *abort_kind(uint64_t esr)
{
    bool fetch = class_of(esr) == EC_FETCH_USER;
    bool write = esr >> 6 & 1;

    switch (esr >> 2 & 15) {
    case 0: /* address size */
    case 1: /* translation */
        return fetch   ? "jump to unmapped address"
               : write ? "write to unmapped address"
                       : "read of unmapped address";
    case 3: /* permission */
        return fetch   ? "jump to memory that is not executable"
               : write ? "write to memory that is read-only"
                       : "read of memory without permission";
    case 4: /* external */
        return "access to an absent device";
    case 8: /* alignment */
        return "misaligned access";
    default:
        return "memory fault";
    }
}

static const char *fault_kind(uint64_t esr)
{
    switch (class_of(esr)) {
    case EC_UNKNOWN:
        return "undefined instruction";
    case EC_WFX:
        return "wait instruction";
    case EC_SVC:
        return "unknown system call";
    case EC_SYSREG:
        return "system register access";
    case EC_FETCH_USER:
    case EC_DATA_USER:
        return abort_kind(esr);
    case EC_PC_ALIGN:
        return "misaligned pc";
    case EC_SP_ALIGN:
        return "misaligned sp";
    case EC_BRK:
        return "breakpoint instruction";
    default:
        return "exception";
    }
}

static void report(const struct task *t, uint64_t esr, uint64_t far)
{
    console_puts("pocket: PD '");
    console_puts(t->pd->name);
    console_puts("' stopped: ");
    console_puts(fault_kind(esr));
    console_puts(", pc ");
    console_hex(t->context.pc);
    console_puts(", address ");
    console_hex(far);
    console_puts(", syndrome ");
    console_hex(esr);
    console_puts("\n");
}

/* A fault of t, which was running. */
void fault_entry(struct task *t, uint64_t esr, uint64_t far)
{
    bool fetch = class_of(esr) == EC_FETCH_USER;
    bool memory = fetch || class_of(esr) == EC_DATA_USER;

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
        t->fault[seL4_UserException_Number] = class_of(esr);
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

/* A boundary (hook.h) at an exception that was just taken; hit: counters of the session. What ran last is the
 * system call instruction, and ELR_EL1 is behind it. */
void trap_boundary(struct core *core, uint32_t hit)
{
    uint64_t elr = READ_REG(elr_el1);

    if (hit == 0) {
        return;
    }
    WRITE_REG(elr_el1, elr - (class_of(READ_REG(esr_el1)) == EC_SVC ? 4 : 0));
    irq_boundary(core, hit);
    WRITE_REG(elr_el1, elr);
}

/* Called by vectors.S with the current task's registers saved. */
struct task *trap_from_user(void)
{
    struct core *core = core_self();
    struct task *t = core->current;
    uint64_t esr = READ_REG(esr_el1);
    unsigned number = esr & 0xffff;

    t->calling = class_of(esr) == EC_SVC;
    if (class_of(esr) == EC_SVC && number < POCKET_SYSCALLS) {
        core->last_entry = (uint64_t)system_calls[number];
        system_calls[number](t);
    } else {
        core->last_entry = (uint64_t)fault_entry;
        fault_entry(t, esr, READ_REG(far_el1));
    }
    return sched_exit();
}

/* The same, called by vectors_session. */
struct task *trap_in_session(void)
{
    struct core *core = core_self();
    uint32_t hit = mkperf_pmu_overflow() & core->hook.mask;

    if (__builtin_expect(hit != 0, 0)) {
        trap_boundary(core, hit);
    }
    return trap_from_user();
}

/* A bug in pocket. There is nothing left to trust, so the machine stops here. */
void trap_in_kernel(uint64_t vector)
{
    console_puts("\npocket: exception in the kernel, vector ");
    console_hex(vector);
    console_puts(", pc ");
    console_hex(READ_REG(elr_el1));
    console_puts(", address ");
    console_hex(READ_REG(far_el1));
    console_puts(", syndrome ");
    console_hex(READ_REG(esr_el1));
    console_puts("\n");
    for (;;) {
        __asm__ volatile("wfi");
    }
}
