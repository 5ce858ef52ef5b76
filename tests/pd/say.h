/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text on a PL011 that is mapped at mkperf_uart, for test programs whose kernel may have no printing.
 * Polls: nothing is lost.
 */
#ifndef MKPERF_TEST_SAY_H
#define MKPERF_TEST_SAY_H

#include <stdint.h>

uintptr_t mkperf_uart; /* set by the system description */

static inline void say(const char *text)
{
    volatile uint32_t *uart = (volatile uint32_t *)mkperf_uart;

    for (; *text != '\0'; text++) {
        while (uart[6] & (1U << 5)) { /* UARTFR.TXFF */
        }
        uart[0] = (uint8_t)*text;
    }
}

static inline void say_number(uint64_t value)
{
    char digits[21];
    unsigned at = sizeof digits - 1;

    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    say(digits + at);
}

#endif
