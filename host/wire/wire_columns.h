/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of a batch, read sample by sample: docs/protocol.md, "Batches".
 *
 * Owns: what a receiver expects of the next sample of each counter, which is the same that the
 * target expected. Used by wire_samples.c only; inline, because it is run for every sample.
 */
#ifndef MKPERF_HOST_WIRE_WIRE_COLUMNS_H
#define MKPERF_HOST_WIRE_WIRE_COLUMNS_H

#include <mkperf/jitter.h>

#include "wire_batch.h"

struct mkperf_expected { /* of a counter */
    bool begun;          /* it has had a sample in the batch */
    uint64_t base, rate;
    uint32_t mask;
    uint64_t last; /* time of its last sample, ticks */
};

struct mkperf_columns {
    const struct mkperf_batch *batch;
    unsigned i; /* the sample that is read */
    unsigned slots, periods, changes;
    unsigned slot;
    unsigned change_at; /* the next sample that has a change */
    uint64_t time;      /* of the sample before, ticks */
    struct mkperf_expected of[MKPERF_MAX_COUNTERS];
};

/* The sample that the next change is about; none: a number that no sample has. */
static inline void columns_find_change(struct mkperf_columns *c, unsigned from)
{
    const struct mkperf_batch *b = c->batch;
    uint64_t gap = c->changes < b->nchanges ? b->change[c->changes] >> MKPERF_CHANGE_BITS
                                            : UINT32_MAX;

    c->change_at = gap < MKPERF_BATCH_SAMPLES ? from + (unsigned)gap : UINT32_MAX;
}

static inline void columns_begin(struct mkperf_columns *c, const struct mkperf_batch *b)
{
    *c = (struct mkperf_columns){.batch = b, .time = b->time_ticks};
    columns_find_change(c, 0);
}

/* The slot of sample c->i, before which c->i - 1 was read. */
static inline unsigned columns_slot(struct mkperf_columns *c)
{
    if (c->batch->pc[c->i] & 1) {
        c->slot = (unsigned)c->batch->slot[c->slots++]; /* as many as there are such bits */
    }
    return c->slot;
}

/* How far the pc of sample c->i is from its chain's. */
static inline uint64_t columns_pc(const struct mkperf_columns *c)
{
    return mkperf_zigzag(c->batch->pc[c->i] >> 1) * MKPERF_PC_BYTES;
}

/* k + 32 * s: 2^k - 2^s */
static inline bool columns_mask(uint64_t width, uint32_t *mask)
{
    uint64_t k = width % 32, s = width / 32;

    *mask = (UINT32_C(1) << k) - (s <= k ? UINT32_C(1) << s : 0);
    return s <= k;
}

/* *once: of this sample's period alone. False: there are too few values, or one that means nothing. */
static inline bool columns_change(struct mkperf_columns *c, struct mkperf_expected *x,
                                  uint64_t *once)
{
    const struct mkperf_batch *b = c->batch;
    unsigned kind = b->change[c->changes] & ((1U << MKPERF_CHANGE_BITS) - 1);
    unsigned values = 2 + (kind == MKPERF_CHANGE_WIDTH);

    if (kind > MKPERF_CHANGE_ONCE || b->nchanges - c->changes < values) {
        return false;
    }
    uint64_t more = mkperf_zigzag(b->change[c->changes + 1]);
    *once = kind == MKPERF_CHANGE_ONCE ? more : 0;
    x->base += kind == MKPERF_CHANGE_ONCE ? 0 : more;
    if (kind == MKPERF_CHANGE_WIDTH && !columns_mask(b->change[c->changes + 2], &x->mask)) {
        return false;
    }
    c->changes += values;
    columns_find_change(c, c->i);
    return true;
}

/* The counter's first sample in the batch: its period, and what will be expected of the next. */
static inline bool columns_first(struct mkperf_columns *c, unsigned counter, uint64_t *period)
{
    const struct mkperf_batch *b = c->batch;
    struct mkperf_expected *x = &c->of[counter];

    if (c->periods == b->nperiods) {
        return false;
    }
    x->begun = true;
    x->base = counter < b->nbases ? b->base[counter] : 0;
    x->rate = counter < b->nrates ? b->rate[counter] : 0;
    *period = x->base + b->period[c->periods++];
    return columns_mask(counter < b->nwidths ? b->width[counter] : 0, &x->mask);
}

/* The period and the time of sample c->i, in ticks; the next one is c->i + 1 then. counter: of its
 * chain, below MKPERF_MAX_COUNTERS. False: not a batch that a target makes. */
static inline bool columns_next(struct mkperf_columns *c, unsigned counter, uint64_t *period)
{
    struct mkperf_expected *x = &c->of[counter];
    uint64_t expected = c->time;

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
    c->time = x->last = expected + c->batch->time[c->i];
    c->i++;
    return true;
}

#endif
