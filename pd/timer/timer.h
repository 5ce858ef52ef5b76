/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contract between the profiler PD and a timer that interrupts it.
 *
 * Owns: struct mkperf_timer. A back-end is one const struct; registers appear nowhere else. Its
 * interrupt is channel MKPERF_CHANNEL_TIMER of the profiler PD, its only user.
 */
#ifndef MKPERF_TIMER_H
#define MKPERF_TIMER_H

#include <stdint.h>

struct mkperf_timer {
    const char *name; /* shorter than 32 */

    /* Finds the timer. NULL: it is here and stopped; otherwise why it cannot be used. */
    const char *(*init)(void);
    /* The clock of samples' times, and its ticks per second. */
    uint64_t (*now)(void);
    uint64_t (*hz)(void);
    /* One interrupt at that time of the clock, at once if it has passed. Replaces the last one. */
    void (*arm)(uint64_t at);
    /* No more interrupts; a pending one is cleared. */
    void (*stop)(void);
};

extern const struct mkperf_timer mkperf_generic_timer;
extern const struct mkperf_timer mkperf_hpet;
extern const struct mkperf_timer mkperf_imx_gpt;
extern const struct mkperf_timer mkperf_no_timer;

#endif
