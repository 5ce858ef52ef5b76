/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Known answers for scheduling events, for tests/system/sched-known.sh. One program, seven PDs, in rounds
 * that are the same each time:
 *
 *   first   calls `third` SHORT_CALLS times for next to nothing, then `second` once; notifies `high`
 *           and waits for it
 *   second  serves: WORK instructions, notifies `driver`, WORK again, calls `third`
 *   third   serves: WORK instructions for `second`, none for `first`
 *   driver  when notified PREEMPTS instructions; its priority is above all that
 *   high    notifies `low` and waits for it, then notifies `first`
 *   low     WORK instructions, notifies `middle`, WORK again, notifies `high`
 *   middle  INVERTS instructions: `high` waits for `low` while `middle` runs, an inversion of
 *           priorities
 */
#include <microkit.h>

#include <stdint.h>

#include "spin.h"

enum {
    CH_SECOND = 1, /* first to second */
    CH_THIRD = 2,  /* first, second to third */
    CH_DRIVER = 3, /* second to driver */
    CH_HIGH = 4,   /* first and high */
    CH_LOW = 5,    /* high and low */
    CH_MIDDLE = 6, /* low to middle */
    SHORT_CALLS = 100,
    WORK = 10000,
    PREEMPTS = 5000,
    INVERTS = 30000,
};

static void begin_round(void)
{
    for (unsigned i = 0; i < SHORT_CALLS; i++) {
        microkit_ppcall(CH_THIRD, microkit_msginfo_new(0, 0));
    }
    microkit_ppcall(CH_SECOND, microkit_msginfo_new(0, 0));
    microkit_notify(CH_HIGH);
}

void init(void)
{
    if (microkit_name[0] == 'f') {
        begin_round();
    }
}

void notified(microkit_channel ch)
{
    switch (microkit_name[0]) {
    case 'f':
        begin_round();
        break;
    case 'd':
        work(PREEMPTS);
        break;
    case 'm':
        work(INVERTS);
        break;
    case 'h':
        microkit_notify(ch == CH_HIGH ? CH_LOW : CH_HIGH);
        break;
    case 'l':
        work(WORK);
        microkit_notify(CH_MIDDLE);
        work(WORK);
        microkit_notify(CH_LOW);
        break;
    default:
        break;
    }
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    (void)ch;
    if (microkit_name[0] == 's') {
        work(WORK);
        microkit_notify(CH_DRIVER);
        work(WORK);
        microkit_ppcall(CH_THIRD, microkit_msginfo_new(1, 0));
    } else if (microkit_msginfo_get_label(msginfo) != 0) {
        work(WORK);
    }
    return microkit_msginfo_new(0, 0);
}
