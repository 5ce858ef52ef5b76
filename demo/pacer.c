/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pacer PD: starts the known-answer PD's work once per second, and prints a line on the console.
 * From the end of that work to the next second the system is idle. The device is that of
 * pd/net/tick.h.
 */
#include "../pd/net/tick.h"

#include <microkit.h>

enum {
    CHANNEL_DEVICE = 0,
    CHANNEL_KNOWN = 1,
};

void init(void)
{
    mkperf_tick_start();
    microkit_dbg_puts("demo: running\n");
}

void notified(microkit_channel ch)
{
    if (ch != CHANNEL_DEVICE) {
        return;
    }
    mkperf_tick_rearm();
    microkit_irq_ack(ch);
    microkit_dbg_puts("demo: tick\n");
    microkit_notify(CHANNEL_KNOWN);
}
