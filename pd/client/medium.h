/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What main.c needs of that over which hosts are reached: a serial line (serial.c, one connection)
 * or TCP (pd/net/tcp.c, up to MKPERF_HOSTS). A client PD is linked with one of them.
 */
#ifndef MKPERF_MEDIUM_H
#define MKPERF_MEDIUM_H

#include <stdbool.h>

#include "control.h"

struct mkperf_medium {
    /* Memory of the client's connections: see struct mkperf_client. */
    struct mkperf_connection *connection;
    unsigned places;
    uint8_t (*queue)[MKPERF_LINK_BYTES];
    unsigned hosts;
    /* Prepares devices and, where there is no listening, opens connections. */
    void (*init)(struct mkperf_client *c);
    /* A notification on a channel of the medium's own: takes what has come. */
    void (*notified)(unsigned channel);
    /* Queues to devices, as much as they take now; pumps again where a queue has emptied. */
    void (*transmit)(void);
    /* After transmit, for the same notification: what a device waits for. */
    void (*done)(unsigned channel);
};

extern const struct mkperf_medium mkperf_medium;

#endif
