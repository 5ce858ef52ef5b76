/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parent of a PD that tries the PMU's registers: counts its faults, and steps over them. For
 * tests/sel4/forger.sh.
 */
#include <microkit.h>

#include "say.h"

enum { END = 0xdea8, INSTRUCTION = 4 };

static unsigned faults;

void init(void)
{
}

void notified(microkit_channel ch)
{
    (void)ch;
}

seL4_Bool fault(microkit_child child, microkit_msginfo msginfo, microkit_msginfo *reply)
{
    seL4_UserContext context;

    (void)reply;
    seL4_TCB_ReadRegisters(BASE_TCB_CAP + child, 0, 0, sizeof context / sizeof(seL4_Word),
                           &context);
    if (microkit_msginfo_get_label(msginfo) == seL4_Fault_VMFault &&
        microkit_mr_get(seL4_VMFault_Addr) == END) {
        say("intruder: ");
        say_number(context.x20);
        say(" tried, ");
        say_number(faults);
        say(" faulted, ");
        say_number(context.x19);
        say(" went through\n");
        return seL4_False; /* it stays where it is */
    }
    faults++;
    /* Over the access and the instruction that counts it. */
    microkit_pd_restart(child, context.pc + 2UL * INSTRUCTION);
    return seL4_False;
}
