/* SPDX-License-Identifier: BSD-2-Clause */
/* A PD without any authority that tries the PMU's registers: intruder_try.S. Its parent is guard.c. */
#include <microkit.h>

#include <stdint.h>

void intrude(uint64_t el1);

void init(void)
{
    intrude(0);
}

void notified(microkit_channel ch)
{
    (void)ch;
}
