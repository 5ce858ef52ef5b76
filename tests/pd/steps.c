/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ten phases of 5 us each, by the clock, repeated: a program in step with time, like one that a
 * timer drives. A sampler whose interval is a multiple of ten phases always sees the same phase.
 */
#include <microkit.h>

#include <stdint.h>

enum { TURNS_PER_S = 20000, PHASES = 10 };

static uint64_t turn; /* ticks */

static inline uint64_t now(void)
{
    uint64_t value;

    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(value) : : "memory");
    return value;
}

/* One function for each phase; it works until the next phase begins. */
#define PHASE(n)                                          \
    __attribute__((noinline)) static void phase_##n(void) \
    {                                                     \
        while (now() % turn * PHASES / turn == (n)) {     \
        }                                                 \
    }
PHASE(0)
PHASE(1)
PHASE(2)
PHASE(3)
PHASE(4)
PHASE(5)
PHASE(6)
PHASE(7)
PHASE(8)
PHASE(9)

void init(void)
{
    static void (*const phase[PHASES])(void) = {phase_0, phase_1, phase_2, phase_3, phase_4,
                                                phase_5, phase_6, phase_7, phase_8, phase_9};
    uint64_t hz;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    turn = hz / TURNS_PER_S;
    for (;;) {
        phase[now() % turn * PHASES / turn]();
    }
}

void notified(microkit_channel ch)
{
    (void)ch;
}
