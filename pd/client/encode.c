/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From records to Batch messages: see encode.h for ownership and callers.
 *
 * The columns of a batch are encoded as the samples arrive, so that its size is always known to the
 * byte. Field numbers and limits are nanopb's. Columns and chains are written here, because nanopb
 * would store every value twice and visit it three times, and this is a sample's cost in the client
 * PD: bench/echo.sh measures it.
 */
#include <string.h>

#include <mkperf/jitter.h>

#include "chains.h"
#include "varint.h"
#include "wire_frames.h"

#include "mkperf.pb.h"

enum {
    VARINT = MKPERF_VARINT,
    PC_SHIFT = 2, /* MKPERF_PC_BYTES */
    PC = 5,       /* of a value of that column, see pc_ok */
    SLOT = 2,
    COUNTER_BYTES = VARINT + 2 + VARINT, /* base, width and rate */
    NO_COUNTER = 3,                      /* the same of a counter without samples: zeros */
    /* The fixed part of a message: tag, length and value of each field at its longest. */
    FIXED_BYTES = 3 + 6 + 2 + 6 + 11 + 11 + 11 + 3 * 4 + 5 * 4,
    ONE_SAMPLE = PC + SLOT + VARINT, /* in the columns, at its longest */
    CHANGE = 3 + VARINT + 2,         /* in a batch, at its longest */
    SMALLEST_SAMPLE = 8 * MKPERF_SAMPLE_FIXED_WORDS,
};

/* The longest chain and a sample of it fit an empty batch. */
_Static_assert(FIXED_BYTES + NO_COUNTER * MKPERF_MAX_COUNTERS + COUNTER_BYTES + VARINT + 3 +
                       mkperf_Chain_size + ONE_SAMPLE + 8 * MKPERF_MAX_READS <=
                   MKPERF_CONTENT_BYTES,
               "message size");

/* What a pc is away from its chain's is told in so many bits of words; a bit is for `slot`. */
#define PC_WORDS (UINT64_C(1) << 32)

/* Writes v at the end of a column (MKPERF_VARINT bytes of space). Returns its new end. */
static inline uint8_t *put_value(uint8_t *at, uint64_t v)
{
    for (; v > 0x7f; v >>= 7) {
        *at++ = (uint8_t)(v | 0x80);
    }
    *at++ = (uint8_t)v;
    return at;
}

static uint32_t put_bytes(uint8_t *at, const struct mkperf_column *c)
{
    memcpy(at, c->bytes, c->n);
    return c->n;
}

void mkperf_encoder_new_epoch(struct mkperf_encoder *e)
{
    e->epoch++;
    e->batches = 0;
    e->slot = MKPERF_CHAIN_SLOTS;
    e->seed = e->epoch * MKPERF_JITTER_MIX;
}

bool mkperf_encoder_epoch_over(const struct mkperf_encoder *e)
{
    return e->batches >= MKPERF_EPOCH_FRAMES;
}

bool mkperf_encoder_empty(const struct mkperf_encoder *e)
{
    return e->samples == 0 && e->losses == 0;
}

static void empty_batch(struct mkperf_encoder *e)
{
    e->samples = 0;
    e->fits_unchecked = 0;
    e->losses = 0;
    e->bytes = 0;
    e->chains.n = 0;
    for (unsigned i = 0; i < MKPERF_SAMPLE_COLUMNS; i++) {
        e->end[i] = e->column[i];
    }
    e->loss.n = 0;
    e->read.n = 0;
    e->period.n = 0;
    e->change.n = 0;
    e->changed_at = 0;
}

void mkperf_encoder_begin(struct mkperf_encoder *e, uint32_t session, uint64_t tick_hz)
{
    empty_batch(e);
    e->periods = (struct mkperf_periods){0};
    e->session = session;
    e->mix = MKPERF_JITTER_MIX;
    e->other_mix = UINT64_C(0xd1342543de82ef95);
    e->tick_hz = tick_hz;
    e->sent = 0;
    mkperf_encoder_new_epoch(e);
}

void mkperf_encoder_expect(struct mkperf_encoder *e, unsigned counter, uint64_t period, bool jitter)
{
    if (counter < MKPERF_MAX_COUNTERS) {
        mkperf_period_expect(&e->periods.of[counter], period, jitter);
    }
}

