/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UARTs: one driver, and a table of what differs between them.
 *
 * Owns: the device whose registers the region symbol `mkperf_uart` maps; on x86-64 it is the first of
 * the ports of <ioport> 0. Called by the client PD.
 * Never waits: bytes are sent while the FIFO has space, and the interrupt of the transmitter requests
 * more. The line's speed stays as the boot loader set it.
 *
 * May lose: received bytes, when the client PD does not run for longer than the FIFO lasts. The
 * framing detects that.
 *
 * A new UART is a row of the table. Its registers and bits are named in comments, as in its manual:
 * Arm DDI 0183, chapter 3 (PL011); i.MX 8M Mini reference manual, rev. 3, 16.2 (imx_uart); National
 * Semiconductor's PC16550D, 8 (ns16550_uart).
 */
#include "transport.h"

#ifndef MKPERF_UART_MODEL
#include <microkit.h>
#endif

#ifndef MKPERF_UART /* The build names the row. */
#define MKPERF_UART pl011
#endif

uintptr_t mkperf_uart; /* one page, uncached (setvar_vaddr); or ports (setvar_addr) */

enum {
    FIFO_MOST = 64, /* bytes that a FIFO may hold */
    CHUNK = 512,    /* most bytes in one call: emulated FIFOs never fill */
};

/* A register of a byte, and when it has or takes one: if its status has these bits of the mask. */
struct uart_data {
    uint16_t at, status;
    uint32_t mask, ready;
};

/* Registers are their distances from the first one. */
struct uart {
    bool byte_wide; /* registers have 8 bits; otherwise 32 */
    struct {
        uint16_t at;          /* 0: the list ends */
        uint32_t keep, value; /* Bits in `keep` stay as they are. */
    } setup[4];
    struct uart_data in, out;
    unsigned burst; /* bytes that fit if `out` is ready */
    /* The register that enables interrupts. It gets `base`, and bits for received bytes and for
     * space. */
    uint16_t enable;
    uint32_t base, receive, send;
    uint16_t clear; /* clears interrupts when `value` is written; 0: when it is read */
    uint32_t value;
};

enum { pl011, imx_uart, ns16550_uart }; /* the build has these names in MKPERF_UART */

static const struct uart uarts[] = {
    [pl011] =
        {
            /* IFLS: interrupts when 2 of 16 bytes are left, or were received */
            .setup = {{0x34, 0, 0},
                      {0x2c, 0, 0x70},      /* LCR_H: FEN, 8 bits */
                      {0x30, 0, 0x301},     /* CR: UARTEN, TXE, RXE */
                      {0x44, 0, 0x7ff}},    /* ICR */
            .in = {0x00, 0x18, 1 << 4, 0},  /* DR, FR: not RXFE */
            .out = {0x00, 0x18, 1 << 5, 0}, /* DR, FR: not TXFF */
            .burst = 1,
            .enable = 0x38,             /* IMSC */
            .receive = 1 << 4 | 1 << 6, /* RX, RT */
            .send = 1 << 5, /* TX: the FIFO has fallen through its level, so it was full before */
            .clear = 0x44,  /* ICR */
            .value = 0x7ff,
        },
    [imx_uart] =
        {
            .setup = {{0x84, 0, 0x4027},          /* UCR2: SRST (0 resets), RXEN, TXEN, WS, IRTS */
                      {0x90, 0x3c0, 0x1001},      /* UFCR: interrupts at 4 of 32 left, 1 received */
                      {0x94, 0, 0xffff}},         /* USR1 */
            .in = {0x00, 0x00, 1 << 15, 1 << 15}, /* URXD: CHARRDY */
            .out = {0x40, 0xb4, 1 << 4, 0},       /* UTXD, UTS: not TXFULL */
            .burst = 1,
            .enable = 0x80,    /* UCR1 */
            .base = 1 << 0,    /* UARTEN */
            .receive = 1 << 9, /* RRDYEN */
            .send = 1 << 13,   /* TRDYEN */
            .clear = 0x94,     /* USR1: the relevant bits clear when the FIFOs are served */
            .value = 0xffff,
        },
    [ns16550_uart] =
        {
            .byte_wide = true,
            .setup = {{3, 0, 3},           /* LCR: 8 bits */
                      {2, 0, 7},           /* FCR: on, both FIFOs are reset */
                      {4, 0, 8}},          /* MCR: OUT2 lets interrupts through */
            .in = {0, 5, 1 << 0, 1 << 0},  /* RBR, LSR: a byte was received */
            .out = {0, 5, 1 << 5, 1 << 5}, /* THR, LSR: the FIFO is empty */
            .burst = 16,
            .enable = 1,       /* IER */
            .receive = 1 << 0, /* Such an interrupt ends when the bytes are read. */
            .send = 1 << 1,
            .clear = 2, /* IIR */
        },
};

