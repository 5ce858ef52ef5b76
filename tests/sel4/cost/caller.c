/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Enters the kernel in every way that a PD can, for ever: short and long protected calls, vector
 * registers, notifications. The notification makes the waiter ask for an interrupt, which comes while
 * this PD spins.
 */
#include <microkit.h>

#include <stdint.h>

#include "entries.h"

static void spin(void)
{
    uint64_t iterations = 30000;

    __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(iterations) : : "cc");
}

void init(void)
{
    for (;;) {
        microkit_ppcall(CH_CALLEE, microkit_msginfo_new(0, 0));
        microkit_ppcall(CH_CALLEE, microkit_msginfo_new(0, LONG_MESSAGE));
        use_vector_register();
        microkit_notify(CH_WAITER);
        spin();
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
}
