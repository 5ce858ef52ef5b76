/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The beginning and the end of sessions, epochs and batches, and windows, in which samples are
 * counted instead of sent: see encode.h for ownership and callers. Field numbers and limits are
 * nanopb's. Columns and chains are written here, because nanopb would store every value twice and
 * visit it three times.
 *
 * Nothing is lost here. If a window has no room for a sample, it ends early. An entry of the window
 * takes six to nine bytes on the wire, however many samples it counts.
 */
#include <string.h>

#include <mkperf/jitter.h>

#include "chains.h"

/* ---- windows ---- */

enum {
    PROBES = 16,                     /* places at which an entry may be */
    UNTIL_BYTES = 2 + MKPERF_VARINT, /* until_ticks, which other batches lack */
    ONE_ENTRY = MKPERF_PC_BYTES_MOST + MKPERF_SLOT_BYTES_MOST + MKPERF_VARINT + MKPERF_VARINT,
};

/* Makes the window empty. */
static void clear_window(struct mkperf_window *w)
{
    w->n = w->left = 0;
    memset(w->sum, 0, sizeof w->sum);
    memset(w->place, 0, sizeof w->place);
}

void mkperf_encoder_windows(struct mkperf_encoder *e, uint64_t ticks)
{
    e->window.ticks = ticks;
    e->window.over = false;
    clear_window(&e->window);
}

void mkperf_encoder_end_window(struct mkperf_encoder *e)
{
    e->window.over = e->window.ticks != 0;
}

static enum mkperf_encode_result end_window(struct mkperf_encoder *e)
{
    mkperf_encoder_end_window(e);
    return MKPERF_ENCODE_FULL;
}

/* Returns the entry of samples like this one, which is new if it has no samples. NULL: there is no
 * room. */
static struct mkperf_window_entry *find_entry(struct mkperf_encoder *e,
                                              const struct mkperf_window_entry *like)
{
    struct mkperf_window *w = &e->window;
    uint64_t hash = ((uint64_t)like->away << 24 ^ (uint64_t)like->slot << 8 ^ like->core) * e->mix;

    for (unsigned i = 0; i < PROBES; i++) {
        uint16_t *place = &w->place[((hash >> 40) + i) % MKPERF_WINDOW_PLACES];
        if (*place == 0) {
            if (w->n == MKPERF_WINDOW_ENTRIES) {
                break;
            }
            w->entry[w->n] = *like;
            *place = (uint16_t)++w->n;
            w->left++;
        }
        struct mkperf_window_entry *entry = &w->entry[*place - 1];
        if (entry->slot == like->slot && entry->away == like->away && entry->core == like->core) {
            return entry;
        }
    }
    return NULL;
}

enum mkperf_encode_result mkperf_window_add(struct mkperf_encoder *e, uint64_t header,
                                            const uint64_t *record, const struct mkperf_key *key,
                                            unsigned slot)
{
    struct mkperf_window *w = &e->window;
    uint64_t time = record[MKPERF_WORD_TIME], pc = *pc_word(header, record);

    if (w->n != 0 && (int64_t)(time - w->begin) >= (int64_t)w->ticks) {
        return end_window(e);
    }
    if (slot >= MKPERF_CHAIN_SLOTS || !pc_ok(pc - e->table.chain[slot].pc)) {
        slot = slot < MKPERF_CHAIN_SLOTS ? slot : oldest_slot(&e->table, key->hash, time);
        const struct mkperf_known_chain *old = &e->table.chain[slot];
        if (w->n != 0 && old->header != NO_CHAIN && (int64_t)(old->used - w->begin) >= 0) {
            return end_window(e); /* The window may have counted samples of the old chain. */
        }
        if (!mkperf_encoder_define(e, key, header, record, UNTIL_BYTES, slot)) {
            return MKPERF_ENCODE_FULL;
        }
    }
    e->table.chain[slot].used = time;
    const struct mkperf_window_entry like = {
        .away = (uint32_t)pc_words(pc - e->table.chain[slot].pc),
        .slot = (uint16_t)slot,
        .core = (uint8_t)mkperf_record_core(header),
        .counter = (uint8_t)mkperf_record_counter(header),
    };
    struct mkperf_window_entry *entry = find_entry(e, &like);
    if (entry == NULL || entry->samples == UINT32_MAX) {
        return end_window(e);
    }
    if (w->n == 1 && entry->samples == 0) {
        w->begin = w->last = time;
    }
    w->begin = (int64_t)(time - w->begin) < 0 ? time : w->begin; /* cores are not in one order */
    w->last = (int64_t)(time - w->last) > 0 ? time : w->last;
    entry->samples++;
    entry->events += record[MKPERF_WORD_PERIOD];
    w->sum[like.counter].samples++;
    w->sum[like.counter].events += record[MKPERF_WORD_PERIOD];
    return MKPERF_ENCODE_ADDED;
}

/* Adds an entry to the batch. False: there is no room. */
static bool put_entry(struct mkperf_encoder *e, const struct mkperf_window_entry *entry)
{
    struct mkperf_window *w = &e->window;
    struct mkperf_period *p = &e->periods.of[entry->counter];
    uint32_t bit = UINT32_C(1) << entry->counter;
    uint32_t more = e->periods.begun & bit ? 0 : begin_counter_bytes(e, entry->counter);
    bool other = e->samples == 0 || entry->slot != e->slot;

    if (e->samples == MKPERF_BATCH_SAMPLES || encoder_room(e) < UNTIL_BYTES + more + ONE_ENTRY) {
        return false;
    }
    if (more != 0) { /* The base is the mean period of the window. */
        uint64_t base = w->sum[entry->counter].events / w->sum[entry->counter].samples;
        p->reported = (struct mkperf_middle){base, 0};
        p->reported_rate = 0;
        e->periods.begun |= bit;
        e->bytes += more;
    }
    struct mkperf_ends to = e->end;
    to.pc = mkperf_put_value(to.pc, (uint64_t)entry->away << 1 | other);
    to.slot = other ? mkperf_put_value(to.slot, entry->slot) : to.slot;
    to.time = mkperf_put_value(to.time, entry->samples - 1);
    set_ends(e, to);
    add_number(e, &e->period, mkperf_zigzag(entry->events - entry->samples * p->reported.base));
    e->slot = entry->slot;
    e->samples++;
    w->samples += entry->samples;
    return true;
}

void mkperf_window_fill(struct mkperf_encoder *e)
{
    struct mkperf_window *w = &e->window;
    bool room = true;

    if (w->ticks != 0 && e->losses == 0) {
        e->first_time = w->begin;
        e->last_time = w->last;
    }
    for (uint32_t i = 0; w->over && i < w->n && room; i++) {
        struct mkperf_window_entry *entry = &w->entry[i];
        if (e->samples == 0 && e->losses == 0 && entry->samples != 0) {
            e->core = entry->core;
        }
        if (entry->samples != 0 && entry->core == e->core) {
            room = put_entry(e, entry);
            w->left -= room;
            entry->samples = room ? 0 : entry->samples;
        }
    }
    if (w->n != 0 && w->left == 0) {
        clear_window(w);
    }
}

/* ---- sessions, epochs and batches ---- */

void mkperf_encoder_new_epoch(struct mkperf_encoder *e)
{
    e->epoch++;
    e->batches = 0;
    e->slot = MKPERF_CHAIN_SLOTS;
    for (unsigned i = 0; i < MKPERF_CHAIN_SLOTS; i++) {
        e->table.chain[i].header = NO_CHAIN;
    }
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
