/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: the kinds of sources, see connection.h: the table of them, and for each the function that opens it. Serial lines, sockets in
 * the file system, lines of sDDF and captures are on this machine. Two kinds are on the network, with IPv4 and IPv6:
 * tcp:HOST[:PORT] is a target that listens, and listen:[ADDR:]PORT a target that dials out. listen: has one connection at a time. Its
 * socket continues to listen during a session, so that a target can reconnect.
 */
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>

#include "connection.h"

enum { WRITE_PATIENCE_MS = 2000, SLICE_MS = 50 };

/* ---- what kinds share ---- */

enum mkperf_status mkperf_source_demand(const struct mkperf_source *s, bool met,
                                        enum mkperf_status status, struct mkperf_error *e,
                                        const char *format, ...)
{
    char text[sizeof e->text];
    va_list args;

    if (met) {
        return MKPERF_OK;
    }
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return mkperf_error_set(e, status, "%s%s: %s", status == MKPERF_ERR_USAGE ? "-t " : "", s->spec,
                            text);
}

void mkperf_source_say(const struct mkperf_source *s, const char *format, ...)
{
    char text[1280];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (s->notice != NULL) {
        s->notice(s->self, text);
    }
}

void mkperf_source_close(struct mkperf_source *s)
{
    if (s->fd >= 0) {
        close(s->fd);
        s->fd = -1;
    }
}

int mkperf_source_wait(const struct mkperf_source *s, int fd, short events, double seconds)
{
    double until = mkperf_now_s() + seconds;
    struct pollfd ready = {.fd = fd, .events = events};

    while (mkperf_poll(&ready, 1, SLICE_MS) <= 0) {
        if (s->stop != NULL && *s->stop != 0) {
            return EINTR;
        }
        if (seconds > 0 && mkperf_now_s() > until) {
            return ETIMEDOUT;
        }
    }
    return 0;
}

static enum mkperf_status read_fd(struct mkperf_source *s, void *p, size_t n, size_t *got,
                                  struct mkperf_error *e)
{
    ssize_t done = read(s->fd, p, n);
    bool line = s->ops->interactive; /* otherwise a file, of which an error is one of the input */

    *got = done > 0 ? (size_t)done : 0;
    if (done > 0 || (done < 0 && (errno == EAGAIN || errno == EINTR))) {
        return MKPERF_OK;
    }
    return mkperf_source_demand(s, false, done < 0 && !line ? MKPERF_ERR_INPUT : MKPERF_ERR_LINK, e,
                                "%s",
                                done < 0 ? strerror(errno)
                                : line   ? "the other end closed the connection"
                                         : "end of the file");
}

static enum mkperf_status write_fd(struct mkperf_source *s, const void *p, size_t n,
                                   struct mkperf_error *e)
{
    const char *from = p;

    while (n > 0) {
        ssize_t done = write(s->fd, from, n);
        if (done > 0) {
            from += done;
            n -= (size_t)done;
            continue;
        }
        MKPERF_DEMAND(s, done == 0 || errno == EAGAIN || errno == EINTR, MKPERF_ERR_LINK, e, "%s",
                      strerror(errno));
        struct pollfd ready = {.fd = s->fd, .events = POLLOUT};
        MKPERF_DEMAND(s, mkperf_poll(&ready, 1, WRITE_PATIENCE_MS) != 0, MKPERF_ERR_LINK, e,
                      "accepts no more bytes");
    }
    return MKPERF_OK;
}

/* ---- serial:DEVICE,BAUD: raw, 8 bits, no parity, no flow control ---- */

enum { LEAST_BAUD = 9600 };
static const char default_baud[] = "115200";

static enum mkperf_status open_serial(struct mkperf_source *s, const char *where,
                                      struct mkperf_error *e)
{
    const char *comma = strrchr(where, ',');
    size_t n = comma != NULL ? (size_t)(comma - where) : strlen(where);
    const char *text = comma != NULL ? comma + 1 : default_baud;
    char *end;
    unsigned long baud = strtoul(text, &end, 10);
    speed_t speed = (speed_t)baud;
    struct termios t = {.c_cflag = 0};

