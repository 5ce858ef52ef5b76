/* SPDX-License-Identifier: BSD-2-Clause */
/* From scheduling events to Sched messages: see sched.h for ownership and callers. */
#include "sched.h"

#include <string.h>

enum {
    /* Outside of codes and events: tag, length and value of each field at its longest. */
    FIXED_BYTES = 4 + 6 + 6 + 6 + 11 + 11 + 11 + 3 + 4 + 4,
    CODE_BYTES = 2 + 3 + 2 + 2 + 11 + 3 + 2, /* a definition at its longest */
    MAX_EVENTS = sizeof((mkperf_Sched *)0)->event / sizeof(uint64_t),
    MAX_DEFINITIONS = sizeof((mkperf_Sched *)0)->codes / sizeof(mkperf_SchedCode),
    MAX_READINGS = sizeof((mkperf_Sched *)0)->reading / sizeof(uint64_t), /* numbers in them */
    LEAST_BITS = 5,
};

void mkperf_sched_encoder_new_epoch(struct mkperf_sched_encoder *e)
{
    e->epoch++;
    e->messages = 0;
    e->codes = 0;
    memset(e->place, 0, sizeof e->place);
    memset(e->known, 0, sizeof e->known);
}

static void empty_message(struct mkperf_sched_encoder *e)
{
    e->events = 0;
    e->definitions = 0;
    e->code.n = 0;
    e->event.n = 0;
    e->reading.n = 0;
    e->numbers = 0;
}

void mkperf_sched_encoder_begin(struct mkperf_sched_encoder *e, uint32_t session, uint64_t tick_hz)
{
    empty_message(e);
    e->session = session;
    e->tick_hz = tick_hz;
    e->sent = 0;
    memset(e->seen, 0, sizeof e->seen);
    mkperf_sched_encoder_new_epoch(e);
}

/* Returns the place of a code, or the free one that it would have. */
static struct mkperf_sched_code *find_code(struct mkperf_sched_encoder *e, uint32_t what,
                                           uint64_t thread)
{
    uint64_t at = (thread * 31 + what) * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    for (;; at++) { /* there are more places than codes */
        struct mkperf_sched_code *c = &e->place[at % MKPERF_SCHED_PLACES];
        if (c->what == 0 || (c->what == what && c->thread == thread)) {
            return c;
        }
    }
}

static void define_code(struct mkperf_sched_encoder *e, const struct mkperf_sched_code *c,
                        uint64_t header)
{
    uint8_t bytes[CODE_BYTES];
    uint8_t *at = mkperf_put_field(bytes, mkperf_SchedCode_code_tag, c->code);

    at = mkperf_put_field(at, mkperf_SchedCode_kind_tag, mkperf_sched_kind_of(header));
    at = mkperf_put_field(at, mkperf_SchedCode_reason_tag, mkperf_sched_reason_of(header));
    at = mkperf_put_field(at, mkperf_SchedCode_thread_tag, mkperf_thread_to_wire(c->thread));
    at = mkperf_put_field(at, mkperf_SchedCode_irq_tag, mkperf_sched_number_of(header));
    at = mkperf_put_bytes(e->code.bytes + e->code.n, mkperf_Sched_codes_tag, bytes,
                          (uint32_t)(at - bytes));
    e->code.n = (uint32_t)(at - e->code.bytes);
    e->definitions++;
}

/* Returns whether the message has room for an event, its code, and a reading of that many numbers, each of
 * MKPERF_VARINT bytes at most. */
static bool batch_has_room(const struct mkperf_sched_encoder *e, uint32_t numbers)
{
    return e->events < MAX_EVENTS && e->definitions < MAX_DEFINITIONS &&
           e->numbers + numbers <= MAX_READINGS &&
           FIXED_BYTES + e->code.n + CODE_BYTES + e->event.n + e->reading.n +
                   MKPERF_VARINT * (1 + numbers) <=
               MKPERF_CONTENT_BYTES;
}

static enum mkperf_encode_result add_event(struct mkperf_sched_encoder *e, uint64_t header,
                                           uint64_t time, uint64_t thread, uint32_t numbers)
{
    unsigned core = mkperf_record_core(header);
    uint32_t what = (uint32_t)(header >> 32 & 0xff00ff) + 1;

    if (e->events != 0 && (e->core != core || time < e->last_time || !batch_has_room(e, numbers))) {
        return MKPERF_ENCODE_FULL;
    }
    struct mkperf_sched_code *c = find_code(e, what, thread);
    if (c->what == 0 && (e->codes == MKPERF_SCHED_CODES ||
                         (e->events != 0 && e->codes >= UINT32_C(1) << e->bits))) {
        if (e->events != 0) {
            return MKPERF_ENCODE_FULL;
        }
        mkperf_sched_encoder_new_epoch(e);
        c = find_code(e, what, thread);
    }
    if (e->events == 0) {
        e->core = core;
        e->first = e->seen[core];
        e->first_time = time;
        e->last_time = time;
        /* The width of codes leaves space for a few more than there are. */
        e->bits = LEAST_BITS;
        while (e->codes + (e->codes / 8) >= UINT32_C(1) << e->bits) {
            e->bits++;
        }
    }
    if (c->what == 0) {
        *c = (struct mkperf_sched_code){.thread = thread, .what = what, .code = (uint16_t)e->codes};
        e->codes++;
    }
    if (!(c->reported >> core & 1)) {
        c->reported |= (uint8_t)(1U << core);
        define_code(e, c, header);
    }
    mkperf_column_add(&e->event, (time - e->last_time) << e->bits | c->code);
    e->last_time = time;
    e->events++;
    e->seen[core]++;
    return MKPERF_ENCODE_ADDED;
}

