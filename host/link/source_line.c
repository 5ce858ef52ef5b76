/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sources on this machine: serial lines, sockets in the file system, lines of sDDF, and captures.
 *
 * Owns: these kinds, and the functions that all kinds with a descriptor share, those of
 * source.c too.
 */
#include "connection.h"

#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>

enum { WRITE_PATIENCE_MS = 2000, SLICE_MS = 50 };

/* ---- what kinds with a descriptor share ---- */

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

enum mkperf_status mkperf_source_fd_read(struct mkperf_source *s, void *p, size_t n, size_t *got,
                                         struct mkperf_error *e)
{
    ssize_t done = read(s->fd, p, n);
    bool line = s->ops->interactive; /* otherwise a file, of which an error is one of the input */

    *got = done > 0 ? (size_t)done : 0;
    s->ended = done == 0 && !line;
    if (done > 0 || (done < 0 && (errno == EAGAIN || errno == EINTR))) {
        return MKPERF_OK;
    }
    return mkperf_error_set(e, done < 0 && !line ? MKPERF_ERR_INPUT : MKPERF_ERR_LINK, "%s: %s",
                            s->spec,
                            done < 0 ? strerror(errno)
                            : line   ? "the other end closed the connection"
                                     : "end of the file");
}

enum mkperf_status mkperf_source_fd_write(struct mkperf_source *s, const void *p, size_t n,
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
        if (done < 0 && errno != EAGAIN && errno != EINTR) {
            return mkperf_error_set(e, MKPERF_ERR_LINK, "%s: %s", s->spec, strerror(errno));
        }
        struct pollfd ready = {.fd = s->fd, .events = POLLOUT};
        if (mkperf_poll(&ready, 1, WRITE_PATIENCE_MS) == 0) {
            return mkperf_error_set(e, MKPERF_ERR_LINK, "%s: accepts no more bytes", s->spec);
        }
    }
    return MKPERF_OK;
}

/* ---- serial:DEVICE,BAUD: raw, 8 bits, no parity, no flow control ---- */

enum { LEAST_BAUD = 9600 };
static const char default_baud[] = "115200";

enum mkperf_status mkperf_open_serial(struct mkperf_source *s, const char *where,
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
    if (n == 0 || *text == '\0' || *end != '\0' || baud < LEAST_BAUD || baud > UINT_MAX ||
        cfsetspeed(&t, speed) != 0) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE,
                                "-t %s: want serial:DEVICE,BAUD with a usual baud rate (%s if "
                                "none is given)",
                                s->spec, default_baud);
    }
    char *device = mkperf_xprintf("%.*s", (int)n, where);
    s->fd = open(device, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    int reason = errno;
    free(device);
    /* TIOCEXCL makes later opens fail, except root's. Terminal programs take the lock as well. */
    bool in_use = s->fd < 0 ? reason == EBUSY
                            : flock(s->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (s->fd < 0 || in_use) {
        mkperf_source_close(s);
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", s->spec,
                                in_use ? "in use by another program" : strerror(reason));
    }
    bool is_line = tcgetattr(s->fd, &t) == 0;
    if (is_line) { /* raw, 8 bits */
        cfmakeraw(&t);
        t.c_cflag &= ~(tcflag_t)(CSTOPB | CRTSCTS);
        t.c_cflag |= CLOCAL | CREAD;
        t.c_cc[VMIN] = 1;
        t.c_cc[VTIME] = 0;
    }
    if (!is_line || cfsetspeed(&t, speed) != 0 || tcsetattr(s->fd, TCSANOW, &t) != 0) {
        mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s: %s", s->spec,
                         is_line ? "cannot be set up" : "not a serial line", strerror(errno));
        mkperf_source_close(s);
        return e->status;
    }
    tcflush(s->fd, TCIFLUSH); /* discards older input */
    ioctl(s->fd, TIOCEXCL);   /* not every line supports it */
    return MKPERF_OK;
}

/* ---- unix:PATH, as QEMU's -chardev socket,path=PATH,server=on ---- */