/* How many bytes more still fit the message. */
static uint32_t room(const struct mkperf_encoder *e)
{
    uintptr_t used = FIXED_BYTES + e->bytes;

    for (unsigned i = 0; i < MKPERF_SAMPLE_COLUMNS; i++) {
        used += (uintptr_t)(e->end[i] - e->column[i]);
    }
    return used < MKPERF_CONTENT_BYTES ? MKPERF_CONTENT_BYTES - (uint32_t)used : 0;
}

/* Takes the values that ride in a sample out of it: `words` from `at` on. False: they make no
 * sense. */
static bool take_reads(struct mkperf_reads *r, const uint64_t *at, unsigned words)
{
    uint64_t n = words != 0 ? at[0] : 0;

    r->mask = r->n = r->bytes = 0;
    if (n == 0 || n > MKPERF_MAX_READS || n >= words) {
        return false;
    }
    for (unsigned i = 1; i <= n; i++) {
        uint64_t word = at[i];
        uint64_t counter = word >> MKPERF_READ_COUNTER_SHIFT;
        if (counter >= MKPERF_MAX_COUNTERS || r->mask >> counter != 0) {
            return false; /* not ascending */
        }
        r->mask |= UINT32_C(1) << counter;
        r->value[r->n] = word & MKPERF_READ_COUNT;
        r->bytes += mkperf_varint_size(r->value[r->n++]);
    }
    return true;
}

/* Where the values stand in a sample whose size was checked. */
static unsigned reads_at(uint64_t header)
{
    unsigned flags = mkperf_record_flags(header);

    return MKPERF_SAMPLE_FIXED_WORDS + (flags & MKPERF_SAMPLE_KERNEL) +
           mkperf_record_nframes(header);
}

static inline bool sample_ok(uint64_t header, unsigned size)
{
    unsigned flags = mkperf_record_flags(header);
    unsigned nframes = mkperf_record_nframes(header);

    return nframes <= MKPERF_MAX_FRAMES &&
           size >= 8 * (MKPERF_SAMPLE_FIXED_WORDS + (flags & MKPERF_SAMPLE_KERNEL) + nframes) &&
           mkperf_record_counter(header) < MKPERF_MAX_COUNTERS &&
           (!(flags & MKPERF_SAMPLE_NO_USER) || flags & MKPERF_SAMPLE_KERNEL);
}

/* Defines the chain of the sample being added, whose columns take at most `more` bytes, in this slot,
 * or if it has none in one of its set. Returns its slot; MKPERF_CHAIN_SLOTS: there is no room. */
static __attribute__((noinline)) unsigned add_chain(struct mkperf_encoder *e,
                                                    const struct mkperf_key *k, uint64_t header,
                                                    const uint64_t *record, uint32_t more,
                                                    unsigned slot)
{
    if (slot >= MKPERF_CHAIN_SLOTS) {
        slot = oldest_slot(e, set_of(k->hash), record[MKPERF_WORD_TIME]);
    }
    e->definition.n = mkperf_wire_chain(e->definition.bytes, header, record, slot, e->samples,
                                        (uint32_t)(k->header >> 32));
    uint32_t takes = 1 + mkperf_varint_size(e->definition.n) + e->definition.n;
    if (more + takes > room(e)) {
        return MKPERF_CHAIN_SLOTS;
    }
    keep_chain(e, k, *pc_word(header, record), slot);
    e->chains.n +=
        mkperf_put_length(e->chains.bytes + e->chains.n, mkperf_Batch_chains_tag, e->definition.n);
    e->chains.n += put_bytes(e->chains.bytes + e->chains.n, &e->definition);
    e->bytes += takes;
    return slot;
}

/* Whether the column can tell a pc that is so far from its chain's. If not, the chain is defined
 * again with this one. */
static inline bool pc_ok(uint64_t away)
{
    return ((away + MKPERF_PC_BYTES * PC_WORDS / 2) & ~(MKPERF_PC_BYTES * (PC_WORDS - 1))) == 0;
}

