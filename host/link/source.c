/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the table of sources and the common part of all kinds with a descriptor. */
#include "source.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/monotonic.h"

enum { WRITE_PATIENCE_MS = 2000, CONNECT_PATIENCE_S = 5, SLICE_MS = 50 };

const struct mkperf_source_ops *const mkperf_source_kinds[] = {
    &mkperf_source_serial,
    &mkperf_source_tcp,
    &mkperf_source_listen,
    &mkperf_source_unix,
    &mkperf_source_sddf,
    &mkperf_source_file,
    NULL,
};

enum mkperf_status mkperf_source_init(struct mkperf_source *s, const char *spec,
                                      struct mkperf_error *e)
{
    *s = (struct mkperf_source){
        .spec = spec, .fd = -1, .listener = -1, .patience_s = CONNECT_PATIENCE_S};
    for (size_t i = 0; mkperf_source_kinds[i] != NULL; i++) {
        size_t n = strlen(mkperf_source_kinds[i]->scheme);
        if (strncmp(spec, mkperf_source_kinds[i]->scheme, n) == 0 && spec[n] == ':') {
            s->ops = mkperf_source_kinds[i];
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

void mkperf_source_close(struct mkperf_source *s)
{
    if (s->fd >= 0) {
        close(s->fd);
        s->fd = -1;
    }
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

int mkperf_source_wait(const struct mkperf_source *s, int fd, short events, double seconds)
{
    double until = mkperf_now_s() + seconds;
    struct pollfd ready = {.fd = fd, .events = events};

    while (poll(&ready, 1, SLICE_MS) <= 0) {
        if (s->stop != NULL && *s->stop != 0) {
            return EINTR;
        }
        if (seconds > 0 && mkperf_now_s() > until) {
            return ETIMEDOUT;
        }
    }
    return 0;
}

void mkperf_source_say(const struct mkperf_source *s, const char *text)
{
    if (s->notice != NULL) {
        s->notice(s->self, text);
    }
}

enum mkperf_status mkperf_source_fd_read(struct mkperf_source *s, void *p, size_t n, size_t *got,
                                         struct mkperf_error *e)
{
    ssize_t done = read(s->fd, p, n);

    *got = done > 0 ? (size_t)done : 0;
    if (done > 0 || (done < 0 && (errno == EAGAIN || errno == EINTR))) {
        return MKPERF_OK;
    }
    return mkperf_error_set(e, MKPERF_ERR_LINK, "%s: %s", s->spec,
                            done == 0 ? "the other end closed the connection" : strerror(errno));
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
        if (poll(&ready, 1, WRITE_PATIENCE_MS) == 0) {
            return mkperf_error_set(e, MKPERF_ERR_LINK, "%s: accepts no more bytes", s->spec);
        }
    }
    return MKPERF_OK;
}
