/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: reading HOST[:PORT], see address.h. */
#include "address.h"

#include <ctype.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { KEEP_IDLE_S = 10, KEEP_INTERVAL_S = 5, KEEP_PROBES = 3, UNACKED_MS = 20000 };

static bool set_port(struct mkperf_address *a, const char *text)
{
    size_t n = strlen(text);

    if (n == 0 || n >= sizeof a->port || strspn(text, "0123456789") != n ||
        strtoul(text, NULL, 10) - 1 >= 65535) {
        return false;
    }
    memcpy(a->port, text, n + 1);
    return true;
}

static bool set_host(struct mkperf_address *a, const char *text, size_t n)
{
    if (n == 0 || n >= sizeof a->host) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!isgraph((unsigned char)text[i]) || text[i] == '[' || text[i] == ']') {
            return false;
        }
    }
    memcpy(a->host, text, n);
    a->host[n] = '\0';
    return true;
}

bool mkperf_address_parse(const char *text, bool lone_port, struct mkperf_address *a)
{
    const char *colon = strchr(text, ':');

    memset(a, 0, sizeof *a);
    snprintf(a->port, sizeof a->port, "%d", MKPERF_NET_PORT);
    if (text[0] == '[') {
        const char *close = strchr(text, ']');
        if (close == NULL || !set_host(a, text + 1, (size_t)(close - text) - 1)) {
            return false;
        }
        return close[1] == '\0' ? !lone_port : close[1] == ':' && set_port(a, close + 2);
    }
    if (colon == NULL) {
        return lone_port ? set_port(a, text) : set_host(a, text, strlen(text));
    }
    if (strchr(colon + 1, ':') != NULL) { /* an IPv6 address, for which a port needs brackets */
        return !lone_port && set_host(a, text, strlen(text));
    }
    return set_host(a, text, (size_t)(colon - text)) && set_port(a, colon + 1);
}

void mkperf_address_tune(int fd)
{
    static const struct {
        int level, option, value;
    } options[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, KEEP_IDLE_S},
        {IPPROTO_TCP, TCP_KEEPINTVL, KEEP_INTERVAL_S},
        {IPPROTO_TCP, TCP_KEEPCNT, KEEP_PROBES},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, UNACKED_MS},
    };

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        setsockopt(fd, options[i].level, options[i].option, &options[i].value,
                   sizeof options[i].value); /* a connection without them is one, too */
    }
}
