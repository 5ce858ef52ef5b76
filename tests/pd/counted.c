/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Known numbers of instructions, for tests/system/exact_counts.sh, without any PD of mkperf.
 *
 * One program, two PDs. The caller calls `counted` a thousand times and the server a hundred times, then `finished`. With
 * COUNTED_MORE, `counted` has one instruction more.
 */
#include <microkit.h>

#include <stdint.h>

enum { CH_SERVER = 1, TIMES = 1000, CALLS = 100 };

uintptr_t counted_caller; /* set in the caller only */

void counted(void);
void finished(void);

__attribute__((noinline)) void counted(void)
{
    __asm__ volatile("nop\n\tnop");
#ifdef COUNTED_MORE
    __asm__ volatile("nop");
#endif
}

__attribute__((noinline)) void finished(void)
{
    __asm__ volatile("nop");
}

void init(void)
{
    if (counted_caller == 0) {
        return;
    }
    for (int i = 0; i < TIMES; i++) {
        counted();
    }
    for (int i = 0; i < CALLS; i++) {
        microkit_ppcall(CH_SERVER, microkit_msginfo_new(0, 0));
    }
    finished();
}

void notified(microkit_channel ch)
{
    (void)ch;
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    (void)ch, (void)msginfo;
    return microkit_msginfo_new(0, 0);
}
