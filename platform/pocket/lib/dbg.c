/* SPDX-License-Identifier: BSD-2-Clause */
/* libmicrokit on pocket: text and numbers on the debug console, a character at a time. */
#include <microkit.h>

void microkit_dbg_puts(const char *s)
{
    while (*s != '\0') {
        microkit_dbg_putc(*s++);
    }
}

void microkit_dbg_put32(seL4_Uint32 x)
{
    char digits[11];
    unsigned i = sizeof digits - 1;

    digits[i] = '\0';
    do {
        digits[--i] = (char)('0' + x % 10);
        x /= 10;
    } while (x != 0);
    microkit_dbg_puts(digits + i);
}

void microkit_dbg_put8(seL4_Uint8 x)
{
    microkit_dbg_put32(x);
}
