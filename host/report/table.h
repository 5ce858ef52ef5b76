/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table from keys of 64-bit words to dense numbers.
 *
 * Owns: the keys. Used by mkperf report for chains, addresses, names and rows. A key's number is
 * the order of its first appearance, which makes everything that is built on it deterministic.
 */
#ifndef MKPERF_HOST_REPORT_TABLE_H
#define MKPERF_HOST_REPORT_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct report_key {
    size_t at; /* in words */
    uint32_t words;
};

struct report_slot {
    uint32_t hash, number; /* number + 1; 0 = free */
};

struct report_table {
    struct report_key *key;
    uint32_t count, room;
    struct report_slot *slot;
    uint32_t nslots;
    uint64_t *words;
    size_t used, words_room;
};

/* The number of a key, made if it is new; -1: out of memory. */
int64_t report_table_number(struct report_table *t, const uint64_t *key, uint32_t words);

/* A key by its number; valid until the next key is added. */
const uint64_t *report_table_key(const struct report_table *t, uint32_t number, uint32_t *words);

void report_table_free(struct report_table *t);

#endif
