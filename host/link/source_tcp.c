/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: connections to a target that listens, tcp:HOST[:PORT], IPv4 and IPv6. */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "address.h"

/* One address; 0 or an errno, in which case s->fd is closed. */
static int try_address(struct mkperf_source *s, const struct addrinfo *a)
{
    socklen_t n = sizeof(int);
    int error = 0;

    s->fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
    if (s->fd < 0) {
        return errno;
    }
    if (connect(s->fd, a->ai_addr, a->ai_addrlen) != 0) {
        error = errno;
    }
    if (error == EINPROGRESS || error == EINTR) {
        error = mkperf_source_wait(s, s->fd, POLLOUT, s->patience_s);
        if (error == 0 && getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0) {
            error = errno;
        }
    }
    if (error != 0) {
        mkperf_source_close(s);
    }
    return error;
}

static enum mkperf_status tcp_open(struct mkperf_source *s, const char *where,
                                   struct mkperf_error *e)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
    struct mkperf_address a;
    int error = 0;

    if (!mkperf_address_parse(where, false, &a)) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE,
                                "-t %s: want tcp:HOST[:PORT] (port %d if none is given; an IPv6 "
                                "address with a port in brackets)",
                                s->spec, MKPERF_NET_PORT);
    }
    error = getaddrinfo(a.host, a.port, &hints, &list);
    if (error != 0) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s: %s", s->spec, a.host,
                                error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error));
    }
    for (const struct addrinfo *i = list; i != NULL && s->fd < 0; i = i->ai_next) {
        error = try_address(s, i);
    }
    freeaddrinfo(list);
    if (s->fd < 0) {
        return mkperf_error_set(e, MKPERF_ERR_LINK, "%s: %s", s->spec, strerror(error));
    }
    mkperf_address_tune(s->fd);
    return MKPERF_OK;
}

const struct mkperf_source_ops mkperf_source_tcp = {
    .scheme = "tcp",
    .where = "HOST[:PORT]",
    .help = "a target that listens on the network (port 1236)",
    .interactive = true,
    .network = true,
    .open = tcp_open,
    .read = mkperf_source_fd_read,
    .write = mkperf_source_fd_write,
};
