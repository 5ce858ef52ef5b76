/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batches, without the stream around them. The first byte chooses: any bytes into the host's decoder,
 * or samples that the bytes describe through the target's encoder and the host's decoder, which must
 * give the same ones; with windows, the same numbers of them and sums of periods.
 */
#include <stdlib.h>
#include <string.h>

#include "pd/client/encode.h"
#include "wire/wire_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { FRAMES = 3, WORDS = MKPERF_SAMPLE_FIXED_WORDS + 1 + FRAMES };

struct input {
    const uint8_t *p, *end;
};

static uint64_t take(struct input *in, unsigned bytes)
{
    uint64_t v = 0;

    for (; bytes != 0 && in->p < in->end; bytes--) {
        v = v << 8 | *in->p++;
    }
    return v;
}

static void any_bytes(const uint8_t *data, size_t n)
{
    static struct mkperf_batch batch;
    static mkperf_Chain chain;
    struct mkperf_columns c;
    uint64_t period;

    if (!mkperf_batch_decode(&batch, data, n)) {
        return;
    }
    for (unsigned i = 0; i < batch.nchains; i++) {
        mkperf_batch_chain_decode(&chain, batch.chain[i].p, batch.chain[i].n);
    }
    columns_begin(&c, &batch);
    while (c.i < batch.m.pc_count) {
        unsigned slot = columns_slot(&c);
        if (slot >= MKPERF_CHAIN_SLOTS) {
            abort();
        }
        columns_pc(&c);
        if (!columns_next(&c, slot % MKPERF_MAX_COUNTERS, &period)) {
            break;
        }
    }
}

static struct mkperf_encoder encoder;
static bool windows;
static uint64_t counted[2], events[2];               /* in windows: put in, and come out */
static uint64_t sample[MKPERF_BATCH_SAMPLES][WORDS]; /* the samples of the batch that is made */
static unsigned samples;

static void check(const mkperf_Chain *c, const uint64_t *w, uint64_t away, uint64_t time,
                  uint64_t period)
{
    bool idle = c->flags & MKPERF_SAMPLE_NO_USER;
    unsigned at = MKPERF_SAMPLE_FIXED_WORDS;

    if (time != w[MKPERF_WORD_TIME] || period != w[MKPERF_WORD_PERIOD] ||
        c->thread != w[MKPERF_WORD_THREAD] || c->counter != mkperf_record_counter(w[0]) ||
        c->flags != mkperf_record_flags(w[0]) || c->frames_count != mkperf_record_nframes(w[0])) {
        abort();
    }
    if (c->flags & MKPERF_SAMPLE_KERNEL && w[at++] != c->kernel_pc + (idle ? away : 0)) {
        abort();
    }
    if (!idle && (w[MKPERF_WORD_PC] != c->pc + away || w[MKPERF_WORD_LR] != c->lr)) {
        abort();
    }
    for (unsigned i = 0; i < c->frames_count; i++) {
        if ((uint64_t)c->frames[i] != (w[at + i] < MKPERF_FRAME_MARKERS ? w[at + i] : 0)) {
            abort();
        }
    }
}

/* Ends the batch and compares it with its samples. */
static void flush(void)
{
    static mkperf_Chain chain[MKPERF_CHAIN_SLOTS], next;
    static struct mkperf_batch batch;
    static uint8_t message[MKPERF_CONTENT_BYTES];
    struct mkperf_columns c;
    unsigned defined = 0;
    size_t length, n = mkperf_encoder_finish(&encoder, message);
    const uint8_t *p = mkperf_batch_find(message, n, &length);

    if (n == 0) {
        return;
    }
    if (p == NULL || !mkperf_batch_decode(&batch, p, length) ||
        (windows ? batch.m.time_count != 0 : batch.m.pc_count != samples)) {
        abort();
    }
    samples = batch.m.pc_count;
    counted[1] += windows ? batch.weight : 0;
    columns_begin(&c, &batch);
    for (unsigned i = 0; i <= samples; i++) {
        uint64_t period;
        for (; defined < batch.nchains; defined++) {
            if (!mkperf_batch_chain_decode(&next, batch.chain[defined].p, batch.chain[defined].n)) {
                abort();
            }
            if (next.at > i) {
                break;
            }
            chain[next.slot] = next;
        }
        if (i == samples) {
            break;
        }
        const mkperf_Chain *of = &chain[columns_slot(&c)];
        uint64_t away = columns_pc(&c);
        if (!columns_next(&c, of->counter, &period)) {
            abort();
        }
        events[1] += period;
        if (!windows) {
            check(of, sample[i], away, c.time, period);
        }
    }
    samples = 0;
}

