/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The debug console: the 16550 of QEMU's virt machine, written with polling.
 *
 * A PD may drive the same device. While it has more to send (its interrupt of the empty FIFO is on), characters wait here, so
 * that they do not get into its frames: unlike the PL011, QEMU's 16550 lets the machine run on while the host does not read.
 * Characters that find no room are lost.
 */
#include "core.h"

enum {
    UART = 0x10000000,
    IER = 1,
    LSR = 5,
    IER_EMPTY = 1 << 1,
    LSR_EMPTY = 1 << 5,
    WAITING = 1024
};

static struct {
    uint32_t first, last; /* free running */
    char text[WAITING];
} waiting;

static void put_char(char c)
{
    volatile uint8_t *uart = ram(UART);

    while (!(uart[LSR] & LSR_EMPTY)) {
    }
    uart[0] = (uint8_t)c;
}

void console_flush(bool anyway)
{
    while (waiting.first != waiting.last &&
           (anyway || !(((volatile uint8_t *)ram(UART))[IER] & IER_EMPTY))) {
        put_char(waiting.text[waiting.first++ % WAITING]);
    }
}

void console_putc(char c)
{
    if (waiting.last - waiting.first < WAITING) {
        waiting.text[waiting.last++ % WAITING] = c;
    }
    console_flush(false);
}
