/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Arm PL011 UART (names and bits: Arm DDI 0183, chapter 3).
 *
 * Owns: the device whose registers the region symbol `mkperf_uart` maps. Called by the client PD.
 * Never waits: bytes are sent while the FIFO has space, and the transmit interrupt requests more.
 * The line's speed stays as the boot loader set it.
 *
 * May lose: received bytes, when the client PD does not run for longer than the FIFO lasts. The
 * framing detects that.
 */
#include "pl011_regs.h"
#include "transport.h"

uintptr_t mkperf_uart; /* one page, uncached (setvar_vaddr) */

enum {
    UARTDR = 0x00,
    UARTFR = 0x18,
    UARTLCR_H = 0x2c,
    UARTCR = 0x30,
    UARTIFLS = 0x34,
    UARTIMSC = 0x38,
    UARTICR = 0x44,

    FR_RXFE = 1 << 4,
    FR_TXFF = 1 << 5,
    LCR_H_FEN = 1 << 4,
    LCR_H_WLEN_8 = 3 << 5,
    CR_UARTEN = 1 << 0,
    CR_TXE = 1 << 8,
    CR_RXE = 1 << 9,
    IFLS_TX_EIGHTH = 0, /* interrupt when two of 16 bytes are left: the most for each interrupt */
    IFLS_RX_EIGHTH = 0,
    INT_RX = 1 << 4,
    INT_TX = 1 << 5,
    INT_RT = 1 << 6,
    INT_ALL = 0x7ff,

    FIFO_MOST = 64, /* bytes that a FIFO may hold; 16 or 32 in Arm's own */
    CHUNK = 512,    /* most bytes in one call: emulated FIFOs never fill */
};

/*
 * Earlier input is discarded; the host will repeat it. The data register is read once in any case:
 * QEMU checks for pending input at a read of it, and not when the FIFO is enabled.
 */
static void discard_input(void)
{
    for (unsigned i = 0; i < FIFO_MOST; i++) {
        (void)pl011_get(UARTDR);
        if (pl011_get(UARTFR) & FR_RXFE) {
            break;
        }
    }
}

static void pl011_init(void)
{
    pl011_set(UARTIMSC, 0);
    pl011_set(UARTIFLS, IFLS_TX_EIGHTH | IFLS_RX_EIGHTH);
    pl011_set(UARTLCR_H, LCR_H_FEN | LCR_H_WLEN_8);
    pl011_set(UARTCR, CR_UARTEN | CR_TXE | CR_RXE);
    pl011_set(UARTICR, INT_ALL);
    discard_input();
    pl011_set(UARTIMSC, INT_RX | INT_RT);
}

static size_t write(const uint8_t *bytes, size_t n)
{
    size_t i = 0;

    while (i < n && i < CHUNK && !(pl011_get(UARTFR) & FR_TXFF)) {
        pl011_set(UARTDR, bytes[i++]);
    }
    return i;
}

/* The transmit interrupt rises when the FIFO falls through its level, so it is enabled only after
 * a write that filled the FIFO. */
static void more(int wanted)
{
    pl011_set(UARTIMSC, INT_RX | INT_RT | (wanted ? INT_TX : 0));
}

static int read(void)
{
    return pl011_get(UARTFR) & FR_RXFE ? -1 : (int)(pl011_get(UARTDR) & 0xff);
}

/* Before the FIFO is read: a byte that arrives after the last read interrupts again. */
static void interrupt(void)
{
    pl011_set(UARTICR, INT_ALL);
}

const struct mkperf_transport mkperf_pl011 = {
    .init = pl011_init,
    .write = write,
    .more = more,
    .read = read,
    .interrupt = interrupt,
};
