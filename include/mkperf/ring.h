/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sample ring: single producer, single consumer, lock-free, variable-length records.
 *
 * Owns: its layout in shared memory and the functions on it. One ring for each core between
 * the kernel hook (producer) and the profiler PD (consumer), and one between the profiler PD
 * (producer) and the client PD (consumer).
 *
 * Policy "stream": a record that does not fit is dropped and counted by the producer. No
 * committed record is lost.
 *
 * Policy "flight recorder": a new record overwrites the oldest ones, and the producer counts
 * them. While it records, the producer owns both positions: `head` in the shared header does not
 * move, so the consumer finds an empty ring and accesses nothing. mkperf_ring_show gives everything
 * to the consumer; until the consumer has released all of it, the producer accesses nothing. The
 * owner changes only while the other side cannot run (the consumer waits in a protected call), so
 * both sides never access the ring at the same time.
 *
 * Trust: each side keeps its own position and the size in memory that the other side cannot
 * write (struct mkperf_ring_producer, struct mkperf_ring_consumer). From the shared header it reads
 * only the other side's position. An impossible position is treated as full (producer) or as
 * corrupt (consumer); no position leads to an access outside the ring.
 */
#ifndef MKPERF_RING_H
#define MKPERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mkperf/record.h>

enum mkperf_ring_limits {
    MKPERF_RING_MIN_BYTES = 4096,
    MKPERF_RING_MAX_BYTES = 1 << 20,
    MKPERF_RING_HEADER_BYTES = 256,
};

/*
 * Shared memory: this header, then `size` bytes of records (a power of two). Positions count
 * bytes since the start and never wrap in practice (2^64).
 */
struct mkperf_ring {
    uint64_t head;            /* written by the producer */
    uint64_t dropped_samples; /* producer: records dropped because the ring was full, ever */
    uint64_t dropped_events;  /* producer: the events those stood for */
    uint64_t late_events;     /* kernel hook only: events folded into a sample's period because the
                                 counter ran too far past its overflow before it was re-armed */
    uint64_t dropped_sched;   /* kernel hook only: scheduling events dropped, as samples are */
    uint64_t pad0[11];
    uint64_t tail; /* written by the consumer */
    uint64_t pad1[15];
    uint64_t data[];
};

_Static_assert(sizeof(struct mkperf_ring) == MKPERF_RING_HEADER_BYTES, "ring header layout");

struct mkperf_ring_producer {
    struct mkperf_ring *ring;
    uint64_t size; /* bytes of data, a power of two */
    uint64_t head;
    uint64_t tail; /* the consumer's position as mkperf_ring_reserve last read it */
};

struct mkperf_ring_consumer {
    struct mkperf_ring *ring;
    uint64_t size;
    uint64_t tail;
};

static inline bool mkperf_ring_size_ok(uint64_t size)
{
    return size >= MKPERF_RING_MIN_BYTES && size <= MKPERF_RING_MAX_BYTES &&
           (size & (size - 1)) == 0;
}

/* Producer: as mkperf_ring_reserve, with the tail that is in p. */
static inline uint64_t *mkperf_ring_place(struct mkperf_ring_producer *p, uint64_t bytes)
{
    uint64_t used = p->head - p->tail;
    uint64_t at = p->head & (p->size - 1);
    uint64_t pad = at + bytes > p->size ? p->size - at : 0;

    if (used > p->size || bytes + pad > p->size - used) {
        return NULL;
    }
    if (pad != 0) {
        p->ring->data[at / 8] = mkperf_record_header(MKPERF_RECORD_PAD, (unsigned)pad, 0, 0, 0, 0);
        p->head += pad;
        at = 0;
    }
    return &p->ring->data[at / 8];
}

/*
 * Producer: reserves contiguous space for a record of up to `bytes` (a multiple of 8, at most
 * MKPERF_MAX_RECORD_BYTES). Returns the place to write it, or NULL if it does not fit (the caller
 * counts the drop). The record is invisible to the consumer before mkperf_ring_commit; not
 * committing is allowed.
 *
 * The acquire load of `tail` pairs with the release store in mkperf_ring_release: the consumer
 * has read the bytes that are about to be overwritten.
 */
static inline uint64_t *mkperf_ring_reserve(struct mkperf_ring_producer *p, uint64_t bytes)
{
    p->tail = __atomic_load_n(&p->ring->tail, __ATOMIC_ACQUIRE);
    return mkperf_ring_place(p, bytes);
}

/* Producer, flight recorder: whether mkperf_ring_place would succeed. */
static inline bool mkperf_ring_fits(const struct mkperf_ring_producer *p, uint64_t bytes)
{
    uint64_t used = p->head - p->tail;
    uint64_t rest = p->size - (p->head & (p->size - 1)); /* to the ring's end */

    return used <= p->size && bytes + (bytes > rest ? rest : 0) <= p->size - used;
}

/*
 * Producer, flight recorder: the oldest record from p->tail on, PAD or other, *size bytes; adding
 * *size to p->tail removes it. NULL: the ring is empty, or its contents are invalid, because the
 * consumer can write there; then discard everything.
 */
