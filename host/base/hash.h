/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table from keys of 64-bit words to dense numbers.
 *
 * Owns: the keys. Used for chains, addresses, names and rows. A key's number is
 * the order of its first appearance, which makes everything that is built on it deterministic.
 */
#ifndef MKPERF_HOST_BASE_HASH_H
#define MKPERF_HOST_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct mkperf_hash_slot {
    uint32_t hash, at; /* at: of the key in words, + 1; 0 = free */
};

struct mkperf_hash {
    uint32_t *key; /* of each number: where its key is in words */
    uint32_t count, room;
    struct mkperf_hash_slot *slot;
    uint32_t nslots;
    uint64_t *words; /* of each key: its length, and its number in the upper half; then the key */
    size_t used, words_room;
};

/* The number of a key, made if it is new. */
uint32_t mkperf_hash_number(struct mkperf_hash *t, const uint64_t *key, uint32_t words);

/* The same of a key that may not be there: -1 then. */
int64_t mkperf_hash_find(const struct mkperf_hash *t, const uint64_t *key, uint32_t words);

/* A key by its number; valid until the next key is added. */
const uint64_t *mkperf_hash_key(const struct mkperf_hash *t, uint32_t number, uint32_t *words);

/* The same for texts as keys, which are cut at MKPERF_HASH_TEXT - 1 bytes. */
enum { MKPERF_HASH_TEXT = 1280 };
uint32_t mkperf_hash_text_number(struct mkperf_hash *t, const char *text);
const char *mkperf_hash_text(const struct mkperf_hash *t, uint32_t number);

void mkperf_hash_free(struct mkperf_hash *t);

#endif