    /* libc knows which rates are usual; below 9600 it also accepts its own numbers for them. */
    bool usual = n != 0 && *text != '\0' && *end == '\0' && baud >= LEAST_BAUD &&
                 baud <= UINT_MAX && cfsetspeed(&t, speed) == 0;
    MKPERF_DEMAND(s, usual, MKPERF_ERR_USAGE, e,
                  "want serial:DEVICE,BAUD with a usual baud rate (%s if none is given)",
                  default_baud);
    char *device = mkperf_xprintf("%.*s", (int)n, where);
    s->fd = open(device, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    int reason = errno;
    free(device);
    /* TIOCEXCL makes later opens fail, except root's. Terminal programs take the lock as well. */
    bool in_use = s->fd < 0 ? reason == EBUSY
                            : flock(s->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    MKPERF_DEMAND(s, s->fd >= 0 && !in_use, MKPERF_ERR_INPUT, e, "%s",
                  in_use ? "in use by another program" : strerror(reason));
    bool is_line = tcgetattr(s->fd, &t) == 0;
    if (is_line) { /* raw, 8 bits */
        cfmakeraw(&t);
        t.c_cflag &= ~(tcflag_t)(CSTOPB | CRTSCTS);
        t.c_cflag |= CLOCAL | CREAD;
        t.c_cc[VMIN] = 1;
        t.c_cc[VTIME] = 0;
    }
    bool set = is_line && cfsetspeed(&t, speed) == 0 && tcsetattr(s->fd, TCSANOW, &t) == 0;
    MKPERF_DEMAND(s, set, MKPERF_ERR_INPUT, e, "%s: %s",
                  is_line ? "cannot be set up" : "not a serial line", strerror(errno));
    tcflush(s->fd, TCIFLUSH); /* discards older input */
    ioctl(s->fd, TIOCEXCL);   /* not every line supports it */
    return MKPERF_OK;
}

/* ---- unix:PATH, as QEMU's -chardev socket,path=PATH,server=on ---- */

static enum mkperf_status open_unix(struct mkperf_source *s, const char *where,
                                    struct mkperf_error *e)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    MKPERF_DEMAND(s, *where != '\0' && strlen(where) < sizeof address.sun_path, MKPERF_ERR_USAGE, e,
                  "want unix:PATH, at most %zu bytes", sizeof address.sun_path - 1);
    memcpy(address.sun_path, where, strlen(where) + 1);
    s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool connected = s->fd >= 0 &&
                     connect(s->fd, (struct sockaddr *)&address, sizeof address) == 0 &&
                     fcntl(s->fd, F_SETFL, O_NONBLOCK) == 0;
    return mkperf_source_demand(s, connected, MKPERF_ERR_INPUT, e, "%s", strerror(errno));
}

/*
 * QEMU sends each byte of its serial line by itself. Without a pause the caller would wake for each, which cost a tenth of the time of
 * both programs. A read returns more bytes than QEMU sends in the pause.
 */
static enum mkperf_status read_unix(struct mkperf_source *s, void *p, size_t n, size_t *got,
                                    struct mkperf_error *e)
{
    static const struct timespec pause = {.tv_nsec = 200000};

    mkperf_turn_give();
    nanosleep(&pause, NULL);
    mkperf_turn_take();
    return read_fd(s, p, n, got, e);
}

/*
 * ---- sddf:CLIENT,SOURCE: a line behind the receiving virtualiser of sDDF's serial class ----
 *
 * The virtualiser keeps one byte for itself. Before a number and a carriage return, this byte chooses
 * the client that gets what follows. Twice, it is an ordinary byte. (sDDF serial/components/virt_rx.c;
 * the numbers are those that its tool sdfgen sets.)
 */

enum { SWITCH = 28, CHOSEN = '\r', CLIENTS = 64 };

static enum mkperf_status write_sddf(struct mkperf_source *s, const void *p, size_t n,
                                     struct mkperf_error *e)
{
    const unsigned char *from = p;
    unsigned char *out = mkperf_xcalloc(n, 2);
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        out[k++] = from[i];
        if (from[i] == SWITCH) {
            out[k++] = SWITCH;
        }
    }
    enum mkperf_status status = write_fd(s, out, k, e);
    free(out);
    return status;
}

static enum mkperf_status open_sddf(struct mkperf_source *s, const char *where,
                                    struct mkperf_error *e)
{
    char *end, text[16];
    unsigned long client = strtoul(where, &end, 10);
    bool numbered = *where >= '0' && *where <= '9' && *end == ',' && client < CLIENTS;

