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

/* Reserves that many contiguous bytes of the ring and returns their place. The caller writes a record
 * there and publishes it, or leaves it. NULL: the ring has no room, or is not mapped. The caller then
 * counts the loss. */
MKPERF_INLINE uint64_t *mkperf_hook_reserve(struct mkperf_hook *s, uint64_t bytes)
{
    return s->out.ring != NULL ? mkperf_ring_reserve(&s->out, bytes) : NULL;
}

/* Writes the first two words of a record at w, its header and its time. */
MKPERF_INLINE void mkperf_hook_head(uint64_t *w, unsigned type, unsigned bytes, unsigned counter,
                                    uint64_t time)
{
    w[MKPERF_WORD_HEADER] = mkperf_record_header(type, bytes, 0, counter, 0, mkperf_port_core());
    w[MKPERF_WORD_TIME] = time;
}

/* Publishes that many bytes at the place that was last reserved. Wakes the owner if they cross the watermark: an owner
 * that is already behind was woken when that was crossed. */
MKPERF_INLINE void mkperf_hook_publish(struct mkperf_hook *s, uint64_t bytes)
{
    /* The owner may write to `head`, and is then woken at another time. */
    uint64_t before = __atomic_load_n(&s->out.ring->head, __ATOMIC_RELAXED);

    mkperf_ring_commit(&s->out, bytes);
    s->wrote = bytes;
    if (__builtin_expect(s->session.watermark - (before - s->out.tail) - 1 < s->out.head - before,
                         0)) {
        mkperf_port_wake();
    }
}

#endif