/* A value of the column, whose bit 0 says whether the chain is another than the one before. */
static inline uint64_t pc_value(uint64_t away, bool other)
{
    uint64_t words = (uint64_t)((int64_t)away >> PC_SHIFT);

    return mkperf_zigzag(words) << 1 | other;
}

/* Time that a sample is expected at. */
static inline uint64_t due(uint64_t last, uint64_t period, uint64_t rate)
{
    return last + (period * rate >> MKPERF_RATE_SHIFT);
}

/* The counter's first sample in the batch. Returns the time that it is expected at. */
static uint64_t begin_counter(struct mkperf_encoder *e, unsigned counter, uint64_t period,
                              uint64_t time)
{
    struct mkperf_period *p = &e->periods.of[counter];

    if (e->samples == 0) {
        e->first_time = e->last_time = time;
    }
    if (e->periods.begun >> counter == 0) { /* it is the highest: the lists become longer */
        unsigned n = e->periods.begun != 0 ? 32 - (unsigned)__builtin_clz(e->periods.begun) : 0;
        e->bytes += NO_COUNTER * (counter + 1 - n);
    }
    e->bytes += COUNTER_BYTES - NO_COUNTER;
    e->periods.begun |= UINT32_C(1) << counter;
    p->reported = p->now;
    p->reported_rate = p->rate;
    uint32_t n =
        mkperf_put_varint(e->period.bytes + e->period.n, mkperf_zigzag(period - p->now.base));
    e->period.n += n;
    e->bytes += n;
    return e->last_time;
}

/* The period is not the one that the receiver expects: it is `more` in this sample alone, or in this
 * one and those after it, maybe with jitter of another width. */
static void put_change(struct mkperf_encoder *e, const struct mkperf_period *p,
                       enum mkperf_change kind, uint64_t more)
{
    uint8_t *at = e->change.bytes + e->change.n;
    uint64_t gap = e->samples - e->changed_at;
    uint32_t n = mkperf_put_varint(at, gap << MKPERF_CHANGE_BITS | kind);

    n += mkperf_put_varint(at + n, mkperf_zigzag(more));
    if (kind == MKPERF_CHANGE_WIDTH) {
        n += mkperf_put_varint(at + n, mkperf_period_width(p->now.mask));
    }
    e->changed_at = e->samples;
    e->change.n += n;
    e->bytes += n;
}

/* The period and time of a sample that is added. Returns the time that it is expected at. */
static uint64_t put_period(struct mkperf_encoder *e, unsigned counter, uint64_t period,
                           uint64_t time)
{
    if (e->periods.core != e->core) {
        e->periods.core = e->core;
        e->periods.known = 0;
    }
    struct mkperf_period *p = &e->periods.of[counter];
    bool begun = e->periods.begun >> counter & 1;
    struct mkperf_middle was = p->now;
    uint64_t next = mkperf_period_next(p, counter, e->mix);

    if (!(e->periods.known >> counter & 1)) {
        if (p->now.base == 0) {
            mkperf_period_expect(p, period, true);
        }
    } else if (next == period) {
        /* as expected */
    } else if (!mkperf_period_change(p, counter, period, time, e->mix)) {
        next = period - next;
        if (begun) {
            put_change(e, p, MKPERF_CHANGE_ONCE, next);
        }
    } else if (begun) {
        put_change(e, p, p->now.mask != was.mask ? MKPERF_CHANGE_WIDTH : MKPERF_CHANGE_BASE,
                   p->now.base - was.base);
    }
    if (begun && p->last == e->last_time) {
        p->events += period;
        p->ticks += time - p->last;
    }
    uint64_t expected = begun ? due(p->last, period, p->rate)
                              : begin_counter(e, counter, period, time);
    e->periods.known |= UINT32_C(1) << counter;
    p->last = time;
    return expected;
}