    if (numbered && strncmp(end, ",serial:", 8) == 0) {
        MKPERF_TRY(open_serial(s, end + 8, e));
    } else if (numbered && strncmp(end, ",unix:", 6) == 0) {
        MKPERF_TRY(open_unix(s, end + 6, e));
    } else {
        return mkperf_source_demand(
            s, false, MKPERF_ERR_USAGE, e,
            "want sddf:CLIENT,serial:DEVICE,BAUD or sddf:CLIENT,unix:PATH, "
            "with the number that sDDF's serial class gives the client, 0 to %d",
            CLIENTS - 1);
    }
    /* The delimiter before the choice ends one that another program began; otherwise it is an empty frame. */
    int length = snprintf(text, sizeof text, "%c%c%lu%c", '\0', SWITCH, client, CHOSEN);
    return write_fd(s, text, (size_t)length, e);
}

/* ---- file:PATH: a capture, the bytes of a line as `mkperf record --raw` keeps them ---- */

static enum mkperf_status open_file(struct mkperf_source *s, const char *where,
                                    struct mkperf_error *e)
{
    bool standard_input = strcmp(where, "-") == 0;
    struct stat st;

    s->fd = standard_input ? dup(STDIN_FILENO) : open(where, O_RDONLY | O_CLOEXEC);
    MKPERF_DEMAND(s, s->fd >= 0, MKPERF_ERR_INPUT, e, "%s", strerror(errno));
    return mkperf_source_demand(s, fstat(s->fd, &st) != 0 || !S_ISDIR(st.st_mode), MKPERF_ERR_INPUT,
                                e, "is a directory");
}

/* ---- tcp:HOST[:PORT], and listen:[ADDR:]PORT ---- */

enum {
    KEEP_IDLE_S = 10,
    KEEP_INTERVAL_S = 5,
    KEEP_PROBES = 3,
    UNACKED_MS = 20000,
    BACKLOG = 4 /* connections that may wait for accept */
};

bool mkperf_net_address_parse(const char *text, bool lone_port, struct mkperf_net_address *a)
{
    bool brackets = text[0] == '[';
    const char *host = text + brackets, *end = strchr(text, '\0'), *colon = strchr(text, ':');
    const char *port = NULL;

    if (brackets) {
        end = strchr(text, ']');
        if (end == NULL || (end[1] != '\0' && end[1] != ':')) {
            return false;
        }
        port = end[1] == ':' ? end + 2 : NULL;
    } else if (colon == NULL && lone_port) {
        port = end = text;
    } else if (colon != NULL && strchr(colon + 1, ':') == NULL) {
        end = colon; /* with two colons it is an IPv6 address, for which a port needs brackets */
        port = colon + 1;
    }
    size_t n = (size_t)(end - host), digits = port != NULL ? strspn(port, "0123456789") : 0;
    unsigned long number = port != NULL ? strtoul(port, NULL, 10) : MKPERF_NET_PORT;
    bool valid = n < sizeof a->host && (n != 0 || port == text) && number - 1 < 65535 &&
                 (port != NULL ? digits < sizeof a->port && port[digits] == '\0' : !lone_port);
    for (size_t i = 0; i < n && valid; i++) {
        valid = isgraph((unsigned char)host[i]) && host[i] != '[' && host[i] != ']';
    }
    memset(a, 0, sizeof *a);
    memcpy(a->host, host, valid ? n : 0);
    snprintf(a->port, sizeof a->port, "%u", (uint16_t)number);
    return valid;
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

static enum mkperf_status open_tcp(struct mkperf_source *s, const char *where,
                                   struct mkperf_error *e)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
    struct mkperf_net_address a;
    socklen_t n = sizeof(int);
    int error = 0;

    MKPERF_DEMAND(s, mkperf_net_address_parse(where, false, &a), MKPERF_ERR_USAGE, e,
                  "want tcp:HOST[:PORT] (port %d if none is given; an IPv6 "
                  "address with a port in brackets)",
                  MKPERF_NET_PORT);
    mkperf_turn_give();
    error = getaddrinfo(a.host, a.port, &hints, &list);
    mkperf_turn_take();
    MKPERF_DEMAND(s, error == 0, MKPERF_ERR_INPUT, e, "%s: %s", a.host,
                  error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error));
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
    MKPERF_DEMAND(s, s->fd >= 0, MKPERF_ERR_LINK, e, "%s", reason(error));
    mkperf_net_tune(s->fd);
    return MKPERF_OK;
}

