/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words of user memory that a session reads (include/mkperf/words.h).
 *
 * Owns: the words' addresses in the kernel, and the WORDS record. Called by sched.c before the event
 * of a switch, and by request.c.
 *
 * Rules
 * 1. Words are looked up only at requests, in the owner's time. When any mapping changes, all are
 *    forgotten until the next request.
 * 2. A word is read once for each reading. Its value is only compared and copied.
 *
 * What may be lost: a reading for which the ring has no room. It counts as a scheduling event. Its words are
 * in the next reading.
 */
#include <mkperf_port.h>

#include "records.h"

/* Looks up the words. The next reading has all of them that are mapped. */
MKPERF_NOINLINE void find_words(struct mkperf_hook *s)
{
    static const uint64_t nothing;
    uint32_t n = s->tables != NULL ? s->session.words : 0;

    s->words.pairs = (n + 1) / 2;
    s->words.seen = 0;
    for (unsigned i = 0; i < 2 * s->words.pairs; i++) {
        struct mkperf_hook_pair *p = &s->words.pair[i / 2];
        uint64_t word = i < n ? __atomic_load_n(&s->tables->word[i], __ATOMIC_RELAXED) : 0;
        uint64_t address = word & MKPERF_WORD_ADDRESS;
        uintptr_t page = mkperf_port_user_page(s->owner, 0, address & ~UINT64_C(0xfff));
        p->at[i % 2] = page != 0 ? (const uint64_t *)(page + (address & 0xfff)) : &nothing;
        p->mask[i % 2] = mkperf_word_mask(word);
        /* A word that is mapped differs from its last value, so that the next reading has it. */
        p->last[i % 2] = page != 0 ? ~(*p->at[i % 2] & p->mask[i % 2]) : 0;
        s->words.seen |= (uint64_t)(page != 0) << i;
    }
}

void mkperf_words_read(struct mkperf_hook *s, bool all, uint64_t time)
{
    uint64_t set = 0;
    uint64_t both = 3;

    if (s->session.words == 0) {
        return;
    }
    if (all) {
        find_words(s);
    }
    const struct mkperf_hook_pair *end = s->words.pair + s->words.pairs;
    uint64_t *w = mkperf_hook_reserve(s, UINT64_C(8) * (MKPERF_WORDS_FIXED + 2 * s->words.pairs));
    if (w == NULL) {
        mkperf_hook_lose_event(s, time);
        return;
    }
    uint64_t *put = w + MKPERF_WORDS_FIXED;
    for (struct mkperf_hook_pair *p = s->words.pair; p < end; p++, both <<= 2) {
        uint64_t a = __atomic_load_n(p->at[0], __ATOMIC_RELAXED) & p->mask[0];
        uint64_t b = __atomic_load_n(p->at[1], __ATOMIC_RELAXED) & p->mask[1];
        if (((a ^ p->last[0]) | (b ^ p->last[1])) != 0) {
            put[0] = p->last[0] = a;
            put[1] = p->last[1] = b;
            put += 2;
            set |= both;
        }
    }
    if (set != 0 || all) {
        unsigned bytes = (unsigned)(put - w) * 8;
        mkperf_hook_head(w, MKPERF_RECORD_WORDS, bytes, all ? MKPERF_WORDS_ALL : 0, time);
        w[MKPERF_WORDS_SET] = set & s->words.seen;
        mkperf_hook_publish(s, bytes);
    }
}
