/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The input as a file or as a pipe, with a path, for readers that open their input themselves.
 *
 * Owns: the descriptor, from descriptor_open to descriptor_close.
 */
#ifndef MKPERF_TESTS_FUZZ_DESCRIPTOR_H
#define MKPERF_TESTS_FUZZ_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DESCRIPTOR_PIPE_BYTES = 65536 }; /* as much as a pipe holds */

struct descriptor {
    int fd;
    char path[64];
};

/* Opens a pipe if it can hold all bytes, otherwise a file. */
static inline struct descriptor descriptor_open(const uint8_t *data, size_t size, bool as_pipe)
{
    struct descriptor d = {.fd = -1};
    int ends[2];

    if (as_pipe && size <= DESCRIPTOR_PIPE_BYTES) {
        if (pipe(ends) != 0 || write(ends[1], data, size) != (ssize_t)size) {
            abort();
        }
        close(ends[1]);
        d.fd = ends[0];
    } else {
        d.fd = memfd_create("input", 0);
        if (d.fd < 0 || write(d.fd, data, size) != (ssize_t)size) {
            abort();
        }
    }
    snprintf(d.path, sizeof d.path, "/proc/self/fd/%d", d.fd);
    return d;
}

static inline void descriptor_close(struct descriptor *d)
{
    close(d->fd);
}

#endif
