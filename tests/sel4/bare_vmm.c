/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A monitor that starts a guest without an operating system and has nothing else to do: no access of this guest may get here.
 * For tests/sel4/bare.sh.
 */
#include <stdint.h>

#include <microkit.h>

extern const uint32_t guest_start[];
extern const uint32_t guest_stop[];

uintptr_t guest_ram;

enum { GUEST = 0, EL1H_MASKED = 0x3c5, START_REGISTERS = 3 }; /* pc, sp, spsr */

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
    (void)seL4_TCB_WriteRegisters(BASE_VM_TCB_CAP + GUEST, 1, 0, START_REGISTERS, &context);
}

void notified(microkit_channel ch)
{
    (void)ch;
}

seL4_Bool fault(microkit_child child, microkit_msginfo msginfo, microkit_msginfo *reply)
{
    (void)child;
    (void)msginfo;
    (void)reply;
    microkit_dbg_puts("vmm: a fault of the guest, which stops\n");
    return seL4_False;
}
