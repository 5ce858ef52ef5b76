/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the client PD needs of a byte stream. A driver is one const struct; main.c names it.
 */
#ifndef MKPERF_TRANSPORT_H
#define MKPERF_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mkperf_transport {
    /* Prepares the device. What was received before may be lost. */
    void (*init)(void);
    /* Takes as many of the n bytes as it can without waiting, and returns how many. After fewer
     * than n, or after n and more to come, `more` says so: the device interrupts when it can go
     * on. */
    size_t (*write)(const uint8_t *bytes, size_t n);
    void (*more)(int wanted);
    /* The next byte received, or -1. */
    int (*read)(void);
    /* What comes after `interrupt` is not read before the next one: reading ends by itself. */
    bool bounded;
    /* Called first for each interrupt: clears it at the device. */
    void (*interrupt)(void);
    /* Whether a notification on this channel is the device's, and what is done last for it. Both
     * NULL: the interrupt on channel 0, which is acknowledged. */
    bool (*own)(unsigned channel);
    void (*done)(unsigned channel);
};

/* Arm PL011 (pd/client/pl011.c): registers in the region `mkperf_uart`. */
extern const struct mkperf_transport mkperf_pl011;
/* The UART of NXP's i.MX processors (pd/client/imx_uart.c): the same region. */
extern const struct mkperf_transport mkperf_imx_uart;
/* A client's share of sDDF's serial class (pd/sddf/serial.c). */
extern const struct mkperf_transport mkperf_sddf_serial;

#endif
