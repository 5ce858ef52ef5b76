/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The beginning and the end of sessions, epochs and batches: see encode.h for ownership and callers.
 * Field numbers and limits are nanopb's. Columns and chains are written here, because nanopb would
 * store every value twice and visit it three times.
 */
#include <string.h>

#include <mkperf/jitter.h>

#include "chains.h"
#include "varint.h"

#include "mkperf.pb.h"
void mkperf_encoder_new_epoch(struct mkperf_encoder *e)
{
    e->epoch++;
    e->batches = 0;
    e->slot = MKPERF_CHAIN_SLOTS;
    forget_chains(&e->table);
}

bool mkperf_encoder_empty(const struct mkperf_encoder *e)
{
    return e->samples == 0 && e->losses == 0 && e->chains.n == 0 && e->window.n == 0;
}

static void empty_batch(struct mkperf_encoder *e)
{
    e->samples = 0;
    e->fits_unchecked = 0;
    e->losses = 0;
    e->bytes = 0;
    e->chains.n = 0;
    e->end = (struct mkperf_ends){e->slot_column, e->pc_column, e->time_column};
    e->loss.n = 0;
    e->read.n = 0;
    e->period.n = 0;
    e->change.n = 0;
    e->changed_at = 0;
    e->window.samples = 0;
}

void mkperf_encoder_begin(struct mkperf_encoder *e, uint32_t session, uint64_t tick_hz)
{
    empty_batch(e);
    e->periods = (struct mkperf_periods){0};
    e->session = session;
    e->mix = MKPERF_JITTER_MIX;
    e->tick_hz = tick_hz;
    e->sent = 0;
    mkperf_encoder_windows(e, 0);
    mkperf_encoder_new_epoch(e);
}

void mkperf_encoder_expect(struct mkperf_encoder *e, unsigned counter, uint64_t period, bool jitter)
{
    if (counter < MKPERF_MAX_COUNTERS) {
        mkperf_period_expect(&e->periods.of[counter], period, jitter);
    }
}

/* Writes a column, unless it is empty. Returns its end. */
static uint8_t *put_column(uint8_t *at, unsigned field, const uint8_t *bytes, uint32_t n)
{
    return n == 0 ? at : mkperf_put_bytes(at, field, bytes, n);
}

/* Writes the columns that have a value for each counter. Returns their end. */
static uint8_t *put_counters(const struct mkperf_encoder *e, uint8_t *at)
{
    uint32_t begun = e->periods.begun;
    uint8_t base[MKPERF_MAX_COUNTERS * MKPERF_VARINT];
    uint8_t width[MKPERF_MAX_COUNTERS * 2];
    uint8_t rate[MKPERF_MAX_COUNTERS * MKPERF_VARINT];
    uint32_t bases = 0;
    uint32_t widths = 0;
    uint32_t rates = 0;

    for (unsigned i = 0; begun >> i != 0; i++) {
        const struct mkperf_period *p = &e->periods.of[i];
        bool has = begun >> i & 1;
        bases += mkperf_put_varint(base + bases, has ? p->reported.base : 0);
        widths +=
            mkperf_put_varint(width + widths, has ? mkperf_period_width(p->reported.mask) : 0);
        rates += mkperf_put_varint(rate + rates, has ? p->reported_rate : 0);
    }
    at = put_column(at, mkperf_Batch_base_period_tag, base, bases);
    at = put_column(at, mkperf_Batch_width_tag, width, widths);
    return put_column(at, mkperf_Batch_rate_tag, rate, rates);
}

size_t mkperf_encoder_finish(struct mkperf_encoder *e, uint8_t *out)
{
    uint8_t *start = out + 3; /* behind the tag, and the length of two bytes */
    uint8_t *at = start;

    if (mkperf_encoder_empty(e)) {
        return 0;
    }
    mkperf_window_fill(e);
    bool windows = e->window.ticks != 0;
    at = mkperf_put_field(at, mkperf_Batch_session_tag, e->session);
    at = mkperf_put_field(at, mkperf_Batch_core_tag, e->core);
    at = mkperf_put_field(at, mkperf_Batch_epoch_tag, e->epoch);
    at = mkperf_put_field(at, mkperf_Batch_first_sample_tag, e->sent);
    at = mkperf_put_field(at, mkperf_Batch_tick_hz_tag, e->tick_hz);
    at = mkperf_put_field(at, mkperf_Batch_time_ticks_tag, e->first_time);
    at = put_counters(e, at);
    memcpy(at, e->chains.bytes, e->chains.n);
    at += e->chains.n;
    at = put_column(at, mkperf_Batch_slot_tag, e->slot_column,
                    (uint32_t)(e->end.slot - e->slot_column));
    at = put_column(at, mkperf_Batch_pc_tag, e->pc_column, (uint32_t)(e->end.pc - e->pc_column));
    at = put_column(at, windows ? mkperf_Batch_count_tag : mkperf_Batch_time_tag, e->time_column,
                    (uint32_t)(e->end.time - e->time_column));
    at = put_column(at, mkperf_Batch_period_tag, e->period.bytes, e->period.n);
    at = put_column(at, mkperf_Batch_change_tag, e->change.bytes, e->change.n);
    memcpy(at, e->loss.bytes, e->loss.n);
    at += e->loss.n;
    at = put_column(at, mkperf_Batch_read_tag, e->read.bytes, e->read.n);
    at = mkperf_put_field(at, mkperf_Batch_until_ticks_tag, windows ? e->last_time : 0);
    /* A length of two bytes whatever its value: a varint may end in a zero. */
    out[0] = mkperf_ToHost_batch_tag << 3 | 2;
    out[1] = (uint8_t)((at - start) | 0x80);
    out[2] = (uint8_t)((at - start) >> 7);
    mkperf_periods_end(&e->periods);
    e->sent += windows ? e->window.samples : e->samples;
    e->batches++;
    empty_batch(e);
    return (size_t)(at - out);
}
