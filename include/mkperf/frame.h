/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Framing: COBS (Cheshire and Baker 1999) and CRC-32 (IEEE 802.3), for both ends of the wire.
 *
 * Owns: the bytes of a frame as wire.h defines it. Functions are pure and bounded by their length
 * arguments; they accept any bytes.
 */
#ifndef MKPERF_FRAME_H
#define MKPERF_FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <mkperf/wire.h>

/* Returns the CRC-32 of n bytes at p, any alignment; crc is 0, or the result over the preceding
 * bytes. */
static inline uint32_t mkperf_crc32_table(uint32_t crc, const void *p, size_t n)
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

#ifdef __ARM_FEATURE_CRC32
#include <arm_acle.h>

/* Works like mkperf_crc32_table, with the processor's CRC instructions, if the build's target has
 * them. */
static inline uint32_t mkperf_crc32_arm(uint32_t crc, const void *p, size_t n)
{
    typedef uint64_t __attribute__((may_alias)) word;
    const uint8_t *b = p;

    crc = ~crc;
    for (; n != 0 && (uintptr_t)b % sizeof(word) != 0; n--) {
        crc = __crc32b(crc, *b++);
    }
    const word *w = (const word *)(const void *)b;
    for (; n >= 4 * sizeof *w; n -= 4 * sizeof *w, w += 4) {
        crc = __crc32d(__crc32d(__crc32d(__crc32d(crc, w[0]), w[1]), w[2]), w[3]);
    }
    for (; n >= sizeof *w; n -= sizeof *w) {
        crc = __crc32d(crc, *w++);
    }
    b = (const uint8_t *)w;
    for (; n != 0; n--) {
        crc = __crc32b(crc, *b++);
    }
    return ~crc;
}

#define mkperf_crc32 mkperf_crc32_arm
#else
#define mkperf_crc32 mkperf_crc32_table
#endif

/* A COBS encoder that writes into a buffer. */
struct mkperf_cobs {
    uint8_t *code; /* the place of the current block's length, at most 254 bytes before `end` */
    uint8_t *end;  /* end of the written bytes */
};

/* Ends a block before the zero at `zero`. The next block's length replaces that zero. */
static inline void mkperf_cobs_zero(struct mkperf_cobs *c, uint8_t *zero)
{
    *c->code = (uint8_t)(zero - c->code);
    c->code = zero;
}

/* Ends blocks at the zeros of n bytes at p, which have been copied to c->end. It reads words,
 * because the target runs it for every sample. */
static inline void mkperf_cobs_zeros(struct mkperf_cobs *c, const uint8_t *p, size_t n)
{
    typedef uint64_t __attribute__((may_alias)) word;
    const word ones = UINT64_C(0x0101010101010101);
    const uint8_t *begin = p;
    const uint8_t *end = p + n;

    for (; p < end && (uintptr_t)p % sizeof(word) != 0; p++) {
        if (*p == 0) {
            mkperf_cobs_zero(c, c->end + (p - begin));
        }
    }
    for (; (size_t)(end - p) >= sizeof(word); p += sizeof(word)) {
        word w = *(const word *)(const void *)p;
        if (((w - ones) & ~w & ones << 7) == 0) {
            continue; /* no byte is zero */
        }
        if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) {
            w = __builtin_bswap64(w);
        }
        const word low = ones * 0x7f;
        word zeros = ~(((w & low) + low) | w | low); /* the highest bit of each zero byte */
        for (; zeros != 0; zeros &= zeros - 1) {
            mkperf_cobs_zero(c, c->end + (p - begin) + (unsigned)__builtin_ctzll(zeros) / 8);
        }
    }
    for (; p < end; p++) {
        if (*p == 0) {
            mkperf_cobs_zero(c, c->end + (p - begin));
        }
    }
}

/* Appends n bytes. The buffer has room for them, for one more byte per 254, rounded up, and for the
 * first length. */
static inline void mkperf_cobs_add(struct mkperf_cobs *c, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;

    while (n != 0) {
        size_t rest = 0xff - (size_t)(c->end - c->code); /* bytes that still fit into the block */
        size_t part = n < rest ? n : rest;
        memcpy(c->end, p, part);
        mkperf_cobs_zeros(c, p, part);
        c->end += part;
        p += part;
        n -= part;
        if (c->end - c->code == 0xff) { /* the greatest length of a block */
            *c->code = 0xff;
            c->code = c->end++;
        }
    }
}

static inline struct mkperf_cobs mkperf_cobs_begin(uint8_t *to)
{
    return (struct mkperf_cobs){to, to + 1};
}

/* Returns the end of the written bytes. */
static inline uint8_t *mkperf_cobs_end(const struct mkperf_cobs *c)
{
    *c->code = (uint8_t)(c->end - c->code);
    return c->end;
}

/*
 * Encodes one frame with both delimiters. message: n bytes, at most MKPERF_MESSAGE_BYTES; out:
 * MKPERF_FRAME_BYTES, not overlapping. Returns the frame's length, 0 if the message is too long.
 */
static inline size_t mkperf_frame_encode(uint8_t *out, uint16_t sequence, const uint8_t *message,
                                         size_t n)
{
    const uint8_t head[2] = {(uint8_t)sequence, (uint8_t)(sequence >> 8)};
    struct mkperf_cobs c = mkperf_cobs_begin(out + 1);
    uint8_t tail[4];

    if (n > MKPERF_MESSAGE_BYTES) {
        return 0;
    }
    uint32_t crc = mkperf_crc32(mkperf_crc32(0, head, sizeof head), message, n);
    for (unsigned i = 0; i < sizeof tail; i++) {
        tail[i] = (uint8_t)(crc >> 8 * i);
    }
    out[0] = 0;
    mkperf_cobs_add(&c, head, sizeof head);
    mkperf_cobs_add(&c, message, n);
    mkperf_cobs_add(&c, tail, sizeof tail);
    uint8_t *end = mkperf_cobs_end(&c);
    *end++ = 0;
    return (size_t)(end - out);
}

/*
 * Decodes the bytes between two delimiters in place: n bytes at p, none of them 0. On success the
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
