/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Known answers for budgets, for tests/system/budget.sh. One program, four PDs:
 *
 *   spinner  runs as much as its budget allows: 2 ms of each 10 ms
 *   asker    calls `helper` again and again; its budget is 1 ms of each 5 ms
 *   helper   serves: WORK instructions, on its caller's budget, as it is passive
 *   rest     runs whenever no other PD does; of the lowest priority
 */
#include <microkit.h>

#include <stdint.h>

#include "spin.h"

enum { CH_HELPER = 1, WORK = 1500000 };

void init(void)
{
    while (microkit_name[0] == 's' || microkit_name[0] == 'r') {
        work(WORK);
    }
    while (microkit_name[0] == 'a') {
        microkit_ppcall(CH_HELPER, microkit_msginfo_new(0, 0));
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    (void)ch;
    (void)msginfo;
    work(WORK);
    return microkit_msginfo_new(0, 0);
}
