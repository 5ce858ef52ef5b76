/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the table of the kinds of sources, and what is common to opening and closing them; see source.h. */
#include "source.h"

#include <unistd.h>

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
     .interactive = true, .open = mkperf_open_unix, .read = mkperf_source_fd_read,
     .write = mkperf_source_fd_write},
    {"sddf", "CLIENT,SOURCE",
     "a serial line or socket behind sDDF's serial class, this client of it", .interactive = true,
     .open = mkperf_open_sddf, .read = mkperf_source_fd_read, .write = mkperf_write_sddf},
    {"file", "CAPTURE", "replays what `mkperf record --raw CAPTURE` kept; - is the standard input",
     .open = mkperf_open_file, .read = mkperf_read_file},
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
