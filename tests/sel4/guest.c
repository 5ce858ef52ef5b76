/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small virtual machine monitor whose guest tries the PMU's registers at EL1, with the code of
 * intruder_try.S. The kernel answers the accesses, and none of them may get here. For tests/sel4/forger.sh.
 *
 * The guest starts when forger.c notifies, in the middle of its honest session, and has a higher
 * priority: all its accesses are made while counters count. Needs a kernel at EL2.
 */
#include <microkit.h>

#include "../pd/say.h"

extern const uint32_t intrude[];
extern const uint32_t intrude_end[];

uintptr_t guest_ram; /* mapped here and in the guest at the same address */

enum {
    GUEST = 0, /* vCPU */
    EL1H_MASKED = 0x3c5,
    AT_EL1 = 1,
    START_REGISTERS = 4, /* pc, sp, spsr, x0 */
    ALL_REGISTERS = sizeof(seL4_UserContext) / sizeof(seL4_Word),
};

static seL4_UserContext context; /* the guest's */

void init(void)
{
    volatile uint32_t *ram = (volatile uint32_t *)guest_ram;

    for (unsigned i = 0; &intrude[i] != intrude_end; i++) {
        ram[i] = intrude[i];
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
    context.pc = guest_ram;
    context.spsr = EL1H_MASKED;
    context.x0 = AT_EL1;
    if (seL4_TCB_WriteRegisters(BASE_VM_TCB_CAP + GUEST, 1, 0, START_REGISTERS, &context)) {
        say("guest: not started\n");
    }
}

seL4_Bool fault(microkit_child child, microkit_msginfo msginfo, microkit_msginfo *reply)
{
    seL4_Word label = microkit_msginfo_get_label(msginfo);

    (void)reply;
    seL4_TCB_ReadRegisters(BASE_VM_TCB_CAP + child, 0, 0, ALL_REGISTERS, &context);
    /* The end is a hypervisor call that is none of seL4's system calls. */
    say(label == seL4_Fault_UnknownSyscall ? "guest: " : "guest: early end: ");
    say_number(context.x20);
    say(" tried, ");
    say_number(context.x19);
    say(" went through, ");
    say_number(context.x21);
    say(" did not read 0, mode ");
    say_number(context.spsr & 0xf);
    say("\n");
    return seL4_False; /* it stays where it is */
}
