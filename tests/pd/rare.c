/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A rare slow call, for tests/system/rare.sh. `caller` calls `server` again and again. One call in RARE takes SLOW instructions,
 * the others a few.
 */
#include <microkit.h>

#include <stdint.h>

#include "spin.h"

#ifndef RARE
#define RARE 100000
#endif

enum { CH_SERVER = 1, SLOW = 5000000, QUICK = 100 };

void init(void)
{
    while (microkit_name[0] == 'c') {
        microkit_ppcall(CH_SERVER, microkit_msginfo_new(0, 0));
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    static uint64_t calls;

    (void)ch;
    work(++calls % RARE == 0 ? SLOW : QUICK);
    return msginfo;
}
