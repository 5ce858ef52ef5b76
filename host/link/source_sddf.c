/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Owns: sddf:CLIENT,SOURCE: a line behind the receiving virtualiser of sDDF's serial class, which
 * keeps one byte for itself. Before a number and a carriage return it chooses the client that gets
 * what follows; twice, it is that byte. (sDDF serial/components/virt_rx.c; the bytes are those that
 * its tool sdfgen sets.)
 */
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SWITCH = 28, CHOSEN = '\r', CLIENTS = 64, CHUNK = 256 };

static const struct mkperf_source_ops *const lines[] = {&mkperf_source_serial, &mkperf_source_unix,
                                                        NULL};

static enum mkperf_status sddf_write(struct mkperf_source *s, const void *p, size_t n,
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
        if (mkperf_source_fd_write(s, out, k, e) != MKPERF_OK) {
            return e->status;
        }
        from += took;
        n -= took;
    }
    return MKPERF_OK;
}

/* The delimiter in front ends a choice that another program began, and is an empty frame if
 * none did. */
static enum mkperf_status choose(struct mkperf_source *s, unsigned client, struct mkperf_error *e)
{
    char text[16];
    int n = snprintf(text, sizeof text, "%c%c%u%c", '\0', SWITCH, client, CHOSEN);

    if (mkperf_source_fd_write(s, text, (size_t)n, e) != MKPERF_OK) {
        mkperf_source_close(s);
        return e->status;
    }
    return MKPERF_OK;
}

static enum mkperf_status sddf_open(struct mkperf_source *s, const char *where,
                                    struct mkperf_error *e)
{
    char *end;
    unsigned long client = strtoul(where, &end, 10);

    if (*where >= '0' && *where <= '9' && *end == ',' && client < CLIENTS) {
        for (size_t i = 0; lines[i] != NULL; i++) {
            size_t n = strlen(lines[i]->scheme);
            if (strncmp(end + 1, lines[i]->scheme, n) == 0 && end[1 + n] == ':') {
                enum mkperf_status status = lines[i]->open(s, end + n + 2, e);
                return status == MKPERF_OK ? choose(s, (unsigned)client, e) : status;
            }
        }
    }
    return mkperf_error_set(e, MKPERF_ERR_USAGE,
                            "-t %s: want sddf:CLIENT,serial:DEVICE,BAUD or sddf:CLIENT,unix:PATH, "
                            "with the number that sDDF's serial class gives the client, 0 to %d",
                            s->spec, CLIENTS - 1);
}

const struct mkperf_source_ops mkperf_source_sddf = {
    .scheme = "sddf",
    .where = "CLIENT,SOURCE",
    .help = "a serial line or socket behind sDDF's serial class, this client of it",
    .interactive = true,
    .open = sddf_open,
    .read = mkperf_source_fd_read,
    .write = sddf_write,
};