enum mkperf_status mkperf_open_unix(struct mkperf_source *s, const char *where,
                                    struct mkperf_error *e)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (*where == '\0' || strlen(where) >= sizeof address.sun_path) {
        return mkperf_error_set(e, MKPERF_ERR_USAGE, "-t %s: want unix:PATH, at most %zu bytes",
                                s->spec, sizeof address.sun_path - 1);
    }
    memcpy(address.sun_path, where, strlen(where) + 1);
    s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->fd < 0 || connect(s->fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        fcntl(s->fd, F_SETFL, O_NONBLOCK) != 0) {
        mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", s->spec, strerror(errno));
        mkperf_source_close(s);
        return e->status;
    }
    return MKPERF_OK;
}

/*
 * QEMU sends each byte of its serial line by itself. Without a pause the caller would wake for each, which cost a tenth of the time of
 * both programs. A read returns more bytes than QEMU sends in the pause.
 */
enum mkperf_status mkperf_read_unix(struct mkperf_source *s, void *p, size_t n, size_t *got,
                                    struct mkperf_error *e)
{
    static const struct timespec pause = {.tv_nsec = 200000};

    mkperf_turn_give();
    nanosleep(&pause, NULL);
    mkperf_turn_take();
    return mkperf_source_fd_read(s, p, n, got, e);
}

/*
 * ---- sddf:CLIENT,SOURCE: a line behind the receiving virtualiser of sDDF's serial class ----
 *
 * The virtualiser keeps one byte for itself. Before a number and a carriage return, this byte chooses
 * the client that gets what follows. Twice, it is an ordinary byte. (sDDF serial/components/virt_rx.c;
 * the numbers are those that its tool sdfgen sets.)
 */

enum { SWITCH = 28, CHOSEN = '\r', CLIENTS = 64, CHUNK = 256 };

enum mkperf_status mkperf_write_sddf(struct mkperf_source *s, const void *p, size_t n,
                                     struct mkperf_error *e)
{
    const unsigned char *from = p;
    unsigned char out[2 * CHUNK];

    while (n > 0) {
        size_t took = n < CHUNK ? n : CHUNK;
        size_t k = 0;
        for (size_t i = 0; i < took; i++) {
            out[k++] = from[i];
            if (from[i] == SWITCH) {
                out[k++] = SWITCH;
            }
        }
        MKPERF_TRY(mkperf_source_fd_write(s, out, k, e));
        from += took;
        n -= took;
    }
    return MKPERF_OK;
}

enum mkperf_status mkperf_open_sddf(struct mkperf_source *s, const char *where,
                                    struct mkperf_error *e)
{
    static const struct {
        const char *scheme;
        mkperf_source_open_fn *open;
    } lines[] = {{"serial:", mkperf_open_serial}, {"unix:", mkperf_open_unix}};
    char *end, text[16];
    unsigned long client = strtoul(where, &end, 10);

    for (size_t i = 0; i < 2 && *where >= '0' && *where <= '9' && *end == ',' && client < CLIENTS;
         i++) {
        size_t n = strlen(lines[i].scheme);
        if (strncmp(end + 1, lines[i].scheme, n) == 0) {
            MKPERF_TRY(lines[i].open(s, end + 1 + n, e));
            /* The delimiter before the choice ends one that another program began; otherwise it is an empty frame. */
            int length = snprintf(text, sizeof text, "%c%c%lu%c", '\0', SWITCH, client, CHOSEN);
            if (mkperf_source_fd_write(s, text, (size_t)length, e) != MKPERF_OK) {
                mkperf_source_close(s);
                return e->status;
            }
            return MKPERF_OK;
        }
    }
    return mkperf_error_set(e, MKPERF_ERR_USAGE,
                            "-t %s: want sddf:CLIENT,serial:DEVICE,BAUD or sddf:CLIENT,unix:PATH, "
                            "with the number that sDDF's serial class gives the client, 0 to %d",
                            s->spec, CLIENTS - 1);
}

/* ---- file:PATH: a capture, the bytes of a line as `mkperf record --raw` keeps them ---- */

enum mkperf_status mkperf_open_file(struct mkperf_source *s, const char *where,
                                    struct mkperf_error *e)
{
    bool standard_input = strcmp(where, "-") == 0;
    struct stat st;

    s->fd = standard_input ? dup(STDIN_FILENO) : open(where, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", s->spec, strerror(errno));
    }
    if (fstat(s->fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        mkperf_source_close(s);
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: is a directory", s->spec);
    }
    return MKPERF_OK;
}
