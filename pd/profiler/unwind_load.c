/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables for unwinding: see unwind_load.h. */
#include "unwind_load.h"

#include <stdbool.h>
#include <string.h>

#include <mkperf/frame.h>
#include <mkperf/record.h>

/* Returns a number of the tables, which may be at any address. */
static uint32_t half_at(const uint8_t *from, uint64_t at)
{
    return from[2 * at] | (uint32_t)from[2 * at + 1] << 8;
}

/* Returns whether all positions of a program's table are within the `size` bytes, and its rows are
 * those of its blocks. */
static bool table_ok(const struct mkperf_unwind_entry *e, const uint8_t *from, uint32_t size)
{
    const uint64_t halves = size / 2;
    uint32_t before = 0;

    if (e->base % MKPERF_UNWIND_BLOCK != 0 || (uint64_t)e->block + e->blocks >= halves ||
        e->rule >= size / 8 || half_at(from, e->block) != 0) {
        return false;
    }
    for (uint32_t i = 0; i <= e->blocks; i++) {
        uint32_t rows = half_at(from, (uint64_t)e->block + i);
        if (rows < before || rows - before > MKPERF_UNWIND_BLOCK_ROWS) {
            return false;
        }
        before = rows;
    }
    if ((uint64_t)e->row + before > halves) {
        return false;
    }
    for (uint32_t i = 0; i < before; i++) {
        uint32_t rule = half_at(from, (uint64_t)e->row + i) & (MKPERF_UNWIND_RULES - 1);
        if ((uint64_t)e->rule + rule >= size / 8) {
            return false;
        }
    }
    return true;
}

enum mkperf_unwind_state mkperf_unwind_load(struct mkperf_unwind_tables *to, const uint8_t *from,
                                            uint32_t n)
{
    static struct mkperf_unwind_tables head; /* too large for a PD's stack */

    if (n < sizeof head || memcmp(from, MKPERF_UNWIND_EMPTY, sizeof head.magic) == 0) {
        return MKPERF_UNWIND_NONE;
    }
    memcpy(&head, from, sizeof head);
    if (memcmp(head.magic, MKPERF_UNWIND_MAGIC, sizeof head.magic) != 0 || head.size > n ||
        head.size < sizeof head || head.size > MKPERF_UNWIND_BYTES ||
        mkperf_crc32(0, from + MKPERF_UNWIND_HEADER_BYTES,
                     head.size - MKPERF_UNWIND_HEADER_BYTES) != head.crc) {
        return MKPERF_UNWIND_INVALID;
    }
    for (unsigned i = 0; i < MKPERF_UNWIND_SLOTS; i++) {
        const struct mkperf_unwind_entry *e = &head.entry[i];
        if (e->blocks != 0 && (mkperf_unwind_slot(e->badge, e->sc, MKPERF_THREAD_CHILD_BIT) != i ||
                               !table_ok(e, from, head.size))) {
            return MKPERF_UNWIND_INVALID;
        }
    }
    memcpy(to, from, head.size);
    return MKPERF_UNWIND_LOADED;
}
