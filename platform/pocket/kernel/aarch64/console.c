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

void console_puts(const char *s)
{
    while (*s != '\0') {
        console_putc(*s++);
    }
}

void console_hex(uint64_t value)
{
    int shift = 60;

    while (shift > 0 && value >> shift == 0) {
        shift -= 4;
    }
    console_puts("0x");
    for (; shift >= 0; shift -= 4) {
        console_putc("0123456789abcdef"[value >> shift & 15]);
    }
}

void sys_dbg_putc(struct task *t)
{
    console_putc((char)t->context.x[A0]);
}
