/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls the PD at its channel 2 and waits for ever: `first` at once, others when they are called. */
#include <microkit.h>

enum { CH_CALLED = 2 };

static __attribute__((noinline)) void ask(void)
{
    microkit_ppcall(CH_CALLED, microkit_msginfo_new(0, 0));
    __asm__ volatile("");
}

void init(void)
{
    if (microkit_name[0] == 'f') {
        ask();
    }
    __asm__ volatile("");
}

void notified(microkit_channel ch)
{
    (void)ch;
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    (void)ch;
    (void)msginfo;
    ask();
    return microkit_msginfo_new(0, 0);
}
