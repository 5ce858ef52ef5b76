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

#include "chains.h"
#include "wire_frames.h"

#include "mkperf.pb.h"

enum {
    /* The fixed part of a message: tag, length and value of each field at its longest. */
    FIXED_BYTES = 3 + 6 + 6 + 6 + 11 + 11 + 11 + 11 + 3 + 4 * 3 + 4,
    VARINT = 10,
    ONE_SAMPLE = 2 + 3 * VARINT, /* in the columns, at its longest */
    SMALLEST_SAMPLE = 8 * MKPERF_SAMPLE_FIXED_WORDS,
};

/* The longest chain and a sample of it fit an empty batch. */
_Static_assert(FIXED_BYTES + 10 * MKPERF_MAX_COUNTERS + 3 + mkperf_Chain_size + ONE_SAMPLE +
                       8 * MKPERF_MAX_READS <=
                   MKPERF_CONTENT_BYTES,
               "message size");

/* Writes v at `at` (VARINT bytes of space). Returns the bytes written. */
static inline uint32_t put_varint(uint8_t *at, uint64_t v)
{
    uint32_t n = 0;

    while (v > 0x7f) {
        at[n++] = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    at[n++] = (uint8_t)v;
    return n;
}

/* The same for a column: returns its new end. */
static inline uint8_t *put_value(uint8_t *at, uint64_t v)
{
    for (; v > 0x7f; v >>= 7) {
        *at++ = (uint8_t)(v | 0x80);
    }
    *at++ = (uint8_t)v;
    return at;
}

static uint32_t varint_size(uint64_t v)
{
    return (70 - (uint32_t)__builtin_clzll(v | 1)) / 7;
}

static uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

/* A field of wire type 0 (varint), omitted if it is 0. */
static uint32_t put_field(uint8_t *at, unsigned field, uint64_t v)
{
    if (v == 0) {
        return 0;
    }
    uint32_t n = put_varint(at, (uint64_t)field << 3);
    return n + put_varint(at + n, v);
}

/* The start of a field of wire type 2: what follows it is `length` bytes. */
static uint32_t put_length(uint8_t *at, unsigned field, uint64_t length)
{
    uint32_t n = put_varint(at, (uint64_t)field << 3 | 2);
    return n + put_varint(at + n, length);
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
    e->sure = 0;
    e->losses = 0;
    e->bytes = 0;
    e->chains.n = 0;
    for (unsigned i = 0; i < MKPERF_SAMPLE_COLUMNS; i++) {
        e->end[i] = e->column[i];
    }
    e->loss.n = 0;
    e->read.n = 0;
    for (unsigned i = 0; i < e->bases; i++) {
        e->predicted[i].sum = 0;
        e->predicted[i].samples = 0;
    }
}

void mkperf_encoder_begin(struct mkperf_encoder *e, uint32_t session, uint64_t tick_hz)
{
    empty_batch(e);
    for (unsigned i = 0; i < MKPERF_MAX_COUNTERS; i++) {
        e->predicted[i] = (struct mkperf_predicted){0};
    }
    e->session = session;
    e->mix = UINT64_C(0x9e3779b97f4a7c15);
    e->tick_hz = tick_hz;
    e->sent = 0;
    e->step = 0;
    e->bases = 0;
    e->base_bytes = 0;
    mkperf_encoder_new_epoch(e);
}

void mkperf_encoder_expect(struct mkperf_encoder *e, unsigned counter, uint64_t period)
{
    /* Once a sample of the batch is told relative to it, a base must stay. */
    if (counter >= MKPERF_MAX_COUNTERS || e->predicted[counter].samples != 0) {
        return;
    }
    e->predicted[counter].base = period;
    e->sure = e->samples;
    e->bases = counter + 1 > e->bases ? counter + 1 : e->bases;
    e->base_bytes = 0;
    for (unsigned i = 0; i < e->bases; i++) {
        e->base_bytes += varint_size(e->predicted[i].base);
    }
}

/* Predicts the next batch from the last. A base stays while it is good: with a fixed period it is
 * the middle of the jitter, which no mean of a few samples hits as well. */
static void predict(struct mkperf_encoder *e)
{
    for (unsigned i = 0; i < e->bases; i++) {
        struct mkperf_predicted *p = &e->predicted[i];
        if (p->samples != 0) {
            uint64_t mean = p->sum / p->samples;
            uint64_t off = mean > p->base ? mean - p->base : p->base - mean;
            p->samples = 0;
            if (off > mean / 16) {
                mkperf_encoder_expect(e, i, mean);
            }
        }
    }
    if (e->samples > 1) {
        e->step = (e->last_time - e->first_time) / (e->samples - 1);
    }
}

/* Frames of a chain as field `frames`, differences packed. Returns the bytes written. */
static uint32_t put_frames(uint8_t *at, const uint64_t *frames, unsigned nframes, uint64_t before)
{
    enum { HEAD = 2 }; /* tag, and the length if it is short */
    uint32_t n = HEAD;

    if (nframes == 0) {
        return 0;
    }
    for (unsigned i = 0; i < nframes; i++) {
        n += put_varint(at + n, zigzag(frames[i] - before));
        before = frames[i];
    }
    uint32_t length = n - HEAD;
    if (length > 0x7f) {
        memmove(at + HEAD + 1, at + HEAD, length);
        n++;
    }
    put_length(at, mkperf_Chain_frames_tag, length);
    return n;
}

/* Encodes the chain of a sample into e->definition. */
static void define_chain(struct mkperf_encoder *e, uint64_t header, const uint64_t *record,
                         unsigned slot)
{
    uint8_t *at = e->definition.bytes;
    uint64_t wire[MKPERF_MAX_FRAMES];
    const uint64_t *frames = record + MKPERF_SAMPLE_FIXED_WORDS;
    uint64_t pc = record[MKPERF_WORD_PC];
    uint64_t kernel_pc = mkperf_record_flags(header) & MKPERF_SAMPLE_KERNEL ? *frames++ : 0;
    uint32_t n = put_field(at, mkperf_Chain_slot_tag, slot);

    n += put_field(at + n, mkperf_Chain_at_tag, e->samples);
    n += put_field(at + n, mkperf_Chain_thread_tag,
                   mkperf_thread_to_wire(record[MKPERF_WORD_THREAD]));
    n += put_field(at + n, mkperf_Chain_counter_tag, mkperf_record_counter(header));
    n += put_field(at + n, mkperf_Chain_flags_tag, mkperf_record_flags(header));
    n += put_field(at + n, mkperf_Chain_pc_tag, pc);
    n += put_field(at + n, mkperf_Chain_lr_tag,
                   header >> NO_USER_BIT & 1 ? 0 : record[MKPERF_WORD_LR]);
    n += put_field(at + n, mkperf_Chain_kernel_pc_tag, kernel_pc);
    n += put_frames(at + n, wire,
                    mkperf_wire_frames(wire, header, record[MKPERF_WORD_THREAD], frames), pc);
    if (mkperf_record_flags(header) & MKPERF_SAMPLE_READ) {
        n += put_field(at + n, mkperf_Chain_reads_tag, e->reads.mask);
    }
    e->definition.n = n;
}

/* How many bytes more still fit the message. */
static uint32_t room(const struct mkperf_encoder *e)
{
    uintptr_t used = FIXED_BYTES + e->base_bytes + e->bytes;

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
        r->bytes += varint_size(r->value[r->n++]);
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

/* Defines the chain of the sample being added, whose columns take at most `more` bytes. Returns its
 * slot; MKPERF_CHAIN_SLOTS: there is no room. */
static __attribute__((noinline)) unsigned add_chain(struct mkperf_encoder *e,
                                                    const struct mkperf_key *k, uint64_t header,
                                                    const uint64_t *record, uint32_t more)
{
    unsigned slot = oldest_slot(e, set_of(k->tag), record[MKPERF_WORD_TIME]);

    define_chain(e, header, record, slot);
    uint32_t takes = 1 + varint_size(e->definition.n) + e->definition.n;
    if (more + takes > room(e)) {
        return MKPERF_CHAIN_SLOTS;
    }
    keep_chain(e, k, slot);
    e->chains.n +=
        put_length(e->chains.bytes + e->chains.n, mkperf_Batch_chains_tag, e->definition.n);
    e->chains.n += put_bytes(e->chains.bytes + e->chains.n, &e->definition);
    e->bytes += takes;
    return slot;
}

/* What changes with each sample of a batch, to be kept in registers. */
struct going {
    uint8_t *end[MKPERF_SAMPLE_COLUMNS];
    uint64_t next; /* time that the next sample is expected at */
};

static inline struct going begin_going(const struct mkperf_encoder *e)
{
    return (struct going){
        .end = {e->end[0], e->end[1], e->end[2], e->end[3]},
        .next = e->last_time + e->step,
    };
}

static inline void end_going(struct mkperf_encoder *e, const struct going *g)
{
    for (unsigned i = 0; i < MKPERF_SAMPLE_COLUMNS; i++) {
        e->end[i] = g->end[i];
    }
    e->last_time = g->next - e->step;
}

/* Puts a sample into the columns. The order of loads is that of use: the record and the columns may
 * be the same bytes to a compiler, which would otherwise put each value aside. */
static inline __attribute__((always_inline)) void put_sample(struct going *g,
                                                             const uint64_t *record, uint64_t pc,
                                                             unsigned slot, struct mkperf_chain *c,
                                                             uint64_t step, uint64_t base)
{
    uint64_t time = record[MKPERF_WORD_TIME];

    g->end[MKPERF_COLUMN_SLOT] = put_value(g->end[MKPERF_COLUMN_SLOT], slot);
    g->end[MKPERF_COLUMN_PC] = put_value(g->end[MKPERF_COLUMN_PC], zigzag(pc - c->pc));
    g->end[MKPERF_COLUMN_TIME] = put_value(g->end[MKPERF_COLUMN_TIME], zigzag(time - g->next));
    g->next = time + step;
    c->used = time;
    g->end[MKPERF_COLUMN_PERIOD] =
        put_value(g->end[MKPERF_COLUMN_PERIOD], zigzag(record[MKPERF_WORD_PERIOD] - base));
}

/* Any sample whose size was checked. */
static enum mkperf_encode_result add_sample(struct mkperf_encoder *e, uint64_t header,
                                            const uint64_t *record)
{
    struct mkperf_predicted *p = &e->predicted[mkperf_record_counter(header)];
    bool read = (mkperf_record_flags(header) & MKPERF_SAMPLE_READ) != 0;
    uint32_t most = ONE_SAMPLE + (read ? e->reads.bytes : 0);

    if (e->samples == MKPERF_BATCH_SAMPLES ||
        (e->samples != 0 && e->core != mkperf_record_core(header))) {
        return MKPERF_ENCODE_FULL;
    }
    if (p->base == 0) {
        mkperf_encoder_expect(e, mkperf_record_counter(header), record[MKPERF_WORD_PERIOD]);
    }
    if (room(e) < most) {
        return MKPERF_ENCODE_FULL;
    }
    struct mkperf_key key = make_key(e, header, record, read ? e->reads.mask : 0);
    unsigned slot = find_slot(e, &key);
    if (slot >= MKPERF_CHAIN_SLOTS) {
        slot = add_chain(e, &key, header, record, most);
        if (slot == MKPERF_CHAIN_SLOTS) {
            return MKPERF_ENCODE_FULL;
        }
    }
    struct going g = begin_going(e);
    if (e->samples == 0) {
        e->core = mkperf_record_core(header);
        g.next = e->first_time = record[MKPERF_WORD_TIME];
    }
    put_sample(&g, record, *pc_word(header, record), slot, &e->chain[slot], e->step, p->base);
    end_going(e, &g);
    for (unsigned i = 0; read && i < e->reads.n; i++) {
        e->read.n += put_varint(e->read.bytes + e->read.n, e->reads.value[i]);
    }
    e->bytes += read ? e->reads.bytes : 0;
    p->sum += record[MKPERF_WORD_PERIOD];
    p->samples++;
    e->samples++;
    e->sure = e->samples + room(e) / ONE_SAMPLE;
    e->sure = e->sure < MKPERF_BATCH_SAMPLES ? e->sure : MKPERF_BATCH_SAMPLES;
    return MKPERF_ENCODE_ADDED;
}

/* Whether a run may go on with a sample of another kind than the last one's. */
static bool kind_ok(const struct mkperf_encoder *e, uint64_t header)
{
    unsigned flags = mkperf_record_flags(header);

    return mkperf_record_type(header) == MKPERF_RECORD_SAMPLE &&
           mkperf_record_core(header) == e->core &&
           mkperf_record_counter(header) < MKPERF_MAX_COUNTERS &&
           e->predicted[mkperf_record_counter(header)].base != 0 && !(flags & MKPERF_SAMPLE_READ) &&
           (!(flags & MKPERF_SAMPLE_NO_USER) || flags & MKPERF_SAMPLE_KERNEL);
}

size_t mkperf_encoder_add_run(struct mkperf_encoder *e, const uint64_t *records, size_t bytes)
{
    const uint64_t kind = UINT64_C(0xff23ff000000ffff); /* what kind_ok looks at */
    struct going g = begin_going(e);
    struct mkperf_predicted *p = e->predicted;
    const uint64_t *record = records;
    uint64_t like = UINT64_MAX;
    uint32_t left = e->sure - e->samples;
    size_t rest = bytes;

    for (; left != 0 && rest >= SMALLEST_SAMPLE; left--) {
        uint64_t header = record[MKPERF_WORD_HEADER]; /* once: what is checked is what is used */
        size_t size = mkperf_record_size(header);
        if (((header ^ like) & kind) != 0) {
            if (!kind_ok(e, header)) {
                break;
            }
            p = &e->predicted[mkperf_record_counter(header)];
            like = header;
        }
        if (size > rest || size != 8 * (MKPERF_SAMPLE_FIXED_WORDS + (header >> KERNEL_BIT & 1) +
                                        mkperf_record_nframes(header))) {
            break;
        }
        unsigned slot = known_slot(e, header, record);
        if (slot >= MKPERF_CHAIN_SLOTS) {
            break;
        }
        put_sample(&g, record, *pc_word(header, record), slot, &e->chain[slot], e->step, p->base);
        p->sum += record[MKPERF_WORD_PERIOD];
        p->samples++;
        record += size / 8;
        rest -= size;
    }
    end_going(e, &g);
    e->samples = e->sure - left;
    return bytes - rest;
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
    d->n = put_field(d->bytes, mkperf_Loss_where_tag, mkperf_record_counter(header));
    d->n += put_field(d->bytes + d->n, mkperf_Loss_time_ticks_tag, record[MKPERF_WORD_TIME]);
    d->n += put_field(d->bytes + d->n, mkperf_Loss_samples_tag, record[2]);
    d->n += put_field(d->bytes + d->n, mkperf_Loss_events_tag, record[3]);
    uint32_t before = e->loss.n;
    e->loss.n += put_length(e->loss.bytes + e->loss.n, mkperf_Batch_losses_tag, d->n);
    e->loss.n += put_bytes(e->loss.bytes + e->loss.n, d);
    e->bytes += e->loss.n - before;
    e->sure = e->samples;
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
    uint32_t n = put_field(at, mkperf_Batch_session_tag, e->session);

    n += put_field(at + n, mkperf_Batch_core_tag, e->core);
    n += put_field(at + n, mkperf_Batch_epoch_tag, e->epoch);
    n += put_field(at + n, mkperf_Batch_first_sample_tag, e->sent);
    n += put_field(at + n, mkperf_Batch_tick_hz_tag, e->tick_hz);
    n += put_field(at + n, mkperf_Batch_time_ticks_tag, e->first_time);
    n += put_field(at + n, mkperf_Batch_step_ticks_tag, e->step);
    if (e->bases != 0) {
        n += put_length(at + n, mkperf_Batch_base_period_tag, e->base_bytes);
    }
    for (unsigned i = 0; i < e->bases; i++) {
        n += put_varint(at + n, e->predicted[i].base);
    }
    return n;
}

static uint32_t put_packed(uint8_t *at, unsigned field, const uint8_t *bytes, uint32_t length)
{
    if (length == 0) {
        return 0;
    }
    uint32_t n = put_length(at, field, length);
    memcpy(at + n, bytes, length);
    return n + length;
}

size_t mkperf_encoder_finish(struct mkperf_encoder *e, uint8_t *out)
{
    static const uint8_t field[MKPERF_SAMPLE_COLUMNS] = {
        [MKPERF_COLUMN_SLOT] = mkperf_Batch_slot_tag,
        [MKPERF_COLUMN_PC] = mkperf_Batch_pc_tag,
        [MKPERF_COLUMN_TIME] = mkperf_Batch_time_tag,
        [MKPERF_COLUMN_PERIOD] = mkperf_Batch_period_tag,
    };
    uint32_t start = 3; /* tag and length, once that is known; at most 16383 */
    uint32_t n = start;

    if (mkperf_encoder_empty(e)) {
        return 0;
    }
    n += put_head(e, out + n);
    n += put_bytes(out + n, &e->chains);
    for (unsigned i = 0; i < MKPERF_SAMPLE_COLUMNS; i++) {
        n += put_packed(out + n, field[i], e->column[i], (uint32_t)(e->end[i] - e->column[i]));
    }
    n += put_bytes(out + n, &e->loss);
    n += put_packed(out + n, mkperf_Batch_read_tag, e->read.bytes, e->read.n);
    /* A length of two bytes whatever its value: a varint may end in a zero. */
    out[0] = mkperf_ToHost_batch_tag << 3 | 2;
    out[1] = (uint8_t)((n - start) | 0x80);
    out[2] = (uint8_t)((n - start) >> 7);
    predict(e);
    e->sent += e->samples;
    e->batches++;
    empty_batch(e);
    return n;
}
