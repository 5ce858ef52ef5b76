/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tick.h from a general purpose timer of NXP's i.MX processors. It counts the 32768 Hz clock and
 * restarts at its compare value (i.MX 8M Mini reference manual, rev. 3, chapter 12.1).
 */
#include "tick.h"

#include <stdint.h>

enum {
    CR = 0x00 / 4,
    PR = 0x04 / 4,
    SR = 0x08 / 4,
    IR = 0x0c / 4,
    OCR1 = 0x10 / 4,
    CR_EN = 1 << 0,
    CR_ENMOD = 1 << 1,  /* start at 0 */
    CR_WAITEN = 1 << 3, /* count while the processor waits */
    CR_CLKSRC_32K = 4 << 6,
    CLOCK_HZ = 32768,
    OF1 = 1 << 0,
};

uintptr_t rtc_base; /* set by the system description */

static volatile uint32_t *gpt(unsigned word)
{
    return (volatile uint32_t *)rtc_base + word;
}

void mkperf_tick_start(void)
{
    *gpt(CR) = 0;
    *gpt(PR) = 0;
    *gpt(OCR1) = CLOCK_HZ - 1;
    *gpt(SR) = OF1;
    *gpt(IR) = OF1;
    *gpt(CR) = CR_ENMOD | CR_WAITEN | CR_CLKSRC_32K;
    *gpt(CR) = CR_ENMOD | CR_WAITEN | CR_CLKSRC_32K | CR_EN;
}

void mkperf_tick_rearm(void)
{
    *gpt(SR) = OF1;
}
