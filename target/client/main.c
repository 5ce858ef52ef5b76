/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client PD over a serial line: its entry points.
 *
 * Owns: the one struct mkperf_client, and the transport. Woken by the UART (channel 0) and by the
 * profiler PD (channel 1), whom it calls over the same channel. Its priority is below the
 * profiler's. All the rest is in control.c.
 */
#include <microkit.h>

#include "control.h"
#include "transport.h"

#ifndef MKPERF_PLATFORM
#define MKPERF_PLATFORM "microkit"
#endif
#ifndef MKPERF_TRANSPORT
#define MKPERF_TRANSPORT mkperf_pl011
#endif

enum { CHANNEL_UART = 0, CHANNEL_PROFILER = 1 };
enum {
    MAX_READ = 4096, /* bytes in one go: a line that never falls silent does not hold us */
    MAX_WRITES = 4,
};

uintptr_t mkperf_output; /* region of MKPERF_OUTPUT_REGION_BYTES, shared with the profiler */

static const struct mkperf_transport *const transport = &MKPERF_TRANSPORT;
static struct mkperf_client client;

static uint32_t call(uint32_t op)
{
    microkit_msginfo reply = microkit_ppcall(CHANNEL_PROFILER, microkit_msginfo_new(op, 0));

    return (uint32_t)microkit_msginfo_get_label(reply);
}

/* Queue to device. Twice at the most for the queue's wrap, and again for what the pump added. */
static void transmit(void)
{
    size_t n = 0;

    for (unsigned i = 0; i < MAX_WRITES; i++) {
        const uint8_t *bytes = mkperf_link_out(&client.link, &n);
        size_t taken = n != 0 ? transport->write(bytes, n) : 0;
        mkperf_link_sent(&client.link, taken);
        n -= taken;
        if (n != 0) {
            break;
        }
        mkperf_client_pump(&client);
    }
    mkperf_link_out(&client.link, &n);
    transport->more(n != 0);
}

static void receive(void)
{
    for (unsigned i = 0; i < MAX_READ; i++) {
        int byte = transport->read();
        if (byte < 0) {
            break;
        }
        mkperf_client_byte(&client, (uint8_t)byte);
    }
}

void init(void)
{
    transport->init();
    client.platform = MKPERF_PLATFORM;
    client.page = (struct mkperf_session_page *)mkperf_output;
    client.ring.ring = mkperf_output_ring(mkperf_output);
    client.ring.size = MKPERF_OUTPUT_RING_BYTES;
    client.call = call;
    mkperf_client_init(&client);
}

void notified(microkit_channel ch)
{
    if (ch == CHANNEL_UART) {
        transport->interrupt();
        receive();
    }
    mkperf_client_pump(&client);
    transmit();
    if (ch == CHANNEL_UART) {
        microkit_irq_ack(ch);
    }
}
