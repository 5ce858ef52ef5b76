/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The chain table of a stream: the key of a sample's chain, look-up, and replacement.
 *
 * Owns: struct mkperf_chains (encode.h). Used by encode.c only; inline functions, because this is
 * most of a sample's cost in the client PD.
 */
#ifndef MKPERF_CHAINS_H
#define MKPERF_CHAINS_H

#include "encode.h"

enum {
    KEY_HEADER = 0x00ffffff, /* of a header's upper half: nframes, counter, flags; not core */
    STRIDE = 4,              /* words */
    KERNEL_BIT = 48,         /* of a header: the flags */
    NO_USER_BIT = 49,
    HINT_BIT = 16, /* of a hash: where the index of its hint begins */
};

#define NO_CHAIN UINT64_MAX /* header of a slot that is not in use */

/* Where a chain's words begin in its sample's record, behind the word of its pc. Idle's kernel_pc
 * stands for its pc. */
static inline size_t key_at(uint64_t header)
{
    return MKPERF_WORD_LR + 2 * (header >> NO_USER_BIT & 1);
}

/*
 * The key of a sample's chain, which is n words of its record from key_at on. The words are read four
 * at a time, the last four maybe twice, because this is most of a sample's cost here.
 *
 * Two chains are the same if thread, counter, flags and number of words are, and all 64 bits of their
 * hashes: they are not compared word by word. By chance that happens to different ones once in some
 * 10^19 pairs. A program that makes stacks with equal hashes deceives about itself alone, which it can
 * do by any false stack.
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

/* The position of the sample's pc on the wire: before the words of its key. */
static inline const uint64_t *pc_word(uint64_t header, const uint64_t *record)
{
    return record + key_at(header) - 1;
}

static inline bool same_chain(const struct mkperf_key *k, const struct mkperf_chain *c)
{
    return ((c->hash ^ k->hash) | (c->thread ^ k->thread) | (c->header ^ k->header)) == 0;
}

static inline unsigned set_of(uint64_t hash)
{
    return (uint32_t)(hash >> HINT_BIT) % MKPERF_ENCODE_SETS;
}

static inline uint16_t *hint_of(struct mkperf_chains *t, uint64_t hash)
{
    return &t->hint[(uint32_t)(hash >> HINT_BIT) % MKPERF_ENCODE_HINTS];
}

/* The slot where a chain is if it has one, most of the time. */
static inline unsigned likely_slot(struct mkperf_chains *t, const struct mkperf_key *k)
{
    return *hint_of(t, k->hash);
}

/* The slot of a chain; MKPERF_CHAIN_SLOTS: it has none. */
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

/* Slot for a new chain: the lowest unused way of its set, else the least recently used. */
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

static inline void keep_chain(struct mkperf_chains *t, const struct mkperf_key *k, uint64_t pc,
                              unsigned slot)
{
    struct mkperf_chain *c = &t->chain[slot];

    *hint_of(t, k->hash) = (uint16_t)slot;
    c->hash = k->hash;
    c->header = k->header;
    c->thread = k->thread;
    c->pc = pc;
}

static inline void forget_chains(struct mkperf_chains *t)
{
    for (unsigned i = 0; i < MKPERF_CHAIN_SLOTS; i++) {
        t->chain[i].header = NO_CHAIN;
    }
}

#endif
