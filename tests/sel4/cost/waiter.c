/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks for an interrupt of the physical timer when the caller notifies it, and is woken by it, too. */
#include <microkit.h>

#include <stdint.h>

#include "entries.h"

enum {
    TICKS = 1000
}; /* 16 us at QEMU's 62.5 MHz: 8000 instructions, while the caller spins for 60000 */

static void set_control(uint64_t value)
{
    __asm__ volatile("msr cntp_ctl_el0, %0\n\tisb" : : "r"(value));
}

void init(void)
{
    set_control(0);
}

void notified(microkit_channel ch)
{
    uint64_t now;

    if (ch == CH_TIMER) {
        set_control(0);
        microkit_irq_ack(ch);
    } else {
        __asm__ volatile("isb\n\tmrs %0, cntpct_el0" : "=r"(now));
        __asm__ volatile("msr cntp_cval_el0, %0" : : "r"(now + TICKS));
        set_control(1);
    }
}