static void add(const uint64_t *w, bool run)
{
    unsigned size = mkperf_record_size(w[0]);

    if (run && mkperf_encoder_add_run(&encoder, w, size) == size) {
        memcpy(sample[samples++], w, size);
        return;
    }
    enum mkperf_encode_result result;
    for (unsigned tries = 0; (result = mkperf_encoder_add(&encoder, w, size)) == MKPERF_ENCODE_FULL;
         tries++) {
        if (tries == (windows ? MKPERF_WINDOW_ENTRIES : 1)) {
            abort(); /* a sample fits an empty batch */
        }
        flush();
    }
    if (result == MKPERF_ENCODE_ADDED && windows) {
        counted[0]++;
        events[0] += w[MKPERF_WORD_PERIOD];
    } else if (result == MKPERF_ENCODE_ADDED) {
        memcpy(sample[samples++], w, size);
    }
}

/* Encodes and decodes samples. A byte of the input shows which parts of a sample are as expected;
 * the others are read from the input. */
static void there_and_back(struct input in)
{
    static uint32_t session;
    uint64_t last[MKPERF_MAX_COUNTERS] = {0};
    uint64_t w[WORDS] = {0};
    uint64_t base = 1 + take(&in, 3), time = take(&in, 4);

    mkperf_encoder_begin(&encoder, ++session, 62500000);
    mkperf_encoder_expect(&encoder, 0, base, base & 1);
    mkperf_encoder_windows(&encoder, windows ? 1 + take(&in, 3) : 0);
    memset(counted, 0, sizeof counted);
    memset(events, 0, sizeof events);
    samples = 0;
    while (in.p < in.end) {
        uint64_t how = take(&in, 1);
        unsigned counter = how & 1 ? 0 : (unsigned)take(&in, 1) % 32;
        unsigned flags = how & 2 ? 0 : (unsigned)take(&in, 1) & 0x1f & ~MKPERF_SAMPLE_CALLERS;
        unsigned frames = how & 4 ? FRAMES : (unsigned)take(&in, 1) % (FRAMES + 1);
        unsigned words = MKPERF_SAMPLE_FIXED_WORDS + (flags & MKPERF_SAMPLE_KERNEL) + frames;
        uint32_t mask = base & 1 && base > 1 ? mkperf_jitter_mask((uint32_t)base) : 0;
        uint64_t before = counter < MKPERF_MAX_COUNTERS ? last[counter] : 0;
        uint64_t period = mkperf_jitter_interval(
            base, mask, mkperf_jitter_draw(before, counter, MKPERF_JITTER_MIX));
        bool user = !(flags & MKPERF_SAMPLE_NO_USER);

        time += how & 8 ? period / 16 : take(&in, 8);
        if (how & 128) {
            base = 1 + take(&in, 4) % (UINT32_MAX - 1);
        }
        w[MKPERF_WORD_TIME] = time;
        w[MKPERF_WORD_THREAD] = 1 + (how >> 6 & 1);
        w[MKPERF_WORD_PERIOD] = how & 16 ? period : take(&in, 8);
        w[MKPERF_WORD_PC] = user ? 0x200000 + (how & 32 ? 4 * take(&in, 1) : take(&in, 8)) : 0;
        w[MKPERF_WORD_LR] = user ? 0x200400 : 0;
        for (unsigned i = MKPERF_SAMPLE_FIXED_WORDS; i < words; i++) {
            w[i] = 0x300000 + (how & 64 ? 0 : 4 * take(&in, 2));
        }
        w[0] = mkperf_record_header(MKPERF_RECORD_SAMPLE, 8 * words, frames, counter, flags, 0);
        if (counter < MKPERF_MAX_COUNTERS) {
            last[counter] = time;
        }
        add(w, how & 1);
    }
    mkperf_encoder_end_window(&encoder);
    while (!mkperf_encoder_empty(&encoder)) {
        flush();
    }
    if (windows && (counted[0] != counted[1] || events[0] != events[1])) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0) {
        return 0;
    }
    windows = data[0] & 2;
    if (data[0] & 1) {
        there_and_back((struct input){data + 1, data + n});
    } else {
        any_bytes(data + 1, n - 1);
    }
    return 0;
}
