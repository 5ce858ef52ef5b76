/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of protocol buffers, for the writers that do without a library: the client PD's encoders of the
 * stream, and the host's exports.
 *
 * A number takes a byte for each 7 bits, the lowest first. Bit 7 says that another byte follows. A signed
 * number is folded (zigzag), so that small ones of both signs take few bytes: 0, -1, 1, -2 become 0, 1, 2, 3.
 */
#ifndef MKPERF_VARINT_H
#define MKPERF_VARINT_H

#include <stdint.h>

enum { MKPERF_VARINT = 10 }; /* bytes, at most */

/* Writes a number at `at`. Returns the end of its bytes. */
static inline uint8_t *mkperf_put_value(uint8_t *at, uint64_t v)
{
    for (; v > 0x7f; v >>= 7) {
        *at++ = (uint8_t)(v | 0x80);
    }
    *at++ = (uint8_t)v;
    return at;
}

/* Writes a number at `at`. Returns the number of its bytes. */
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

/* Returns the signed number of a zigzag encoding, modulo 2^64. */
static inline uint64_t mkperf_unzigzag(uint64_t v)
{
    return v >> 1 ^ (0 - (v & 1));
}

#endif
