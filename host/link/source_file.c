/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: captures, file:PATH: the bytes of a line as `mkperf record --raw` keeps them. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum mkperf_status file_open(struct mkperf_source *s, const char *where,
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

static enum mkperf_status file_read(struct mkperf_source *s, void *p, size_t n, size_t *got,
                                    struct mkperf_error *e)
{
    ssize_t done;

    do {
        done = read(s->fd, p, n);
    } while (done < 0 && errno == EINTR);
    *got = done > 0 ? (size_t)done : 0;
    s->ended = done == 0;
    if (done < 0) {
        return mkperf_error_set(e, MKPERF_ERR_INPUT, "%s: %s", s->spec, strerror(errno));
    }
    return done > 0 ? MKPERF_OK : mkperf_error_set(e, MKPERF_ERR_LINK, "%s: its end", s->spec);
}

const struct mkperf_source_ops mkperf_source_file = {
    .scheme = "file",
    .where = "CAPTURE",
    .help = "replays what `mkperf record --raw CAPTURE` kept; - is the standard input",
    .interactive = false,
    .open = file_open,
    .read = file_read,
};
