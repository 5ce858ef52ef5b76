/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link layer, as main.c uses it: a serial line (serial.c, one connection) or TCP (pd/net/tcp.c,
 * up to MKPERF_HOSTS). A client PD is linked with one of them.
 */
#ifndef MKPERF_LINK_LAYER_H
#define MKPERF_LINK_LAYER_H

#include "control.h"

struct mkperf_link_layer {
    /* Memory of the client's connections: see struct mkperf_client. */
    struct mkperf_connection *connection;
    unsigned places;
    uint8_t (*queue)[MKPERF_LINK_BYTES];
    unsigned hosts;
    /* Prepares devices and, if it does not listen, opens connections. */
    void (*init)(struct mkperf_client *c);
    /* A notification on a channel of the link layer: reads received bytes. */
    void (*notified)(unsigned channel);
    /* Moves queues to devices, as much as they accept; pumps again if a queue has emptied. */
    void (*transmit)(void);
    /* After transmit, for the same notification: acknowledges the device. */
    void (*done)(unsigned channel);
};

extern const struct mkperf_link_layer mkperf_link_layer;

#endif
