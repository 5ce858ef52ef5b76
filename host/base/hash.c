/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: see hash.h. Open addressing, at most half full. */
#include "hash.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Two independent halves, which a processor works on at once. */
static uint32_t hash_words(const uint64_t *key, uint32_t words)
{
    uint64_t a = UINT64_C(0x9e3779b97f4a7c15) ^ words, b = UINT64_C(0x2545f4914f6cdd1d);
    uint32_t i;

    for (i = 0; i + 1 < words; i += 2) {
        a = (a ^ key[i]) * UINT64_C(0xff51afd7ed558ccd);
        a ^= a >> 32;
        b = (b ^ key[i + 1]) * UINT64_C(0xc4ceb9fe1a85ec53);
        b ^= b >> 32;
    }
    if (i < words) {
        a = (a ^ key[i]) * UINT64_C(0xff51afd7ed558ccd);
        a ^= a >> 32;
    }
    a = (a ^ b) * UINT64_C(0xff51afd7ed558ccd);
    return (uint32_t)(a >> 32);
}

static void place(struct mkperf_hash *t, struct mkperf_hash_slot slot)
{
    uint32_t i = slot.hash & (t->nslots - 1);

    while (t->slot[i].number) {
        i = (i + 1) & (t->nslots - 1);
    }
    t->slot[i] = slot;
}

static bool grow_slots(struct mkperf_hash *t)
{
    struct mkperf_hash_slot *old = t->slot;
    uint32_t before = t->nslots, nslots = before ? 2 * before : 256;
    struct mkperf_hash_slot *slot = nslots ? calloc(nslots, sizeof *slot) : NULL;

    if (!slot) {
        return false;
    }
    t->slot = slot;
    t->nslots = nslots;
    for (uint32_t i = 0; i < before; i++) {
        if (old[i].number) {
            place(t, old[i]);
        }
    }
    free(old);
    return true;
}

static bool reserve(struct mkperf_hash *t, uint32_t words)
{
    if (2 * ((uint64_t)t->count + 1) > t->nslots && !grow_slots(t)) {
        return false;
    }
    if (t->count == t->room) {
        uint32_t room = t->room ? 2 * t->room : 128;
        struct mkperf_hash_key *key = reallocarray(t->key, room, sizeof *key);

        if (!key) {
            return false;
        }
        t->key = key;
        t->room = room;
    }
    if (words > t->words_room - t->used) {
        size_t room = 2 * t->words_room + words + 1024;
        uint64_t *p = reallocarray(t->words, room, sizeof *p);

        if (!p) {
            return false;
        }
        t->words = p;
        t->words_room = room;
    }
    return true;
}

static int64_t find(const struct mkperf_hash *t, const uint64_t *key, uint32_t words, uint32_t hash)
{
    for (uint32_t i = hash; t->nslots; i++) {
        const struct mkperf_hash_slot *slot = &t->slot[i & (t->nslots - 1)];
        const struct mkperf_hash_key *k;

        if (slot->number == 0) {
            break;
        }
        if (slot->hash != hash) {
            continue;
        }
        k = &t->key[slot->number - 1];
        if (k->words == words && memcmp(t->words + k->at, key, words * sizeof *key) == 0) {
            return slot->number - 1;
        }
    }
    return -1;
}

int64_t mkperf_hash_number(struct mkperf_hash *t, const uint64_t *key, uint32_t words)
{
    uint32_t hash = hash_words(key, words);
    int64_t number = find(t, key, words, hash);

    if (number >= 0) {
        return number;
    }
    if (!reserve(t, words)) {
        return -1;
    }
    t->key[t->count] = (struct mkperf_hash_key){.at = t->used, .words = words};
    memcpy(t->words + t->used, key, words * sizeof *key);
    t->used += words;
    place(t, (struct mkperf_hash_slot){.hash = hash, .number = t->count + 1});
    return t->count++;
}

const uint64_t *mkperf_hash_key(const struct mkperf_hash *t, uint32_t number, uint32_t *words)
{
    *words = t->key[number].words;
    return t->words + t->key[number].at;
}

void mkperf_hash_free(struct mkperf_hash *t)
{
    free(t->key);
    free(t->slot);
    free(t->words);
}
