/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Protocol buffers by hand: numbers and the beginnings of fields, for what the encoders of the stream
 * write without nanopb. Each function writes at `at`.
 */
#ifndef MKPERF_CLIENT_VARINT_H
#define MKPERF_CLIENT_VARINT_H

#include <stdint.h>

enum { MKPERF_VARINT = 10 }; /* bytes, at most */

/* Writes a number. Returns the end of its bytes. */
static inline uint8_t *mkperf_put_value(uint8_t *at, uint64_t v)
{
    for (; v > 0x7f; v >>= 7) {
        *at++ = (uint8_t)(v | 0x80);
    }
    *at++ = (uint8_t)v;
    return at;
}

/* Writes a number. Returns the number of its bytes. */
static inline uint32_t mkperf_put_varint(uint8_t *at, uint64_t v)
{
    return (uint32_t)(mkperf_put_value(at, v) - at);
}

static inline uint32_t mkperf_varint_size(uint64_t v)
{
    return (70 - (uint32_t)__builtin_clzll(v | 1)) / 7;
}

/* Returns the encoding of a difference as sint64. */
static inline uint64_t mkperf_zigzag(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

/* The next two are in wire_frames.c: the encoders have some 30 calls, none of them for each sample. */

/* Writes a field of wire type 0 (varint), unless it is 0. Returns its end. */
uint8_t *mkperf_put_field(uint8_t *at, unsigned field, uint64_t v);
/* Writes a field of wire type 2: n bytes. Returns its end. */
uint8_t *mkperf_put_bytes(uint8_t *at, unsigned field, const void *bytes, uint32_t n);

#endif