/* Any sample whose size was checked. */
static enum mkperf_encode_result add_sample(struct mkperf_encoder *e, uint64_t header,
                                            const uint64_t *record)
{
    unsigned counter = mkperf_record_counter(header);
    bool read = (mkperf_record_flags(header) & MKPERF_SAMPLE_READ) != 0;
    uint32_t most = ONE_SAMPLE + (read ? e->reads.bytes : 0);
    uint64_t time = record[MKPERF_WORD_TIME];

    if (e->samples == MKPERF_BATCH_SAMPLES ||
        (e->samples != 0 && e->core != mkperf_record_core(header))) {
        return MKPERF_ENCODE_FULL;
    }
    most += e->periods.begun >> counter & 1 ? CHANGE
                                            : VARINT + COUNTER_BYTES + NO_COUNTER * counter;
    if (room(e) < most) {
        return MKPERF_ENCODE_FULL;
    }
    struct mkperf_key key = make_key(e, header, record, read ? e->reads.mask : 0);
    unsigned slot = find_slot(e, &key);
    uint64_t pc = *pc_word(header, record);
    if (slot >= MKPERF_CHAIN_SLOTS || !pc_ok(pc - e->chain[slot].pc)) {
        slot = add_chain(e, &key, header, record, most, slot);
        if (slot == MKPERF_CHAIN_SLOTS) {
            return MKPERF_ENCODE_FULL;
        }
    }
    if (e->samples == 0) {
        e->core = mkperf_record_core(header);
    }
    uint64_t expected = put_period(e, counter, record[MKPERF_WORD_PERIOD], time);
    bool other = e->samples == 0 || slot != e->slot;
    uint8_t **end = e->end;
    end[MKPERF_COLUMN_PC] =
        put_value(end[MKPERF_COLUMN_PC], pc_value(pc - e->chain[slot].pc, other));
    if (other) {
        end[MKPERF_COLUMN_SLOT] = put_value(end[MKPERF_COLUMN_SLOT], slot);
    }
    end[MKPERF_COLUMN_TIME] = put_value(end[MKPERF_COLUMN_TIME], mkperf_zigzag(time - expected));
    for (unsigned i = 0; read && i < e->reads.n; i++) {
        e->read.n += mkperf_put_varint(e->read.bytes + e->read.n, e->reads.value[i]);
    }
    e->bytes += read ? e->reads.bytes : 0;
    e->chain[slot].used = time;
    e->slot = slot;
    e->last_time = time;
    e->samples++;
    e->fits_unchecked = e->samples + room(e) / ONE_SAMPLE;
    e->fits_unchecked = e->fits_unchecked < MKPERF_BATCH_SAMPLES ? e->fits_unchecked
                                                                 : MKPERF_BATCH_SAMPLES;
    return MKPERF_ENCODE_ADDED;
}

/* Whether a run may go on with a sample of another kind than the last one's. */
static bool kind_ok(const struct mkperf_encoder *e, uint64_t header)
{
    unsigned flags = mkperf_record_flags(header);

    return mkperf_record_type(header) == MKPERF_RECORD_SAMPLE &&
           mkperf_record_core(header) == e->core &&
           mkperf_record_counter(header) < MKPERF_MAX_COUNTERS &&
           e->periods.begun >> mkperf_record_counter(header) & 1 && !(flags & MKPERF_SAMPLE_READ) &&
           (!(flags & MKPERF_SAMPLE_NO_USER) || flags & MKPERF_SAMPLE_KERNEL);
}

/* Samples of one counter that followed one another, from p->from on: those after the first had so
 * many events. */
static inline void end_stretch(struct mkperf_period *p, uint64_t events)
{
    if (p->last != p->before) { /* there is one */
        p->ticks += p->last - p->from;
        p->events += events;
    }
}

/*
 * Few values are alive in this loop, and what can be computed again is, because known_slot saves
 * what has no place in a register.
 */
