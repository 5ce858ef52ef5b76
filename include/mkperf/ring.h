/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sample ring: one producer, one consumer, no locks, records of variable length.
 *
 * Concept: two programs share a header and a ring of records. The producer appends at `head`, and
 * the consumer reads at `tail`. Each core has a ring from the kernel hook (producer) to the
 * profiler PD (consumer). The output ring leads from the profiler PD (producer) to the client PD
 * (consumer).
 *
 *     struct mkperf_ring   head | tail | counters of dropped records
 *     data[]               [ free | SAMPLE | SCHED | SAMPLE | free ]
 *                                 ^ tail % size             ^ head % size
 *
 * Invariants
 * 1. Positions count bytes since the start of the session. They are multiples of 8, never decrease,
 *    and tail <= head <= tail + size.
 * 2. No record wraps around the end of data[]. A PAD record fills the space before the end.
 * 3. The bytes from tail to head belong to the consumer. All other bytes belong to the producer.
 * 4. Policy "stream": the producer drops and counts a record that does not fit. No committed record
 *    is lost.
 * 5. Policy "flight recorder": a new record overwrites the oldest ones, and the producer counts
 *    them. While it records, the producer owns both positions and leaves `head` in the header
 *    unchanged. The consumer therefore finds an empty ring. mkperf_ring_show gives the records to
 *    the consumer, and the producer waits until all are released. The owner changes only while the
 *    consumer waits in a protected call.
 * 6. Neither side trusts the other. Each keeps its own position and the size in private memory, and
 *    reads only the other's position from the header. The producer treats an impossible position as
 *    a full ring, the consumer as a corrupt one. No position leads to an access outside the ring.
 *
 * Example: the ring has 4096 bytes, and head and tail are 4064. A record of 64 bytes does not fit
 * before the end. mkperf_ring_reserve writes 32 bytes of PAD and returns data[0].
 * mkperf_ring_commit publishes head 4160. mkperf_ring_peek skips the PAD and returns the record.
 * mkperf_ring_release moves tail to 4160.
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

/* What a producer could not write since the ring was empty, or not in time. */
struct mkperf_losses {
    uint64_t samples; /* dropped because the ring was full */
    uint64_t events;  /* the sum of the periods of dropped samples */
    /* The kernel hook only: events that a sample's period includes because its counter was armed again too late,
     * and scheduling events and readings of words that were dropped. */
    uint64_t late;
    uint64_t sched;
};

/* The shared memory. The size of data[] is a power of two. */
struct mkperf_ring {
    uint64_t head;             /* written by the producer */
    struct mkperf_losses lost; /* written by the producer */
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

/* For mkperf_ring_place_in, if the ring is nearly full or the record does not fit before the ring's end. It is not inlined,
 * so that the usual case needs no registers for it. */
static __attribute__((noinline, unused)) uint64_t *
mkperf_ring_place_at_start(struct mkperf_ring_producer *p, uint64_t bytes)
{
    uint64_t free = p->size - (p->head - p->tail);
    uint64_t at = p->head & (p->size - 1);
    uint64_t pad = p->size - at;

    if (free > p->size || at + bytes <= p->size || pad + bytes > free) {
        return NULL;
    }
    p->ring->data[at / 8] = mkperf_record_header(MKPERF_RECORD_PAD, (unsigned)pad, 0, 0, 0, 0);
    p->head += pad;
    return p->ring->data;
}

/* For the two functions below. ring: p->ring. As an argument it is not loaded again after the load of the tail. */
static inline uint64_t *mkperf_ring_place_in(struct mkperf_ring *ring,
                                             struct mkperf_ring_producer *p, uint64_t bytes)
{
    uint64_t used = p->head - p->tail;
    uint64_t at = p->head & (p->size - 1);
    uint64_t most = p->size - bytes; /* the smallest ring is larger than a record */

