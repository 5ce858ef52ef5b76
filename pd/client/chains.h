/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The chains of a stream: their table (keys, look-up and replacement), and their form on the wire; and
 * the columns of a batch, as far as two files write them.
 *
 * Owns: struct mkperf_chains (encode.h). The encoder uses it. The table's functions are inline,
 * because they are most of a sample's cost in the client PD. wire_frames.c converts a chain once,
 * when it is new: from the record's form to the wire's, in which markers precede callers in other
 * threads (include/mkperf/record.h describes both). Return addresses come from threads' stacks; an
 * address that looks like a marker becomes 0, so that no thread can invent callers.
 */
#ifndef MKPERF_CHAINS_H
#define MKPERF_CHAINS_H

#include "encode.h"

enum {
    /* The bits of nframes, counter and flags in a header's upper half, without the core. */
    KEY_HEADER = 0x00ffffff,
    STRIDE = 4, /* words */
    NO_USER_BIT = 49,
    HINT_BIT = 16, /* first bit of the hint's index in a hash */
};

#define NO_CHAIN UINT64_MAX /* header of an unused slot */

/* Returns the position of a chain's first word in its sample's record, after the word of the pc.
 * The kernel_pc of an idle sample takes the place of the pc. */
static inline size_t key_at(uint64_t header)
{
    return MKPERF_WORD_LR + 2 * (header >> NO_USER_BIT & 1);
}

/*
 * The key of a sample's chain: n words of its record from key_at on. It reads four words at a time,
 * and may read some of the last four twice, because this is most of a sample's cost.
 *
 * Two chains are equal if their threads, counters, flags, numbers of words and 64-bit hashes are
 * equal. Their words are not compared. Two different chains have equal hashes by chance once in
 * about 10^19 pairs. A program can make such stacks, but deceives only about itself, as with any
 * false stack.
 */
static inline __attribute__((always_inline)) struct mkperf_key
make_key(uint64_t mix, uint64_t header, const uint64_t *record, size_t n, uint32_t reads)
{
    struct mkperf_key k = {
        .header = (header >> 32 & KEY_HEADER) | (uint64_t)reads << 32,
        .thread = record[MKPERF_WORD_THREAD],
    };
    const uint64_t *w = record + key_at(header);
    uint64_t a = k.header * mix + k.thread;
    uint64_t b = 0;

    if (n >= STRIDE) {
        const uint64_t *last = w + n - STRIDE;
        while (w < last) {
            uint64_t first = w[0], second = w[1], third = w[2], fourth = w[3];
            w += STRIDE;
            a = a * mix + first;
            b = b * mix + second;
            a = a * mix + third;
            b = b * mix + fourth;
        }
        a = a * mix + last[0];
        b = b * mix + last[1];
        a = a * mix + last[2];
        b = b * mix + last[3];
    } else {
        for (const uint64_t *end = w + n; w != end; w++) {
            a = a * mix + *w;
        }
    }
    k.hash = (a ^ (b << 32 | b >> 32)) *
             mix; /* rotated, so that no two words have the same factor */
    return k;
}

/* Returns the position of the sample's pc on the wire: before the words of its key. */
static inline const uint64_t *pc_word(uint64_t header, const uint64_t *record)
{
    return record + key_at(header) - 1;
}

static inline bool same_chain(const struct mkperf_key *k, const struct mkperf_known_chain *c)
{
    return ((c->hash ^ k->hash) | (c->thread ^ k->thread) | (c->header ^ k->header)) == 0;
}

static inline unsigned set_of(uint64_t hash)
{
    return (uint32_t)(hash >> HINT_BIT) % MKPERF_ENCODE_SETS;
}

/* Where the slot is stored in which the chain probably is. */
static inline uint16_t *hint_of(struct mkperf_chains *t, uint64_t hash)
{
    return &t->hint[(uint32_t)(hash >> HINT_BIT) % MKPERF_ENCODE_HINTS];
}

/* Returns the slot of a chain; MKPERF_CHAIN_SLOTS: the table does not have it. */
static inline unsigned find_slot(struct mkperf_chains *t, const struct mkperf_key *k)
{
    unsigned slot = set_of(k->hash);

    for (; slot < MKPERF_CHAIN_SLOTS && t->chain[slot].header != NO_CHAIN;
         slot += MKPERF_ENCODE_SETS) {
        if (t->chain[slot].hash == k->hash && same_chain(k, &t->chain[slot])) {
            *hint_of(t, k->hash) = (uint16_t)slot;
            return slot;
        }
    }
    return MKPERF_CHAIN_SLOTS;
}

/* Returns the slot for a new chain: the lowest unused way of its set, or the least recently used
 * way. */
