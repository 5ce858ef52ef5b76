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

/* CRC-32 of n bytes at p, any alignment; crc is 0, or the result over the preceding bytes. */
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

/* The same with the processor's CRC instructions, if the build's target has them. */
static inline uint32_t mkperf_crc32_arm(uint32_t crc, const void *p, size_t n)
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

#define mkperf_crc32 mkperf_crc32_arm
#else
#define mkperf_crc32 mkperf_crc32_table
#endif

/*
 * One step of COBS, in place, for the bytes from code + 1 to *end; *code is for the first block's
 * length. The bytes before `at` have no zero; at `at` there is one, or the end. Writes the block's
 * length and returns the position of the zero or the end. If the block was longer than a length
 * byte can express, another byte was inserted: the position and *end have moved.
 */
static inline uint8_t *mkperf_cobs_block(uint8_t *code, uint8_t *at, uint8_t **end)
{
    while (at - code >= 0xff) {
        uint8_t *next = code + 0xff;
        memmove(next + 1, next, (size_t)(*end - next));
        *code = 0xff;
        code = next;
        at++;
        (*end)++;
    }
    *code = (uint8_t)(at - code);
    return at;
}

/*
 * COBS of n bytes from code + 1 on, in place, with the first block's length in *code. The buffer
 * has space for one more byte for each 254, rounded up. Returns the end. Works by words, because it
 * is on the target's path of every sample.
 */
static inline uint8_t *mkperf_cobs_encode(uint8_t *code, size_t n)
{
    typedef uint64_t __attribute__((may_alias)) word;
    const word low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint8_t *p = code + 1;
    uint8_t *end = p + n;

    while (p < end) {
        if ((uintptr_t)p % sizeof(word) != 0 || (size_t)(end - p) < sizeof(word)) {
            if (*p == 0) {
                p = code = mkperf_cobs_block(code, p, &end);
            }
            p++;
            continue;
        }
        word w = *(const word *)(const void *)p;
        if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) {
            w = __builtin_bswap64(w);
        }
        word zeros = ~(((w & low) + low) | w | low); /* the highest bit of each zero byte */
        uint8_t *next = p + sizeof(word);
        while (zeros != 0) {
            uint8_t *zero = p + (unsigned)__builtin_ctzll(zeros) / 8;
            zeros &= zeros - 1;
            code = mkperf_cobs_block(code, zero, &end);
            if (code != zero) { /* the rest has moved */
                next = code + 1;
                break;
            }
        }
        p = next;
    }
    mkperf_cobs_block(code, end, &end);
    return end;
}

enum { MKPERF_FRAME_HEAD = 4 }; /* delimiter, first block's length, sequence */

/*
 * Makes a frame, with both delimiters, of the message at frame + MKPERF_FRAME_HEAD: n bytes, at
 * most MKPERF_MESSAGE_BYTES. frame: MKPERF_FRAME_BYTES. Returns the frame's length.
 */
static inline size_t mkperf_frame_enclose(uint8_t *frame, uint16_t sequence, size_t n)
{
    frame[0] = 0;
    frame[2] = (uint8_t)sequence;
    frame[3] = (uint8_t)(sequence >> 8);
    uint32_t crc = mkperf_crc32(0, frame + 2, 2 + n);
    for (unsigned i = 0; i < 4; i++) {
        frame[MKPERF_FRAME_HEAD + n + i] = (uint8_t)(crc >> 8 * i);
    }
    uint8_t *end = mkperf_cobs_encode(frame + 1, n + MKPERF_FRAME_OVERHEAD);
    *end++ = 0;
    return (size_t)(end - frame);
}

/*
 * Encodes one frame with both delimiters. message: n bytes, at most MKPERF_MESSAGE_BYTES; out:
 * MKPERF_FRAME_BYTES, not overlapping. Returns the frame's length, 0 if the message is too long.
 */
static inline size_t mkperf_frame_encode(uint8_t *out, uint16_t sequence, const uint8_t *message,
                                         size_t n)
{
    if (n > MKPERF_MESSAGE_BYTES) {
        return 0;
    }
    memcpy(out + MKPERF_FRAME_HEAD, message, n);
    return mkperf_frame_enclose(out, sequence, n);
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
