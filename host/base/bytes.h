/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Little-endian numbers in bytes, for exact formats.
 *
 * Owns: nothing. mkperf_get reads bytes that the caller has checked to be there. mkperf_put writes at a cursor, for which the
 * caller has made room, and moves it on.
 */
#ifndef MKPERF_HOST_BASE_BYTES_H
#define MKPERF_HOST_BASE_BYTES_H

#include <endian.h>

#include "base.h"

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

struct mkperf_put {
    uint8_t *p;
};

static inline void mkperf_put16(struct mkperf_put *c, uint16_t v)
{
    v = htole16(v);
    memcpy(c->p, &v, sizeof v);
    c->p += sizeof v;
}

static inline void mkperf_put32(struct mkperf_put *c, uint32_t v)
{
    v = htole32(v);
    memcpy(c->p, &v, sizeof v);
    c->p += sizeof v;
}

static inline void mkperf_put64(struct mkperf_put *c, uint64_t v)
{
    v = htole64(v);
    memcpy(c->p, &v, sizeof v);
    c->p += sizeof v;
}

static inline void mkperf_put_bytes(struct mkperf_put *c, const void *p, size_t n)
{
    memcpy(c->p, p, n);
    c->p += n;
}

/* n bytes of p, then zeros up to `room`. */
static inline void mkperf_put_padded(struct mkperf_put *c, const void *p, size_t n, size_t room)
{
    assert(n <= room);
    mkperf_put_bytes(c, p, n);
    memset(c->p, 0, room - n);
    c->p += room - n;
}

#endif
