/* SPDX-License-Identifier: BSD-2-Clause */
/* Arm's CRC-32 instructions, a bit at a time as the Arm Architecture Reference Manual defines them
 * (CRC32B, CRC32X): for the unit test of what uses them on a processor that has them not. */
#ifndef MKPERF_TEST_ARM_ACLE_H
#define MKPERF_TEST_ARM_ACLE_H

#include <stdint.h>

static inline uint32_t __crc32b(uint32_t crc, uint8_t byte) // NOLINT(bugprone-reserved-identifier)
{
    crc ^= byte;
    for (unsigned bit = 0; bit < 8; bit++) {
        crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return crc;
}

static inline uint32_t __crc32d(uint32_t crc, uint64_t v) // NOLINT(bugprone-reserved-identifier)
{
    for (unsigned i = 0; i < 8; i++) {
        crc = __crc32b(crc, (uint8_t)(v >> 8 * i));
    }
    return crc;
}

#endif
