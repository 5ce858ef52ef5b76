/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A general purpose timer of NXP's i.MX 8M processors (i.MX 8M Mini reference manual, rev. 3,
 * chapter 12.1), for kernels that export the generic counter to user mode and no timer with it.
 *
 * Owns: the device. Called by the profiler PD through struct mkperf_timer. Times are those of the
 * generic counter; the GPT, free running, is used only for its compare interrupt. Its rate depends
 * on the clock tree, so it is measured against the generic counter.
 */
#include <microkit.h>
#include <stddef.h>

#include "timer.h"

enum {
    CR = 0x00 / 4,
    PR = 0x04 / 4,
    SR = 0x08 / 4,
    IR = 0x0c / 4,
    OCR1 = 0x10 / 4,
    CNT = 0x24 / 4,
    CR_EN = 1 << 0,
    CR_ENMOD = 1 << 1,      /* begin at 0 */
    CR_WAITEN = 1 << 3,     /* count while the processor waits */
    CR_CLKSRC_24M = 5 << 6, /* the crystal */
    CR_FRR = 1 << 9,        /* continue after a compare */
    CR_EN_24M = 1 << 10,
    CR_ALWAYS = CR_ENMOD | CR_WAITEN | CR_FRR | CR_CLKSRC_24M | CR_EN_24M,
    OF1 = 1 << 0,
    ALL_FLAGS = 0x3f,
    /* Ticks by which a compare value is ahead, so that it has not passed when it is written. */
    MARGIN = 4,
    MEASURE_MS = 2,    /* time in which the rate is measured */
    LEAST_RATE = 1000, /* cycles a millisecond; slower ones are useless for sampling */
    MOST_AHEAD = INT32_MAX,
};

uintptr_t mkperf_timer_base; /* set by the system description */

static uint64_t rate; /* GPT cycles per second */

static volatile uint32_t *gpt(unsigned word)
{
    return (volatile uint32_t *)mkperf_timer_base + word;
}

static uint64_t now(void)
{
    uint64_t value;

    __asm__ volatile("isb\n\tmrs %0, cntpct_el0" : "=r"(value) : : "memory");
    return value;
}

static uint64_t hz(void)
{
    uint64_t value;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(value));
    return value;
}

static void stop(void)
{
    *gpt(IR) = 0;
    *gpt(SR) = OF1;
}

static const char *find(void)
{
    if (mkperf_timer_base == 0) {
        return "the GPT's registers are not mapped (setvar_vaddr=\"mkperf_timer_base\")";
    }
    *gpt(CR) = 0;
    *gpt(IR) = 0;
    *gpt(PR) = 0;
    *gpt(SR) = ALL_FLAGS;
    *gpt(CR) = CR_ALWAYS;
    *gpt(CR) = CR_ALWAYS | CR_EN;
    uint64_t ticks = hz() * MEASURE_MS / 1000;
    uint64_t began = now();
    uint32_t from = *gpt(CNT);
    while (now() - began < ticks) {
    }
    uint32_t cycles = *gpt(CNT) - from;
    ticks = now() - began;
    if (cycles < LEAST_RATE * MEASURE_MS) {
        return "the GPT does not count: is its clock on (CCM)?";
    }
    rate = cycles * hz() / ticks;
    return NULL;
}

static void arm(uint64_t at)
{
    uint64_t from = now();
    uint64_t ahead = at > from ? (at - from) * rate / hz() : 0;

    ahead = ahead < MOST_AHEAD ? ahead : MOST_AHEAD;
    *gpt(SR) = OF1;
    *gpt(OCR1) = *gpt(CNT) + (uint32_t)ahead + MARGIN;
    *gpt(IR) = OF1;
}

const struct mkperf_timer mkperf_imx_gpt = {
    .name = "i.MX GPT",
    .init = find,
    .now = now,
    .hz = hz,
    .arm = arm,
    .stop = stop,
};
