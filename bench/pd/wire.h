/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A wire between two PDs: a shared region with a queue of frames for each direction.
 *
 * Each queue has one writer and one reader. The writer fills frame[sent % SLOTS] and then publishes
 * `sent` with release; the reader pairs with acquire, and likewise in the other direction with
 * `taken`, which gives a slot back. Both counts only grow, modulo 2^32.
 */
#ifndef BENCH_WIRE_H
#define BENCH_WIRE_H

#include <stdint.h>

enum wire_sizes {
    WIRE_SLOTS = 64,
    WIRE_FRAME_BYTES = 2040,
    WIRE_SHIFT = 2, /* where a frame begins in its slot, like lwIP's (ETH_PAD_SIZE) */
    WIRE_REGION_BYTES = 0x50000,
};

struct wire_slot {
    uint64_t bytes;
    uint8_t frame[WIRE_FRAME_BYTES];
};

struct wire_queue {
    uint32_t sent;
    uint32_t taken;
    uint64_t unused;
    struct wire_slot slot[WIRE_SLOTS];
};

_Static_assert(2 * sizeof(struct wire_queue) <= WIRE_REGION_BYTES, "the region holds both ways");

#endif
