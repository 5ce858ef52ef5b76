/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HOST[:PORT] and [ADDR:]PORT, and the common part of both kinds of sockets.
 *
 * Owns: the notation, and the options of a connection. Called by source_tcp.c and source_listen.c.
 */
#ifndef MKPERF_HOST_LINK_ADDRESS_H
#define MKPERF_HOST_LINK_ADDRESS_H

#include "source.h"

enum { MKPERF_NET_PORT = 1236, MKPERF_NET_HOST = 256, MKPERF_NET_PORT_TEXT = 6 };

struct mkperf_address {
    char host[MKPERF_NET_HOST]; /* "": none was given */
    char port[MKPERF_NET_PORT_TEXT];
};

/*
 * "board", "board:99", "10.0.0.2", "::1" (two colons and no brackets: no port), "[::1]:99".
 * lone_port: a number alone is the port, as listen: has it, and must be there. False: not that.
 */
bool mkperf_address_parse(const char *text, bool lone_port, struct mkperf_address *a);

/* Small messages at once, and a peer that is gone is noticed when nothing is sent. */
void mkperf_address_tune(int fd);

#endif
