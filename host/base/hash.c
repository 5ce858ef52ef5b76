/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns: the slots and the keys, see base.h. */
#include "base.h"

enum { FIRST_SLOTS = 256 };

/* Hashes the words in two independent halves, which a processor computes at the same time. */
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

static void fill_slot(struct mkperf_hash *t, struct mkperf_hash_slot slot)
{
    uint32_t i = slot.hash & (t->nslots - 1);

    while (t->slot[i].at) {
        i = (i + 1) & (t->nslots - 1);
    }
    t->slot[i] = slot;
}

/* Compares two keys. A call of memcmp takes longer, because keys are short. */
static inline bool equal(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    uint32_t i = 0;

    while (i < words && a[i] == b[i]) {
        i++;
    }
    return i == words;
}

static int64_t look_up(const struct mkperf_hash *t, const uint64_t *key, uint32_t words,
                       uint32_t hash)
{
    for (uint32_t i = hash; t->nslots; i++) {
        struct mkperf_hash_slot slot = t->slot[i & (t->nslots - 1)];

        if (slot.at == 0) {
            break;
        }
        if (slot.hash == hash) {
            const uint64_t *k = t->words + slot.at - 1;
            if ((uint32_t)k[0] == words && equal(k + 1, key, words)) {
                return (int64_t)(k[0] >> 32);
            }
        }
    }
    return -1;
}

int64_t mkperf_hash_find(const struct mkperf_hash *t, const uint64_t *key, uint32_t words)
{
    return look_up(t, key, words, hash_words(key, words));
}

uint32_t mkperf_hash_number(struct mkperf_hash *t, const uint64_t *key, uint32_t words)
{
    uint32_t hash = hash_words(key, words);
    int64_t number = look_up(t, key, words, hash);

    if (number >= 0) {
        return (uint32_t)number;
    }
    /* At most half of the slots are used, so a search ends after a few slots. */
    if (2 * ((uint64_t)t->count + 1) > t->nslots) {
        struct mkperf_hash_slot *old = t->slot;
        uint32_t before = t->nslots;

        t->nslots = (uint32_t)mkperf_room(before, FIRST_SLOTS);
        assert((t->nslots & (t->nslots - 1)) == 0);
        t->slot = mkperf_xcalloc(t->nslots, sizeof *t->slot);
        for (uint32_t i = 0; i < before; i++) {
            if (old[i].at != 0) {
                fill_slot(t, old[i]);
            }
        }
        free(old);
    }
    if (t->used + words + 1 > UINT32_MAX) {
        mkperf_die(); /* 32 GiB of keys */
    }
    MKPERF_GROW(t->key, t->room, (size_t)t->count + 1);
    MKPERF_GROW(t->words, t->words_room, t->used + words + 1);
    /* Each key in `words` begins with a head: its length in the low 32 bits, its number in the high ones. Its words follow. */
    uint32_t at = (uint32_t)t->used;
    t->key[t->count] = at;
    t->words[at] = words | (uint64_t)t->count << 32;
    memcpy(t->words + at + 1, key, words * sizeof *key);
    t->used += words + 1;
    fill_slot(t, (struct mkperf_hash_slot){.hash = hash, .at = at + 1});
    return t->count++;
}

const uint64_t *mkperf_hash_key(const struct mkperf_hash *t, uint32_t number)
{
    assert(number < t->count);
    return t->words + t->key[number] + 1;
}

uint32_t mkperf_hash_text_number(struct mkperf_hash *t, const char *text)
{
    uint64_t words[MKPERF_HASH_TEXT / 8];
    size_t n = strnlen(text, sizeof words - 1);

    words[n / 8] = 0;
    memcpy(words, text, n);
    memset((char *)words + n, 0, 8 - n % 8);
    return mkperf_hash_number(t, words, (uint32_t)(n / 8 + 1));
}

const char *mkperf_hash_text(const struct mkperf_hash *t, uint32_t number)
{
    return (const char *)mkperf_hash_key(t, number);
}

void mkperf_hash_free(struct mkperf_hash *t)
{
    free(t->key);
    free(t->slot);
    free(t->words);
}
