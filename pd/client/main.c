/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client PD: its entry points.
 *
 * Owns: the one struct mkperf_client. Woken by the profiler PD (channel 1), which it calls over the
 * same channel, by its link layer's channels, and called by applications (channels 16 to 31,
 * include/mkperf/client.h). Its priority is below the profiler's. Everything else is in control.c.
 */
#include <microkit.h>

#include <mkperf/client.h>

#include "../lib/clock.h"
#include "key.h"
#include "link_layer.h"

#ifndef MKPERF_PLATFORM
#define MKPERF_PLATFORM "microkit"
#endif

enum { CHANNEL_PROFILER = 1, CHANNEL_APP = 16, CHANNEL_APP_END = 32 };
enum { APP_WORDS = 16 };

uintptr_t mkperf_output; /* region of MKPERF_OUTPUT_REGION_BYTES, shared with the profiler */

static struct mkperf_client client;

static uint32_t call(uint32_t op)
{
    microkit_msginfo reply = microkit_ppcall(CHANNEL_PROFILER, microkit_msginfo_new(op, 0));

    return (uint32_t)microkit_msginfo_get_label(reply);
}

void init(void)
{
    client.platform = MKPERF_PLATFORM;
    client.key = mkperf_keys != 0 ? mkperf_key : NULL;
    client.keys = mkperf_keys;
    client.stamp = mkperf_stamp;
    client.stamp_reserved = sizeof mkperf_stamp;
    client.page = (struct mkperf_session_page *)mkperf_output;
    client.ring.ring = mkperf_output_ring(mkperf_output);
    client.ring.size = MKPERF_OUTPUT_RING_BYTES;
    client.call = call;
    client.connection = mkperf_link_layer.connection;
    client.places = mkperf_link_layer.places;
    client.queue = mkperf_link_layer.queue;
    client.hosts = mkperf_link_layer.hosts;
    if (mkperf_clock_hz() != 0) {
        client.clock = mkperf_clock_ticks;
        client.clock_hz = mkperf_clock_hz();
    }
    mkperf_client_init(&client);
    if (client.key == NULL) {
        microkit_dbg_puts(
            "mkperf: this build has no key: any host that reaches it may control it\n");
    }
    mkperf_link_layer.init(&client);
}

void notified(microkit_channel ch)
{
    if (ch != CHANNEL_PROFILER) {
        mkperf_link_layer.notified(ch);
    }
    mkperf_client_pump(&client);
    mkperf_link_layer.transmit();
    if (ch != CHANNEL_PROFILER) {
        mkperf_link_layer.done(ch);
    }
}

microkit_msginfo protected(microkit_channel ch, microkit_msginfo msginfo)
{
    uint64_t words[APP_WORDS];
    unsigned n = (unsigned)microkit_msginfo_get_count(msginfo);

    if (ch < CHANNEL_APP || ch >= CHANNEL_APP_END || n > APP_WORDS) {
        return microkit_msginfo_new(MKPERF_RESULT_MALFORMED, 0);
    }
    for (unsigned i = 0; i < n; i++) {
        words[i] = microkit_mr_get((seL4_Uint8)i);
    }
    uint64_t label = microkit_msginfo_get_label(msginfo);
    uint32_t result = mkperf_client_app(&client, label, words, n);
    if (label == MKPERF_APP_RUNS) {
        return microkit_msginfo_new(result, 0); /* Programs ask often. There is nothing to send. */
    }
    mkperf_client_pump(&client);
    mkperf_link_layer.transmit();
    return microkit_msginfo_new(result, 0);
}
