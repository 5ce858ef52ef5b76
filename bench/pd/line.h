/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A serial line that is as slow as a real one, for bench/rates.sh: QEMU's PL011 accepts every byte
 * at once.
 *
 * Owns: the model of a transmit FIFO of 32 bytes in front of the PL011, which empties at LINE_BAUD,
 * ten bits a byte, by the target's own clock; and the virtual timer (channel 2), which interrupts
 * when the FIFO has fallen to an eighth, as the PL011 would. Reception is not paced.
 */
#ifndef BENCH_LINE_H
#define BENCH_LINE_H

#include <microkit.h>

#include "../../pd/client/transport.h"

enum { LINE_FIFO = 32, LINE_LOW = LINE_FIFO / 8, LINE_CHANNEL = 2, LINE_FRACTION = 256 };

static uint64_t line_empty_at; /* in ticks / LINE_FRACTION, like line_byte */
static uint64_t line_byte;     /* the time of a byte */

static uint64_t line_now(void)
{
    uint64_t ticks;

    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
    return ticks * LINE_FRACTION;
}

static void line_init(void)
{
    uint64_t hz;

    __asm__("mrs %0, cntfrq_el0" : "=r"(hz));
    line_byte = hz * LINE_FRACTION * 10 / LINE_BAUD;
    mkperf_uart_line.init();
}

static size_t line_write(const uint8_t *bytes, size_t n)
{
    uint64_t now = line_now();
    uint64_t waiting = line_empty_at > now ? (line_empty_at - now + line_byte - 1) / line_byte : 0;
    size_t room = waiting < LINE_FIFO ? LINE_FIFO - (size_t)waiting : 0;

    n = mkperf_uart_line.write(bytes, n < room ? n : room);
    line_empty_at = (line_empty_at > now ? line_empty_at : now) + n * line_byte;
    return n;
}

static void line_more(int wanted)
{
    uint64_t low = (line_empty_at - LINE_LOW * line_byte) / LINE_FRACTION;

    __asm__ volatile("msr cntv_cval_el0, %0\n\tmsr cntv_ctl_el0, %1\n\tisb"
                     :
                     : "r"(low), "r"((uint64_t)(wanted != 0)));
    microkit_irq_ack(LINE_CHANNEL);
}

static int line_read(void)
{
    return mkperf_uart_line.read();
}

static void line_interrupt(void)
{
    mkperf_uart_line.interrupt();
}

static const struct mkperf_transport mkperf_line = {
    .init = line_init,
    .write = line_write,
    .more = line_more,
    .read = line_read,
    .interrupt = line_interrupt,
};

#endif
