/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A periodic interrupt of the generic timer, for the programs of tests.
 *
 * Owns: when the next one is due. Each is a whole period after the one before, so that late handling does not add up.
 */
#ifndef MKPERF_TESTS_PD_PERIODIC_H
#define MKPERF_TESTS_PD_PERIODIC_H

#include <stdint.h>

#include "../../pd/timer/timer.h"

static uint64_t periodic_next; /* ticks */

static inline void periodic_again(uint64_t us)
{
    periodic_next += mkperf_generic_timer.hz() * us / 1000000;
    mkperf_generic_timer.arm(periodic_next);
}

static inline void periodic_begin(uint64_t us)
{
    (void)mkperf_generic_timer.init();
    periodic_next = mkperf_generic_timer.now();
    periodic_again(us);
}

#endif
