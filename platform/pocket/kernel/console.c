/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's messages; the architecture's uart.c has the device. */
#include "core.h"

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
