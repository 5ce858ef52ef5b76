/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contract between serial.c and the driver of a byte stream. A driver is one const struct; the
 * build names it (MKPERF_TRANSPORT), if it is not the UART.
 */
#ifndef MKPERF_TRANSPORT_H
#define MKPERF_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mkperf_transport {
    /* Prepares the device. What was received before may be lost. */
    void (*init)(void);
    /* Accepts as many of the n bytes as it can without waiting, and returns how many. `more`: the
     * caller has more bytes; then, or after fewer than n, the device interrupts when it can
     * continue. */
    size_t (*write)(const uint8_t *bytes, size_t n);
    void (*more)(int wanted);
    /* The next byte received, or -1. */
    int (*read)(void);
    /* Bytes that arrive after `interrupt` are not read before the next one, so reading ends. */
    bool bounded;
    /* Called first for each interrupt: clears it at the device. */
    void (*interrupt)(void);
    /* own: whether a notification on this channel is the device's. done: the last step for it.
     * Without these two, it is the interrupt on channel 0, which is acknowledged. */
    bool (*own)(unsigned channel);
    void (*done)(unsigned channel);
};

/* The UART of the board (pd/client/uart_line.c): registers in the region `mkperf_uart`. */
extern const struct mkperf_transport mkperf_uart_line;
/* A client's share of sDDF's serial class (pd/sddf/serial.c). */
extern const struct mkperf_transport mkperf_sddf_serial;

#endif
