/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets on loopback, for the commands of net-tool. Defined in net_tool.c. */
#ifndef MKPERF_TESTS_NET_TOOL_H
#define MKPERF_TESTS_NET_TOOL_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NET_CHUNK = 2048,      /* bytes that are read at once */
    NET_PROXY_PLANS = 512, /* most plans, and most connections */
};

/* Prints the error of the last system call, and ends the program. */
_Noreturn void net_die(const char *what);
/* Seconds of a clock that never goes back. */
double net_now_s(void);
struct sockaddr_in net_loopback(const char *port);
/* Connects to a port. Returns the socket; -1: no program listens. receive: bytes of the receive buffer; 0:
 * default. */
int net_connect(const char *port, int receive);
/* Writes all n bytes. False: the other end is gone. */
bool net_write_all(int fd, const uint8_t *p, size_t n);

/* net_proxy.c: listens at a port and forwards connections to another, by the plans that its head describes. */
_Noreturn void net_proxy(const char *listen_port, const char *to, char **plan, unsigned plans);

#endif
