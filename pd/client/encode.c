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

enum {
    ONE_SAMPLE = MKPERF_PC_BYTES_MOST + MKPERF_SLOT_BYTES_MOST +
                 MKPERF_VARINT,                 /* most bytes of a sample in the columns */
    CHANGE = 3 + MKPERF_VARINT + 2,             /* most bytes of a change in a batch */
    MOST_KEY_WORDS = 1 + 1 + MKPERF_MAX_FRAMES, /* lr, kernel_pc, frames */
};

/* The longest chain and a sample of it fit an empty batch. */
_Static_assert(MKPERF_VARINT + 3 + mkperf_Chain_size <= MKPERF_CHAIN_BYTES,
               "space behind the chains");
_Static_assert(MKPERF_FIXED_BYTES + MKPERF_NO_COUNTER * MKPERF_MAX_COUNTERS + MKPERF_COUNTER_BYTES +
                       MKPERF_VARINT + 3 + mkperf_Chain_size + ONE_SAMPLE + 8 * MKPERF_MAX_READS <=
                   MKPERF_CONTENT_BYTES,
               "message size");

/* Reads the values of other counters from the `words` words at `at` of a sample. False: they are
 * invalid. */
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
            return false; /* Counters have to ascend. */
        }
        r->mask |= UINT32_C(1) << counter;
        r->value[r->n] = word & MKPERF_READ_COUNT;
        r->bytes += mkperf_varint_size(r->value[r->n++]);
    }
    return true;
}

static inline bool sample_ok(uint64_t header, unsigned size)
{
    unsigned flags = mkperf_record_flags(header);

    return mkperf_record_nframes(header) <= MKPERF_MAX_FRAMES &&
           size >= 8 * mkperf_sample_words(header) &&
           mkperf_record_counter(header) < MKPERF_MAX_COUNTERS &&
           (!(flags & MKPERF_SAMPLE_NO_USER) || flags & MKPERF_SAMPLE_KERNEL);
}

/* Returns a value of the column. Its bit 0 is set if the sample before has another chain. */
static inline uint64_t pc_value(uint64_t away, bool other)
{
    return pc_words(away) << 1 | other;
}

/* Returns the time at which a sample is expected. */
static inline uint64_t due(uint64_t last, uint64_t period, uint64_t rate)
{
    return last + (period * rate >> MKPERF_RATE_SHIFT);
}

/* Begins a counter with its first sample in the batch. Returns the time at which the receiver
 * expects that sample. */
static uint64_t begin_counter(struct mkperf_encoder *e, unsigned counter, uint64_t period,
                              uint64_t time)
{
    struct mkperf_period *p = &e->periods.of[counter];

    if (e->samples == 0) {
        e->first_time = e->last_time = time;
    }
    e->bytes += begin_counter_bytes(e, counter);
    e->periods.begun |= UINT32_C(1) << counter;
    p->reported = p->now;
    p->reported_rate = p->rate;
    add_number(e, &e->period, mkperf_zigzag(period - p->now.base));
    return e->last_time;
}

/* Notes a period that the receiver does not expect. It is longer by `more` in this sample only, or in
 * all samples from this one on, maybe with jitter of another width. */
static void put_change(struct mkperf_encoder *e, const struct mkperf_period *p,
                       enum mkperf_change kind, uint64_t more)
{
    uint64_t gap = e->samples - e->changed_at;

    add_number(e, &e->change, gap << MKPERF_CHANGE_BITS | kind);
    add_number(e, &e->change, mkperf_zigzag(more));
    if (kind == MKPERF_CHANGE_WIDTH) {
        add_number(e, &e->change, mkperf_period_width(p->now.mask));
    }
    e->changed_at = e->samples;
}

/* Encodes the period of a sample. Returns the time at which the receiver expects the sample. */
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
    uint64_t next = mkperf_period_next(p, p->last, counter, e->mix);

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

/* Adds any sample. Its size was checked. slot: of its chain; MKPERF_CHAIN_SLOTS: the table does not
 * have the chain. */
