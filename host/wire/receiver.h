/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The receiver: separates the bytes of a line into frames, console text and noise.
 *
 * Owns: finding frames (frame.h) in any bytes. Called by a connection, and by the reader of raw
 * captures. It passes each message on at once. A chunk between delimiters that is no frame is console
 * text if it is valid text, otherwise noise. Noise and missing frames are counted. Its memory is one
 * frame.
 */
#ifndef MKPERF_HOST_WIRE_RECEIVER_H
#define MKPERF_HOST_WIRE_RECEIVER_H

#include <mkperf/wire.h>

#include "base/base.h"

/* A larger gap means that the sender's numbering restarted, so that its size has no meaning. */
enum { MKPERF_WIRE_MAX_GAP = 0x8000 };

struct mkperf_receiver_ops {
    void (*text)(void *self, const char *p, size_t n); /* a part of a line, or several lines */
    /* One message. gap: the number of missing frames before it, from the sequence numbers. */
    enum mkperf_status (*message)(void *self, const uint8_t *p, size_t n, unsigned gap,
                                  struct mkperf_error *e);
};

struct mkperf_receiver {
    const struct mkperf_receiver_ops *ops;
    void *self;
    uint64_t bytes, frames;
    uint64_t noise;       /* chunks that were neither a frame nor text */
    uint64_t noise_bytes; /* bytes of noise */
    bool numbered;        /* `next` is known */
    uint16_t next;        /* the sequence number that is expected next */
    size_t n;             /* bytes in `chunk`, whose end has not arrived */
    size_t shown;         /* bytes of them that were already passed on as text */
    uint8_t chunk[MKPERF_FRAME_BYTES];
};

void mkperf_receiver_init(struct mkperf_receiver *w, const struct mkperf_receiver_ops *ops,
                          void *self);

/* Reads n bytes and overwrites them. Errors: those of ops->message, after which the rest is not read. */
enum mkperf_status mkperf_receiver_push(struct mkperf_receiver *w, uint8_t *p, size_t n,
                                        struct mkperf_error *e);

/* The line is quiet, or has ended. Passes on text that has no delimiter after it. */
void mkperf_receiver_idle(struct mkperf_receiver *w);

/* A new connection begins, with sequence numbers of its own. */
void mkperf_receiver_restart(struct mkperf_receiver *w);

#endif
