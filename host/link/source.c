/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the table of the kinds of sources, and what is common to opening and closing them; see connection.h. It also
 * owns the two kinds on the network, with IPv4 and IPv6. tcp:HOST[:PORT] is a target that listens, and
 * listen:[ADDR:]PORT a target that dials out. listen: has one connection at a time. Its socket continues to listen
 * during a session, so that a target can reconnect.
 */
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "connection.h"

enum { KEEP_IDLE_S = 10, KEEP_INTERVAL_S = 5, KEEP_PROBES = 3, UNACKED_MS = 20000 };

static bool set_port(struct mkperf_net_address *a, const char *text)
{
    size_t n = strlen(text);

    if (n == 0 || n >= sizeof a->port || strspn(text, "0123456789") != n ||
        strtoul(text, NULL, 10) - 1 >= 65535) {
        return false;
    }
    memcpy(a->port, text, n + 1);
    return true;
}

static bool set_host(struct mkperf_net_address *a, const char *text, size_t n)
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

bool mkperf_net_address_parse(const char *text, bool lone_port, struct mkperf_net_address *a)
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

void mkperf_net_tune(int fd)
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
                   sizeof options[i].value); /* the connection works without them too */
    }
}

/* Returns why a wait or a connection failed, for a message. */
static const char *reason(int error)
{
    return error == EINTR ? "stopped" : strerror(error);
}

enum mkperf_status mkperf_open_tcp(struct mkperf_source *s, const char *where,
                                   struct mkperf_error *e)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
    struct mkperf_net_address a;
    socklen_t n = sizeof(int);
    int error = 0;

    if (!mkperf_net_address_parse(where, false, &a)) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE,
                                "-t %s: want tcp:HOST[:PORT] (port %d if none is given; an IPv6 "
                                "address with a port in brackets)",
                                s->spec, MKPERF_NET_PORT);
    }
    mkperf_turn_give();
    error = getaddrinfo(a.host, a.port, &hints, &list);
    mkperf_turn_take();
    if (error != 0) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s: %s", s->spec, a.host,
                                error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error));
    }
    for (const struct addrinfo *i = list; i != NULL && s->fd < 0; i = i->ai_next) {
        s->fd = socket(i->ai_family, i->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, i->ai_protocol);
        bool connected = s->fd >= 0 && connect(s->fd, i->ai_addr, i->ai_addrlen) == 0;
        error = connected ? 0 : errno;
        if (error == EINPROGRESS || error == EINTR) {
            error = mkperf_source_wait(s, s->fd, POLLOUT, s->patience_s);
            if (error == 0 && getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0) {
                error = errno;
            }
        }
        if (error != 0) {
            mkperf_source_close(s);
        }
    }
    freeaddrinfo(list);
    if (s->fd < 0) {
        return mkperf_error_set(e, MKPERF_ERR_LINK, "%s: %s", s->spec, reason(error));
    }
    mkperf_net_tune(s->fd);
    return MKPERF_OK;
}

enum { WAITING = 4, NAME = 96 };

static void say(const struct mkperf_source *s, const char *text)
{
    if (s->notice != NULL) {
        s->notice(s->self, text);
    }
}

/* Makes a listening socket at one address. Returns its descriptor, or -1 with errno. */
static int listen_at(const struct addrinfo *a)
{
    const int on = 1, off = 0;
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);

    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (a->ai_family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off); /* :: accepts IPv4 too */
    }
    if (bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, WAITING) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static enum mkperf_status
start_listening(struct mkperf_source *s, const struct mkperf_net_address *a, struct mkperf_error *e)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list;
    const char *host = a->host[0] != '\0' ? a->host : NULL;
    int error = getaddrinfo(host, a->port, &hints, &list);
    char text[NAME + MKPERF_NET_HOST];

    if (error != 0) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", s->spec,
                                error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error));
    }
    /* The first possible address. IPv6 is tried first, because its "any" accepts IPv4 too. */
    for (int pass = 0; pass < 2; pass++) {
        for (const struct addrinfo *i = list; i != NULL && s->listener < 0; i = i->ai_next) {
            s->listener = (i->ai_family == AF_INET6) == (pass == 0) ? listen_at(i) : -1;
        }
    }
    error = errno;
    freeaddrinfo(list);
    if (s->listener < 0) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", s->spec, strerror(error));
    }
    snprintf(text, sizeof text, "listening on port %s of %s", a->port,
             host != NULL ? host : "all addresses (listen:ADDR:PORT for one of them)");
    say(s, text);
    return MKPERF_OK;
}

