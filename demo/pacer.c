/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pacer: sets the known-answer PD going once a second, from the PL031 real-time clock's match
 * interrupt (Arm DDI 0224, chapter 3), and says so on the console. Between the end of that work
 * and the next second the system is idle.
 */
#include <microkit.h>
#include <stdint.h>

enum {
    CH_RTC = 0,
    CH_KNOWN = 1,
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

static void set_alarm(void)
{
    *rtc(RTCICR) = 1;
    *rtc(RTCMR) = *rtc(RTCDR) + 1;
}

void init(void)
{
    set_alarm();
    *rtc(RTCIMSC) = 1;
    microkit_dbg_puts("demo: running\n");
}

void notified(microkit_channel ch)
{
    if (ch != CH_RTC) {
        return;
    }
    set_alarm();
    microkit_irq_ack(ch);
    microkit_dbg_puts("demo: tick\n");
    microkit_notify(CH_KNOWN);
}
