/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tick.h from the match interrupt of the PL031 real-time clock (Arm DDI 0224, chapter 3).
 */
#include "tick.h"

#include <stdint.h>

enum {
    RTCDR = 0x00 / 4,   /* seconds */
    RTCMR = 0x04 / 4,   /* match */
    RTCIMSC = 0x10 / 4, /* interrupt mask */
    RTCICR = 0x1c / 4,  /* interrupt clear */
};

uintptr_t rtc_base; /* set by the system description */

static volatile uint32_t *rtc(unsigned word)
{
    return (volatile uint32_t *)rtc_base + word;
}

void mkperf_tick_rearm(void)
{
    *rtc(RTCICR) = 1;
    *rtc(RTCMR) = *rtc(RTCDR) + 1;
}

void mkperf_tick_start(void)
{
    mkperf_tick_rearm();
    *rtc(RTCIMSC) = 1;
}
