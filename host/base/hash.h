/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table from keys of 64-bit words to dense numbers.
 *
 *     slot[]  open addressing, at most half full      words[]  all keys, one behind the other
 *     ┌──────────┐                                    ┌─────────────────┬──────┬──────┬─────
 *     │ hash, at ├───────────────────────────────────►│ number │ length │ word │ word │ ...
 *     │  (free)  │                                    └─────────────────┴──────┴──────┴─────
 *     └──────────┘                                         ▲
 *     key[number] ─────────────────────────────────────────┘
 *
 * Owns: the keys. Used for chains, addresses, names and rows. Invariants: numbers are dense from 0 on, in the order of first
 * appearance, so everything that is built on them is deterministic; no key is ever removed; nslots is 0 or a power of two.
 *
 * Example: the keys {5, 7}, {5}, {5, 7} get the numbers 0, 1, 0.
 */
#ifndef MKPERF_HOST_BASE_HASH_H
#define MKPERF_HOST_BASE_HASH_H

#include "base.h"

struct mkperf_hash_slot {
    uint32_t hash;
    uint32_t at; /* the key's place in words, + 1; 0: the slot is free */
};

struct mkperf_hash {
    uint32_t *key; /* by number: the key's place in words */
    uint32_t count, room;
    struct mkperf_hash_slot *slot;
    uint32_t nslots;
    uint64_t *
        words; /* of each key: a word with its length, and its number in the upper half; then the key */
    size_t used, words_room;
};

/* Returns the number of a key, which is added if it is new. */
uint32_t mkperf_hash_number(struct mkperf_hash *t, const uint64_t *key, uint32_t words);

/* Returns the number of a key; -1: the table does not have it. */
int64_t mkperf_hash_find(const struct mkperf_hash *t, const uint64_t *key, uint32_t words);

/* Returns the key of a number below count. It is valid until the next key is added. */
const uint64_t *mkperf_hash_key(const struct mkperf_hash *t, uint32_t number, uint32_t *words);

/* Texts as keys. They are cut at MKPERF_HASH_TEXT - 1 bytes. */
enum { MKPERF_HASH_TEXT = 1280 };
uint32_t mkperf_hash_text_number(struct mkperf_hash *t, const char *text);
const char *mkperf_hash_text(const struct mkperf_hash *t, uint32_t number);

void mkperf_hash_free(struct mkperf_hash *t);

#endif
