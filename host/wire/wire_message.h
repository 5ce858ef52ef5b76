/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A target's messages (proto/mkperf.proto), decoded.
 *
 * A Batch is decoded by itself, because its chains and counts have no bound in the schema. All other
 * messages are decoded into mkperf_ToHost. Every length is checked, and unknown fields are skipped.
 * Called by the stream decoder, and by the connection before authentication.
 *
 * A batch has a column for each property of its samples. Most columns have a value only where a
 * sample differs from what is expected; mkperf_columns reads them sample by sample:
 *
 *     sample    0       1       2       3
 *     pc        x, new  x       x, new  x      bit 0: the sample has another slot than the one before
 *     slot      7               9
 *     time      t       t       t       t      difference from the expected time
 *     period    p                              only a counter's first sample in the batch
 *     change                    c              only a sample with an unexpected period
 *
 * docs/protocol.md, "Batches", defines what is expected. In a batch of a window, a row is a chain and a pc
 * with the number of their samples, and `period` has a value for each row.
 */
#ifndef MKPERF_HOST_WIRE_WIRE_MESSAGE_H
#define MKPERF_HOST_WIRE_WIRE_MESSAGE_H

#include <mkperf/jitter.h>
#include <mkperf/record.h>
#include <mkperf/varint.h>
#include <mkperf/wire.h>

#include "base/base.h"
#include "mkperf.pb.h"

struct mkperf_batch {
    mkperf_Batch m;
    uint64_t weight; /* how many samples its rows stand for: those of pc, or the sum of counts */
    unsigned nchains, nreads;
    struct {
        const uint8_t *p; /* into the message */
        size_t n;
    } chain[2 * MKPERF_BATCH_SAMPLES];
    uint64_t read[MKPERF_CONTENT_BYTES]; /* values of counters, in the order of the samples */
};

/*
 * Decodes n bytes of any message but a batch into *m. All its strings are printable afterwards
 * (base/base.h). False: the bytes are no such message.
 */
bool mkperf_wire_decode(const uint8_t *p, size_t n, mkperf_ToHost *m);

/* Returns the Batch in a ToHost message, or NULL if it is another message, or invalid. *length: its
 * bytes. */
const uint8_t *mkperf_batch_find(const uint8_t *p, size_t n, size_t *length);
/* Decodes a Batch. *b refers to the bytes at p. False: it is malformed or too large. */
bool mkperf_batch_decode(struct mkperf_batch *b, const uint8_t *p, size_t n);
/* Decodes one of the chains of a batch: the n bytes at p that a member of b->chain names. `thread` becomes the identity of
 * mkperf/record.h, and `frames` addresses. False: it is malformed. */
bool mkperf_batch_chain_decode(mkperf_Chain *c, const uint8_t *p, size_t n);

/* What the target and the host expect of a counter's next sample. */
struct mkperf_expected {
    bool begun; /* the counter has had a sample in the batch */
    uint64_t base, rate;
    uint32_t mask;
    uint64_t last; /* time of the counter's last sample in ticks */
};

/* Reads a batch sample by sample: for each sample columns_slot, columns_pc, then columns_next. These
 * functions are inline because they are run for every sample. */

struct mkperf_columns {
    const struct mkperf_batch *batch;
    unsigned i; /* number of the sample that is read next */
    unsigned slots, periods, changes;
    unsigned slot;
    unsigned change_at; /* number of the next sample with a change */
    uint64_t time;      /* time of the sample before, in ticks */
    struct mkperf_expected of[MKPERF_MAX_COUNTERS];
};

/* Sets change_at from the next change. Without one it becomes a number that no sample has. */
static inline void columns_find_change(struct mkperf_columns *c, unsigned from)
{
    const struct mkperf_batch *b = c->batch;
    uint64_t gap = c->changes < b->m.change_count ? b->m.change[c->changes] >> MKPERF_CHANGE_BITS
                                                  : UINT32_MAX;

    c->change_at = gap < MKPERF_BATCH_SAMPLES ? from + (unsigned)gap : UINT32_MAX;
}

static inline void columns_begin(struct mkperf_columns *c, const struct mkperf_batch *b)
{
    *c = (struct mkperf_columns){.batch = b, .time = b->m.time_ticks};
    columns_find_change(c, 0);
}

