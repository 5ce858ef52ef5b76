/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tick.h from the real-time clock of PCs (Motorola MC146818A): it interrupts when it has advanced by a second.
 */
#include "tick.h"

#include <microkit.h>
#include <stdint.h>

enum {
    PORTS = 0, /* id of the <ioport> */
    INDEX = 0, /* distance of a port from rtc_base */
    DATA = 1,
    REGISTER_B = 0x0b,
    REGISTER_C = 0x0c,
    UPDATE_ENDED = 1 << 4, /* B: interrupt enable */
    HOURS_24 = 1 << 1,     /* B, as PCs have it */
};

uintptr_t rtc_base; /* port; set by the system description */

static uint8_t get(uint8_t reg)
{
    microkit_x86_ioport_write_8(PORTS, rtc_base + INDEX, reg);
    return microkit_x86_ioport_read_8(PORTS, rtc_base + DATA);
}

void mkperf_tick_rearm(void)
{
    (void)get(REGISTER_C); /* clears the interrupt */
}

void mkperf_tick_start(void)
{
    microkit_x86_ioport_write_8(PORTS, rtc_base + INDEX, REGISTER_B);
    microkit_x86_ioport_write_8(PORTS, rtc_base + DATA, HOURS_24 | UPDATE_ENDED);
    mkperf_tick_rearm();
}
