/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames over a byte stream: a bounded queue out, and the collection of frames in.
 *
 * Owns: struct mkperf_link. Used by the client PD; host-testable. Nothing is dropped on the way
 * out: what has no room is refused and stays with the caller. On the way in, whatever is not a
 * frame is dropped and counted.
 */
#ifndef MKPERF_LINK_H
#define MKPERF_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mkperf/wire.h>

enum { MKPERF_LINK_BYTES = 32 * 1024 }; /* of the queue out, a power of two */

struct mkperf_link {
    uint32_t head; /* bytes ever queued, and ever taken by the transport; modulo 2^32 */
    uint32_t tail;
    uint16_t sequence; /* of the next frame out */
    bool skipping;     /* what comes in is too long: wait for a delimiter */
    uint32_t received; /* bytes in `in` */
    uint64_t bad_frames;
    uint8_t out[MKPERF_LINK_BYTES];
    uint8_t in[MKPERF_FRAME_BYTES];
    uint8_t frame[MKPERF_FRAME_BYTES]; /* being encoded */
};

/* How many more frames of the longest kind the queue takes. */
unsigned mkperf_link_room(const struct mkperf_link *l);

/* Queues a message of n bytes as a frame. False, and nothing has happened: no room, or too long. */
bool mkperf_link_send(struct mkperf_link *l, const uint8_t *message, size_t n);

/* Bytes for the transport, *n of them (maybe 0); mkperf_link_sent says how many it took. */
const uint8_t *mkperf_link_out(const struct mkperf_link *l, size_t *n);
void mkperf_link_sent(struct mkperf_link *l, size_t n);

/* One byte from the transport. Returns the length of the message that it completed and points
 * *message at it (valid until the next call), or -1. */
int mkperf_link_byte(struct mkperf_link *l, uint8_t byte, const uint8_t **message);

#endif
