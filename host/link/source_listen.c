/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: targets that dial out, listen:[ADDR:]PORT. One connection at a time; during a session the
 * socket continues to listen, so that a target can reconnect.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "address.h"

enum { WAITING = 4, NAME = 96 };

/* A listening socket at one address: its descriptor, or -1 with errno. */
static int listen_at(const struct addrinfo *a)
{
    const int on = 1, off = 0;
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);

    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (a->ai_family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off); /* :: means IPv4, too */
    }
    if (bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, WAITING) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

/* Every address of the list is tried, IPv6 first: its "any" takes IPv4, too. */
static int listen_at_any(const struct addrinfo *list)
{
    for (int pass = 0; pass < 2; pass++) {
        for (const struct addrinfo *a = list; a != NULL; a = a->ai_next) {
            int fd = (a->ai_family == AF_INET6) == (pass == 0) ? listen_at(a) : -1;
            if (fd >= 0) {
                return fd;
            }
        }
    }
    return -1;
}

static enum mkperf_status start_listening(struct mkperf_source *s, const struct mkperf_address *a,
                                          struct mkperf_error *e)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list;
    const char *host = a->host[0] != '\0' ? a->host : NULL;
    int error = getaddrinfo(host, a->port, &hints, &list);
    char text[NAME + MKPERF_NET_HOST];

    if (error != 0) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", s->spec,
                                error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error));
    }
    s->listener = listen_at_any(list);
    error = errno;
    freeaddrinfo(list);
    if (s->listener < 0) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", s->spec, strerror(error));
    }
    snprintf(text, sizeof text, "listening on port %s of %s", a->port,
             host != NULL ? host : "all addresses (listen:ADDR:PORT for one of them)");
    mkperf_source_say(s, text);
    return MKPERF_OK;
}

static void say_who(struct mkperf_source *s, const struct sockaddr *a, socklen_t n)
{
    char text[2 * NAME], host[NAME], port[16];

    if (getnameinfo(a, n, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) ==
        0) {
        snprintf(text, sizeof text, "connection from %s port %s", host, port);
        mkperf_source_say(s, text);
    }
}

static enum mkperf_status listen_open(struct mkperf_source *s, const char *where,
                                      struct mkperf_error *e)
{
    struct sockaddr_storage peer;
    socklen_t n = sizeof peer;
    struct mkperf_address a;
    int error;

    if (!mkperf_address_parse(where, true, &a)) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "-t %s: want listen:PORT or listen:ADDR:PORT",
                                s->spec);
    }
    if (s->listener < 0 && start_listening(s, &a, e) != MKPERF_OK) {
        return e->status;
    }
    error = mkperf_source_wait(s, s->listener, POLLIN, s->accept_s);
    if (error == 0) {
        s->fd = accept4(s->listener, (struct sockaddr *)&peer, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
        error = s->fd < 0 ? errno : 0;
    }
    if (error != 0) {
        return mkperf_error_set(e, MKPERF_ERR_LINK, "%s: no target has dialled: %s", s->spec,
                                strerror(error));
    }
    mkperf_address_tune(s->fd);
    say_who(s, (struct sockaddr *)&peer, n);
    return MKPERF_OK;
}

const struct mkperf_source_ops mkperf_source_listen = {
    .scheme = "listen",
    .where = "[ADDR:]PORT",
    .help = "waits for a target that dials out to this host",
    .interactive = true,
    .network = true,
    .open = listen_open,
    .read = mkperf_source_fd_read,
    .write = mkperf_source_fd_write,
};
