/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The chain table of a stream: the key of a sample's chain, look-up, and replacement.
 *
 * Owns: tag and chain of struct mkperf_encoder (encode.h). Used by encode.c only; inline
 * functions, because this is most of a sample's cost in the client PD.
 */
#ifndef MKPERF_CHAINS_H
#define MKPERF_CHAINS_H

#include "encode.h"

enum {
    KEY_HEADER = 0x00ffffff, /* of a header's upper half: nframes, counter, flags; not core */
    STRIDE = 4,              /* words */
    KERNEL_BIT = 48,         /* of a header: the flags */
    NO_USER_BIT = 49,
};

/* Where a chain's words begin in its sample's record, behind the word of its pc, and how many they
 * are. Idle's kernel_pc stands for its pc. */
static inline size_t key_at(uint64_t header)
{
    return MKPERF_WORD_LR + 2 * (header >> NO_USER_BIT & 1);
}

static inline size_t key_words(uint64_t header)
{
    return 1 + (header >> KERNEL_BIT & 1) + mkperf_record_nframes(header) -
           2 * (header >> NO_USER_BIT & 1);
}

/*
 * The key of a sample's chain; the record's size was checked. Its words are read four at a time, the
 * last four maybe twice, because this is most of a sample's cost here.
 *
 * Two chains of a thread are the same if all 64 bits of their hashes are: they are not compared word
 * by word. By chance that happens to different ones once in some 10^19 pairs. A program that
 * makes stacks with equal hashes deceives about itself alone, which it can do by any false stack.
 */
static inline __attribute__((always_inline)) struct mkperf_key
make_key(const struct mkperf_encoder *e, uint64_t header, const uint64_t *record, uint32_t reads)
{
    uint64_t mix = e->mix;
    uint64_t other = e->other_mix; /* so that no two words have the same factor */
    struct mkperf_key k = {
        .header = (header >> 32 & KEY_HEADER) | (uint64_t)reads << 32,
        .thread = record[MKPERF_WORD_THREAD],
    };
    size_t n = key_words(header);
    const uint64_t *w = record + key_at(header);
    uint64_t a = (k.header ^ e->seed) * mix + k.thread;
    uint64_t b = 0;

    if (n >= STRIDE) {
        const uint64_t *last = w + n - STRIDE;
        for (; w < last; w += STRIDE) {
            a = a * mix + w[0];
            b = b * other + w[1];
            a = a * mix + w[2];
            b = b * other + w[3];
        }
        a = a * mix + last[0];
        b = b * other + last[1];
        a = a * mix + last[2];
        b = b * other + last[3];
    } else {
        for (const uint64_t *end = w + n; w != end; w++) {
            a = a * mix + *w;
        }
    }
    k.hash = (a * mix + b) * mix;
    return k;
}

/* The position of the sample's pc on the wire: before the words of its key. */
static inline const uint64_t *pc_word(uint64_t header, const uint64_t *record)
{
    return record + key_at(header) - 1;
}

/* Of two whose hashes are the same. */
static inline bool same_chain(const struct mkperf_key *k, const struct mkperf_chain *c)
{
    return c->thread == k->thread && c->header == k->header;
}

static inline unsigned set_of(uint64_t tag)
{
    return (uint32_t)tag >> 16 & (MKPERF_ENCODE_SETS - 1);
}

/* The first slot of its set, from `slot` on, that has the tag; MKPERF_CHAIN_SLOTS or above: none.
 */
static inline unsigned find_tag(const struct mkperf_encoder *e, uint64_t tag, unsigned slot)
{
    const uint64_t *t = &e->tag[slot % MKPERF_ENCODE_SETS][slot / MKPERF_ENCODE_SETS];

    for (; slot < MKPERF_CHAIN_SLOTS && *t != tag; t++) {
        slot += MKPERF_ENCODE_SETS;
    }
    return slot;
}

/* The slot of a chain; MKPERF_CHAIN_SLOTS or above: it has none. */
static inline __attribute__((always_inline)) unsigned find_slot(const struct mkperf_encoder *e,
                                                                const struct mkperf_key *k)
{
    unsigned slot = find_tag(e, k->hash, set_of(k->hash));

    while (slot < MKPERF_CHAIN_SLOTS && !same_chain(k, &e->chain[slot])) {
        slot = find_tag(e, k->hash, slot + MKPERF_ENCODE_SETS);
    }
    return slot;
}

/*
 * The slot of a sample's chain; MKPERF_CHAIN_SLOTS or above: none. A separate function without
 * calls: a loop that needs as many registers as this one and its caller would keep values in the
 * link register, and in a profile of the profiler each of its samples would have a different chain.
 */
static __attribute__((noinline)) unsigned known_slot(const struct mkperf_encoder *e,
                                                     uint64_t header, const uint64_t *record)
{
    struct mkperf_key key = make_key(e, header, record, 0);

    return find_slot(e, &key);
}

/* Slot for a new chain: the lowest unused way of its set, else the least recently used. */
static inline unsigned oldest_slot(const struct mkperf_encoder *e, unsigned set, uint64_t time)
{
    unsigned oldest = set;
    uint64_t oldest_age = 0;

    for (unsigned way = 0; way < MKPERF_ENCODE_WAYS; way++) {
        unsigned slot = way * MKPERF_ENCODE_SETS + set;
        uint64_t age = e->chain[slot].epoch != e->epoch ? UINT64_MAX : time - e->chain[slot].used;
        if (age > oldest_age) {
            oldest = slot;
            oldest_age = age;
        }
    }
    return oldest;
}

static inline void keep_chain(struct mkperf_encoder *e, const struct mkperf_key *k, uint64_t pc,
                              unsigned slot)
{
    struct mkperf_chain *c = &e->chain[slot];

    e->tag[slot % MKPERF_ENCODE_SETS][slot / MKPERF_ENCODE_SETS] = k->hash;
    c->header = k->header;
    c->thread = k->thread;
    c->epoch = e->epoch;
    c->pc = pc;
}

#endif