static enum mkperf_encode_result add_sample(struct mkperf_encoder *e, uint64_t header,
                                            const uint64_t *record, const struct mkperf_key *key,
                                            unsigned slot)
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
                                            : MKPERF_VARINT + begin_counter_bytes(e, counter);
    if (encoder_room(e) < most) {
        return MKPERF_ENCODE_FULL;
    }
    uint64_t pc = *pc_word(header, record);
    if (slot >= MKPERF_CHAIN_SLOTS || !pc_ok(pc - e->table.chain[slot].pc)) {
        slot = slot < MKPERF_CHAIN_SLOTS ? slot : oldest_slot(&e->table, key->hash, time);
        if (!mkperf_encoder_define(e, key, header, record, most, slot)) {
            return MKPERF_ENCODE_FULL;
        }
    }
    if (e->samples == 0) {
        e->core = mkperf_record_core(header);
    }
    uint64_t expected = put_period(e, counter, record[MKPERF_WORD_PERIOD], time);
    bool other = e->samples == 0 || slot != e->slot;
    struct mkperf_ends to = e->end;
    to.pc = mkperf_put_value(to.pc, pc_value(pc - e->table.chain[slot].pc, other));
    if (other) {
        to.slot = mkperf_put_value(to.slot, slot);
    }
    to.time = mkperf_put_value(to.time, mkperf_zigzag(time - expected));
    for (unsigned i = 0; read && i < e->reads.n; i++) {
        add_number(e, &e->read, e->reads.value[i]);
    }
    set_ends(e, to);
    e->table.chain[slot].used = time;
    e->slot = slot;
    e->last_time = time;
    e->samples++;
    uint32_t fit = e->samples + encoder_room(e) / ONE_SAMPLE; /* however long they are */
    e->fits_unchecked = fit < MKPERF_BATCH_SAMPLES ? fit : MKPERF_BATCH_SAMPLES;
    return MKPERF_ENCODE_ADDED;
}

/* Returns whether a run may continue with a sample of another kind than the last one's. */
static bool kind_ok(const struct mkperf_encoder *e, uint64_t header)
{
    return mkperf_record_type(header) == MKPERF_RECORD_SAMPLE &&
           mkperf_record_size(header) % 8 == 0 && sample_ok(header, mkperf_record_size(header)) &&
           mkperf_record_core(header) == e->core &&
           e->periods.begun >> mkperf_record_counter(header) & 1 &&
           !(mkperf_record_flags(header) & MKPERF_SAMPLE_READ);
}

/* Samples of one counter that follow one another, in registers until they end. */
struct stretch {
    struct mkperf_period *p; /* the counter's period; NULL: the stretch has no sample */
    uint64_t last; /* the time of the last sample; it and the next three are copies of *p's */
    uint64_t low;
    uint64_t mask;
    uint64_t rate;
    uint64_t events; /* the sum of the periods of all samples but the first */
};

static inline __attribute__((always_inline)) void end_stretch(struct mkperf_encoder *e,
                                                              const struct stretch *s)
{
    if (s->p != NULL && s->last != s->p->before) { /* It has a sample. */
        s->p->ticks += s->last - s->p->from;
        s->p->events += s->events;
        s->p->last = s->last;
        e->last_time = s->last;
    }
}

/* The next sample is this one, of a counter with those periods. */
static inline __attribute__((always_inline)) struct stretch begin_stretch(struct mkperf_period *p,
                                                                          const uint64_t *record)
{
    p->from = record[MKPERF_WORD_TIME];
    p->before = p->last;
    return (struct stretch){
        .p = p,
        .last = p->last,
        .low = p->low,
        .mask = p->now.mask,
        .rate = p->rate,
        .events = 0 - record[MKPERF_WORD_PERIOD],
    };
}

/*
 * Adds records up to the first that needs more than a look-up and three numbers, which
 * mkperf_encoder_add then adds: another type, a new chain, a pc that is far from its chain's, an
 * unexpected period, or a batch that may be full. The record's size determines the words of the
 * record and of its key. If the record is longer than its chain, the words after the chain are part
 * of the key.
 */
