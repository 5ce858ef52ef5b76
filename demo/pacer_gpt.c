/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pacer on NXP's i.MX processors: as pacer.c, from a general purpose timer that counts the
 * 32768 Hz clock and starts again at its compare value (i.MX 8M Mini reference manual, rev. 3,
 * chapter 12.1).
 */
#include <microkit.h>
#include <stdint.h>

enum {
    CH_TIMER = 0,
    CH_KNOWN = 1,
    CR = 0x00 / 4,
    PR = 0x04 / 4,
    SR = 0x08 / 4,
    IR = 0x0c / 4,
    OCR1 = 0x10 / 4,
    CR_EN = 1 << 0,
    CR_ENMOD = 1 << 1,  /* begin at 0 */
    CR_WAITEN = 1 << 3, /* go on while the processor waits */
    CR_CLKSRC_32K = 4 << 6,
    CLOCK_HZ = 32768,
    OF1 = 1 << 0,
};

uintptr_t rtc_base; /* set by the system description */

static volatile uint32_t *gpt(unsigned word)
{
    return (volatile uint32_t *)rtc_base + word;
}

void init(void)
{
    *gpt(CR) = 0;
    *gpt(PR) = 0;
    *gpt(OCR1) = CLOCK_HZ - 1;
    *gpt(SR) = OF1;
    *gpt(IR) = OF1;
    *gpt(CR) = CR_ENMOD | CR_WAITEN | CR_CLKSRC_32K;
    *gpt(CR) = CR_ENMOD | CR_WAITEN | CR_CLKSRC_32K | CR_EN;
    microkit_dbg_puts("demo: running\n");
}

void notified(microkit_channel ch)
{
    if (ch != CH_TIMER) {
        return;
    }
    *gpt(SR) = OF1;
    microkit_irq_ack(ch);
    microkit_dbg_puts("demo: tick\n");
    microkit_notify(CH_KNOWN);
}
