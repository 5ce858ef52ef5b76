/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A path through PDs with known times, for tests/system/path.sh. One program, five PDs:
 *
 *   driver   gets the timer's interrupt each PERIOD_US, works DRIVER instructions, notifies `virt`
 *   virt     works VIRT instructions, and VIRT again, then notifies `app`; each SPOILED-th time it notifies `spoiler` in between
 *   app      works APP instructions, calls `server`, works APP again
 *   server   works SERVER instructions
 *   spoiler  works for 300 us; its priority is above that of `virt`
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
    CH_VIRT = 1,    /* driver to virt */
    CH_APP = 2,     /* virt to app */
    CH_SPOILER = 3, /* virt to spoiler */
    CH_SERVER = 4,  /* app to server */
    PERIOD_US = 500,
    SPOILED = 500,
    US = 1000 / INSTRUCTION_NS, /* instructions */
    DRIVER = 10 * US,
    VIRT = 20 * US,
    APP = 30 * US,
    SERVER = 17 * US,
    SPOILER = 300 * US,
};

void init(void)
{
    if (microkit_name[0] == 'd') {
        periodic_begin(PERIOD_US);
    }
}

void notified(microkit_channel ch)
{
    static unsigned times;

    switch (microkit_name[0]) {
    case 'd':
        periodic_again(PERIOD_US);
        microkit_irq_ack(CH_TIMER);
        work(DRIVER);
        microkit_notify(CH_VIRT);
        break;
    case 'v':
        work(VIRT);
        if (++times % SPOILED == 0) {
            microkit_notify(CH_SPOILER);
        }
        work(VIRT);
        microkit_notify(CH_APP);
        break;
    case 'a':
        work(APP);
        microkit_ppcall(CH_SERVER, microkit_msginfo_new(0, 0));
        work(APP);
        break;
    default:
        work(SPOILER);
        break;
    }
    (void)ch;
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    (void)ch;
    work(SERVER);
    return msginfo;
}