static inline const uint64_t *mkperf_ring_oldest(const struct mkperf_ring_producer *p,
                                                 unsigned *size)
{
    uint64_t used = p->head - p->tail;
    uint64_t at = p->tail & (p->size - 1);
    unsigned bytes = mkperf_record_size(p->ring->data[at / 8]);

    if (used == 0 || used > p->size || bytes < 8 || bytes % 8 != 0 || bytes > used ||
        at + bytes > p->size) {
        return NULL;
    }
    *size = bytes;
    return &p->ring->data[at / 8];
}

/* Producer, flight recorder: stores the record just written without publishing it. */
static inline void mkperf_ring_keep(struct mkperf_ring_producer *p, uint64_t bytes)
{
    p->head += bytes;
}

/* Producer, flight recorder: gives everything from `tail` to p->head to the consumer, which must
 * set its own position to `tail`. Release: pairs with the acquire load in mkperf_ring_peek. */
static inline void mkperf_ring_show(struct mkperf_ring_producer *p, uint64_t tail)
{
    __atomic_store_n(&p->ring->tail, tail, __ATOMIC_RELEASE);
    __atomic_store_n(&p->ring->head, p->head, __ATOMIC_RELEASE);
}

/*
 * Producer: publishes the record just written at the last reserved place; `bytes` at most what was
 * reserved. The release store pairs with the acquire load in mkperf_ring_peek.
 */
static inline void mkperf_ring_commit(struct mkperf_ring_producer *p, uint64_t bytes)
{
    p->head += bytes;
    __atomic_store_n(&p->ring->head, p->head, __ATOMIC_RELEASE);
}

/*
 * Producer: the contiguous writable bytes, from the returned place on; their number in *bytes,
 * maybe 0. For several records at once: write one after the other, then publish all with one
 * mkperf_ring_commit. Barrier: as mkperf_ring_reserve.
 */
static inline uint64_t *mkperf_ring_room(struct mkperf_ring_producer *p, uint64_t *bytes)
{
    p->tail = __atomic_load_n(&p->ring->tail, __ATOMIC_ACQUIRE);
    uint64_t used = p->head - p->tail;
    uint64_t at = p->head & (p->size - 1);
    uint64_t free = used <= p->size ? p->size - used : 0;

    *bytes = free < p->size - at ? free : p->size - at;
    return &p->ring->data[at / 8];
}

/*
 * Consumer: the contiguous readable bytes, from the next record on; their number in *bytes, maybe
 * 0. `head` is the producer's position, loaded from the ring with acquire. The bytes are not
 * validated: the caller checks the sizes of the records. Records that the caller cannot handle must
 * be read with mkperf_ring_peek. The caller may change records until it releases them.
 */
static inline uint64_t *mkperf_ring_stretch(const struct mkperf_ring_consumer *c, uint64_t head,
                                            uint64_t *bytes)
{
    uint64_t used = head - c->tail;
    uint64_t at = c->tail & (c->size - 1);

    if (used > c->size || head % 8 != 0) {
        used = 0;
    }
    *bytes = used < c->size - at ? used : c->size - at;
    return &c->ring->data[at / 8];
}

/*
 * Consumer: the next record that is not padding, whole and within the ring, or NULL. *corrupt is
 * set (never cleared) if the producer's position or a record's size is impossible; everything up
 * to the producer's position is then skipped. The record stays valid until mkperf_ring_release.
 */
static inline const uint64_t *mkperf_ring_peek(struct mkperf_ring_consumer *c, unsigned *size,
                                               bool *corrupt)
{
    uint64_t head = __atomic_load_n(&c->ring->head, __ATOMIC_ACQUIRE);

    for (int i = 0; i < 2; i++) { /* at most one pad is before a record */
        uint64_t used = head - c->tail;
        if (used == 0) {
            return NULL;
        }
        uint64_t at = c->tail & (c->size - 1);
        uint64_t header = c->ring->data[at / 8];
        unsigned bytes = mkperf_record_size(header);
        if (used > c->size || (head | bytes) % 8 != 0 || bytes - UINT64_C(1) >= used ||
            at + bytes > c->size) { /* no bytes: more than used */
            break;
        }
        if (mkperf_record_type(header) != MKPERF_RECORD_PAD) {
            *size = bytes;
            return &c->ring->data[at / 8];
        }
        c->tail += bytes;
    }
    *corrupt = true;
    c->tail = head & ~UINT64_C(7);
    __atomic_store_n(&c->ring->tail, c->tail, __ATOMIC_RELEASE);
    return NULL;
}

/* Consumer: releases `bytes`, of the record last peeked or of contiguous readable bytes. Pairs with
 * the load in mkperf_ring_reserve. */
static inline void mkperf_ring_release(struct mkperf_ring_consumer *c, unsigned bytes)
{
    c->tail += bytes;
    __atomic_store_n(&c->ring->tail, c->tail, __ATOMIC_RELEASE);
}

/* Producer: bytes that the consumer has not released yet. Acquire: it has read what it has
 * released; pairs with the release store in mkperf_ring_release. */
static inline uint64_t mkperf_ring_used(const struct mkperf_ring_producer *p)
{
    return p->head - __atomic_load_n(&p->ring->tail, __ATOMIC_ACQUIRE);
}

#endif
