/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ticker PD: wakes those on its channels 1 to 8 once a second, from the PL031 real-time clock's
 * match interrupt (Arm DDI 0224, chapter 3), for boards with that clock and no timer driver.
 */
#include <microkit.h>
#include <stdint.h>

enum {
    CHANNEL_RTC = 0,
    FIRST = 1,
    LAST = 8,
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
}

void notified(microkit_channel ch)
{
    if (ch != CHANNEL_RTC) {
        return;
    }
    set_alarm();
    microkit_irq_ack(ch);
    for (microkit_channel to = FIRST; to <= LAST; to++) {
        if (microkit_notifications >> to & 1) {
            microkit_notify(to);
        }
    }
}
