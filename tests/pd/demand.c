/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Known demands of time, for tests/system/demand.sh. One program, six PDs:
 *
 *   pace     wakes the others every 10.2 ms, by using up its budget of 100 us: more than their periods, so that a run that mkperf
 *            delays is not in one period with the next one
 *   short    1.7 ms of work each time
 *   burst    1 ms of work, then a call of `helper`, which works for 1 ms on its caller's budget
 *   helper   passive
 *   third    woken every third time, for 3 ms of work
 *   often    woken each time, for 3 ms of work every third time: its short runs use up refills
 */
#include <microkit.h>

#include <stdint.h>

#include "spin.h"

#ifndef INSTRUCTION_NS
#define INSTRUCTION_NS 1 /* ns of QEMU's time */
#endif

enum {
    CH_SHORT = 1,
    CH_BURST = 2,
    CH_THIRD = 3,
    CH_OFTEN = 4,
    CH_HELPER = 2,
    MS = 1000000 / INSTRUCTION_NS,
    SHORT = 1700000 / INSTRUCTION_NS,
    LONG = 3000000 / INSTRUCTION_NS,
    PACE = 101000 / INSTRUCTION_NS
};

static unsigned times;

void init(void)
{
    while (microkit_name[0] == 'p') {
        microkit_notify(CH_SHORT);
        microkit_notify(CH_BURST);
        microkit_notify(CH_OFTEN);
        if (times++ % 3 == 0) {
            microkit_notify(CH_THIRD);
        }
        work(PACE);
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
    if (microkit_name[0] == 's') {
        work(SHORT);
    } else if (microkit_name[0] == 'b') {
        work(MS);
        microkit_ppcall(CH_HELPER, microkit_msginfo_new(0, 0));
    } else if (microkit_name[0] == 't' || times++ % 3 == 0) {
        work(LONG);
    }
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    (void)ch;
    (void)msginfo;
    work(MS);
    return microkit_msginfo_new(0, 0);
}