enum mkperf_status mkperf_open_listen(struct mkperf_source *s, const char *where,
                                      struct mkperf_error *e)
{
    struct sockaddr_storage peer;
    socklen_t n = sizeof peer;
    struct mkperf_net_address a;
    char text[2 * NAME], host[NAME], port[16];
    int error;

    if (!mkperf_net_address_parse(where, true, &a)) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "-t %s: want listen:PORT or listen:ADDR:PORT",
                                s->spec);
    }
    MKPERF_TRY(s->listener < 0 ? start_listening(s, &a, e) : MKPERF_OK);
    error = mkperf_source_wait(s, s->listener, POLLIN, s->accept_s);
    if (error == 0) {
        s->fd = accept4(s->listener, (struct sockaddr *)&peer, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
        error = s->fd < 0 ? errno : 0;
    }
    if (error != 0) {
        return mkperf_error_set(e, MKPERF_ERR_LINK, "%s: no target has connected: %s", s->spec,
                                reason(error));
    }
    mkperf_net_tune(s->fd);
    if (getnameinfo((struct sockaddr *)&peer, n, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
        snprintf(text, sizeof text, "connection from %s port %s", host, port);
        say(s, text);
    }
    return MKPERF_OK;
}

/* ---- all kinds ---- */

enum { CONNECT_PATIENCE_S = 5 };

const struct mkperf_source_ops mkperf_source_kinds[] = {
    {"serial", "DEVICE,BAUD", "a serial line, raw, 8N1", .interactive = true,
     .open = mkperf_open_serial, .read = mkperf_source_fd_read, .write = mkperf_source_fd_write},
    {"tcp", "HOST[:PORT]", "a target that listens on the network (port 1236)", .interactive = true,
     .network = true, .open = mkperf_open_tcp, .read = mkperf_source_fd_read,
     .write = mkperf_source_fd_write},
    {"listen", "[ADDR:]PORT", "waits for a target that dials out to this host", .interactive = true,
     .network = true, .open = mkperf_open_listen, .read = mkperf_source_fd_read,
     .write = mkperf_source_fd_write},
    {"unix", "PATH", "a socket, as of QEMU's -chardev socket,path=PATH,server=on",
     .interactive = true, .open = mkperf_open_unix, .read = mkperf_read_unix,
     .write = mkperf_source_fd_write},
    {"sddf", "CLIENT,SOURCE",
     "a serial line or socket behind sDDF's serial class, this client of it", .interactive = true,
     .open = mkperf_open_sddf, .read = mkperf_source_fd_read, .write = mkperf_write_sddf},
    {"file", "CAPTURE", "replays what `mkperf record --raw CAPTURE` kept; - is the standard input",
     .open = mkperf_open_file, .read = mkperf_source_fd_read},
    {.scheme = NULL},
};

enum mkperf_status mkperf_source_init(struct mkperf_source *s, const char *spec,
                                      struct mkperf_error *e)
{
    *s = (struct mkperf_source){
        .spec = spec, .fd = -1, .listener = -1, .patience_s = CONNECT_PATIENCE_S};
    for (const struct mkperf_source_ops *k = mkperf_source_kinds; k->scheme != NULL; k++) {
        size_t n = strlen(k->scheme);
        if (strncmp(spec, k->scheme, n) == 0 && spec[n] == ':') {
            s->ops = k;
            return MKPERF_OK;
        }
    }
    return mkperf_error_set(e, MKPERF_ERR_USAGE,
                            "-t %s: not serial:DEVICE,BAUD, tcp:HOST[:PORT], listen:[ADDR:]PORT, "
                            "unix:PATH, sddf:CLIENT,SOURCE or file:CAPTURE",
                            spec);
}

enum mkperf_status mkperf_source_open(struct mkperf_source *s, struct mkperf_error *e)
{
    mkperf_source_close(s);
    return s->ops->open(s, s->spec + strlen(s->ops->scheme) + 1, e);
}

void mkperf_source_end(struct mkperf_source *s)
{
    if (s->ops == NULL) {
        return;
    }
    mkperf_source_close(s);
    if (s->listener >= 0) {
        close(s->listener);
        s->listener = -1;
    }
}
