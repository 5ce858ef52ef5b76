/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The UART of NXP's i.MX processors (names and bits: i.MX 8M Mini reference manual, rev. 3, 16.2).
 *
 * Owns: the device whose registers the region symbol `mkperf_uart` maps. Called by the client PD.
 * Never waits: bytes are sent while the FIFO has space, and the transmitter-ready interrupt
 * requests more. The line's speed stays as the boot loader set it.
 *
 * May lose: received bytes, when the client PD does not run for longer than the FIFO lasts. The
 * framing detects that.
 */
#include <stdint.h>

#include "transport.h"

extern uintptr_t mkperf_uart; /* one page, uncached (setvar_vaddr) */

enum {
    URXD = 0x00,
    UTXD = 0x40,
    UCR1 = 0x80,
    UCR2 = 0x84,
    UFCR = 0x90,
    USR1 = 0x94,
    UTS = 0xb4,

    URXD_CHARRDY = 1 << 15,
    UCR1_UARTEN = 1 << 0,
    UCR1_RRDYEN = 1 << 9,
    UCR1_TRDYEN = 1 << 13,
    UCR2_SRST = 1 << 0, /* 0 resets */
    UCR2_RXEN = 1 << 1,
    UCR2_TXEN = 1 << 2,
    UCR2_WS_8 = 1 << 5,
    UCR2_IRTS = 1 << 14, /* no hardware flow control */
    UFCR_KEEP = 0x3c0,   /* bits that determine the speed */
    UFCR_RX_LEVEL = 1,
    UFCR_TX_LEVEL = 4 << 10, /* interrupt when fewer of 32 bytes are left */
    USR1_CLEAR = 0xffff,
    UTS_TXFULL = 1 << 4,

    CHUNK = 512, /* most bytes in one call: emulated FIFOs never fill */
};

static uint32_t get(unsigned reg)
{
    return *(volatile uint32_t *)(mkperf_uart + reg);
}

static void set(unsigned reg, uint32_t value)
{
    *(volatile uint32_t *)(mkperf_uart + reg) = value;
}

static void imx_uart_init(void)
{
    set(UCR1, UCR1_UARTEN);
    set(UCR2, UCR2_SRST | UCR2_RXEN | UCR2_TXEN | UCR2_WS_8 | UCR2_IRTS);
    set(UFCR, (get(UFCR) & UFCR_KEEP) | UFCR_TX_LEVEL | UFCR_RX_LEVEL);
    set(USR1, USR1_CLEAR);
    set(UCR1, UCR1_UARTEN | UCR1_RRDYEN);
}

static size_t write(const uint8_t *bytes, size_t n)
{
    size_t i = 0;

    while (i < n && i < CHUNK && !(get(UTS) & UTS_TXFULL)) {
        set(UTXD, bytes[i++]);
    }
    return i;
}

static void more(int wanted)
{
    set(UCR1, UCR1_UARTEN | UCR1_RRDYEN | (wanted ? UCR1_TRDYEN : 0));
}

static int read(void)
{
    uint32_t received = get(URXD);

    return received & URXD_CHARRDY ? (int)(received & 0xff) : -1;
}

/* The relevant bits are not latched: they clear when the FIFOs are served. */
static void interrupt(void)
{
    set(USR1, USR1_CLEAR);
}

const struct mkperf_transport mkperf_imx_uart = {
    .init = imx_uart_init,
    .write = write,
    .more = more,
    .read = read,
    .interrupt = interrupt,
};