size_t mkperf_encoder_add_run(struct mkperf_encoder *e, const uint64_t *records, size_t bytes)
{
    uint8_t *pcs = e->end[MKPERF_COLUMN_PC];
    uint8_t *times = e->end[MKPERF_COLUMN_TIME];
    struct mkperf_period *p = NULL;
    const uint64_t *record = records;
    const uint64_t *end = records + bytes / 8;
    const uint64_t kind = UINT64_C(0xff23ff000000ffff); /* what kind_ok looks at */
    uint64_t like = UINT64_MAX;                         /* header of the last sample */
    uint64_t events = 0; /* of the counter's samples that follow one another, but the first */
    uint32_t left = e->fits_unchecked - e->samples;

    for (; left != 0 && end - record >= MKPERF_SAMPLE_FIXED_WORDS; left--) {
        uint64_t header = record[MKPERF_WORD_HEADER]; /* once: what is checked is what is used */
        if (p == NULL || ((header ^ like) & kind) != 0) {
            if (!kind_ok(e, header)) {
                break;
            }
            if (p == NULL || mkperf_record_counter(header ^ like) != 0) {
                if (p != NULL) {
                    end_stretch(p, events);
                }
                p = &e->periods.of[mkperf_record_counter(header)];
                p->from = record[MKPERF_WORD_TIME];
                p->before = p->last;
                events = 0 - record[MKPERF_WORD_PERIOD];
            }
            like = header;
        }
        size_t words = MKPERF_SAMPLE_FIXED_WORDS + (header >> KERNEL_BIT & 1) +
                       mkperf_record_nframes(header);
        if (mkperf_record_size(header) != 8 * words || words > (size_t)(end - record)) {
            break;
        }
        unsigned slot = known_slot(e, header, record);
        if (slot >= MKPERF_CHAIN_SLOTS) {
            break;
        }
        struct mkperf_chain *c = &e->chain[slot];
        uint64_t period = record[MKPERF_WORD_PERIOD];
        uint64_t away = *pc_word(header, record) - c->pc;
        uint32_t draw = mkperf_jitter_draw(p->last, mkperf_record_counter(header), e->mix);
        if (p->low + (draw & p->mask) != period || !pc_ok(away)) {
            break;
        }
        uint64_t time = record[MKPERF_WORD_TIME];
        times = put_value(times, mkperf_zigzag(time - due(p->last, period, p->rate)));
        c->used = p->last = e->last_time = time;
        events += period;
        pcs = put_value(pcs, pc_value(away, slot != e->slot));
        if (slot != e->slot) {
            e->slot = slot;
            e->end[MKPERF_COLUMN_SLOT] = put_value(e->end[MKPERF_COLUMN_SLOT], slot);
        }
        record += words;
    }
    if (p != NULL) {
        end_stretch(p, events);
    }
    e->end[MKPERF_COLUMN_PC] = pcs;
    e->end[MKPERF_COLUMN_TIME] = times;
    e->samples = e->fits_unchecked - left;
    return (size_t)(record - records) * 8;
}

static enum mkperf_encode_result add_loss(struct mkperf_encoder *e, uint64_t header,
                                          const uint64_t *record)
{
    struct mkperf_column *d = &e->definition;

    if (e->losses == MKPERF_LOSS_PLACES ||
        (!mkperf_encoder_empty(e) && e->core != mkperf_record_core(header)) ||
        room(e) < 2 + mkperf_Loss_size) {
        return MKPERF_ENCODE_FULL;
    }
    d->n = mkperf_put_field(d->bytes, mkperf_Loss_where_tag, mkperf_record_counter(header));
    d->n += mkperf_put_field(d->bytes + d->n, mkperf_Loss_time_ticks_tag, record[MKPERF_WORD_TIME]);
    d->n += mkperf_put_field(d->bytes + d->n, mkperf_Loss_samples_tag, record[2]);
    d->n += mkperf_put_field(d->bytes + d->n, mkperf_Loss_events_tag, record[3]);
    uint32_t before = e->loss.n;
    e->loss.n += mkperf_put_length(e->loss.bytes + e->loss.n, mkperf_Batch_losses_tag, d->n);
    e->loss.n += put_bytes(e->loss.bytes + e->loss.n, d);
    e->bytes += e->loss.n - before;
    e->fits_unchecked = e->samples;
    if (mkperf_encoder_empty(e)) {
        e->first_time = record[MKPERF_WORD_TIME];
        e->core = mkperf_record_core(header);
    }
    e->losses++;
    return MKPERF_ENCODE_ADDED;
}