static inline unsigned oldest_slot(const struct mkperf_chains *t, uint64_t hash, uint64_t time)
{
    unsigned oldest = set_of(hash);
    uint64_t oldest_age = 0;

    for (unsigned slot = oldest; slot < MKPERF_CHAIN_SLOTS; slot += MKPERF_ENCODE_SETS) {
        if (t->chain[slot].header == NO_CHAIN) {
            return slot;
        }
        if (time - t->chain[slot].used > oldest_age) {
            oldest = slot;
            oldest_age = time - t->chain[slot].used;
        }
    }
    return oldest;
}

/* ---- the columns of a batch (encode.c, encode_batch.c) ---- */

enum {
    MKPERF_PC_BYTES_MOST = 5, /* most bytes of a value in the column of pcs, see pc_ok */
    MKPERF_SLOT_BYTES_MOST = 2,
    MKPERF_COUNTER_BYTES = MKPERF_VARINT + 2 + MKPERF_VARINT, /* base, width and rate */
    MKPERF_NO_COUNTER = 3, /* three zeros for a counter without samples */
    /* The fixed part of a message: the tag, the length and the longest value of each field. */
    MKPERF_FIXED_BYTES = 3 + 6 + 2 + 6 + 11 + 11 + 11 + 3 * 4 + 5 * 4,
};
_Static_assert(MKPERF_CHAIN_SLOTS <= 1 << 7 * MKPERF_SLOT_BYTES_MOST,
               "a varint has 7 bits in a byte");

/* Returns how many bytes more still fit the message. */
static inline uint32_t encoder_room(const struct mkperf_encoder *e)
{
    uint32_t used = MKPERF_FIXED_BYTES + e->bytes;

    return used < MKPERF_CONTENT_BYTES ? MKPERF_CONTENT_BYTES - used : 0;
}

/* Ends the columns of the samples at `end`. */
static inline void set_ends(struct mkperf_encoder *e, struct mkperf_ends end)
{
    e->bytes += (uint32_t)(end.slot - e->end.slot) + (uint32_t)(end.pc - e->end.pc) +
                (uint32_t)(end.time - e->end.time);
    e->end = end;
}

/* Bits for the distance of a pc, in words, from its chain's pc; one bit is for `slot`. */
#define PC_WORDS (UINT64_C(1) << 32)

/* Returns whether the column can hold a pc at that distance from its chain's pc. If not, the chain
 * is defined again with the new pc. */
static inline bool pc_ok(uint64_t away)
{
    return ((away + MKPERF_PC_BYTES * PC_WORDS / 2) & ~(MKPERF_PC_BYTES * (PC_WORDS - 1))) == 0;
}

/* Returns the distance as the column has it, without its bit 0. */
static inline uint64_t pc_words(uint64_t away)
{
    return mkperf_zigzag((uint64_t)((int64_t)away >> 2)); /* MKPERF_PC_BYTES */
}

/* Adds a number to a column of the batch. */
static inline void add_number(struct mkperf_encoder *e, struct mkperf_column *c, uint64_t v)
{
    e->bytes += mkperf_column_add(c, v);
}

/* Returns the bytes that a counter's first sample in the batch adds to the lists by counter. */
static inline uint32_t begin_counter_bytes(const struct mkperf_encoder *e, unsigned counter)
{
    unsigned n = e->periods.begun != 0 ? 32 - (unsigned)__builtin_clz(e->periods.begun) : 0;

    return (counter >= n ? MKPERF_NO_COUNTER * (counter + 1 - n) : 0) + MKPERF_COUNTER_BYTES -
           MKPERF_NO_COUNTER;
}

/* ---- encode_batch.c ---- */

/* Counts a sample of the session's windows. Its size was checked. slot: of its chain;
 * MKPERF_CHAIN_SLOTS: the table does not have the chain. */
enum mkperf_encode_result mkperf_window_add(struct mkperf_encoder *e, uint64_t header,
                                            const uint64_t *record, const struct mkperf_key *key,
                                            unsigned slot);
/* Adds entries of a window that has ended to the batch, as many as fit. */
void mkperf_window_fill(struct mkperf_encoder *e);

/* ---- wire_frames.c ---- */

/*
 * Puts the chain of a sample to `to`, which has room for MKPERF_MAX_FRAMES words, and returns its
 * words. header, thread: the record's; word: mkperf_record_nframes(header) words of chain, at most
 * MKPERF_MAX_FRAMES. Callers that do not fit their own sizes are left out.
 */
unsigned mkperf_wire_frames(uint64_t *to, uint64_t header, uint64_t thread, const uint64_t *word);

/* Defines the chain of the sample that is added in this slot, by a Chain message. more: most bytes of the sample
 * in the columns. False: there is no room. */
bool mkperf_encoder_define(struct mkperf_encoder *e, const struct mkperf_key *k, uint64_t header,
                           const uint64_t *record, uint32_t more, unsigned slot);

#endif
