/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: sockets in the file system, unix:PATH: QEMU's -chardev socket,path=PATH,server=on. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static enum mkperf_status unix_open(struct mkperf_source *s, const char *where,
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

const struct mkperf_source_ops mkperf_source_unix = {
    .scheme = "unix",
    .where = "PATH",
    .help = "a socket, as of QEMU's -chardev socket,path=PATH,server=on",
    .interactive = true,
    .open = unix_open,
    .read = mkperf_source_fd_read,
    .write = mkperf_source_fd_write,
};
