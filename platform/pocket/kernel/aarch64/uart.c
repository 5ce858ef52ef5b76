/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The debug console: the PL011 of QEMU's virt machine, written with polling.
 *
 * A PD may drive the same device; their characters then mix.
 */
#include "core.h"

enum { UART = 0x09000000, UART_FLAGS = 0x18, UART_FULL = 1 << 5 };

void console_putc(char c)
{
    volatile uint32_t *uart = ram(UART);

    while (uart[UART_FLAGS / 4] & UART_FULL) {
    }
    uart[0] = (uint8_t)c;
}

/* Does nothing: no character waits. */
void console_flush(bool anyway)
{
    (void)anyway;
}
