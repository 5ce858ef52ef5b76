/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes of a line into frames, console text and noise.
 *
 * Owns: finding frames (frame.h) in any bytes. Called by `mkperf record` with a source's bytes;
 * passes each message on at once. A chunk between delimiters that is no frame is console text if it
 * is valid text, otherwise noise, which is counted. Memory is one frame.
 */
#ifndef MKPERF_HOST_WIRE_RECEIVER_H
#define MKPERF_HOST_WIRE_RECEIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mkperf/wire.h>

#include "base/error.h"

/* More missed frames than this: the sender's numbering restarted, and the number is meaningless. */
enum { MKPERF_WIRE_MAX_GAP = 0x8000 };

struct mkperf_receiver_ops {
    void (*text)(void *self, const char *p, size_t n); /* any part of a line */
    /* One message. gap: frames missing just before it, by sequence number. */
    enum mkperf_status (*message)(void *self, const uint8_t *p, size_t n, unsigned gap,
                                  struct mkperf_error *e);
};

struct mkperf_receiver {
    const struct mkperf_receiver_ops *ops;
    void *self;
    uint64_t bytes, frames;
    uint64_t noise;       /* chunks that were neither a frame nor text */
    uint64_t noise_bytes; /* in them */
    bool numbered;        /* next is known */
    uint16_t next;        /* sequence number expected */
    size_t n;             /* bytes of a chunk without its end */
    size_t shown;         /* of them, handed on as text already */
    uint8_t chunk[MKPERF_FRAME_BYTES];
};

void mkperf_receiver_init(struct mkperf_receiver *w, const struct mkperf_receiver_ops *ops,
                          void *self);

/* n bytes, which are overwritten. An error is one of ops->message: the rest was not read. */
enum mkperf_status mkperf_receiver_push(struct mkperf_receiver *w, uint8_t *p, size_t n,
                                        struct mkperf_error *e);

/* The line is quiet, or at its end: text without a delimiter after it is passed on. */
void mkperf_receiver_idle(struct mkperf_receiver *w);

/* Another connection: its numbering is its own. */
void mkperf_receiver_restart(struct mkperf_receiver *w);

#endif
