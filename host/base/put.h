/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Little-endian output, byte by byte in meaning: a cursor that the caller gave enough room.
 *
 * Owns: nothing. Each function writes and moves the cursor on.
 */
#ifndef MKPERF_HOST_BASE_PUT_H
#define MKPERF_HOST_BASE_PUT_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

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
    mkperf_put_bytes(c, p, n);
    memset(c->p, 0, room - n);
    c->p += room - n;
}

#endif
