/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Little-endian input: numbers in bytes that the caller has checked to be there. See put.h.
 *
 * Owns: nothing.
 */
#ifndef MKPERF_HOST_BASE_GET_H
#define MKPERF_HOST_BASE_GET_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t mkperf_get16(const uint8_t *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof v);
    return le16toh(v);
}

static inline uint32_t mkperf_get32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
    return le32toh(v);
}

static inline uint64_t mkperf_get64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
    return le64toh(v);
}

#endif
