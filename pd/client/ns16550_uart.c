/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The 16550 UART with byte-wide registers (names and bits: National Semiconductor's PC16550D, 8).
 *
 * Owns: the device whose registers the region symbol `mkperf_uart` maps. Called by the client PD.
 * Never waits: the FIFO is filled when it is empty, and the interrupt of the empty FIFO requests more.
 * The line's speed stays as the boot loader set it.
 *
 * May lose: received bytes, when the client PD does not run for longer than the FIFO lasts. The
 * framing detects that.
 */
#include <stdint.h>

#include "transport.h"

extern uintptr_t mkperf_uart; /* one page, uncached (setvar_vaddr) */

enum {
    RBR_THR = 0,
    IER = 1,
    IIR_FCR = 2,
    LCR = 3,
    MCR = 4,
    LSR = 5,

    IER_RECEIVED = 1 << 0,
    IER_EMPTY = 1 << 1,
    FCR_ON = 1 << 0,
    FCR_RESET = 3 << 1,
    LCR_8_BITS = 3,
    MCR_INTERRUPTS = 1 << 3, /* OUT2 */
    LSR_RECEIVED = 1 << 0,
    LSR_EMPTY = 1 << 5,

    FIFO_BYTES = 16,
    CHUNK = 512, /* most bytes in one call: emulated FIFOs never fill */
};

static uint8_t get(unsigned reg)
{
    return *(volatile uint8_t *)(mkperf_uart + reg);
}

static void set(unsigned reg, unsigned value)
{
    *(volatile uint8_t *)(mkperf_uart + reg) = (uint8_t)value;
}

static void ns16550_init(void)
{
    set(IER, 0);
    set(LCR, LCR_8_BITS);
    set(IIR_FCR, FCR_ON | FCR_RESET);
    set(MCR, MCR_INTERRUPTS);
    set(IER, IER_RECEIVED);
}

static size_t write(const uint8_t *bytes, size_t n)
{
    size_t i = 0;

    while (i < n && i < CHUNK && (get(LSR) & LSR_EMPTY)) {
        for (unsigned k = 0; k < FIFO_BYTES && i < n; k++) {
            set(RBR_THR, bytes[i++]);
        }
    }
    return i;
}

static void more(int wanted)
{
    set(IER, IER_RECEIVED | (wanted ? IER_EMPTY : 0));
}

static int read(void)
{
    return get(LSR) & LSR_RECEIVED ? get(RBR_THR) : -1;
}

/* The received bytes' interrupt ends when they are read, that of the empty FIFO with this read. */
static void interrupt(void)
{
    (void)get(IIR_FCR);
}

const struct mkperf_transport mkperf_ns16550_uart = {
    .init = ns16550_init,
    .write = write,
    .more = more,
    .read = read,
    .interrupt = interrupt,
};
