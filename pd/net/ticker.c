/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ticker PD: notifies the PDs on its channels 1 to 8 once a second, for systems without a timer
 * driver. The device is that of tick.h.
 */
#include "tick.h"

#include <microkit.h>

enum {
    CHANNEL_DEVICE = 0,
    FIRST = 1,
    LAST = 8,
};

void init(void)
{
    mkperf_tick_start();
}

void notified(microkit_channel ch)
{
    if (ch != CHANNEL_DEVICE) {
        return;
    }
    mkperf_tick_rearm();
    microkit_irq_ack(ch);
    for (microkit_channel to = FIRST; to <= LAST; to++) {
        if (microkit_notifications >> to & 1) {
            microkit_notify(to);
        }
    }
}
