/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work of an exactly known number of instructions, for tests/system/stat.sh.
 *
 * One program, three PDs. The caller waits until a session counts, then calls the PDs `small` and
 * `large` a hundred times each. A call runs a loop of two instructions, with the number of
 * iterations in the call. All other work of the two is the same, so their counts differ by exactly
 * the difference of the loops.
 */
#include <microkit.h>

#include <stdint.h>

enum { CH_SMALL = 1, CH_LARGE = 2, CALLS = 100, SMALL = 10000, LARGE = 30000 };
enum { SECOND_COUNTER = 1 << 1 }; /* the first one alone is the profiler's probe */

uintptr_t exact_caller; /* set in the caller only */

static uint64_t counters_on(void)
{
    uint64_t mask;

    __asm__ volatile("mrs %0, pmcntenset_el0" : "=r"(mask));
    return mask;
}

static void spin(uint64_t iterations)
{
    __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(iterations) : : "cc");
}

void init(void)
{
    if (exact_caller == 0) {
        return;
    }
    while (!(counters_on() & SECOND_COUNTER)) {
    }
    for (int i = 0; i < CALLS; i++) {
        microkit_ppcall(CH_SMALL, microkit_msginfo_new(SMALL, 0));
        microkit_ppcall(CH_LARGE, microkit_msginfo_new(LARGE, 0));
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    (void)ch;
    spin(microkit_msginfo_get_label(msginfo));
    return microkit_msginfo_new(0, 0);
}