static void put_number(struct mkperf_sched_encoder *e, uint64_t v)
{
    mkperf_column_add(&e->reading, v);
    e->numbers++;
}

/* Adds a WORDS record, with the words that differ from what the receiver knows of this core. */
static enum mkperf_encode_result add_words(struct mkperf_sched_encoder *e, uint64_t header,
                                           const uint64_t *record, unsigned size)
{
    unsigned core = mkperf_record_core(header);
    bool all = (mkperf_record_counter(header) & MKPERF_WORDS_ALL) != 0;
    uint64_t what = mkperf_sched_what(mkperf_SchedKind_SCHED_READING, 0, 0);
    uint64_t set = record[MKPERF_WORDS_SET];
    uint8_t number[MKPERF_MAX_WORDS];
    uint64_t value[MKPERF_MAX_WORDS];
    uint32_t n = 0;
    unsigned at = MKPERF_WORDS_FIXED;

    for (unsigned i = 0; i < MKPERF_MAX_WORDS; i += 2) {
        if ((set >> i & 3) == 0) {
            continue;
        }
        if (8 * (at + 2) > size) {
            return MKPERF_ENCODE_BAD;
        }
        for (unsigned k = i; k < i + 2; k++, at++) {
            uint64_t v = record[at];
            if ((set >> k & 1) != 0 && ((e->known[core] >> k & 1) == 0 || v != e->word[core][k])) {
                number[n] = (uint8_t)k;
                value[n++] = v;
            }
        }
    }
    enum mkperf_encode_result result = add_event(
        e, what | (uint64_t)core << 56, record[MKPERF_WORD_TIME], MKPERF_THREAD_NONE, 2 + 2 * n);
    if (result != MKPERF_ENCODE_ADDED) {
        return result;
    }
    uint64_t known = e->known[core]; /* A new epoch may have begun. */
    put_number(e, (uint64_t)n << 1 | all);
    if (all) {
        put_number(e, set);
        known &= set;
    }
    for (uint32_t i = 0; i < n; i++) {
        bool absolute = (known >> number[i] & 1) == 0;
        uint64_t *before = &e->word[core][number[i]];
        put_number(e, (uint64_t)number[i] << 1 | absolute);
        put_number(e, absolute ? value[i] : mkperf_zigzag(value[i] - *before));
        *before = value[i];
        known |= UINT64_C(1) << number[i];
    }
    e->known[core] = known;
    return MKPERF_ENCODE_ADDED;
}

enum mkperf_encode_result mkperf_sched_encoder_add(struct mkperf_sched_encoder *e,
                                                   const uint64_t *record, unsigned size)
{
    /* Read once: the ring may change after the check. */
    uint64_t header = record[MKPERF_WORD_HEADER];
    unsigned core = mkperf_record_core(header);

    if (core >= MKPERF_MAX_CORES) {
        return MKPERF_ENCODE_BAD;
    }
    if (mkperf_record_type(header) == MKPERF_RECORD_SCHED &&
        size == 8 * MKPERF_SCHED_OUTPUT_WORDS) {
        return add_event(e, header, record[MKPERF_WORD_TIME], record[MKPERF_SCHED_IDENTITY], 0);
    }
    if (mkperf_record_type(header) == MKPERF_RECORD_WORDS && size >= 8 * MKPERF_WORDS_FIXED) {
        return add_words(e, header, record, size);
    }
    if (mkperf_record_type(header) != MKPERF_RECORD_SCHED_LOSS ||
        size != 8 * MKPERF_SCHED_LOSS_WORDS) {
        return MKPERF_ENCODE_BAD;
    }
    if (e->events != 0 && e->core == core) {
        return MKPERF_ENCODE_FULL; /* a gap is between two messages */
    }
    e->seen[core] += record[MKPERF_SCHED_LOST];
    e->known[core] = 0;
    return MKPERF_ENCODE_ADDED;
}

size_t mkperf_sched_encoder_finish(struct mkperf_sched_encoder *e, uint8_t *out)
{
    uint8_t *start = out + 4; /* behind the tag and the length, of two bytes each */
    uint8_t *at = start;

    if (e->events == 0) {
        return 0;
    }
    at = mkperf_put_field(at, mkperf_Sched_session_tag, e->session);
    at = mkperf_put_field(at, mkperf_Sched_core_tag, e->core);
    at = mkperf_put_field(at, mkperf_Sched_epoch_tag, e->epoch);
    at = mkperf_put_field(at, mkperf_Sched_first_event_tag, e->first);
    at = mkperf_put_field(at, mkperf_Sched_tick_hz_tag, e->tick_hz);
    at = mkperf_put_field(at, mkperf_Sched_time_ticks_tag, e->first_time);
    memcpy(at, e->code.bytes, e->code.n);
    at += e->code.n;
    at = mkperf_put_field(at, mkperf_Sched_code_bits_tag, e->bits);
    at = mkperf_put_bytes(at, mkperf_Sched_event_tag, e->event.bytes, e->event.n);
    if (e->reading.n != 0) {
        at = mkperf_put_bytes(at, mkperf_Sched_reading_tag, e->reading.bytes, e->reading.n);
    }
    mkperf_put_value(out, (uint64_t)mkperf_ToHost_sched_tag << 3 | 2);
    out[2] = (uint8_t)((at - start) | 0x80);
    out[3] = (uint8_t)((at - start) >> 7);
    e->sent += e->events;
    e->messages++;
    empty_message(e);
    return (size_t)(at - out);
}
