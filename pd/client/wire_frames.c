/* SPDX-License-Identifier: BSD-2-Clause */
/* A chain in the wire's form (see chains.h), and fields that are written by hand (see encode.h). Owns nothing. */
#include "chains.h"

#include <string.h>

uint8_t *mkperf_put_field(uint8_t *at, unsigned field, uint64_t v)
{
    return v == 0 ? at : mkperf_put_value(mkperf_put_value(at, (uint64_t)field << 3), v);
}

uint8_t *mkperf_put_bytes(uint8_t *at, unsigned field, const void *bytes, uint32_t n)
{
    at = mkperf_put_value(mkperf_put_value(at, (uint64_t)field << 3 | 2), n);
    memcpy(at, bytes, n);
    return at + n;
}

/* Copies n return addresses that the hook found in a thread's stack. Numbers from MKPERF_FRAME_MARKERS on
 * are markers on the wire. A thread may have written such a number to its stack, and 0 is sent for it. */
static unsigned add_frames(uint64_t *to, const uint64_t *from, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        to[i] = from[i] < MKPERF_FRAME_MARKERS ? from[i] : 0;
    }
    return n;
}

unsigned mkperf_wire_frames(uint64_t *to, uint64_t header, uint64_t thread, const uint64_t *word)
{
    unsigned n = mkperf_record_nframes(header);
    unsigned own = n;
    unsigned out;

    if (thread == MKPERF_THREAD_AMBIGUOUS) { /* the profiler PD's own markers */
        memcpy(to, word, n * sizeof *to);
        return n;
    }
    if (mkperf_record_flags(header) & MKPERF_SAMPLE_CALLERS && n != 0) {
        own = word[n - 1] < n ? n - 1 - (unsigned)word[n - 1] : n - 1;
        n--;
    }
    out = add_frames(to, word, own);
    while (own + MKPERF_CALLER_WORDS <= n) {
        const uint64_t *caller = word + own;
        unsigned frames = caller[MKPERF_CALLER_FRAMES] & 0xff;
        own += MKPERF_CALLER_WORDS + frames;
        if (own > n) {
            break;
        }
        to[out++] = MKPERF_FRAME_CALLER;
        to[out++] = mkperf_thread_of(caller[MKPERF_CALLER_THREAD], caller[MKPERF_CALLER_SC]);
        to[out++] = caller[MKPERF_CALLER_LR];
        out += add_frames(to + out, caller + MKPERF_CALLER_PC, 1 + frames);
    }
    return out;
}

bool mkperf_encoder_define(struct mkperf_encoder *e, const struct mkperf_key *k, uint64_t header,
                           const uint64_t *record, uint32_t more, unsigned slot)
{
    static uint8_t chain[mkperf_Chain_size], packed[MKPERF_MAX_FRAMES * MKPERF_VARINT];
    uint64_t wire[MKPERF_MAX_FRAMES];
    uint32_t bytes = 0; /* bytes in `packed`: the differences between the chain's addresses */
    unsigned flags = mkperf_record_flags(header);
    const uint64_t *frames = record + MKPERF_SAMPLE_FIXED_WORDS;
    uint64_t thread = record[MKPERF_WORD_THREAD];
    uint64_t pc = record[MKPERF_WORD_PC];
    uint64_t kernel_pc = flags & MKPERF_SAMPLE_KERNEL ? *frames++ : 0;
    uint8_t *at = mkperf_put_field(chain, mkperf_Chain_slot_tag, slot);

    at = mkperf_put_field(at, mkperf_Chain_at_tag, e->samples);
    at = mkperf_put_field(at, mkperf_Chain_thread_tag, mkperf_thread_to_wire(thread));
    at = mkperf_put_field(at, mkperf_Chain_counter_tag, mkperf_record_counter(header));
    at = mkperf_put_field(at, mkperf_Chain_flags_tag, flags);
    at = mkperf_put_field(at, mkperf_Chain_pc_tag, pc);
    at = mkperf_put_field(at, mkperf_Chain_lr_tag,
                          flags & MKPERF_SAMPLE_NO_USER ? 0 : record[MKPERF_WORD_LR]);
    at = mkperf_put_field(at, mkperf_Chain_kernel_pc_tag, kernel_pc);
    unsigned n = mkperf_wire_frames(wire, header, thread, frames);
    for (unsigned i = 0; i < n; i++) {
        bytes +=
            mkperf_put_varint(packed + bytes, mkperf_zigzag(wire[i] - (i == 0 ? pc : wire[i - 1])));
    }
    if (n != 0) {
        at = mkperf_put_bytes(at, mkperf_Chain_frames_tag, packed, bytes);
    }
    at = mkperf_put_field(at, mkperf_Chain_reads_tag, (uint32_t)(k->header >> 32));
    uint8_t *from = e->chains.bytes + e->chains.n;
    bytes =
        (uint32_t)(mkperf_put_bytes(from, mkperf_Batch_chains_tag, chain, (uint32_t)(at - chain)) -
                   from);
    if (more + bytes > encoder_room(e)) {
        return false;
    }
    *hint_of(&e->table, k->hash) = (uint16_t)slot;
    struct mkperf_known_chain *c = &e->table.chain[slot];
    c->hash = k->hash;
    c->header = k->header;
    c->thread = k->thread;
    c->pc = *pc_word(header, record);
    e->chains.n += bytes;
    e->bytes += bytes;
    return true;
}
