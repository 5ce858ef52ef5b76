/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words of memory that a session reads: the indices of queues, which other PDs write.
 *
 * Concept: the profiler PD maps the queues' pages and names words in them. The kernel reads all of
 * them at each switch of threads, and writes those that changed into the core's ring. Only the host
 * knows which queue a word belongs to.
 *
 * Owns: the encoding of a word in the session's tables (tables.h), and the record in the rings.
 * kernel/words.c reads the table and writes the record. A kernel that does not report switches has no MKPERF_FEATURE_EVENTS.
 *
 * WORDS
 *   word 0   bits 40-47: MKPERF_WORDS_ALL, the record has all words that the kernel can read
 *   word 1   time of the reading, ticks. It is the time of the switch that follows
 *   word 2   set of words whose values follow, bit = place in the table
 *   then     values in pairs, ascending: of words 0 and 1, 2 and 3, ... A pair is there if one of its
 *            words has changed. A value of a word that is not in the set means nothing. Bytes that
 *            the table does not select are 0
 *
 * Invariants
 * 1. A session reads all words at its start, at its end, and at each request in between. A word that
 *    is missing in such a record is not mapped.
 * 2. The values of one record were read in the order of the table, with interrupts masked. PDs on
 *    other cores may change words meanwhile.
 * 3. A word that changed and changed back between two readings did not change.
 */
#ifndef MKPERF_WORDS_H
#define MKPERF_WORDS_H

#include <stdint.h>

enum mkperf_words_limits {
    MKPERF_MAX_WORDS = 64,
    MKPERF_WORDS_SET = 2,   /* place of the set in a record */
    MKPERF_WORDS_FIXED = 3, /* words of a record before the values */
    MKPERF_WORDS_ALL = 1,   /* the record has all words */
};

/* A word in the table: an address in the profiler PD, which is a multiple of 8, and in bits 56 to 63
 * the bytes of the word that are read, bit 56 = the byte at the address. */
#define MKPERF_WORD_ADDRESS UINT64_C(0x00fffffffffffff8)
#define MKPERF_WORD_BYTES_SHIFT 56

/* Returns the bits of a word's value that its bytes select. */
static inline uint64_t mkperf_word_mask(uint64_t word)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < 8; i++) {
        mask |= (word >> (MKPERF_WORD_BYTES_SHIFT + i) & 1) * (UINT64_C(0xff) << 8 * i);
    }
    return mask;
}

#endif
