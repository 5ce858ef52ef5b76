/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work on several cores at the same time, for tests/system/cores.sh. One program, its parts by name.
 *
 * `known0` to `known3`, one a core, run the known-answer functions for 10, 20, 30 and 40 per cent of
 * their own instructions, for ever. `known0` tells `caller`, on core 0, once per round, which calls
 * `server` on core 1, which works for it.
 */
#include "spin.h"

#include <microkit.h>

enum {
    CH_TICK = 1,   /* known0 to caller */
    CH_SERVER = 2, /* caller to server */
    SERVICE = 100000,
};

void known_leaf_10(void);
void known_framed_20(void);
void known_deep_30(void);
void known_leaf_40(void);
void cores_service(void);

__attribute__((noinline)) void cores_service(void)
{
    spin(SERVICE);
    __asm__ volatile(""); /* no tail calls: each function is in the chain */
}

__attribute__((noinline)) static void round(void)
{
    known_leaf_10();
    known_framed_20();
    known_deep_30();
    known_leaf_40();
    __asm__ volatile("");
}

void init(void)
{
    if (microkit_name[0] != 'k') {
        return;
    }
    for (;;) {
        round();
        if (microkit_name[5] == '0') {
            microkit_notify(CH_TICK);
        }
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
    microkit_ppcall(CH_SERVER, microkit_msginfo_new(0, 0));
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    (void)ch;
    (void)msginfo;
    cores_service();
    return microkit_msginfo_new(0, 0);
}
