/* SPDX-License-Identifier: BSD-2-Clause */
/* Selftest: two of these spin at the same priority, and count. */
#include <microkit.h>

#include "shared.h"

volatile struct shared *shared;

void init(void)
{
}

void notified(microkit_channel ch)
{
    unsigned me = microkit_name[4] == '2';

    shared->alive++;
    while (!shared->stop) {
        shared->ticks[me]++;
    }
    microkit_notify(ch);
}