static enum mkperf_status
start_listening(struct mkperf_source *s, const struct mkperf_net_address *a, struct mkperf_error *e)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list;
    const char *host = a->host[0] != '\0' ? a->host : NULL;
    int error = getaddrinfo(host, a->port, &hints, &list);
    const int on = 1, off = 0;

    MKPERF_DEMAND(s, error == 0, MKPERF_ERR_INPUT, e, "%s",
                  error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error));
    /* The first possible address. IPv6 is tried first, because its "any" accepts IPv4 too. */
    for (int pass = 0; pass < 2; pass++) {
        for (const struct addrinfo *i = list; i != NULL && s->listener < 0; i = i->ai_next) {
            if ((i->ai_family == AF_INET6) != (pass == 0)) {
                continue;
            }
            int fd =
                socket(i->ai_family, i->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, i->ai_protocol);
            if (fd < 0) {
                error = errno;
                continue;
            }
            setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
            setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off); /* :: accepts IPv4 too */
            if (bind(fd, i->ai_addr, i->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0) {
                s->listener = fd;
            } else {
                error = errno;
                close(fd);
            }
        }
    }
    freeaddrinfo(list);
    MKPERF_DEMAND(s, s->listener >= 0, MKPERF_ERR_INPUT, e, "%s", strerror(error));
    mkperf_source_say(s, "listening on port %s of %s", a->port,
                      host != NULL ? host : "all addresses (listen:ADDR:PORT for one of them)");
    return MKPERF_OK;
}

static enum mkperf_status open_listen(struct mkperf_source *s, const char *where,
                                      struct mkperf_error *e)
{
    struct sockaddr_storage peer;
    socklen_t n = sizeof peer;
    struct mkperf_net_address a;
    char host[96], port[16];
    int error;

    MKPERF_DEMAND(s, mkperf_net_address_parse(where, true, &a), MKPERF_ERR_USAGE, e,
                  "want listen:PORT or listen:ADDR:PORT");
    MKPERF_TRY(s->listener < 0 ? start_listening(s, &a, e) : MKPERF_OK);
    error = mkperf_source_wait(s, s->listener, POLLIN, s->accept_s);
    if (error == 0) {
        s->fd = accept4(s->listener, (struct sockaddr *)&peer, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
        error = s->fd < 0 ? errno : 0;
    }
    MKPERF_DEMAND(s, error == 0, MKPERF_ERR_LINK, e, "no target has connected: %s", reason(error));
    mkperf_net_tune(s->fd);
    if (getnameinfo((struct sockaddr *)&peer, n, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
        mkperf_source_say(s, "connection from %s port %s", host, port);
    }
    return MKPERF_OK;
}

/* ---- all kinds ---- */

enum { CONNECT_PATIENCE_S = 5 };

const struct mkperf_source_ops mkperf_source_kinds[] = {
    {"serial", "DEVICE,BAUD", "a serial line, raw, 8N1", .interactive = true, .open = open_serial,
     .read = read_fd, .write = write_fd},
    {"tcp", "HOST[:PORT]", "a target that listens on the network (port 1236)", .interactive = true,
     .network = true, .open = open_tcp, .read = read_fd, .write = write_fd},
    {"listen", "[ADDR:]PORT", "waits for a target that dials out to this host", .interactive = true,
     .network = true, .open = open_listen, .read = read_fd, .write = write_fd},
    {"unix", "PATH", "a socket, as of QEMU's -chardev socket,path=PATH,server=on",
     .interactive = true, .open = open_unix, .read = read_unix, .write = write_fd},
    {"sddf", "CLIENT,SOURCE",
     "a serial line or socket behind sDDF's serial class, this client of it", .interactive = true,
     .open = open_sddf, .read = read_fd, .write = write_sddf},
    {"file", "CAPTURE", "replays what `mkperf record --raw CAPTURE` kept; - is the standard input",
     .open = open_file, .read = read_fd},
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
    return mkperf_source_demand(s, false, MKPERF_ERR_USAGE, e,
                                "not serial:DEVICE,BAUD, tcp:HOST[:PORT], listen:[ADDR:]PORT, "
                                "unix:PATH, sddf:CLIENT,SOURCE or file:CAPTURE");
}

enum mkperf_status mkperf_source_open(struct mkperf_source *s, struct mkperf_error *e)
{
    mkperf_source_close(s);
    if (s->ops->open(s, s->spec + strlen(s->ops->scheme) + 1, e) != MKPERF_OK) {
        mkperf_source_close(s); /* a descriptor that could not be used */
        return e->status;
    }
    return MKPERF_OK;
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
