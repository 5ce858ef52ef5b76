/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client PD's link layer: one serial line, one connection that never ends.
 *
 * Owns: the device, through a driver of transport.h. Its interrupt is channel 0, unless the driver
 * names other channels.
 */
#include <microkit.h>

#include "link_layer.h"
#include "transport.h"

#ifndef MKPERF_TRANSPORT
#define MKPERF_TRANSPORT mkperf_uart_line
#endif

enum { CHANNEL_UART = 0 };
enum {
    MAX_READ = 4096, /* bytes in one call: a busy line must not keep the PD here */
    MAX_WRITES = 4,
};

static const struct mkperf_transport *const transport = &MKPERF_TRANSPORT;
static struct mkperf_client *client;
static unsigned who;
static struct mkperf_connection connection[1];
static uint8_t queue[1][MKPERF_LINK_BYTES];

static void init_line(struct mkperf_client *c)
{
    client = c;
    who = (unsigned)mkperf_client_open(c, false);
    transport->init();
}

/* Moves the queue to the device. The queue wraps once at most, and the pump may add bytes. */
static void transmit(void)
{
    struct mkperf_link *link = &client->connection[who].link;
    size_t n = 0;

    for (unsigned i = 0; i < MAX_WRITES; i++) {
        const uint8_t *bytes = mkperf_link_out(link, &n);
        if (n == 0) {
            break;
        }
        size_t taken = transport->write(bytes, n);
        mkperf_link_sent(link, taken);
        n -= taken;
        if (n != 0) {
            break;
        }
        mkperf_client_pump(client);
    }
    mkperf_link_out(link, &n);
    transport->more(n != 0);
}

static bool own(unsigned channel)
{
    return transport->own != NULL ? transport->own(channel) : channel == CHANNEL_UART;
}

static void receive(unsigned channel)
{
    if (!own(channel)) {
        return;
    }
    transport->interrupt();
    for (unsigned i = 0; i < MAX_READ || transport->bounded; i++) {
        int byte = transport->read();
        if (byte < 0) {
            break;
        }
        mkperf_client_byte(client, who, (uint8_t)byte);
    }
}

static void done(unsigned channel)
{
    if (transport->done != NULL) {
        transport->done(channel);
    } else if (own(channel)) {
        microkit_irq_ack(channel);
    }
}

const struct mkperf_link_layer mkperf_link_layer = {
    .connection = connection,
    .places = 1,
    .queue = queue,
    .hosts = 1,
    .init = init_line,
    .notified = receive,
    .transmit = transmit,
    .done = done,
};
