/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns the page that forger.c may only read: fills it with a pattern. */
#include <microkit.h>

#include <stdint.h>

uintptr_t others;

void init(void)
{
    volatile uint64_t *word = (volatile uint64_t *)others;

    for (unsigned i = 0; i < 512; i++) {
        word[i] = 0x5a5a000000000000 | i;
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
}
