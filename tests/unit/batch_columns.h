/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A batch's columns, read and written by docs/protocol.md alone, with nothing of mkperf's in it but
 * the schema: for tests of both ends.
 *
 * Owns: the second decoder of Batch (the host's is host/wire/wire_message.h), and an encoder for
 * fake targets, which predicts nothing.
 */
#ifndef MKPERF_TESTS_BATCH_COLUMNS_H
#define MKPERF_TESTS_BATCH_COLUMNS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mkperf.pb.h"

enum { COLUMNS_COUNTERS = 31 };

struct batch_columns {
    const mkperf_Batch *b;
    unsigned i, slots, periods, changes, next_change;
    uint32_t slot;
    uint64_t before; /* time of the sample before */
    struct {
        bool begun;
        uint64_t base, last;
        unsigned width;
    } counter[COLUMNS_COUNTERS];
};

/* One sample: `away` is what its pc is away from its chain's. */
struct batch_sample {
    uint32_t slot;
    int64_t away;
    uint64_t time, period;
};

static inline int64_t batch_signed(uint64_t zigzag)
{
    return (int64_t)(zigzag >> 1) * (zigzag & 1 ? -1 : 1) - (int64_t)(zigzag & 1);
}

static inline void batch_columns_begin(struct batch_columns *c, const mkperf_Batch *b)
{
    memset(c, 0, sizeof *c);
    c->b = b;
    c->before = b->time_ticks;
    c->next_change = b->change_count != 0 ? (unsigned)(b->change[0] >> 2) : UINT32_MAX;
}

/* Slot and away of the next sample, whose chain the caller then looks up. */
static inline void batch_columns_chain(struct batch_columns *c, struct batch_sample *s)
{
    uint64_t pc = c->b->pc[c->i];

    if (pc % 2 == 1) {
        assert_true(c->slots < c->b->slot_count);
        c->slot = c->b->slot[c->slots++];
    }
    assert_true(c->i != 0 || pc % 2 == 1);
    s->slot = c->slot;
    s->away = 4 * batch_signed(pc / 2);
}

/* 2^k - 2^s of width k + 32 s */
static inline uint64_t batch_mask(unsigned width)
{
    return width == 0 ? 0 : (UINT64_C(1) << width % 32) - (UINT64_C(1) << width / 32);
}

static inline uint64_t batch_interval(uint64_t base, unsigned width, uint64_t last,
                                      unsigned counter)
{
    const uint64_t mix = UINT64_C(11400714819323198485);
    uint64_t a = (last + counter * UINT64_C(4294967296)) * mix;
    uint64_t draw = ((a ^ a / UINT64_C(4294967296)) * mix) / UINT64_C(4294967296);

    return width == 0 ? base
                      : base - (UINT64_C(1) << (width % 32 - 1)) + (draw & batch_mask(width));
}

/* Its time and period, and on to the next one. counter: its chain's. */
static inline void batch_columns_next(struct batch_columns *c, unsigned counter,
                                      struct batch_sample *s)
{
    const mkperf_Batch *b = c->b;
    uint64_t expected = c->before;

    assert_true(counter < COLUMNS_COUNTERS && counter < b->base_period_count);
    assert_int_equal(b->base_period_count, b->width_count);
    assert_int_equal(b->base_period_count, b->rate_count);
    if (!c->counter[counter].begun) {
        c->counter[counter].begun = true;
        c->counter[counter].base = b->base_period[counter];
        c->counter[counter].width = b->width[counter];
        assert_true(c->periods < b->period_count);
        s->period = b->base_period[counter] + (uint64_t)b->period[c->periods++];
    } else {
        uint64_t once = 0;
        if (c->i == c->next_change) {
            unsigned kind = b->change[c->changes] % 4;
            uint64_t more = (uint64_t)batch_signed(b->change[c->changes + 1]);
            assert_true(kind < 3 && c->changes + 2 + (kind == 1) <= b->change_count);
            c->counter[counter].base += kind == 2 ? 0 : more;
            once = kind == 2 ? more : 0;
            if (kind == 1) {
                c->counter[counter].width = (unsigned)b->change[c->changes + 2];
            }
            c->changes += 2 + (kind == 1);
            c->next_change = c->changes < b->change_count
                                 ? c->i + (unsigned)(b->change[c->changes] >> 2)
                                 : UINT32_MAX;
        }
        s->period = batch_interval(c->counter[counter].base, c->counter[counter].width,
                                   c->counter[counter].last, counter) +
                    once;
        expected = c->counter[counter].last + s->period * b->rate[counter] / 65536;
    }
    s->time = expected + (uint64_t)b->time[c->i];
    c->before = c->counter[counter].last = s->time;
    c->i++;
}

/* All columns were used up. */
static inline void batch_columns_end(const struct batch_columns *c)
{
    assert_int_equal(c->i, c->b->pc_count);
    assert_int_equal(c->i, c->b->time_count);
    assert_int_equal(c->slots, c->b->slot_count);
    assert_int_equal(c->periods, c->b->period_count);
    assert_int_equal(c->changes, c->b->change_count);
}

/* Writes the columns of n samples of counter 0, whose periods are around `base` and do not jitter. */
static inline void batch_columns_put(mkperf_Batch *b, const struct batch_sample *s, unsigned n,
                                     uint64_t base, uint64_t rate)
{
    uint64_t last = b->time_ticks;
    unsigned changed = 0;

    b->base_period_count = b->width_count = b->rate_count = 1;
    b->base_period[0] = base;
    b->width[0] = 0;
    b->rate[0] = rate;
    b->pc_count = b->time_count = (pb_size_t)n;
    b->period_count = n != 0;
    b->slot_count = b->change_count = 0;
    for (unsigned i = 0; i < n; i++) {
        bool other = i == 0 || s[i].slot != s[i - 1].slot;
        int64_t words = s[i].away / 4;
        uint64_t more = s[i].period - base;
        b->pc[i] = (words < 0 ? 2 * (uint64_t)(-words) - 1 : 2 * (uint64_t)words) * 2 + other;
        if (other) {
            b->slot[b->slot_count++] = s[i].slot;
        }
        if (i == 0) {
            b->period[0] = (int64_t)more;
        } else if (more != 0) {
            b->change[b->change_count++] = (uint64_t)(i - changed) * 4 + 2;
            b->change[b->change_count++] = more >> 63 ? ~more * 2 + 1 : more * 2;
            changed = i;
        }
        b->time[i] = (int64_t)(s[i].time - last - (i != 0 ? s[i].period * rate / 65536 : 0));
        last = s[i].time;
    }
}

#endif
