/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A monitor that starts a guest without an operating system, and counts its exits in a page that the profiler PD maps. An access
 * to the PMU does not get here. For tests/sel4/bare.sh and tests/sel4/guests.sh, whose second guest has other shares.
 */
#include <stdint.h>

#include <microkit.h>
#include <mkperf/client.h>

extern const uint32_t guest_start[];
extern const uint32_t guest_stop[];

uintptr_t guest_ram;
uint64_t *exits;

enum {
    GUEST = 0,
    EL1H_MASKED = 0x3c5,
    START_REGISTERS = 3 + 6 /* pc, sp, spsr, x0 to x5 */,
    INSTRUCTION_BYTES = 4,
    LOOPS = 40000,
    KERNEL_INSTRUCTIONS = 20 /* about: those of the guest's kernel outside of its loop */
};

static const uintptr_t guest_address = 0x40000000;

void init(void)
{
    static seL4_UserContext context;
    volatile uint32_t *ram = (volatile uint32_t *)guest_ram;

    for (unsigned i = 0; &guest_start[i] != guest_stop; i++) {
        ram[i] = guest_start[i];
    }
    context.pc = guest_address;
    context.spsr = EL1H_MASKED;
    context.x4 = microkit_name[0] == 's' ? LOOPS / 5 * 3 : LOOPS / 4;
    context.x5 = LOOPS - context.x4 - KERNEL_INSTRUCTIONS / 2;
    (void)seL4_TCB_WriteRegisters(BASE_VM_TCB_CAP + GUEST, 1, 0, START_REGISTERS, &context);
}

void notified(microkit_channel ch)
{
    (void)ch;
}

seL4_Bool fault(microkit_child child, microkit_msginfo msginfo, microkit_msginfo *reply)
{
    static seL4_UserContext context;
    seL4_Word what = microkit_msginfo_get_label(msginfo);

    (void)child;
    if (what != seL4_Fault_VMFault && what != seL4_Fault_UnknownSyscall) {
        microkit_dbg_puts("vmm: a fault of the guest, which stops\n");
        return seL4_False;
    }
    context.pc = INSTRUCTION_BYTES + microkit_mr_get(what == seL4_Fault_VMFault
                                                         ? (seL4_Word)seL4_VMFault_IP
                                                         : (seL4_Word)seL4_UnknownSyscall_FaultIP);
    (void)seL4_TCB_WriteRegisters(BASE_VM_TCB_CAP + GUEST, 0, 0, 1, &context);
    mkperf_app_packets(exits, 1);
    *reply = microkit_msginfo_new(0, 0);
    return seL4_True;
}
