/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tick.h from the alarm of QEMU's goldfish real-time clock, which counts nanoseconds.
 */
#include "tick.h"

#include <stdint.h>

enum {
    TIME_LOW = 0x00 / 4, /* a read of it latches the other half */
    TIME_HIGH = 0x04 / 4,
    ALARM_LOW = 0x08 / 4, /* a write to it sets the alarm */
    ALARM_HIGH = 0x0c / 4,
    IRQ_ENABLED = 0x10 / 4,
    CLEAR_INTERRUPT = 0x1c / 4,
    NS_PER_SECOND = 1000000000,
};

uintptr_t rtc_base; /* set by the system description */

static volatile uint32_t *rtc(unsigned word)
{
    return (volatile uint32_t *)rtc_base + word;
}

void mkperf_tick_rearm(void)
{
    uint64_t now = *rtc(TIME_LOW);

    now |= (uint64_t)*rtc(TIME_HIGH) << 32;
    uint64_t at = (now / NS_PER_SECOND + 1) * NS_PER_SECOND;
    *rtc(CLEAR_INTERRUPT) = 1;
    *rtc(ALARM_HIGH) = (uint32_t)(at >> 32);
    *rtc(ALARM_LOW) = (uint32_t)at;
}

void mkperf_tick_start(void)
{
    mkperf_tick_rearm();
    *rtc(IRQ_ENABLED) = 1;
}
