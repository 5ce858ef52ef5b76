/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables by which the kernel hook unwinds programs without frame pointers.
 *
 * Concept: `mkperf stamp` makes a table of each such program from its call-frame information, and
 * writes all tables into the profiler PD's ELF. At boot the profiler PD checks them and copies them
 * into memory that the hook reads (descriptor.h, `unwind`).
 *
 *     pc ──► block of 64 bytes ──► row, the last one at or before pc ──► rule
 *
 * Owns: the layout, little-endian. MKPERF_UNWIND_BYTES bytes:
 *
 *   bytes  0.. 8  magic: MKPERF_UNWIND_MAGIC, or MKPERF_UNWIND_EMPTY in an ELF without tables
 *          8..12  bytes that are used, with this header
 *         12..16  CRC-32 (frame.h) of bytes 16 to the end of these
 *         16..    MKPERF_UNWIND_SLOTS entries, struct mkperf_unwind_entry, by mkperf_unwind_slot
 *   then, for each program, in any order:
 *         its rules, 8 bytes each, at most 256: mkperf_unwind_rule and flags
 *         for each block, 2 bytes: the number of rows before it; and once more for the end
 *         its rows, 2 bytes each, ascending: bits 0-7 rule, 8-15 bytes from the block's start
 *
 * The first row of a program is at its first block's start. A row is valid up to the next one, in
 * whichever block that is.
 *
 * Invariant: the hook takes every position modulo MKPERF_UNWIND_BYTES. It reads on from there for at most
 * MKPERF_UNWIND_SLACK bytes, whatever the tables contain.
 *
 * Example: 0x200404 is in a function that has saved lr at sp + 8 and fp nowhere, in a frame of 16 bytes.
 * Its rule has `cfa` 2 (sp + 16), `ra` 1 (one word below that) and `fp` 0.
 */
#ifndef MKPERF_UNWIND_H
#define MKPERF_UNWIND_H

#include <stdint.h>

#define MKPERF_UNWIND_SYMBOL "mkperf_unwind_tables" /* the symbol in the profiler PD's ELF */
#define MKPERF_UNWIND_MAGIC "mkpunwd1"
#define MKPERF_UNWIND_EMPTY "mkpunone"

enum mkperf_unwind_layout {
    MKPERF_UNWIND_BYTES = 65536, /* a power of two */
    MKPERF_UNWIND_SIZE_AT = 8,
    MKPERF_UNWIND_CRC_AT = 12,
    MKPERF_UNWIND_HEADER_BYTES = 16,
    MKPERF_UNWIND_SLOTS = 64,
    MKPERF_UNWIND_BLOCK = 64,      /* bytes of text */
    MKPERF_UNWIND_BLOCK_ROWS = 32, /* most rows of a block: an instruction has at least two bytes */
    MKPERF_UNWIND_RULES = 256,
    MKPERF_UNWIND_SLACK =
        128, /* bytes behind the tables that a reader may read, and ignores if the tables
                                  are valid */
};

/* A PD and its program's table. */
struct mkperf_unwind_entry {
    uint64_t badge; /* badge of the PD's threads (record.h) */
    /* badge of the scheduling context, if `badge` has a bit of the descriptor's sc_if */
    uint64_t sc;
    uint64_t base;   /* address of its first block, a multiple of 64 */
    uint32_t blocks; /* 0: there is no table */
    uint32_t block;  /* position of its first block's number, in units of 2 bytes from the start */
    uint32_t row;    /* position of its first row, in units of 2 bytes */
    uint32_t rule;   /* position of its first rule, in units of 8 bytes */
};

/* What is at the start of the tables. */
struct mkperf_unwind_tables {
    uint8_t magic[8];
    uint32_t size;
    uint32_t crc;
    struct mkperf_unwind_entry entry[MKPERF_UNWIND_SLOTS];
};

_Static_assert(sizeof(struct mkperf_unwind_tables) ==
                   MKPERF_UNWIND_HEADER_BYTES + MKPERF_UNWIND_SLOTS * 40,
               "the layout has no padding");

/* Returns the slot of a PD's entry. Microkit's PDs have different ones. */
static inline unsigned mkperf_unwind_slot(uint64_t badge, uint64_t sc, uint64_t sc_if)
{
    return (badge & sc_if ? sc + 1 : badge) % MKPERF_UNWIND_SLOTS;
}

/*
 * A rule describes how the registers of the caller are found at a pc. All distances are in words.
 *   bits  0-15  cfa: the caller's sp is this far above sp, or above fp with MKPERF_UNWIND_FROM_FP
 *        16-31  ra: the return address is saved this far below the caller's sp. 0: it is in the link register
 *        32-47  fp: the caller's frame pointer is saved this far below it. 0: it is still in its register
 *        48-    flags
 */
#define MKPERF_UNWIND_FROM_FP (UINT64_C(1) << 48)
#define MKPERF_UNWIND_STOP \
    (UINT64_C(1) << 49) /* there is no rule: the chain ends here, perhaps early */
#define MKPERF_UNWIND_OUTERMOST (UINT64_C(1) << 50) /* with STOP: the function has no caller */

static inline uint64_t mkperf_unwind_rule(unsigned cfa, unsigned ra, unsigned fp, uint64_t flags)
{
    return (uint64_t)cfa | (uint64_t)ra << 16 | (uint64_t)fp << 32 | flags;
}

#endif