static const struct uart *const uart = &uarts[MKPERF_UART];

#ifdef MKPERF_UART_MODEL /* The unit test has a model of the registers. */
#elif defined CONFIG_ARCH_X86_64
static uint32_t get(unsigned reg)
{
    return microkit_x86_ioport_read_8(0, mkperf_uart + reg);
}

static void set(unsigned reg, uint32_t value)
{
    microkit_x86_ioport_write_8(0, mkperf_uart + reg, value);
}
#else
static uint32_t get(unsigned reg)
{
    return uart->byte_wide ? *(volatile uint8_t *)(mkperf_uart + reg)
                           : *(volatile uint32_t *)(mkperf_uart + reg);
}

static void set(unsigned reg, uint32_t value)
{
    if (uart->byte_wide) {
        *(volatile uint8_t *)(mkperf_uart + reg) = (uint8_t)value;
    } else {
        *(volatile uint32_t *)(mkperf_uart + reg) = value;
    }
}
#endif

static int uart_read(void)
{
    const struct uart_data *in = &uart->in;
    uint32_t status = get(in->status);

    if ((status & in->mask) != in->ready) {
        return -1;
    }
    return (int)((in->at == in->status ? status : get(in->at)) & 0xff);
}

/*
 * Earlier input is discarded; the host will repeat it. The data register is read once in any case:
 * QEMU checks a PL011 for pending input at a read of it, and not when the FIFO is enabled.
 */
static void uart_init(void)
{
    set(uart->enable, uart->base);
    for (unsigned i = 0; i < 4 && uart->setup[i].at != 0; i++) {
        uint32_t kept = uart->setup[i].keep != 0 ? get(uart->setup[i].at) & uart->setup[i].keep : 0;
        set(uart->setup[i].at, kept | uart->setup[i].value);
    }
    (void)get(uart->in.at);
    for (unsigned i = 0; i < FIFO_MOST && uart_read() >= 0; i++) {
    }
    set(uart->enable, uart->base | uart->receive);
}

static size_t uart_write(const uint8_t *bytes, size_t n)
{
    const struct uart_data *out = &uart->out;
    size_t i = 0;

    if (uart->burst > 1) {
        /* QEMU's 16550 interrupts again for each byte, where the interrupt controller ends an interrupt before the
         * driver has run (seL4 on RISC-V). uart_more enables it again. */
        set(uart->enable, uart->base | uart->receive);
    }
    while (i < n && i < CHUNK && (get(out->status) & out->mask) == out->ready) {
        for (unsigned k = 0; k < uart->burst && i < n; k++) {
            set(out->at, bytes[i++]);
        }
    }
    return i;
}

static void uart_more(int wanted)
{
    set(uart->enable, uart->base | uart->receive | (wanted ? uart->send : 0));
}

/* Before bytes are read: one that arrives after the last read interrupts again. */
static void uart_interrupt(void)
{
    if (uart->value != 0) {
        set(uart->clear, uart->value);
    } else {
        (void)get(uart->clear);
    }
}

const struct mkperf_transport mkperf_uart_line = {
    .init = uart_init,
    .write = uart_write,
    .more = uart_more,
    .read = uart_read,
    .interrupt = uart_interrupt,
};
