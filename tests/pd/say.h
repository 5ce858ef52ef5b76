/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text on the board's UART, for test programs whose kernel may have no printing. The UART is mapped at mkperf_uart. Its
 * driver is the client PD's (CLIENT_UARTS in pd/build.mk), so a board without a driver fails when the program is linked.
 * Polls: nothing is lost.
 */
#ifndef MKPERF_TEST_SAY_H
#define MKPERF_TEST_SAY_H

#include <stdbool.h>
#include <stdint.h>

#include "../../pd/client/transport.h"

extern uintptr_t mkperf_uart; /* set by the system description */

static inline void say(const char *text)
{
    static bool ready;
    size_t n = 0;

    if (!ready) {
        mkperf_uart_line.init();
        ready = true;
    }
    while (text[n] != '\0') {
        n++;
    }
    for (size_t done = 0; done < n;) {
        done += mkperf_uart_line.write((const uint8_t *)text + done, n - done);
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
