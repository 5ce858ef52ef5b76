/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A driver that starves a control loop, for tests/system/starve.sh. One program, three PDs:
 *
 *   clock    gets the timer's interrupt each 2 ms, and notifies `control`; each tenth time, `driver` as well
 *   driver   handles a burst of packets: 8 ms of work, at a priority above that of `control`
 *   control  works for 200 us, and should be done before it is notified again
 */
#include <microkit.h>

#include <stdint.h>

#include "periodic.h"
#include "spin.h"

#ifndef INSTRUCTION_NS
#define INSTRUCTION_NS 1 /* ns of QEMU's time */
#endif

enum {
    CH_TIMER = 0,
    CH_CONTROL = 1,
    CH_DRIVER = 2,
    PERIOD_US = 2000,
    BURST = 10, /* periods */
    US = 1000 / INSTRUCTION_NS,
    CONTROL = 200 * US,
    DRIVER = 8000 * US,
};

void init(void)
{
    if (microkit_name[0] == 'c' && microkit_name[1] == 'l') {
        periodic_begin(PERIOD_US);
    }
}

void notified(microkit_channel ch)
{
    static unsigned times;

    (void)ch;
    if (microkit_name[0] == 'd') {
        work(DRIVER);
    } else if (microkit_name[1] == 'o') {
        work(CONTROL);
    } else {
        periodic_again(PERIOD_US);
        microkit_irq_ack(CH_TIMER);
        microkit_notify(CH_CONTROL);
        if (++times % BURST == 0) {
            microkit_notify(CH_DRIVER);
        }
    }
}
