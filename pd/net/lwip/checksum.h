/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checksum of IP, TCP and UDP (RFC 1071), by words of eight bytes.
 *
 * Owns: the sum, for lwIP (lwipopts.h). Each byte of a profile goes through it once, and through
 * lwIP's own it took three times as long. Little-endian.
 */
#ifndef MKPERF_CHECKSUM_H
#define MKPERF_CHECKSUM_H

#include <stdint.h>

/* Words of two bytes of `v` added up, not yet folded to 16 bits. */
static inline uint64_t mkperf_checksum_word(uint64_t v)
{
    return (v & UINT32_MAX) + (v >> 32);
}

static inline uint32_t mkperf_checksum_fold(uint64_t sum)
{
    for (unsigned i = 0; i < 4; i++) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return (uint32_t)sum;
}

/* Not complemented; its bytes are in the order of the data's. bytes: n of them (0 to 65535), any
 * alignment. */
static inline uint16_t mkperf_checksum(const void *bytes, int n)
{
    typedef uint64_t __attribute__((may_alias)) word;
    const uint8_t *p = bytes;
    const uint8_t *end = p + n;
    uint64_t sum = 0;

    /* As if it began at an aligned address, with zeros. */
    for (; p < end && (uintptr_t)p % sizeof(word) != 0; p++) {
        sum += (uint64_t)*p << 8 * ((uintptr_t)p % 2);
    }
    for (; end - p >= 32; p += 32) {
        const word *w = (const word *)(const void *)p;
        uint64_t a = w[0];
        uint64_t b = w[1];
        uint64_t c = w[2];
        uint64_t d = w[3];
        sum += mkperf_checksum_word(a) + mkperf_checksum_word(b) + mkperf_checksum_word(c) +
               mkperf_checksum_word(d);
    }
    for (; end - p >= 8; p += 8) {
        sum += mkperf_checksum_word(*(const word *)(const void *)p);
    }
    for (; p < end; p++) {
        sum += (uint64_t)*p << 8 * ((uintptr_t)p % 2);
    }
    uint32_t folded = mkperf_checksum_fold(sum);
    return (uint16_t)((uintptr_t)bytes % 2 == 0 ? folded : folded << 8 | folded >> 8);
}

#endif
