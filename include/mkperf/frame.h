/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Framing: COBS (Cheshire and Baker 1999) and CRC-32 (IEEE 802.3), for both ends of the wire.
 *
 * Owns: the bytes of a frame as wire.h defines it. Functions are pure and bounded by their length
 * arguments; they trust nothing.
 */
#ifndef MKPERF_FRAME_H
#define MKPERF_FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <mkperf/wire.h>

#ifdef __ARM_FEATURE_CRC32 /* the processor's own instructions, where the build says it has them \
                            */
#include <arm_acle.h>

static inline uint32_t mkperf_crc32(uint32_t crc, const void *p, size_t n)
{
    typedef uint64_t __attribute__((may_alias)) word;
    const uint8_t *b = p;

    crc = ~crc;
    for (; n != 0 && (uintptr_t)b % sizeof(word) != 0; n--) {
        crc = __crc32b(crc, *b++);
    }
    for (; n >= sizeof(word); n -= sizeof(word), b += sizeof(word)) {
        crc = __crc32d(crc, *(const word *)(const void *)b);
    }
    for (; n != 0; n--) {
        crc = __crc32b(crc, *b++);
    }
    return ~crc;
}

#else

/* CRC-32 of n bytes at p; crc is 0 at first or the result over the bytes before. */
static inline uint32_t mkperf_crc32(uint32_t crc, const void *p, size_t n)
{
    static const uint32_t nibble[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    const uint8_t *b = p;

    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc = nibble[(crc ^ b[i]) & 15] ^ crc >> 4;
        crc = nibble[(crc ^ b[i] >> 4) & 15] ^ crc >> 4;
    }
    return ~crc;
}

#endif

/* An encoder that writes a frame byte by byte into out, which holds at least MKPERF_FRAME_BYTES. */
struct mkperf_cobs {
    uint8_t *out;
    size_t n;    /* bytes written */
    size_t code; /* where the current block's length goes */
};

/* How many of n bytes stand before the first zero: n if there is none. By words, for this is on the
 * target's path of every sample. */
static inline size_t mkperf_cobs_run(const uint8_t *p, size_t n)
{
    typedef uint64_t __attribute__((may_alias)) word;
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    size_t i = 0;

    for (; i < n && (uintptr_t)(p + i) % sizeof(word) != 0; i++) {
        if (p[i] == 0) {
            return i;
        }
    }
    for (; n - i >= sizeof(word); i += sizeof(word)) {
        word w = *(const word *)(const void *)(p + i);
        if ((((w & low) + low) | w | low) != UINT64_MAX) { /* the highest bit of a zero byte is 0 */
            break;
        }
    }
    while (i < n && p[i] != 0) {
        i++;
    }
    return i;
}

/* Adds n bytes. */
static inline void mkperf_cobs_put(struct mkperf_cobs *c, const uint8_t *p, size_t n)
{
    uint8_t *out = c->out + c->n;
    uint8_t *code = c->out + c->code;
    const uint8_t *end = p + n;

    while (p < end) {
        size_t room = (size_t)(code + 0xff - out);
        const uint8_t *stop = (size_t)(end - p) < room ? end : p + room;
        size_t run = mkperf_cobs_run(p, (size_t)(stop - p));
        memcpy(out, p, run);
        out += run;
        p += run;
        if (p < stop || out == code + 0xff) { /* a zero, or a full block */
            p += p < stop;
            *code = (uint8_t)(out - code);
            code = out++;
        }
    }
    c->n = (size_t)(out - c->out);
    c->code = (size_t)(code - c->out);
}

/*
 * Encodes one frame with both delimiters. message: n bytes, at most MKPERF_MESSAGE_BYTES; out: room
 * for MKPERF_FRAME_BYTES. Returns the frame's length, 0 if the message is too long.
 */
static inline size_t mkperf_frame_encode(uint8_t *out, uint16_t sequence, const uint8_t *message,
                                         size_t n)
{
    const uint8_t seq[2] = {(uint8_t)sequence, (uint8_t)(sequence >> 8)};
    uint32_t crc = mkperf_crc32(mkperf_crc32(0, seq, sizeof seq), message, n);
    const uint8_t end[4] = {(uint8_t)crc, (uint8_t)(crc >> 8), (uint8_t)(crc >> 16),
                            (uint8_t)(crc >> 24)};
    struct mkperf_cobs c = {.out = out, .n = 2, .code = 1};

    if (n > MKPERF_MESSAGE_BYTES) {
        return 0;
    }
    out[0] = 0;
    mkperf_cobs_put(&c, seq, sizeof seq);
    mkperf_cobs_put(&c, message, n);
    mkperf_cobs_put(&c, end, sizeof end);
    out[c.code] = (uint8_t)(c.n - c.code);
    out[c.n++] = 0;
    return c.n;
}

/*
 * Decodes what stood between two delimiters, in place: n bytes at p, none of them 0. On success the
 * message is at p + 2, its length is returned and *sequence is set; otherwise -1 (not a frame).
 */
static inline int mkperf_frame_decode(uint8_t *p, size_t n, uint16_t *sequence)
{
    size_t in = 0;
    size_t out = 0;

    while (in < n) {
        size_t block = p[in++];
        if (block == 0 || block - 1 > n - in) {
            return -1;
        }
        for (size_t i = 1; i < block; i++) {
            p[out++] = p[in++];
        }
        if (block != 0xff && in < n) {
            p[out++] = 0;
        }
    }
    if (out < MKPERF_FRAME_OVERHEAD || out > MKPERF_MESSAGE_BYTES + MKPERF_FRAME_OVERHEAD) {
        return -1;
    }
    size_t body = out - 4;
    uint32_t crc = (uint32_t)p[body] | (uint32_t)p[body + 1] << 8 | (uint32_t)p[body + 2] << 16 |
                   (uint32_t)p[body + 3] << 24;
    if (mkperf_crc32(0, p, body) != crc) {
        return -1;
    }
    *sequence = (uint16_t)(p[0] | p[1] << 8);
    return (int)(body - 2);
}

#endif
