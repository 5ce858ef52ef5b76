/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A loop of exactly 1000 instructions, for sampling in step with it: ten phases of 98 instructions
 * each, so each has 9.8 per cent of the time, whatever a sampler in step shows.
 */
#include <microkit.h>

void lockstep_loop(void) __attribute__((noreturn));

void init(void)
{
    lockstep_loop();
}

void notified(microkit_channel ch)
{
    (void)ch;
}
