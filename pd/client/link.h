/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames over a byte stream: a bounded queue out, and the collection of frames in.
 *
 * Owns: struct mkperf_link. Used by the client PD; host-testable. Nothing is dropped when sending:
 * a message that does not fit is refused and stays with the caller. Received bytes that are not a
 * frame are dropped and counted. With keys, sent messages get a MAC, and received ones must have
 * one. A link has a small queue, enough for a handshake, and gets a large one with
 * mkperf_link_grow.
 */
#ifndef MKPERF_LINK_H
#define MKPERF_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mkperf/auth.h>
#include <mkperf/wire.h>

enum {
    MKPERF_LINK_BYTES = 32 * 1024, /* size of a large queue out; a power of two */
    MKPERF_LINK_SMALL = 4096,      /* size of the queue that every link has; a power of two */
    /* Up to this many bytes of text and a newline may be a frame's beginning: a block's length, a
     * sequence, and the tag of field 1. No command is as short. */
    MKPERF_LINK_MAYBE_FRAME = 4,
};

struct mkperf_link {
    uint32_t head; /* bytes ever queued, and ever sent by the transport; modulo 2^32 */
    uint32_t tail;
    bool skipping;      /* the received frame is too long: wait for a delimiter */
    bool delimited;     /* a delimiter was received, and no line since: a frame may follow */
    bool authenticated; /* the keys below are valid */
    uint32_t received;  /* bytes in `in` */
    uint64_t bad_frames;
    uint64_t number; /* number of the next frame out; its lower 16 bits are the frame's sequence */
    uint64_t accepted; /* number of the last frame in that was accepted */
    uint16_t sequence; /* sequence number of the last received frame */
    uint8_t out_key[MKPERF_KEY_BYTES];
    uint8_t in_key[MKPERF_KEY_BYTES];
    uint8_t *large; /* the queue out, MKPERF_LINK_BYTES; NULL: it is `small` */
    uint8_t small[MKPERF_LINK_SMALL];
    uint8_t in[MKPERF_FRAME_BYTES];
};

/* Moves the queue's contents to a queue of MKPERF_LINK_BYTES, which must outlive the link. */
void mkperf_link_grow(struct mkperf_link *l, uint8_t *large);

/* Returns the number of frames of the longest kind that the queue still accepts. */
unsigned mkperf_link_room(const struct mkperf_link *l);

/* Queues a message of n bytes as a frame, with a MAC if the link has keys. False, without an
 * effect: the queue is full, or the message too long. */
bool mkperf_link_send(struct mkperf_link *l, const uint8_t *message, size_t n);

/* Queues n bytes of text between frames, all or nothing. */
bool mkperf_link_text(struct mkperf_link *l, const char *text, size_t n);

/* Returns bytes for the transport, *n of them (maybe 0); mkperf_link_sent reports how many were
 * sent. */
const uint8_t *mkperf_link_out(const struct mkperf_link *l, size_t *n);
void mkperf_link_sent(struct mkperf_link *l, size_t n);

/* Takes one byte from the transport. If it completes a message: returns the message's length, and
 * points *message at it until the next call. Otherwise: -1. */
int mkperf_link_byte(struct mkperf_link *l, uint8_t byte, const uint8_t **message);

/* Returns whether the last received message, of n bytes, has a valid MAC; it is then accepted. */
bool mkperf_link_accept(struct mkperf_link *l, const uint8_t *message, size_t n);

/* Consumes a line of text, if the bytes since the last delimiter or line end in one with its newline.
 * Returns its length without the newline (0: an empty line), and points *line at it until the next
 * byte. -1: there is no line. After a delimiter, text shorter than MKPERF_LINK_MAYBE_FRAME is no line
 * yet. */
int mkperf_link_line(struct mkperf_link *l, const char **line);

#endif
