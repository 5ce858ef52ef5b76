/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the hook's files write a record into the core's ring.
 *
 * Owns: the order of the steps. mkperf_hook_find looks up the ring, mkperf_hook_reserve returns a place in it, the caller
 * writes the record there, and mkperf_hook_publish gives it to the owner. Included after mkperf_port.h. The functions are
 * inlined, because every sample and event uses them.
 */
#ifndef MKPERF_KERNEL_RECORDS_H
#define MKPERF_KERNEL_RECORDS_H

#include "hook.h"

/* Looks up the ring if it is unknown, and reserves that many contiguous bytes of it. Returns their place. The caller
 * writes a record there and publishes it, or leaves it. NULL: the ring has no room, or is not mapped. The caller then
 * counts the loss. */
MKPERF_INLINE uint64_t *mkperf_hook_reserve(struct mkperf_hook *s, uint64_t bytes)
{
    mkperf_hook_find(s);
    return s->out.ring != NULL ? mkperf_ring_reserve(&s->out, bytes) : NULL;
}

/* Writes the first two words of a record at w, its header and its time. */
MKPERF_INLINE void mkperf_hook_head(uint64_t *w, unsigned type, unsigned bytes, unsigned counter,
                                    uint64_t time)
{
    w[MKPERF_WORD_HEADER] = mkperf_record_header(type, bytes, 0, counter, 0, mkperf_port_core());
    w[MKPERF_WORD_TIME] = time;
}

/* Publishes that many bytes at the place that was last reserved, and padding before it: does what mkperf_ring_commit does.
 * Wakes the owner if they cross the watermark. An owner that is already behind was woken when that was crossed. */
MKPERF_INLINE void mkperf_hook_publish(struct mkperf_hook *s, uint64_t bytes)
{
    struct mkperf_ring *ring = s->out.ring;
    uint64_t head = s->out.head + bytes;
    /* The owner may write to this position. It is then woken at another time. */
    uint64_t before = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
    uint64_t used = before - __atomic_load_n(&ring->tail, __ATOMIC_RELAXED);

    s->out.head = head;
    s->wrote = bytes;
    __atomic_store_n(&ring->head, head, __ATOMIC_RELEASE);
    if (__builtin_expect(s->session.watermark - used - 1 < head - before, 0)) {
        mkperf_port_wake();
    }
}

#endif