size_t mkperf_encoder_add_run(struct mkperf_encoder *e, const uint64_t *records, size_t bytes)
{
    const uint64_t *record = records;
    const uint64_t *end = records + bytes / 8;
    /* The bits of a header that kind_ok checks. */
    const uint64_t kind = UINT64_C(0xffffff000007ffff);
    const uint64_t mix = e->mix;
    uint64_t like = UINT64_MAX; /* header of the last sample */
    uint32_t left = e->fits_unchecked - e->samples;
    uint32_t last_slot = e->slot;
    struct mkperf_ends to = e->end;
    struct stretch s = {0};

    while (record < end && left > 0) {
        /* Read once: the ring may change after the check. */
        uint64_t header = record[MKPERF_WORD_HEADER];
        size_t words = mkperf_record_size(header) / 8;
        size_t n = words - key_at(header);
        const uint64_t *next = record + words;
        if (next > end || n > MOST_KEY_WORDS) {
            break;
        }
        if (((header ^ like) & kind) != 0) {
            if (!kind_ok(e, header)) {
                break;
            }
            if (s.p == NULL || mkperf_record_counter(header ^ like) != 0) {
                end_stretch(e, &s);
                s = begin_stretch(&e->periods.of[mkperf_record_counter(header)], record);
            }
            like = header;
        }
        struct mkperf_key key = make_key(mix, header, record, n, 0);
        size_t slot = *hint_of(&e->table, key.hash);
        struct mkperf_known_chain *c = &e->table.chain[slot];
        uint64_t period = record[MKPERF_WORD_PERIOD];
        uint64_t time = record[MKPERF_WORD_TIME];
        uint64_t away = *pc_word(header, record) - c->pc;
        uint32_t draw = mkperf_jitter_draw(s.last, mkperf_record_counter(header), mix);
        if (__builtin_expect(!same_chain(&key, c), 0) ||
            __builtin_expect(!pc_ok(away) || s.low + (draw & s.mask) != period, 0)) {
            break;
        }
        to.time = mkperf_put_value(to.time, mkperf_zigzag(time - due(s.last, period, s.rate)));
        c->used = s.last = time;
        s.events += period;
        to.pc = mkperf_put_value(to.pc, pc_value(away, slot != last_slot));
        if (slot != last_slot) {
            last_slot = (uint32_t)slot;
            to.slot = mkperf_put_value(to.slot, last_slot);
        }
        left--;
        record = next;
    }
    end_stretch(e, &s);
    e->slot = last_slot;
    e->samples = e->fits_unchecked - left;
    set_ends(e, to);
    return (size_t)(record - records) * 8;
}

/* Adds a record of lost samples. FULL: the batch has no room for it, or is of another core. */
static enum mkperf_encode_result add_loss(struct mkperf_encoder *e, uint64_t header,
                                          const uint64_t *record)
{
    uint8_t loss[mkperf_Loss_size];
    bool first = e->samples == 0 && e->losses == 0;

    if (e->losses == MKPERF_LOSS_PLACES || (!first && e->core != mkperf_record_core(header)) ||
        encoder_room(e) < 2 + mkperf_Loss_size) {
        return MKPERF_ENCODE_FULL;
    }
    uint8_t *at = mkperf_put_field(loss, mkperf_Loss_where_tag, mkperf_record_counter(header));
    at = mkperf_put_field(at, mkperf_Loss_time_ticks_tag, record[MKPERF_WORD_TIME]);
    at = mkperf_put_field(at, mkperf_Loss_samples_tag, record[MKPERF_LOSS_SAMPLES]);
    at = mkperf_put_field(at, mkperf_Loss_events_tag, record[MKPERF_LOSS_EVENTS]);
    uint8_t *from = e->loss.bytes + e->loss.n;
    uint8_t *to = mkperf_put_bytes(from, mkperf_Batch_losses_tag, loss, (uint32_t)(at - loss));
    e->loss.n += (uint32_t)(to - from);
    e->bytes += (uint32_t)(to - from);
    e->fits_unchecked = e->samples;
    if (first) {
        e->first_time = record[MKPERF_WORD_TIME];
        e->core = mkperf_record_core(header);
    }
    e->losses++;
    return MKPERF_ENCODE_ADDED;
}

enum mkperf_encode_result mkperf_encoder_add(struct mkperf_encoder *e, const uint64_t *record,
                                             unsigned size)
{
    /* Read once: the ring may change after the check. */
    uint64_t header = record[MKPERF_WORD_HEADER];
    bool read = (mkperf_record_flags(header) & MKPERF_SAMPLE_READ) != 0;
    bool windows = e->window.ticks != 0;

    if (e->window.over) {
        if (!mkperf_encoder_empty(e)) {
            return MKPERF_ENCODE_FULL;
        }
        e->window.over = false;
    }
    if (mkperf_record_type(header) == MKPERF_RECORD_SAMPLE && sample_ok(header, size)) {
        if (read) {
            unsigned at = mkperf_sample_words(header);
            if (windows || !take_reads(&e->reads, record + at, size / 8 - at)) {
                return MKPERF_ENCODE_BAD;
            }
        }
        size_t n = mkperf_sample_words(header) - key_at(header); /* The key ends with the chain. */
        struct mkperf_key key = make_key(e->mix, header, record, n, read ? e->reads.mask : 0);
        unsigned slot = find_slot(&e->table, &key);
        return windows ? mkperf_window_add(e, header, record, &key, slot)
                       : add_sample(e, header, record, &key, slot);
    }
    if (mkperf_record_type(header) == MKPERF_RECORD_LOSS && size >= 8 * MKPERF_LOSS_WORDS &&
        mkperf_record_counter(header) < MKPERF_LOSS_PLACES) {
        return add_loss(e, header, record);
    }
    return MKPERF_ENCODE_BAD;
}
