/* SPDX-License-Identifier: BSD-2-Clause */
/* A PD without any authority that tries the PMU's registers: intruder_try.S. Its parent is guard.c. */
#include <microkit.h>

void intrude(void);

void init(void)
{
    intrude();
}

void notified(microkit_channel ch)
{
    (void)ch;
}