/* Returns the slot of sample c->i. */
static inline unsigned columns_slot(struct mkperf_columns *c)
{
    if (c->batch->m.pc[c->i] & 1) {
        c->slot = (unsigned)c->batch->m
                      .slot[c->slots++]; /* mkperf_batch_decode has compared the numbers */
    }
    return c->slot;
}

/* Returns the difference of the pc of sample c->i from the pc of its chain. */
static inline uint64_t columns_pc(const struct mkperf_columns *c)
{
    return mkperf_unzigzag(c->batch->m.pc[c->i] >> 1) * MKPERF_PC_BYTES;
}

/* Stores the mask 2^k - 2^s, which is sent as k + 32 * s. */
static inline bool columns_mask(uint64_t width, uint32_t *mask)
{
    uint64_t k = width % 32, s = width / 32;

    *mask = (UINT32_C(1) << k) - (s <= k ? UINT32_C(1) << s : 0);
    return s <= k;
}

/* Applies the change of sample c->i. *once: what is added to the period of this sample only. False: the
 * batch has too few values, or an invalid one. */
static inline bool columns_change(struct mkperf_columns *c, struct mkperf_expected *x,
                                  uint64_t *once)
{
    const struct mkperf_batch *b = c->batch;
    unsigned kind = b->m.change[c->changes] & ((1U << MKPERF_CHANGE_BITS) - 1);
    unsigned values = 2 + (kind == MKPERF_CHANGE_WIDTH);

    if (kind > MKPERF_CHANGE_ONCE || b->m.change_count - c->changes < values) {
        return false;
    }
    uint64_t more = mkperf_unzigzag(b->m.change[c->changes + 1]);
    *once = kind == MKPERF_CHANGE_ONCE ? more : 0;
    x->base += kind == MKPERF_CHANGE_ONCE ? 0 : more;
    if (kind == MKPERF_CHANGE_WIDTH && !columns_mask(b->m.change[c->changes + 2], &x->mask)) {
        return false;
    }
    c->changes += values;
    columns_find_change(c, c->i);
    return true;
}

/* Stores the period of the counter's first sample in the batch, and what is expected of its next sample. */
static inline bool columns_first(struct mkperf_columns *c, unsigned counter, uint64_t *period)
{
    const struct mkperf_batch *b = c->batch;
    struct mkperf_expected *x = &c->of[counter];

    if (c->periods == b->m.period_count) {
        return false;
    }
    x->begun = true;
    x->base = counter < b->m.base_period_count ? b->m.base_period[counter] : 0;
    x->rate = counter < b->m.rate_count ? b->m.rate[counter] : 0;
    *period = x->base + (uint64_t)b->m.period[c->periods++];
    return columns_mask(counter < b->m.width_count ? b->m.width[counter] : 0, &x->mask);
}

/* Reads the period of sample c->i, and its time in ticks into c->time. Increments c->i. counter: that of
 * the sample's chain, below MKPERF_MAX_COUNTERS. False: no target makes such a batch. */
static inline bool columns_next(struct mkperf_columns *c, unsigned counter, uint64_t *period)
{
    struct mkperf_expected *x = &c->of[counter];
    uint64_t expected = c->time;

    if (c->batch->m.count_count != 0) {
        const struct mkperf_batch *b = c->batch;
        *period = ((uint64_t)b->m.count[c->i] + 1) *
                      (counter < b->m.base_period_count ? b->m.base_period[counter] : 0) +
                  (uint64_t)b->m.period[c->i];
        c->time = b->m.until_ticks;
        c->i++;
        return true;
    }
    assert(counter < MKPERF_MAX_COUNTERS && c->i < c->batch->m.pc_count);
    if (!x->begun) {
        if (!columns_first(c, counter, period)) {
            return false;
        }
    } else {
        uint64_t once = 0;
        if (c->i == c->change_at && !columns_change(c, x, &once)) {
            return false;
        }
        uint32_t draw = mkperf_jitter_draw(x->last, counter, MKPERF_JITTER_MIX);
        *period = mkperf_jitter_interval(x->base, x->mask, draw) + once;
        expected = x->last + (*period * x->rate >> MKPERF_RATE_SHIFT);
    }
    c->time = x->last = expected + (uint64_t)c->batch->m.time[c->i];
    c->i++;
    return true;
}

#endif