enum mkperf_encode_result mkperf_encoder_add(struct mkperf_encoder *e, const uint64_t *record,
                                             unsigned size)
{
    uint64_t header = record[MKPERF_WORD_HEADER]; /* once: what is checked is what is used */

    if (mkperf_record_type(header) == MKPERF_RECORD_SAMPLE && sample_ok(header, size)) {
        if (mkperf_record_flags(header) & MKPERF_SAMPLE_READ) {
            unsigned at = reads_at(header);
            if (!take_reads(&e->reads, record + at, size / 8 - at)) {
                return MKPERF_ENCODE_BAD;
            }
        }
        return add_sample(e, header, record);
    }
    if (mkperf_record_type(header) == MKPERF_RECORD_LOSS && size >= 8 * MKPERF_LOSS_WORDS &&
        mkperf_record_counter(header) < MKPERF_LOSS_PLACES) {
        return add_loss(e, header, record);
    }
    return MKPERF_ENCODE_BAD;
}

/* The fields before the columns. Returns their length. */
static uint32_t put_head(const struct mkperf_encoder *e, uint8_t *at)
{
    uint32_t n = mkperf_put_field(at, mkperf_Batch_session_tag, e->session);

    n += mkperf_put_field(at + n, mkperf_Batch_core_tag, e->core);
    n += mkperf_put_field(at + n, mkperf_Batch_epoch_tag, e->epoch);
    n += mkperf_put_field(at + n, mkperf_Batch_first_sample_tag, e->sent);
    n += mkperf_put_field(at + n, mkperf_Batch_tick_hz_tag, e->tick_hz);
    n += mkperf_put_field(at + n, mkperf_Batch_time_ticks_tag, e->first_time);
    return n;
}

static uint32_t put_packed(uint8_t *at, unsigned field, const uint8_t *bytes, uint32_t length)
{
    if (length == 0) {
        return 0;
    }
    uint32_t n = mkperf_put_length(at, field, length);
    memcpy(at + n, bytes, length);
    return n + length;
}

/* What is told of counters, by counter. Returns its length. */
static uint32_t put_counters(const struct mkperf_encoder *e, uint8_t *at)
{
    uint32_t begun = e->periods.begun;
    uint8_t base[MKPERF_MAX_COUNTERS * VARINT];
    uint8_t width[MKPERF_MAX_COUNTERS * 2];
    uint8_t rate[MKPERF_MAX_COUNTERS * VARINT];
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
    uint32_t n = put_packed(at, mkperf_Batch_base_period_tag, base, bases);
    n += put_packed(at + n, mkperf_Batch_width_tag, width, widths);
    return n + put_packed(at + n, mkperf_Batch_rate_tag, rate, rates);
}

size_t mkperf_encoder_finish(struct mkperf_encoder *e, uint8_t *out)
{
    static const uint8_t field[MKPERF_SAMPLE_COLUMNS] = {
        [MKPERF_COLUMN_SLOT] = mkperf_Batch_slot_tag,
        [MKPERF_COLUMN_PC] = mkperf_Batch_pc_tag,
        [MKPERF_COLUMN_TIME] = mkperf_Batch_time_tag,
    };
    uint32_t start = 3; /* tag and length, once that is known; at most 16383 */
    uint32_t n = start;

    if (mkperf_encoder_empty(e)) {
        return 0;
    }
    n += put_head(e, out + n);
    n += put_counters(e, out + n);
    n += put_bytes(out + n, &e->chains);
    for (unsigned i = 0; i < MKPERF_SAMPLE_COLUMNS; i++) {
        n += put_packed(out + n, field[i], e->column[i], (uint32_t)(e->end[i] - e->column[i]));
    }
    n += put_packed(out + n, mkperf_Batch_period_tag, e->period.bytes, e->period.n);
    n += put_packed(out + n, mkperf_Batch_change_tag, e->change.bytes, e->change.n);
    n += put_bytes(out + n, &e->loss);
    n += put_packed(out + n, mkperf_Batch_read_tag, e->read.bytes, e->read.n);
    /* A length of two bytes whatever its value: a varint may end in a zero. */
    out[0] = mkperf_ToHost_batch_tag << 3 | 2;
    out[1] = (uint8_t)((n - start) | 0x80);
    out[2] = (uint8_t)((n - start) >> 7);
    mkperf_periods_end(&e->periods);
    e->sent += e->samples;
    e->batches++;
    empty_batch(e);
    return n;
}
