/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work of an exactly known number of instructions, for tests/system/stat.sh.
 *
 * One program, three PDs. The caller waits until a session counts by PD, then calls the PDs `small`
 * and `large` a hundred times each; a call runs a loop of two instructions as often as requested.
 * All else that the two do is the same, so their counts differ by the difference of the loops
 * exactly.
 *
 * No PD can see whether counters run. But counting costs the kernel time at each switch: calls that
 * do nothing take longer than they did at boot. The shortest of many counts, so that what other PDs
 * do meanwhile does not look like it.
 */
#include <microkit.h>

#include <stdint.h>

#include "spin.h"

enum { CH_SMALL = 1, CH_LARGE = 2, CALLS = 100, SMALL = 10000, LARGE = 30000 };
enum { PAIRS = 4, ATTEMPTS = 32, LONGER_PERCENT = 4 };

uintptr_t exact_caller; /* set in the caller only */

static uint64_t now(void)
{
    uint64_t t;

#ifdef __riscv
    __asm__ volatile("rdtime %0" : "=r"(t) : : "memory");
#elif defined CONFIG_EXPORT_PCNT_USER /* Microkit's kernels */
    __asm__ volatile("isb\n\tmrs %0, cntpct_el0" : "=r"(t) : : "memory");
#else
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(t) : : "memory");
#endif
    return t;
}

static void call_both(uint64_t small, uint64_t large)
{
    microkit_ppcall(CH_SMALL, microkit_msginfo_new(small, 0));
    microkit_ppcall(CH_LARGE, microkit_msginfo_new(large, 0));
}

/* Ticks that PAIRS of calls take at least. */
static uint64_t shortest(void)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t began = now();
        for (int k = 0; k < PAIRS; k++) {
            call_both(1, 1);
        }
        uint64_t took = now() - began;
        least = took < least ? took : least;
    }
    return least;
}

void init(void)
{
    if (exact_caller == 0) {
        return;
    }
    uint64_t uncounted = shortest();
    while (shortest() <= uncounted + uncounted * LONGER_PERCENT / 100) {
    }
    for (int i = 0; i < CALLS; i++) {
        call_both(SMALL, LARGE);
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
