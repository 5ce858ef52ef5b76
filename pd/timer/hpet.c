/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The HPET of PCs (IA-PC HPET specification, rev. 1.0a): its main counter as the clock, and the comparator of its timer 0
 * for the interrupts.
 *
 * Owns: the device. Called by the profiler PD through struct mkperf_timer. The interrupt is level-triggered, because seL4
 * masks it until it is acknowledged, and an edge in that time would be lost. It arrives at the pin of the IOAPIC that the
 * system description names; the build passes that pin (MKPERF_HPET_PIN).
 */
#include <stddef.h>

#include "timer.h"

#ifndef MKPERF_HPET_PIN /* The board names it. */
#define MKPERF_HPET_PIN 20
#endif

enum {
    CAPABILITIES = 0x000 / 8,
    CONFIGURATION = 0x010 / 8,
    STATUS = 0x020 / 8,
    COUNTER = 0x0f0 / 8,
    TIMER_CONFIGURATION = 0x100 / 8, /* of timer 0 */
    COMPARATOR = 0x108 / 8,
    PERIOD_SHIFT = 32, /* place of a tick in femtoseconds in CAPABILITIES */
    COUNTS_64 = 1 << 13,
    ENABLE = 1 << 0, /* CONFIGURATION; the legacy routes are off */
    LEVEL = 1 << 1,  /* TIMER_CONFIGURATION */
    INTERRUPT = 1 << 2,
    PIN_SHIFT = 9,
    PINS_SHIFT = 32, /* place of the set of pins that it can have */
    OWN = 1 << 0,    /* STATUS: bit of timer 0, which a write of 1 clears */
    MARGIN = 100,    /* ticks by which a new comparator is ahead of the counter */
};

#define FEMTOSECONDS UINT64_C(1000000000000000)

uintptr_t mkperf_timer_base; /* set by the system description */

static uint64_t rate; /* ticks per second */

static volatile uint64_t *hpet(unsigned word)
{
    return (volatile uint64_t *)mkperf_timer_base + word;
}

static uint64_t now(void)
{
    return *hpet(COUNTER);
}

static uint64_t hz(void)
{
    return rate;
}

static void stop(void)
{
    *hpet(TIMER_CONFIGURATION) = LEVEL | (uint64_t)MKPERF_HPET_PIN << PIN_SHIFT;
    *hpet(STATUS) = OWN;
}

static const char *find(void)
{
    if (mkperf_timer_base == 0) {
        return "the HPET's registers are not mapped (setvar_vaddr=\"mkperf_timer_base\")";
    }
    uint64_t period = *hpet(CAPABILITIES) >> PERIOD_SHIFT;
    if (period == 0 || period == UINT32_MAX || !(*hpet(CAPABILITIES) & COUNTS_64)) {
        return "there is no HPET with a counter of 64 bits at mkperf_timer_base";
    }
    if (!(*hpet(TIMER_CONFIGURATION) >> PINS_SHIFT >> MKPERF_HPET_PIN & 1)) {
        return "the HPET's timer 0 cannot interrupt at the IOAPIC's pin that this PD was built for";
    }
    rate = FEMTOSECONDS / period;
    stop();
    *hpet(CONFIGURATION) = ENABLE;
    return NULL;
}

static void arm(uint64_t at)
{
    uint64_t ahead = MARGIN;

    *hpet(STATUS) = OWN;
    *hpet(TIMER_CONFIGURATION) = LEVEL | INTERRUPT | (uint64_t)MKPERF_HPET_PIN << PIN_SHIFT;
    *hpet(COMPARATOR) = at;
    /* The comparator interrupts when the counter equals it, so it has to be ahead. */
    while ((int64_t)(at - now()) <= 0 && !(*hpet(STATUS) & OWN)) {
        at = now() + ahead;
        *hpet(COMPARATOR) = at;
        ahead *= 2;
    }
}

const struct mkperf_timer mkperf_hpet = {
    .name = "HPET",
    .init = find,
    .now = now,
    .hz = hz,
    .arm = arm,
    .stop = stop,
};
