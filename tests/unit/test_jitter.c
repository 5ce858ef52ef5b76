/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What jitter is for: a program that does the same again and again, in step with the sampler. Its
 * phases have their shares of the samples whatever the width of the jitter; but the narrower that
 * is, the longer does one phase follow from the last, and the further are shares from right. Here:
 * how many times the variance of chance, for the policy's jitter as descriptor.h defines it
 * (test_pmu.c has the real hook's).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "pd/profiler/policy.h"

enum { PHASES = 10, SAMPLES = 1000, RUNS = 60 };

/* Chi-square of ten equal phases of a loop of so many events, by its degrees of freedom: 1 on
 * average if samples are independent of each other. */
static double excess(uint32_t period, uint32_t mask, uint64_t loop, unsigned tick)
{
    uint64_t time = 20261121; /* events since the boot */
    double chi = 0;

    for (unsigned run = 0; run < RUNS; run++) {
        unsigned seen[PHASES] = {0};
        for (unsigned i = 0; i < SAMPLES; i++) {
            uint32_t draw = mkperf_jitter_draw(time / tick, 0, MKPERF_JITTER_MIX);
            time += mkperf_jitter_interval(period, mask, draw);
            seen[time % loop * PHASES / loop]++;
        }
        for (unsigned i = 0; i < PHASES; i++) {
            double off = seen[i] - (double)SAMPLES / PHASES;
            chi += off * off / ((double)SAMPLES / PHASES);
        }
    }
    return chi / RUNS / (PHASES - 1);
}

static void test_in_step(void **state)
{
    /* The widest jitter for its size, the narrowest, and that of a usual period. */
    static const uint32_t periods[] = {(1 << 20) - 1, (1 << 20) - 2, 1000000, 100000};
    static const unsigned ticks[] = {1, 16, 187}; /* events in a tick of the clock */
    static const double intervals[] = {0.001, 0.25, 0.5, 1, 1.01, 1.5, 2, 2.96, 4, 5};

    (void)state;
    for (unsigned i = 0; i < sizeof periods / sizeof *periods; i++) {
        uint32_t mask = mkperf_jitter_mask(periods[i]);
        for (unsigned k = 0; k < sizeof intervals / sizeof *intervals; k++) {
            uint64_t loop = (uint64_t)(periods[i] * intervals[k]);
            for (unsigned t = 0; t < sizeof ticks / sizeof *ticks; t++) {
                double times = excess(periods[i], mask, loop, ticks[t]);
                printf("period %u, jitter %u, loop %.3f, tick %u: %.2f\n", periods[i], mask,
                       intervals[k], ticks[t], times);
                if (times > 2.5) {
                    fail_msg("period %u, tick %u: a loop of %.3f periods has %.1f times the "
                             "variance of chance",
                             periods[i], ticks[t], intervals[k], times);
                }
            }
        }
    }
    assert_true(excess(1000000, 0, 1000000, 16) > 500); /* without jitter */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