    if (__builtin_expect((used > most) | (at > most), 0)) {
        return mkperf_ring_place_at_start(p, bytes);
    }
    return &ring->data[at / 8];
}

/* Producer: works like mkperf_ring_reserve, with the known tail p->tail instead of a new load. */
static inline uint64_t *mkperf_ring_place(struct mkperf_ring_producer *p, uint64_t bytes)
{
    return mkperf_ring_place_in(p->ring, p, bytes);
}

/*
 * Producer: reserves contiguous space for a record of up to `bytes` (a multiple of 8, at most
 * MKPERF_MAX_RECORD_BYTES). Returns the place of the record, or NULL if it does not fit; the caller
 * then counts the drop. The consumer sees the record only after mkperf_ring_commit. The caller may
 * leave it uncommitted.
 *
 * The acquire load of `tail` pairs with the release store in mkperf_ring_release: the consumer
 * has read the bytes that are about to be overwritten.
 */
static inline uint64_t *mkperf_ring_reserve(struct mkperf_ring_producer *p, uint64_t bytes)
{
    struct mkperf_ring *ring = p->ring;

    p->tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
    return mkperf_ring_place_in(ring, p, bytes);
}

/* Producer, flight recorder: returns whether mkperf_ring_place would succeed. */
static inline bool mkperf_ring_fits(const struct mkperf_ring_producer *p, uint64_t bytes)
{
    uint64_t used = p->head - p->tail;
    uint64_t rest = p->size - (p->head & (p->size - 1)); /* bytes up to the ring's end */

    return used <= p->size && bytes + (bytes > rest ? rest : 0) <= p->size - used;
}

/*
 * Producer, flight recorder: returns the record at p->tail, which may be a PAD, and its length in
 * *size. The caller removes it by adding *size to p->tail. NULL: the ring is empty, or its contents
 * are invalid, because the consumer can write there. The caller then discards all contents.
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

/* Producer, flight recorder: gives the records from `tail` to p->head to the consumer, which must
 * set its own position to `tail`. The release stores pair with the acquire load in
 * mkperf_ring_peek. */
static inline void mkperf_ring_show(struct mkperf_ring_producer *p, uint64_t tail)
{
    __atomic_store_n(&p->ring->tail, tail, __ATOMIC_RELEASE);
    __atomic_store_n(&p->ring->head, p->head, __ATOMIC_RELEASE);
}

/*
 * Producer: publishes `bytes` at the last reserved place; at most the reserved number. The release
 * store pairs with the acquire load in mkperf_ring_peek.
 */
static inline void mkperf_ring_commit(struct mkperf_ring_producer *p, uint64_t bytes)
{
    p->head += bytes;
    __atomic_store_n(&p->ring->head, p->head, __ATOMIC_RELEASE);
}

/*
 * Producer: returns the place of the contiguous writable bytes and their number in *bytes, which
 * may be 0. The caller can write several records there and publish them with one
 * mkperf_ring_commit. The barrier is that of mkperf_ring_reserve.
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
 * Consumer: returns the place of the contiguous readable bytes, which begin with the next record,
 * and their number in *bytes, which may be 0. `head` is the producer's position, loaded from the
 * ring with acquire. The bytes are not validated: the caller checks the sizes of the records.
 * Records that the caller cannot handle must be read with mkperf_ring_peek. The caller may change
 * records until it releases them.
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
 * Consumer: returns the next record that is not padding, or NULL. The record is complete and within
 * the ring, and stays valid until mkperf_ring_release. An impossible position of the producer or
 * size of a record sets *corrupt, which is never cleared here. The consumer then skips to the
 * producer's position.
 */
static inline const uint64_t *mkperf_ring_peek(struct mkperf_ring_consumer *c, unsigned *size,
                                               bool *corrupt)
{
    uint64_t head = __atomic_load_n(&c->ring->head, __ATOMIC_ACQUIRE);

    for (int i = 0; i < 2; i++) { /* at most one PAD precedes a record */
        uint64_t used = head - c->tail;
        if (used == 0) {
            return NULL;
        }
        uint64_t at = c->tail & (c->size - 1);
        uint64_t header = c->ring->data[at / 8];
        unsigned bytes = mkperf_record_size(header);
        if (used > c->size || (head | bytes) % 8 != 0 || bytes - UINT64_C(1) >= used ||
            at + bytes > c->size) { /* a size of 0 underflows and fails, too */
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

/* Consumer: releases `bytes` of the last record from mkperf_ring_peek, or of the bytes from
 * mkperf_ring_stretch. The store pairs with the acquire load in mkperf_ring_reserve. */
static inline void mkperf_ring_release(struct mkperf_ring_consumer *c, unsigned bytes)
{
    c->tail += bytes;
    __atomic_store_n(&c->ring->tail, c->tail, __ATOMIC_RELEASE);
}

/* Producer: returns the number of bytes that the consumer has not released. The acquire load pairs
 * with the release store in mkperf_ring_release: the consumer has read the released bytes. */
static inline uint64_t mkperf_ring_used(const struct mkperf_ring_producer *p)
{
    return p->head - __atomic_load_n(&p->ring->tail, __ATOMIC_ACQUIRE);
}

#endif
