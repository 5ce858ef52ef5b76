/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All cores fighting for the kernel's lock, for tests/system/contend.sh: `contend0` to `contend3`, one a
 * core, notify each other for ever, with little to do in between. None of them ever receives it.
 */
#include <microkit.h>

#include <stdint.h>

enum { CH_NEXT = 1, BETWEEN = 3000 };

void contend_between(void);

__attribute__((noinline)) void contend_between(void)
{
    uint64_t iterations = BETWEEN;

    __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(iterations) : : "cc");
}

void init(void)
{
    for (;;) {
        contend_between();
        microkit_notify(CH_NEXT);
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
}
