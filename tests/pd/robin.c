/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A PD that never waits. Three of them, with one priority, run round robin. A quarter of its time
 * is in one function, the rest in another.
 */
#include <microkit.h>

void robin_quarter(void);
void robin_rest(void);

static volatile unsigned long turns;

__attribute__((noinline)) static void work(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        turns++;
    }
}

__attribute__((noinline)) void robin_quarter(void)
{
    work(250);
    turns++;
}

__attribute__((noinline)) void robin_rest(void)
{
    work(750);
    turns++;
}

void init(void)
{
    for (;;) {
        robin_quarter();
        robin_rest();
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
}
